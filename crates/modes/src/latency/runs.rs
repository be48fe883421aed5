//! How the flows of a latency test run, and what those of one end come to.

use pathscope_core::id::{FlowId, Role};
use pathscope_core::record::FlowError;

use super::tally::LatencyTally;
use super::{
    EchoFlow, LatencyInterval, LatencyPlan, LatencyReport, LatencyShared, PingFlow, PingRows,
};
use crate::flows::{Accumulate, AtEnd, Begin, Flow, Left, Runs, Samples, System};

impl Runs for LatencyPlan {
    type Client = PingFlow;
    type Server = EchoFlow;
    type Tally = LatencyTally;
    /// Everything is in the counts.
    type WorkerReport = ();
    type Accumulator = LatencyTally;
    type Rows = PingRows;

    const JOINS: bool = true;

    fn rows(&self) -> Option<PingRows> {
        Some(PingRows)
    }

    fn add_interval(sum: &mut LatencyInterval, tally: &LatencyTally) {
        *sum = tally.interval();
    }

    fn join(sum: &mut LatencyTally, more: &LatencyTally) {
        sum.merge(more);
    }

    fn accumulator(&self, role: Role) -> LatencyTally {
        LatencyTally::for_plan(self, role)
    }
}

impl Flow<LatencyPlan> for PingFlow {
    fn shared(
        plan: &LatencyPlan,
        begin: &Begin<'_>,
        samples: Option<Samples<LatencyPlan>>,
    ) -> LatencyShared {
        let Begin { role, conventions, .. } = *begin;
        LatencyShared { samples, end: conventions.end, ..LatencyShared::new(plan, role) }
    }

    fn begin(plan: &LatencyPlan, flow: FlowId, begin: &Begin<'_>) -> Self {
        Self::new(plan, begin.key, flow).following(begin.conventions)
    }

    fn worker_report<S: System>(_: &LatencyPlan, _: &Left<'_, Self, S>) {}
}

impl Flow<LatencyPlan> for EchoFlow {
    fn shared(
        plan: &LatencyPlan,
        begin: &Begin<'_>,
        _: Option<Samples<LatencyPlan>>,
    ) -> LatencyShared {
        let Begin { role, conventions, .. } = *begin;
        LatencyShared { end: conventions.end, ..LatencyShared::new(plan, role) }
    }

    fn begin(plan: &LatencyPlan, flow: FlowId, begin: &Begin<'_>) -> Self {
        Self::new(plan, begin.key, flow).following(begin.conventions)
    }

    fn worker_report<S: System>(_: &LatencyPlan, _: &Left<'_, Self, S>) {}
}

impl Accumulate<LatencyPlan> for LatencyTally {
    fn count(&mut self, tally: &LatencyTally) {
        self.merge(tally);
    }

    fn add(&mut self, (): ()) {}

    fn lose(&mut self, _: u64, _: &FlowError) {}

    fn report(self, end: AtEnd<'_>) -> LatencyReport {
        let (stamps, socket_drops) = (end.stamps, end.socket_drops);
        LatencyReport { stamps, socket_drops, ..Self::report(&self, end.error) }
    }
}
