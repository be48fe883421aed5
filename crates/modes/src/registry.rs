//! The modes, listed once: what a test can be, and where documents have what each end says of it.
//!
//! In one file: one list, and all that is made of it.

use std::ops::Deref;

use pathscope_core::counters::HostCounters;
use pathscope_core::id::Role;
use pathscope_core::journal::StreamStatus;
use pathscope_core::record::{
    Caveat, FlowError, FlowFacts, SocketFacts, StoodStill, WirelessFacts, WorkerUsage,
};
use pathscope_core::stats::LatencyFigures;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::datagrams::DatagramsPlan;
use crate::end::{EndFacts, EndedConnections};
use crate::figure::Group;
use crate::finding::ModeFindings;
use crate::flows::{Accumulate, AtEnd, Flow, Runs};
use crate::goodput::GoodputPlan;
use crate::latency::LatencyPlan;
use crate::media::MediaPlan;
use crate::mode::Mode;
use crate::multipath::MultipathPlan;
use crate::results::{End, Results, Slice};

/// The plan of probes beside a load.
pub type ProbePlan = LatencyPlan;

struct Moved<'interval>(&'interval EndInterval);

impl Visitor for Moved<'_> {
    type Output = bool;

    fn visit<M: InDocuments>(self, _: &M) -> bool {
        match M::interval(self.0) {
            Some(own) => M::has_moved(own),
            // The load is over at this end.
            None => ProbePlan::interval(self.0).is_some_and(ProbePlan::has_moved),
        }
    }
}

/// What is done with the plan of a mode, whichever it is.
pub(crate) trait Visitor {
    /// What that comes to.
    type Output;

    /// Does it.
    fn visit<M: InDocuments>(self, plan: &M) -> Self::Output;
}

/// Who runs the flows of a mode, whichever it is: once for each mode and end.
pub trait FlowVisitor {
    /// What comes of it.
    type Output;

    /// Runs them.
    fn visit<M: InDocuments, F: Flow<M>>(self, plan: &M) -> Self::Output;
}

/// Where a mode's part is of what all modes have.
pub trait InDocuments: Runs {
    /// What a worker did, as one of all modes'.
    fn tally(own: Self::Tally) -> Tally;
    /// What a worker came to, as one of all modes'.
    fn worker_report(own: Self::WorkerReport) -> WorkerReport;
    /// In an end's interval.
    fn interval(end: &EndInterval) -> Option<&Self::Interval>;
    /// In an end's interval, to be added to.
    fn interval_mut(end: &mut EndInterval) -> &mut Option<Self::Interval>;
    /// In an end's report.
    fn report(end: &EndReport) -> Option<&Self::Report>;
    /// In an end's report, to be filled in.
    fn report_mut(end: &mut EndReport) -> &mut Option<Self::Report>;
    /// In what both ends' reports come to.
    fn summary_of(all: &Summary) -> Option<&Self::Summary>;
    /// Where that is to be put.
    fn summary_mut(all: &mut Summary) -> &mut Option<Self::Summary>;
}

