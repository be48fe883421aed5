//! What happened between two reports of one end, handed over whole: its figures are computed by whoever takes it,
//! since that costs more than a measuring thread has to spare.

use pathscope_core::stats::{LatencyFigures, LatencyHistogram};

use super::report::{MultipathInterval, PathInterval};

/// Counts, and the latencies themselves.
#[derive(Clone, Debug, Default)]
pub struct MultipathTally {
    /// In the fields that they are told in; the figures of latencies are computed by [`interval`](Self::interval).
    pub(super) counts: MultipathInterval,
    /// From the first sending to the first answer.
    pub(super) effective: LatencyHistogram,
}

impl MultipathTally {
    pub(super) fn of(paths: Vec<PathInterval>) -> Self {
        let counts = MultipathInterval { paths, ..MultipathInterval::default() };
        Self { counts, ..Self::default() }
    }

    /// What is said of it.
    pub fn interval(&self) -> MultipathInterval {
        MultipathInterval {
            effective: (!self.effective.is_empty()).then(|| LatencyFigures::of(&self.effective)),
            ..self.counts.clone()
        }
    }
}
