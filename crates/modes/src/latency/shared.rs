//! What the latency flows of one worker have in common.

use pathscope_core::Tick;
use pathscope_core::id::Role;
use pathscope_flow::Shared;

use super::sample::Sample;
use super::{LatencyPlan, LatencyTally, LoadModel};
use crate::conventions::StreamEnd;
use crate::memory::share_of_each;
use crate::samples::SampleBuffer;

/// An open loop remembers its pings for so long: longer than the drain awaits them.
const OPEN_WINDOW_NS: u64 = 10_000_000_000;
/// Pings remembered of all flows of an open loop at the most, in 40 MiB: of one flow at 100,000 a second, 10 s.
const MOST_OPEN_WINDOW: u64 = 1 << 20;
/// Of each flow at least so many, where there are [few](share_of_each).
const LEAST_OPEN_WINDOW: u64 = 1 << 10;
/// Pings of all flows of which kernel stamps are remembered, each in 72 bytes.
const STAMPED: u64 = 1 << 16;
/// Of each flow of a closed loop, where there are few; more where more are on their way at a time.
const CLOSED_WINDOW: u64 = 1 << 8;
/// Of each flow however many there are: in a closed loop one that has no answer is given up after 1 s, so these are those of 10 s.
const LEAST_WINDOW: u64 = 1 << 4;
/// Echoes of each flow whose handing over a server awaits, or which tell of others', where flows are few.
const ECHOES: u64 = 1 << 10;

/// Plan, counts and histograms of one worker.
#[derive(Debug)]
pub struct LatencyShared {
    pub(super) plan: LatencyPlan,
    pub(super) role: Role,
    pub(super) tally: LatencyTally,
    pub(super) samples: Option<SampleBuffer<Sample>>,
    /// By what the server knows that the last ping has come.
    pub(super) end: StreamEnd,
}

/// Pings that each flow of a plan remembers at its client, in 40 bytes each. Very many share what there is, and do no harm to one
/// another: one worker runs them all, and at a million pings a second, which is more than it sends, what all of an open loop
/// share is what is due in 10 s.
pub(super) fn window_of(plan: &LatencyPlan) -> usize {
    let least = |of_few| share_of_each(of_few, plan.connections.into()).max(LEAST_WINDOW);
    window(plan, [LEAST_OPEN_WINDOW, CLOSED_WINDOW].map(least))
}

/// The same at its server, which has a bit for each: that many flows share nothing.
pub(super) fn seen_of(plan: &LatencyPlan) -> usize {
    window(plan, [LEAST_OPEN_WINDOW, CLOSED_WINDOW])
}

/// Of an open and a closed loop with at least so many.
fn window(plan: &LatencyPlan, [least_open, least_closed]: [u64; 2]) -> usize {
    let size = match plan.load_model {
        LoadModel::Open { period_ns, .. } => {
            let most = MOST_OPEN_WINDOW / u64::from(plan.connections.max(1));
            let due = OPEN_WINDOW_NS.div_ceil(period_ns.0.max(1));
            // Very many remember no more than they have to.
            let are_few = least_open >= LEAST_OPEN_WINDOW;
            let least = if are_few { least_open } else { LEAST_WINDOW };
            due.min(most.max(least_open)).max(least)
        }
        LoadModel::Closed => least_closed.max(plan.outstanding.saturating_mul(4).into()),
    };
    size as usize
}

/// Pings of which each flow of a plan remembers kernel stamps.
pub(super) fn trips_of(plan: &LatencyPlan) -> usize {
    let flows = u64::from(plan.connections.max(1));
    window_of(plan).min((STAMPED / flows).max(LEAST_OPEN_WINDOW) as usize)
}

/// Echoes of which a server remembers of each flow what its kernel says.
pub(super) fn echoes_of(plan: &LatencyPlan) -> usize {
    share_of_each(ECHOES, u64::from(plan.connections)) as usize
}

