//! How the flow of a toy's test runs, and what it comes to.

use pathscope_core::id::{FlowId, Role};
use pathscope_core::record::FlowError;

use super::counts::ToyCounts;
use super::flow::{ToyFlow, ToyShared};
use super::plan::ToyPlan;
use super::sample::ToyRows;
use crate::flows::{Accumulate, AtEnd, Begin, Flow, Left, Runs, Samples, System};

impl Runs for ToyPlan {
    type Client = ToyFlow;
    type Server = ToyFlow;
    type Tally = ToyCounts;
    type WorkerReport = ();
    type Accumulator = ToyCounts;
    type Rows = ToyRows;

    fn rows(&self) -> Option<ToyRows> {
        Some(ToyRows)
    }

    fn add_interval(sum: &mut ToyCounts, tally: &ToyCounts) {
        sum.merge(tally);
    }

    fn accumulator(&self, _: Role) -> ToyCounts {
        ToyCounts::default()
    }
}

impl Flow<ToyPlan> for ToyFlow {
    fn shared(_: &ToyPlan, _: &Begin<'_>, samples: Option<Samples<ToyPlan>>) -> ToyShared {
        ToyShared::new(samples)
    }

    fn begin(plan: &ToyPlan, flow: FlowId, begin: &Begin<'_>) -> Self {
        Self::new(plan, begin.role, flow)
    }

    fn worker_report<S: System>(_: &ToyPlan, _: &Left<'_, Self, S>) {}
}

/// What the flow counted is all that there is to say.
impl Accumulate<ToyPlan> for ToyCounts {
    fn count(&mut self, tally: &ToyCounts) {
        self.merge(tally);
    }

    fn add(&mut self, (): ()) {}

    fn lose(&mut self, _: u64, _: &FlowError) {}

    fn report(self, _: AtEnd<'_>) -> ToyCounts {
        self
    }
}
