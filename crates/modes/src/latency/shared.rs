//! What the latency flows of one worker have in common.

use pathscope_core::Tick;
use pathscope_flow::Shared;

use super::tally::{LatencyTally, Shape};
use super::window::Window;
use super::{Extent, LatencyPlan, LoadModel};

/// Pings remembered in an open loop: at 100,000 a second, 0.65 s.
const OPEN_WINDOW: usize = 1 << 16;
/// Pings remembered in a closed loop, where one is on its way at any time.
const CLOSED_WINDOW: usize = 1 << 10;

/// Plan, counts and histograms of one worker.
#[derive(Debug)]
pub struct LatencyShared {
    shape: Shape,
    pub(super) size_bytes: usize,
    /// Open loop: from one ping to the next.
    pub(super) period_ns: Option<u64>,
    pub(super) duration_ns: Option<u64>,
    pub(super) iterations: Option<u64>,
    pub(super) warm_up_ns: u64,
    pub(super) tally: LatencyTally,
    pub(super) window: Window,
}

impl LatencyShared {
    /// For flows of `plan`.
    pub fn new(plan: &LatencyPlan) -> Self {
        let shape = Shape::of(plan);
        let period_ns = match plan.load_model {
            LoadModel::Closed => None,
            LoadModel::Open { period_ns } => Some(period_ns.0),
        };
        let (duration_ns, iterations) = match plan.extent {
            Extent::DurationNs(duration) => (Some(duration.0), None),
            Extent::Iterations(iterations) => (None, Some(iterations)),
            Extent::WithLoad => (None, None),
        };
        Self {
            shape,
            size_bytes: plan.size_bytes.0 as usize,
            period_ns,
            duration_ns,
            iterations,
            warm_up_ns: plan.warm_up_ns.0,
            tally: LatencyTally::new(shape),
            window: Window::new(if period_ns.is_some() { OPEN_WINDOW } else { CLOSED_WINDOW }),
        }
    }
}

impl Shared for LatencyShared {
    type Report = LatencyTally;

    fn report(&mut self, _now: Tick) -> LatencyTally {
        // Fresh histograms are untouched zero pages: a few microseconds once a report.
        std::mem::replace(&mut self.tally, LatencyTally::new(self.shape))
    }
}