impl LatencyShared {
    /// For flows of `plan` at this end.
    pub fn new(plan: &LatencyPlan, role: Role) -> Self {
        let tally = LatencyTally::for_plan(plan, role);
        Self { plan: plan.clone(), role, tally, samples: None, end: StreamEnd::default() }
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
    use proptest::prelude::*;

    use super::super::Arrivals;
    use super::*;

    fn open(period_ns: u64, connections: u32) -> LatencyPlan {
        let period_ns = Period(period_ns);
        let load_model = LoadModel::Open { period_ns, arrivals: Arrivals::Fixed };
        LatencyPlan { load_model, connections, ..LatencyPlan::probe(Frequency(1)) }
    }

    fn closed(outstanding: u32, connections: u32) -> LatencyPlan {
        let load_model = LoadModel::Closed;
        LatencyPlan { load_model, connections, outstanding, ..LatencyPlan::probe(Frequency(1)) }
    }

    #[test]
    fn windows_follow_the_rate_and_are_bounded() {
        let window = |period_ns, connections| {
            let plan = open(period_ns, connections);
            (window_of(&plan), trips_of(&plan))
        };
        assert_eq!(window(1_000_000_000, 1), (1_024, 1_024));
        assert_eq!(window(1_000_000, 1), (10_000, 10_000));
        assert_eq!(window(10_000, 1), (1_000_000, 65_536));
        assert_eq!(window(1_000, 1), (1 << 20, 65_536));
        assert_eq!(window(1_000, 4), (1 << 18, 16_384));
        assert_eq!(window(1_000, 10_000), (1_024, 1_024));
        assert_eq!(window(1_000, 20_000), (512, 512));
        assert_eq!(window(1_000_000_000, 20_000), (16, 16));
        assert_eq!(window(1_000_000_000, 1_000_000), (16, 16));
    }

    #[test]
    fn windows_of_a_closed_loop_hold_what_is_on_its_way_four_times() {
        let window = |outstanding, connections| window_of(&closed(outstanding, connections));
        assert_eq!(
            [(1, 1), (64, 10_000), (65, 1)].map(|(all, of)| window(all, of)),
            [256, 256, 260]
        );
        assert_eq!(
            [(1, 20_000), (1, 1_000_000), (8, 1 << 17)].map(|(all, of)| window(all, of)),
            [128, 16, 32]
        );
    }

    proptest! {
        #[test]
        fn up_to_10_000_flows_remember_what_they_always_did(
            period_ns in 1_000_u64..3_600_000_000_000,
            outstanding in 1_u32..=1_024,
            connections in 1_u32..=10_000,
        ) {
            let due = 10_000_000_000_u64.div_ceil(period_ns);
            let expected = due.min((1 << 20) / u64::from(connections)).max(1_024) as usize;
            let plan = open(period_ns, connections);
            prop_assert_eq!(window_of(&plan), expected);
            prop_assert_eq!(trips_of(&plan), expected.min((65_536 / connections as usize).max(1_024)));
            prop_assert_eq!(window_of(&closed(outstanding, connections)), 256.max(4 * outstanding as usize));
            prop_assert_eq!(echoes_of(&plan), 1_024);
            for plan in [plan, closed(outstanding, connections)] {
                prop_assert_eq!(seen_of(&plan), window_of(&plan));
            }
        }

        /// However many there are: what is due in 10 s, as long as all together send no more than a million a second.
        #[test]
        fn flows_that_one_worker_can_serve_remember_what_is_due_in_10_s(
            connections in 1_024_u32..=1_000_000,
            share in 1_u64..=1_000,
        ) {
            let period_ns = u64::from(connections) * 1_000 * share;
            let due = 10_000_000_000_u64.div_ceil(period_ns);
            prop_assert!(window_of(&open(period_ns, connections)) as u64 >= due);
        }

        #[test]
        fn all_windows_together_are_bounded(
            period_ns in 1_000_u64..3_600_000_000_000,
            connections in 1_u32..=1_000_000,
        ) {
            let slots = window_of(&open(period_ns, connections)).next_power_of_two() as u64;
            prop_assert!(slots * u64::from(connections) <= 2 * 1_024 * 10_000 + 16 * 1_000_000);
        }
    }
}
