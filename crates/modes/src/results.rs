//! What the ends of a test say of the flows of a mode, and what that comes to: typed, where `mode` is of the plan alone.
//!
//! Each mode says what its own figures mean. `registry` finds each mode's part in the documents, `assemble` and
//! `presentation` put parts together. Probes (`probes`) name the mode that they are of.

use std::fmt::Debug;

use pathscope_core::finding::FindingDefinition;
use pathscope_core::id::FlowId;
use pathscope_core::presentation::{Bars, Boxes, Figure, Series, Shape, Table, Timeline};
use pathscope_core::record::{Caveat, Check, FlowError, FlowFacts, Limit, Verdict};
use pathscope_core::stats::LatencyFigures;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::amounts::Amounts;
use crate::end::{EndFacts, EndedConnections, Hosts};
use crate::figure::{Group, Heat, Point};
use crate::mode::Mode;
use crate::times::ConnectionTimes;

/// What documents keep of a mode.
pub trait Kept: Clone + Debug + DeserializeOwned + JsonSchema + PartialEq + Serialize {}

impl<T: Clone + Debug + DeserializeOwned + JsonSchema + PartialEq + Serialize> Kept for T {}

/// One end's word of one interval.
#[derive(Debug)]
pub struct Slice<'a, M: Results> {
    /// Its begin, in time since this end started the test.
    pub start_ns: u64,
    /// Its end.
    pub end_ns: u64,
    /// What the flows did in it, where that is known.
    pub own: Option<&'a M::Interval>,
    /// Connections that ended in it; absent where none did.
    pub ended: Option<EndedConnections>,
}

impl<'a, M: Results> Slice<'a, M> {
    /// A number of bytes that was counted in it as a rate, in bits a second.
    pub fn rate_bps(&self, bytes: impl FnOnce(&'a M::Interval) -> u64) -> Option<f64> {
        let length_ns = self.end_ns.saturating_sub(self.start_ns);
        let bytes = self.own.map(bytes)?;
        (length_ns > 0).then(|| bytes as f64 * 8e9 / length_ns as f64)
    }
}

/// One interval as both ends saw it.
#[derive(Debug)]
pub struct Slices<'a, M: Results> {
    /// The client's end.
    pub client: Option<Slice<'a, M>>,
    /// The server's end.
    pub server: Option<Slice<'a, M>>,
}

impl<'a, M: Results> Slices<'a, M> {
    /// What the client's flows did.
    pub fn of_client(&self) -> Option<&'a M::Interval> {
        self.client.as_ref()?.own
    }
}

/// What one end says when all its flows are over.
#[derive(Debug)]
pub struct End<'a, M: Results> {
    /// Of these flows.
    pub own: &'a M::Report,
    /// Of itself.
    pub facts: EndFacts<'a>,
}

/// What both ends say.
#[derive(Debug)]
pub struct Ends<'a, M: Results> {
    /// The end that asked.
    pub client: End<'a, M>,
    /// The other; absent where its report never came, or says nothing of these flows.
    pub server: Option<End<'a, M>>,
    /// Their machines.
    pub hosts: &'a Hosts,
}

impl<'a, M: Results> Ends<'a, M> {
    /// What the client says of its flows.
    pub fn of_client(&self) -> &'a M::Report {
        self.client.own
    }

    /// What the server says of its flows.
    pub fn of_server(&self) -> Option<&'a M::Report> {
        self.server.as_ref().map(|server| server.own)
    }

    /// What each end says of its flows, as far as it does.
    pub fn reports(&self) -> impl Iterator<Item = &'a M::Report> + use<'a, M> {
        [Some(self.of_client()), self.of_server()].into_iter().flatten()
    }
}

#[cfg(test)]
impl<'a, M: Results> Ends<'a, M> {
    /// Ends of which nothing is known but these reports.
    pub(crate) fn of_reports(client: &'a M::Report, server: Option<&'a M::Report>) -> Self {
        static UNKNOWN: std::sync::LazyLock<Hosts> = std::sync::LazyLock::new(Hosts::default);
        let end = |own| End { own, facts: EndFacts::default() };
        Self { client: end(client), server: server.map(end), hosts: &UNKNOWN }
    }
}

/// What is known of a test beside both reports.
#[derive(Clone, Copy, Debug)]
pub struct Beside<'a> {
    /// Connections of which the server said that they failed there.
    pub failed_there: &'a [(FlowId, FlowError)],
    /// The machines at both ends.
    pub hosts: &'a Hosts,
}

/// How much is told of flows one by one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Detail {
    /// Where one has failed.
    Failures,
    /// Wherever there are several.
    Everything,
}

/// What different tests are told of side by side.
#[derive(Clone, Copy, Debug, Default)]
pub struct BesideOthers<'summary> {
    /// Payload a second of a load, up and down, in bits.
    pub goodput_bps: [Option<f64>; 2],
    /// Round trips, and how many were lost.
    pub round_trips: Option<(&'summary LatencyFigures, u64)>,
}

/// A mode whose ends report.
pub trait Results: Mode + Sized {
    /// What one end says of one interval.
    type Interval: Kept;
    /// What one end says when all its flows are over.
    type Report: Kept + Default;
    /// What both ends' reports come to.
    type Summary: Kept + Default;

