//! How the flow of a multipath test runs, and what an end comes to.

use pathscope_core::Tick;
use pathscope_core::id::{FlowId, Lane, Role};
use pathscope_core::record::{FlowError, WirelessFacts};

use super::{
    MultipathEcho, MultipathEchoShared, MultipathFlow, MultipathInterval, MultipathPlan,
    MultipathReport, MultipathShared, MultipathTally, StampRows,
};
use crate::flows::{Accumulate, AtEnd, Begin, Flow, Left, Runs, Samples, System};
use crate::paths::{PathsSeen, TRANSITIONS_TOLD, Transition};

/// What an end has counted, and which paths came into use while it ran: it has one worker.
#[derive(Debug, Default)]
pub struct MultipathWorker {
    report: MultipathReport,
    used: Vec<(Lane, Tick)>,
}

impl Runs for MultipathPlan {
    type Client = MultipathFlow;
    type Server = MultipathEcho;
    type Tally = MultipathTally;
    type WorkerReport = MultipathWorker;
    type Accumulator = MultipathWorker;
    type Rows = StampRows;

    fn rows(&self) -> Option<StampRows> {
        Some(StampRows::new(self.lanes))
    }

    /// One worker carries the flow.
    fn add_interval(sum: &mut MultipathInterval, tally: &MultipathTally) {
        *sum = tally.interval();
    }

    fn accumulator(&self, _: Role) -> MultipathWorker {
        MultipathWorker::default()
    }

    fn tell_radios(interval: &mut MultipathInterval, radios: &[Option<WirelessFacts>]) {
        for (path, radio) in interval.paths.iter_mut().zip(radios) {
            path.wireless.clone_from(radio);
        }
    }
}

impl Flow<MultipathPlan> for MultipathFlow {
    fn shared(
        plan: &MultipathPlan,
        begin: &Begin<'_>,
        samples: Option<Samples<MultipathPlan>>,
    ) -> MultipathShared {
        let mut shared = MultipathShared::new(plan).framed(begin.conventions.framing);
        shared.samples = samples;
        shared
    }

    fn begin(plan: &MultipathPlan, flow: FlowId, begin: &Begin<'_>) -> Self {
        let lanes = begin.lanes.iter().copied();
        Self::new(plan, begin.key, flow, lanes).framed(begin.conventions.framing)
    }

    fn worker_report<S: System>(_: &MultipathPlan, left: &Left<'_, Self, S>) -> MultipathWorker {
        let report = with_drops(left.shared.report_all(), left.lane_drops);
        MultipathWorker { report, used: left.shared.used.clone() }
    }
}

impl Flow<MultipathPlan> for MultipathEcho {
    fn shared(
        plan: &MultipathPlan,
        _: &Begin<'_>,
        _: Option<Samples<MultipathPlan>>,
    ) -> MultipathEchoShared {
        MultipathEchoShared::new(plan)
    }

    fn begin(plan: &MultipathPlan, flow: FlowId, begin: &Begin<'_>) -> Self {
        Self::new(plan, begin.key, flow)
    }

    fn worker_report<S: System>(_: &MultipathPlan, left: &Left<'_, Self, S>) -> MultipathWorker {
        let report = with_drops(left.shared.report_all(), left.lane_drops);
        MultipathWorker { report, used: Vec::new() }
    }
}

/// With what the sockets of each lane dropped, those that were replaced among them. A test has one flow.
fn with_drops(mut report: MultipathReport, lane_drops: &[Vec<u64>]) -> MultipathReport {
    for (path, drops) in report.paths.iter_mut().zip(lane_drops.iter().flatten()) {
        path.socket_drops = *drops;
    }
    report
}

impl Accumulate<MultipathPlan> for MultipathWorker {
    /// The ends count for themselves.
    fn count(&mut self, _: &MultipathTally) {}

    fn add(&mut self, worker: MultipathWorker) {
        *self = worker;
    }

    fn lose(&mut self, _: u64, error: &FlowError) {
        self.report.error = Some(error.clone());
    }

    fn report(self, end: AtEnd<'_>) -> MultipathReport {
        let Self { mut report, used } = self;
        let Some(seen) = end.paths else { return report };
        let PathsSeen { facts, wireless, mut transitions, mut transitions_omitted, resumptions } =
            seen;
        let room = TRANSITIONS_TOLD.saturating_sub(transitions.len());
        transitions_omitted += used.len().saturating_sub(room) as u64;
        transitions.extend(used.iter().take(room).map(|(lane, at)| Transition {
            at_ns: at.nanos_since(end.start),
            path: Some(lane.0),
            interface: facts.get(lane.index()).map_or_else(String::new, |it| it.interface.clone()),
            what: "used".to_owned(),
            why: "the server has answered on it".to_owned(),
        }));
        // Known at the end, and told where it happened.
        transitions.sort_by_key(|transition| transition.at_ns);
        report.paths.iter_mut().zip(facts).for_each(|(path, facts)| path.facts = facts);
        report.paths.iter_mut().zip(wireless).for_each(|(path, radio)| path.wireless = radio);
        MultipathReport { transitions, transitions_omitted, resumptions, ..report }
    }
}
