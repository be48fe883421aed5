//! What is asked of a plan whichever mode it is of: its part of the documents that all modes share. Not how a mode answers,
//! which stands in its folder.

use pathscope_core::journal::StreamStatus;
use pathscope_core::presentation::{Bars, Figure, Shape, Table};
use pathscope_core::record::{Caveat, Check, FlowFacts, Verdict, WirelessFacts};

use super::{EndInterval, EndReport, InDocuments, Interval, ProbePlan, Reports, Summary};
use crate::figure::{Heat, Point};
use crate::mode::Mode;
use crate::results::{Beside, BesideOthers, Charts, Detail, Results};
use crate::times::ConnectionTimes;

/// What a plan's own flows came to.
#[derive(Debug, Default)]
pub struct Judged {
    /// What both reports come to.
    pub summary: Summary,
    /// What had to hold.
    pub checks: Vec<Check>,
    /// What a reader must know of the figures.
    pub caveats: Vec<Caveat>,
    /// What limited it.
    pub verdict: Option<Verdict>,
}

/// A plan of any mode. Of intervals, reports and summaries it finds its mode's part.
pub trait AnyMode: Mode {
    /// Whether its flows sent or received anything in an interval. Probes beside a load come and go whatever becomes of that, so
    /// they say nothing of it.
    fn has_moved_in(&self, interval: &EndInterval) -> bool;

    /// Adds what the radios of paths say now, by their places, to what its flows did in an interval.
    fn tell_radios_in(&self, interval: &mut EndInterval, radios: &[Option<WirelessFacts>]);

    /// What its flows did in an interval, as files of a session have it; nothing where they did nothing any more.
    fn status_in(&self, interval: &EndInterval) -> Option<StreamStatus>;

