//! What happened between two reports of one end, handed over whole: its figures are computed by whoever takes it,
//! since that costs more than a measuring thread has to spare.

use pathscope_core::stats::{LatencyFigures, LatencyHistogram};

use super::report::{MultipathInterval, PathInterval};

/// Counts, and the latencies themselves.
#[derive(Clone, Debug, Default)]
pub struct MultipathTally {
    pub(super) sent: u64,
    pub(super) received: u64,
    /// From the first sending to the first answer.
    pub(super) effective: LatencyHistogram,
    pub(super) paths: Vec<PathCounts>,
}

/// Of one path.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PathCounts {
    pub sent: u64,
    pub received: u64,
}

impl MultipathTally {
    pub(super) fn new(lanes: u8) -> Self {
        Self { paths: vec![PathCounts::default(); usize::from(lanes)], ..Self::default() }
    }

    /// What is said of it.
    pub fn interval(&self) -> MultipathInterval {
        let path = |&PathCounts { sent, received }: &PathCounts| PathInterval {
            sent,
            received,
            ..PathInterval::default()
        };
        MultipathInterval {
            sent: self.sent,
            received: self.received,
            effective: (!self.effective.is_empty()).then(|| LatencyFigures::of(&self.effective)),
            paths: self.paths.iter().map(path).collect(),
        }
    }
}
