//! What the latency flows of one worker have in common.

use pathscope_core::Tick;
use pathscope_core::id::Role;
use pathscope_flow::Shared;

use super::sample::Sample;
use super::{LatencyPlan, LatencyTally, LoadModel};
use crate::samples::SampleBuffer;

/// An open loop remembers its pings for so long: longer than the drain awaits them.
const OPEN_WINDOW_NS: u64 = 10_000_000_000;
/// Pings remembered of all flows of an open loop at the most, in 40 MiB: of one flow at 100,000 a second, 10 s.
const MOST_OPEN_WINDOW: u64 = 1 << 20;
/// Of each flow at least so many.
const LEAST_OPEN_WINDOW: u64 = 1 << 10;
/// Pings of all flows of which kernel stamps are remembered, each in 72 bytes.
const STAMPED: usize = 1 << 16;
/// Of each flow of a closed loop; more where more are on their way at a time.
const CLOSED_WINDOW: u32 = 1 << 8;

/// Plan, counts and histograms of one worker.
#[derive(Debug)]
pub struct LatencyShared {
    pub(super) plan: LatencyPlan,
    pub(super) role: Role,
    pub(super) tally: LatencyTally,
    pub(super) samples: Option<SampleBuffer<Sample>>,
}

/// Pings that each flow of a plan remembers.
pub(super) fn window_of(plan: &LatencyPlan) -> usize {
    let size = match plan.load_model {
        LoadModel::Open { period_ns, .. } => {
            let most = MOST_OPEN_WINDOW / u64::from(plan.connections.max(1));
            let due = OPEN_WINDOW_NS.div_ceil(period_ns.0.max(1));
            due.min(most).max(LEAST_OPEN_WINDOW)
        }
        LoadModel::Closed => u64::from(CLOSED_WINDOW.max(plan.outstanding.saturating_mul(4))),
    };
    size as usize
}

/// Pings of which each flow of a plan remembers kernel stamps.
pub(super) fn trips_of(plan: &LatencyPlan) -> usize {
    window_of(plan)
        .min((STAMPED / plan.connections.max(1) as usize).max(LEAST_OPEN_WINDOW as usize))
}

impl LatencyShared {
    /// For flows of `plan` at this end.
    pub fn new(plan: &LatencyPlan, role: Role) -> Self {
        let tally = LatencyTally::for_plan(plan, role);
        Self { plan: plan.clone(), role, tally, samples: None }
    }
}

impl Shared for LatencyShared {
    type Report = LatencyTally;

    fn report(&mut self, _now: Tick) -> LatencyTally {
        if let Some(samples) = &mut self.samples {
            samples.hand_over();
        }
        // Fresh histograms are untouched zero pages: a few microseconds once a report.
        std::mem::replace(&mut self.tally, LatencyTally::for_plan(&self.plan, self.role))
    }
}

#[cfg(test)]
mod tests {
    use pathscope_core::quantity::{Frequency, Period};

    use super::super::Arrivals;
    use super::*;

    #[test]
    fn windows_follow_the_rate_and_are_bounded() {
        let window = |period_ns, connections| {
            let load_model =
                LoadModel::Open { period_ns: Period(period_ns), arrivals: Arrivals::Fixed };
            let probe = LatencyPlan::probe(Frequency(1));
            let plan = LatencyPlan { load_model, connections, ..probe };
            (window_of(&plan), trips_of(&plan))
        };
        assert_eq!(window(1_000_000_000, 1), (1_024, 1_024));
        assert_eq!(window(1_000_000, 1), (10_000, 10_000));
        assert_eq!(window(10_000, 1), (1_000_000, 65_536));
        assert_eq!(window(1_000, 1), (1 << 20, 65_536));
        assert_eq!(window(1_000, 4), (1 << 18, 16_384));
        assert_eq!(window(1_000, 10_000), (1_024, 1_024));
    }
}