    /// Its connections that are told one by one.
    fn connections_of<'report>(&self, report: &'report EndReport) -> &'report [FlowFacts];

    /// What an end found of flows that failed, as a fragment of a sentence.
    fn failure_of(&self, report: &EndReport) -> Option<String>;

    /// When connections that follow one another began, and how long each took.
    fn times_of<'report>(&self, report: &'report EndReport) -> Option<&'report ConnectionTimes>;

    /// Of what the two ends do not say the same, a sentence each.
    fn disagreements_of(&self, client: &EndReport, server: Option<&EndReport>) -> Vec<String>;

    /// What it came to; puts into the client's report what else is known of its flows.
    fn judge(
        &self,
        client: &mut EndReport,
        server: Option<&EndReport>,
        intervals: &[Interval],
        beside: &Beside<'_>,
    ) -> Judged;

    /// The payload that a load brought over, each way.
    fn carried_of(&self, summary: &Summary) -> Vec<u64>;

    /// Puts figures that an earlier version wrote under another meaning where they are told now, its own and those of probes.
    fn renew_in(&self, summary: &mut Summary);

    /// What tests of several servers came to together, as far as that can be added up.
    fn together_of(&self, all: &[&Summary], is_shared: bool) -> Summary;

    /// What it has of what different tests are told of side by side.
    fn beside_others_of<'summary>(&self, summary: &'summary Summary) -> BesideOthers<'summary>;

    /// The cells of a live row.
    fn cells_of(&self, interval: &Interval) -> Vec<Figure>;

    /// Figures of an interval that are looked at over time.
    fn points_of(&self, summary: &Summary, interval: &Interval) -> Vec<Point>;

    /// The figures of a measurement, most important first.
    fn figures_of(&self, summary: &Summary) -> Vec<Figure>;

    /// Figures that only make sense side by side.
    fn tables_of(&self, summary: &Summary, reports: Reports<'_>, detail: Detail) -> Vec<Table>;

    /// Distributions of durations.
    fn distributions_of(&self, reports: Reports<'_>) -> Vec<Shape>;

    /// Distributions of an interval that are looked at over time.
    fn heats_of<'interval>(
        &self,
        summary: &Summary,
        interval: &'interval Interval,
    ) -> Vec<Heat<'interval>>;

    /// Adds what of a whole measurement is looked at over time or side by side, and is in no interval.
    fn add_charts_of(&self, summary: &Summary, reports: Reports<'_>, charts: &mut Charts);

    /// Payload that an end has moved, where that is what the plan is for.
    fn moved_bytes_of(&self, end: &EndReport) -> Option<u64>;

    /// Amounts of many flows side by side.
    fn bars_of(&self, summary: &Summary, reports: Reports<'_>) -> Vec<Bars>;

    /// Several runs side by side, by their names; none where one is of another mode, or its own has no such table.
    fn overview_of(&self, runs: &[(&str, &Summary)]) -> Option<Table>;
}

impl<M: InDocuments> AnyMode for M {
    fn has_moved_in(&self, interval: &EndInterval) -> bool {
        match M::interval(interval) {
            Some(own) => M::has_moved(own),
            // The load is over at this end.
            None => ProbePlan::interval(interval).is_some_and(ProbePlan::has_moved),
        }
    }

    fn tell_radios_in(&self, interval: &mut EndInterval, radios: &[Option<WirelessFacts>]) {
        M::interval_mut(interval).iter_mut().for_each(|own| M::tell_radios(own, radios));
    }

    fn status_in(&self, interval: &EndInterval) -> Option<StreamStatus> {
        let length_ns = interval.end_ns.saturating_sub(interval.start_ns);
        let status = M::status(M::interval(interval)?)?;
        Some(StreamStatus { length_ns, ..status })
    }

    fn connections_of<'report>(&self, report: &'report EndReport) -> &'report [FlowFacts] {
        M::report(report).map(M::connections).unwrap_or_default()
    }

    fn failure_of(&self, report: &EndReport) -> Option<String> {
        M::report(report).and_then(M::failure)
    }

    fn times_of<'report>(&self, report: &'report EndReport) -> Option<&'report ConnectionTimes> {
        M::report(report).and_then(M::times)
    }

    fn disagreements_of(&self, client: &EndReport, server: Option<&EndReport>) -> Vec<String> {
        let ends = M::report(client).zip(server.and_then(M::report));
        ends.map(|(here, there)| M::disagreements(here, there)).unwrap_or_default()
    }

    fn judge(
        &self,
        client: &mut EndReport,
        server: Option<&EndReport>,
        intervals: &[Interval],
        beside: &Beside<'_>,
    ) -> Judged {
        if let Some(own) = M::report_mut(client) {
            M::complete(own, server.and_then(M::report), beside);
        }
        let reports = Reports { client, server, hosts: beside.hosts };
        let Some(ends) = reports.ends(M::report) else { return Judged::default() };
        let came_to = self.summary(&ends, &super::client_slices::<M>(intervals));
        let judged = Judged {
            checks: self.checks(&ends),
            caveats: self.caveats(&came_to, &ends),
            verdict: self.verdict(&came_to, &ends),
            ..Judged::default()
        };
        let limit = judged.verdict.as_ref().map(|verdict| verdict.limit);
        debug_assert!(
            limit.is_none_or(|limit| M::LIMITS.contains(&limit)),
            "{limit:?} is not listed"
        );
        let mut summary = Summary::default();
        *M::summary_mut(&mut summary) = Some(came_to);
        Judged { summary, ..judged }
    }

    fn carried_of(&self, summary: &Summary) -> Vec<u64> {
        M::summary_of(summary).map(M::carried).unwrap_or_default()
    }

    fn renew_in(&self, summary: &mut Summary) {
        M::summary_mut(summary).iter_mut().for_each(M::renew);
        summary.probe.iter_mut().for_each(ProbePlan::renew);
    }

    fn together_of(&self, all: &[&Summary], is_shared: bool) -> Summary {
        let own: Option<Vec<_>> = all.iter().map(|all| M::summary_of(all)).collect();
        let mut summary = Summary::default();
        *M::summary_mut(&mut summary) = own.and_then(|own| M::together(&own, is_shared));
        summary
    }

    fn beside_others_of<'summary>(&self, summary: &'summary Summary) -> BesideOthers<'summary> {
        M::summary_of(summary).map(M::beside_others).unwrap_or_default()
    }

    fn cells_of(&self, interval: &Interval) -> Vec<Figure> {
        self.cells(interval.slices::<M>())
    }

    fn points_of(&self, summary: &Summary, interval: &Interval) -> Vec<Point> {
        // A run that was cut off has intervals, and no summary yet.
        let unknown = M::Summary::default();
        self.points(M::summary_of(summary).unwrap_or(&unknown), interval.slices::<M>())
    }

    fn figures_of(&self, summary: &Summary) -> Vec<Figure> {
        M::summary_of(summary).map(|summary| self.figures(summary)).unwrap_or_default()
    }

    fn tables_of(&self, summary: &Summary, reports: Reports<'_>, detail: Detail) -> Vec<Table> {
        let known = M::summary_of(summary).zip(reports.ends(M::report));
        known.map(|(summary, ends)| self.tables(summary, &ends, detail)).unwrap_or_default()
    }

    fn distributions_of(&self, reports: Reports<'_>) -> Vec<Shape> {
        reports.ends(M::report).map(|ends| M::distributions(&ends)).unwrap_or_default()
    }

    fn heats_of<'interval>(
        &self,
        summary: &Summary,
        interval: &'interval Interval,
    ) -> Vec<Heat<'interval>> {
        // A run that was cut off has intervals, and no summary yet.
        let unknown = M::Summary::default();
        self.heats(M::summary_of(summary).unwrap_or(&unknown), interval.slices::<M>())
    }

    fn add_charts_of(&self, summary: &Summary, reports: Reports<'_>, charts: &mut Charts) {
        if let Some((summary, ends)) = M::summary_of(summary).zip(reports.ends(M::report)) {
            self.charts(summary, &ends, charts);
        }
    }

    fn moved_bytes_of(&self, end: &EndReport) -> Option<u64> {
        M::report(end).and_then(M::moved_bytes)
    }

    fn bars_of(&self, summary: &Summary, reports: Reports<'_>) -> Vec<Bars> {
        let known = M::summary_of(summary).zip(reports.ends(M::report));
        known.map(|(summary, ends)| self.bars(summary, &ends)).unwrap_or_default()
    }

    fn overview_of(&self, runs: &[(&str, &Summary)]) -> Option<Table> {
        let own = runs.iter().map(|(name, summary)| Some((*name, M::summary_of(summary)?)));
        M::overview(&own.collect::<Option<Vec<_>>>()?)
    }
}