    /// The figures that it has.
    const FIGURES: &'static [Group];
    /// What has to hold of it.
    const CHECKS: &'static [FindingDefinition];
    /// What there can be to mind of its figures.
    const CAVEATS: &'static [FindingDefinition] = &[];
    /// What its verdicts can name.
    const LIMITS: &'static [Limit] = &[];

    /// Whether anything was sent or received in an interval.
    fn has_moved(interval: &Self::Interval) -> bool;

    /// Payload that an end sent and received, in bytes; none where that is not what the mode is for.
    fn moved_bytes(_report: &Self::Report) -> Option<u64> {
        None
    }

    /// What an end's flows did in an interval, beside how connections ended that follow one another.
    fn amounts_in(_interval: &Self::Interval, _ended: Option<EndedConnections>) -> Amounts {
        Amounts::default()
    }

    /// What they came to.
    fn amounts(_report: &Self::Report) -> Amounts {
        Amounts::default()
    }

    /// Takes half of what is told one by one from a report that is too long; counts stay exact.
    fn halve(report: &mut Self::Report);

    /// Puts into the client's report what else is known of its flows, and takes out what can't be known.
    fn complete(_client: &mut Self::Report, _server: Option<&Self::Report>, _beside: &Beside<'_>) {}

    /// What both reports come to, beside the client's intervals.
    fn summary(&self, ends: &Ends<'_, Self>, intervals: &[Slice<'_, Self>]) -> Self::Summary;

    /// What had to hold of both ends' words.
    fn checks(&self, ends: &Ends<'_, Self>) -> Vec<Check>;

    /// What a reader must know of the figures.
    fn caveats(&self, _summary: &Self::Summary, _ends: &Ends<'_, Self>) -> Vec<Caveat> {
        Vec::new()
    }

    /// What limited it.
    fn verdict(&self, _summary: &Self::Summary, _ends: &Ends<'_, Self>) -> Option<Verdict> {
        None
    }

    /// What an end found of flows that failed, as a fragment of a sentence; none where none did.
    fn failure(_report: &Self::Report) -> Option<String> {
        None
    }

    /// Connections that are told one by one.
    fn connections(_report: &Self::Report) -> &[FlowFacts] {
        &[]
    }

    /// When connections that follow one another began, and how long each took.
    fn times(_report: &Self::Report) -> Option<&ConnectionTimes> {
        None
    }

    /// Of what the two ends do not say the same, a sentence each.
    fn disagreements(_client: &Self::Report, _server: &Self::Report) -> Vec<String> {
        Vec::new()
    }

    /// The payload that a load brought over, each way; empty where the flows are no load.
    fn carried(_summary: &Self::Summary) -> Vec<u64> {
        Vec::new()
    }

    /// Puts figures that an earlier version wrote under another meaning where they are told now.
    fn renew(_summary: &mut Self::Summary) {}

    /// What tests of several servers came to together, as far as that can be added up; their rates can be where all ran at the same
    /// time. None: nothing can.
    fn together(_all: &[&Self::Summary], _is_shared: bool) -> Option<Self::Summary> {
        None
    }

    /// What it has of what different tests are told of side by side.
    fn beside_others(_summary: &Self::Summary) -> BesideOthers<'_> {
        BesideOthers::default()
    }
}

/// What of a measurement is drawn beside its distributions.
#[derive(Debug, Default)]
pub struct Charts {
    /// Figures over time.
    pub series: Vec<Series>,
    /// What became of several things over time.
    pub timelines: Vec<Timeline>,
    /// Distributions side by side.
    pub boxes: Vec<Boxes>,
}

/// A mode that views can show: what of its results is told, and how that is called.
pub trait Presents: Results {
    /// The cells of a live row.
    fn cells(&self, interval: Slices<'_, Self>) -> Vec<Figure>;

    /// Figures of an interval that are looked at over time; `summary` is of all of it.
    fn points(&self, _summary: &Self::Summary, _interval: Slices<'_, Self>) -> Vec<Point> {
        Vec::new()
    }

    /// The figures of a measurement, most important first.
    fn figures(&self, summary: &Self::Summary) -> Vec<Figure>;

    /// Figures that only make sense side by side.
    fn tables(
        &self,
        _summary: &Self::Summary,
        _ends: &Ends<'_, Self>,
        _detail: Detail,
    ) -> Vec<Table> {
        Vec::new()
    }

    /// Distributions of durations.
    fn distributions(_ends: &Ends<'_, Self>) -> Vec<Shape> {
        Vec::new()
    }

    /// Distributions of an interval that are looked at over time; `summary` is of all of it.
    fn heats<'interval>(
        &self,
        _summary: &Self::Summary,
        _interval: Slices<'interval, Self>,
    ) -> Vec<Heat<'interval>> {
        Vec::new()
    }

    /// Adds what of a whole measurement is looked at over time or side by side, and is in no interval. Series, distributions and
    /// heat maps are there already; times are since the start of the test.
    fn charts(&self, _summary: &Self::Summary, _ends: &Ends<'_, Self>, _charts: &mut Charts) {}

    /// Amounts of many flows side by side.
    fn bars(&self, _summary: &Self::Summary, _ends: &Ends<'_, Self>) -> Vec<Bars> {
        Vec::new()
    }

    /// Several runs side by side, by their names; none: as different tests are.
    fn overview(_runs: &[(&str, &Self::Summary)]) -> Option<Table> {
        None
    }
}