macro_rules! modes {
    ($($(#[doc = $meaning:literal])* $name:ident($plan:ty) as $field:ident;)*) => {
        /// The groups of each mode's figures.
        pub(crate) const FIGURES: &[&[Group]] = &[$(<$plan as Results>::FIGURES),*];

        /// What can be found of each mode, beside its figures.
        pub(crate) const FINDINGS: &[ModeFindings] = &[$(ModeFindings {
            mode: stringify!($field),
            checks: <$plan as Results>::CHECKS,
            caveats: <$plan as Results>::CAVEATS,
            limits: <$plan as Results>::LIMITS,
        }),*];

        /// What is measured, a variant for each mode.
        #[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Plan {
            $($(#[doc = $meaning])* $name($plan),)*
        }

        impl Deref for Plan {
            type Target = dyn Mode;

            fn deref(&self) -> &Self::Target {
                match self {
                    $(Self::$name(plan) => plan,)*
                }
            }
        }

        $(impl From<$plan> for Plan {
            fn from(plan: $plan) -> Self {
                Self::$name(plan)
            }
        })*

        impl Plan {
            /// What it is called in documents.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$name(_) => stringify!($field),)*
                }
            }

            /// Runs its flows at an end.
            pub fn run<V: FlowVisitor>(&self, role: Role, visitor: V) -> V::Output {
                match (self, role) {
                    $((Self::$name(plan), Role::Client) => {
                        visitor.visit::<$plan, <$plan as Runs>::Client>(plan)
                    }
                    (Self::$name(plan), Role::Server) => {
                        visitor.visit::<$plan, <$plan as Runs>::Server>(plan)
                    })*
                }
            }

            /// What its flows come to at an end, before anything is known.
            pub fn accumulator(&self, role: Role) -> Accumulator {
                match self {
                    $(Self::$name(plan) => Accumulator::$name(Box::new(plan.accumulator(role))),)*
                }
            }

            /// Has something done with the plan that it is.
            pub(crate) fn visit<V: Visitor>(&self, visitor: V) -> V::Output {
                match self {
                    $(Self::$name(plan) => visitor.visit(plan),)*
                }
            }
        }

        /// What the flows of a worker did between two reports.
        #[derive(Debug)]
        pub enum Tally {
            $($(#[doc = $meaning])* $name(Box<<$plan as Runs>::Tally>),)*
        }

        /// What the flows of a worker came to.
        #[derive(Debug)]
        pub enum WorkerReport {
            $($(#[doc = $meaning])* $name(Box<<$plan as Runs>::WorkerReport>),)*
        }

        /// What the flows of an end come to, as it becomes known. What is of another mode is not taken.
        #[derive(Debug)]
        pub enum Accumulator {
            $($(#[doc = $meaning])* $name(Box<<$plan as Runs>::Accumulator>),)*
        }

        impl Tally {
            /// Adds it to what all workers did in an interval.
            pub fn add_to(&self, interval: &mut EndInterval) {
                match self {
                    $(Self::$name(own) => {
                        let sum = <$plan>::interval_mut(interval).get_or_insert_default();
                        <$plan>::add_interval(sum, own);
                    })*
                }
            }
        }

        impl Accumulator {
            /// A worker has counted this.
            pub fn count(&mut self, tally: &Tally) {
                match (self, tally) {
                    $((Self::$name(sum), Tally::$name(own)) => sum.count(own),)*
                    _ => {}
                }
            }

            /// The flows of a worker have come to this.
            pub fn add(&mut self, report: WorkerReport) {
                match (self, report) {
                    $((Self::$name(sum), WorkerReport::$name(own)) => sum.add(*own),)*
                    _ => {}
                }
            }

            /// A worker with so many flows could not go on.
            pub fn lose(&mut self, flows: u64, error: &FlowError) {
                match self {
                    $(Self::$name(sum) => sum.lose(flows, error),)*
                }
            }

            /// Puts all of it into what an end says.
            pub fn report(self, end: AtEnd<'_>, into: &mut EndReport) {
                match self {
                    $(Self::$name(sum) => *<$plan>::report_mut(into) = Some(sum.report(end)),)*
                }
            }
        }

        /// What one end says of one interval while a test runs.
        #[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
        #[serde(default)]
        pub struct EndInterval {
            /// Its number, from 0, the same at both ends.
            pub index: u64,
            /// Its begin, in time since this end started the test.
            pub start_ns: u64,
            /// Its end.
            pub end_ns: u64,
            $(#[doc = concat!("What flows of `", stringify!($field), "` did in it.")]
            pub $field: Option<<$plan as Results>::Interval>,)*
            /// Connections that ended in it; absent where none did.
            pub ended: Option<EndedConnections>,
            /// This end's program had stood still for so long, in it or right before it: what waited in buffers meanwhile
            /// counts in it, too, so that more may have come than the path carries in its time. Absent where it had not.
            pub stood_still_ns: Option<u64>,
        }

        /// What one end says when all its flows are over.
        #[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
        #[serde(default)]
        pub struct EndReport {
            $(#[doc = concat!("What the plan's flows came to, where it is one of `", stringify!($field), "`.")]
            pub $field: Option<<$plan as Results>::Report>,)*
            /// What the probes beside a load came to.
            pub probe: Option<<ProbePlan as Results>::Report>,
            /// From the start of the test to the end of its last flow.
            pub elapsed_ns: u64,
            /// Processor time of each worker thread that carried the plan's flows.
            pub workers: Vec<WorkerUsage>,
            /// Processor time of each worker thread that carried probes.
            pub probe_workers: Vec<WorkerUsage>,
            /// At the client: how long the plan's TCP connections took to be established, each from before its SYN until
            /// this end, woken for it, saw that it was.
            pub connect: Option<LatencyFigures>,
            /// How the kernel set the first connection of the plan's flows, read back at the start.
            pub sockets: Option<SocketFacts>,
            /// Of all processors of this machine, the share of time that was not idle.
            pub host_cpu_share: Option<f64>,
            /// What this machine's kernel counted meanwhile.
            pub host: Option<HostCounters>,
            /// When this end's program stood still; absent where it never did, or nobody looked.
            pub stood_still: Option<StoodStill>,
            /// What a reader must know that this end noticed.
            pub caveats: Vec<Caveat>,
        }

        impl EndReport {
            /// Takes half of what is told one by one, of every kind; counts stay exact.
            pub fn halve(&mut self) {
                $(self.$field.iter_mut().for_each(<$plan as Results>::halve);)*
                self.probe.iter_mut().for_each(ProbePlan::halve);
                self.workers.truncate(self.workers.len() / 2);
                self.probe_workers.truncate(self.probe_workers.len() / 2);
                // The first tells that the report was shortened.
                self.caveats.truncate(self.caveats.len().div_ceil(2));
            }
        }

        /// What a test came to.
        #[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
        #[serde(default)]
        pub struct Summary {
            $(#[doc = concat!("Of the plan's flows, where it is one of `", stringify!($field), "`.")]
            pub $field: Option<<$plan as Results>::Summary>,)*
            /// Of the probes beside a load.
            pub probe: Option<<ProbePlan as Results>::Summary>,
        }

        $(impl InDocuments for $plan {
            fn tally(own: Self::Tally) -> Tally {
                Tally::$name(Box::new(own))
            }

            fn worker_report(own: Self::WorkerReport) -> WorkerReport {
                WorkerReport::$name(Box::new(own))
            }

            fn interval_mut(end: &mut EndInterval) -> &mut Option<Self::Interval> {
                &mut end.$field
            }

            fn interval(end: &EndInterval) -> Option<&Self::Interval> {
                end.$field.as_ref()
            }

            fn report(end: &EndReport) -> Option<&Self::Report> {
                end.$field.as_ref()
            }

            fn report_mut(end: &mut EndReport) -> &mut Option<Self::Report> {
                &mut end.$field
            }

            fn summary_of(all: &Summary) -> Option<&Self::Summary> {
                all.$field.as_ref()
            }

            fn summary_mut(all: &mut Summary) -> &mut Option<Self::Summary> {
                &mut all.$field
            }
        })*
    };
}

modes! {
    /// How much applications get through.
    Goodput(GoodputPlan) as goodput;
    /// How long a round trip takes.
    Latency(LatencyPlan) as latency;
    /// How much gets through as datagrams.
    Datagrams(DatagramsPlan) as datagrams;
    /// Whether frames on a schedule are there when they are to be played.
    Media(MediaPlan) as media;
    /// How much further paths help.
    Multipath(MultipathPlan) as multipath;
}

struct TellRadios<'all>(&'all mut EndInterval, &'all [Option<WirelessFacts>]);

impl Visitor for TellRadios<'_> {
    type Output = ();

    fn visit<M: InDocuments>(self, _: &M) {
        M::interval_mut(self.0).iter_mut().for_each(|own| M::tell_radios(own, self.1));
    }
}

struct StatusOf<'interval>(&'interval EndInterval);

impl Visitor for StatusOf<'_> {
    type Output = Option<StreamStatus>;

    fn visit<M: InDocuments>(self, _: &M) -> Option<StreamStatus> {
        let length_ns = self.0.end_ns.saturating_sub(self.0.start_ns);
        let status = M::interval(self.0).and_then(M::status);
        status.map(|status| StreamStatus { length_ns, ..status })
    }
}

struct ConnectionsOf<'report>(&'report EndReport);

impl<'report> Visitor for ConnectionsOf<'report> {
    type Output = &'report [FlowFacts];

    fn visit<M: InDocuments>(self, _: &M) -> &'report [FlowFacts] {
        M::report(self.0).map(M::connections).unwrap_or_default()
    }
}

impl EndInterval {
    /// Whether the flows of a plan sent or received anything in it. Probes beside a load come and go whatever becomes of
    /// that, so they say nothing of it.
    pub fn has_moved(&self, plan: &Plan) -> bool {
        plan.visit(Moved(self))
    }

    /// Adds what the radios of paths say now, by their places, to what flows of a plan did in it.
    pub fn tell_radios(&mut self, plan: &Plan, radios: &[Option<WirelessFacts>]) {
        plan.visit(TellRadios(self, radios));
    }

    /// What flows of a plan did in it, as files of a session have it; nothing where they did nothing any more.
    pub fn status(&self, plan: &Plan) -> Option<StreamStatus> {
        plan.visit(StatusOf(self))
    }

    /// What it says of the flows of a mode.
    pub(crate) fn slice<M: InDocuments>(&self) -> Slice<'_, M::Interval> {
        let (start_ns, end_ns) = (self.start_ns, self.end_ns);
        Slice { start_ns, end_ns, own: M::interval(self), ended: self.ended }
    }
}

impl EndReport {
    /// Has what flows came to as probes, of a report that says nothing else.
    pub fn take_probes(&mut self, mut of_probes: Self) {
        self.probe = ProbePlan::report_mut(&mut of_probes).take();
    }

    /// Connections of flows of a plan that are told one by one.
    pub fn connections(&self, plan: &Plan) -> &[FlowFacts] {
        plan.visit(ConnectionsOf(self))
    }

    /// What it says of its end, whatever was measured.
    pub fn facts(&self) -> EndFacts<'_> {
        EndFacts {
            elapsed_ns: self.elapsed_ns,
            workers: &self.workers,
            host_cpu_share: self.host_cpu_share,
            host: self.host.as_ref(),
            stood_still: self.stood_still.as_ref(),
        }
    }

    /// With what it says of these flows.
    pub(crate) fn end<'end, R>(&'end self, own: Option<&'end R>) -> Option<End<'end, R>> {
        own.map(|own| End { own, facts: self.facts() })
    }
}
