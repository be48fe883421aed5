//! What the streams of a worker count, and what it becomes.

use pathscope_core::stats::LatencyHistogram;

use super::delay::Delays;
use super::{FrameJitter, MediaInterval, MediaReport};
use crate::arrivals::VariationTally;

/// Counts and histograms since the last report. A report takes them whole and leaves fresh ones.
#[derive(Debug, Default)]
pub struct MediaTally {
    /// Streams under way when it was reported.
    pub(super) streams: u64,
    /// Counts, in the fields that they are told in. What is derived, or known of streams alone, is empty.
    pub(super) counts: MediaReport,
    pub(super) send_lag: Box<LatencyHistogram>,
    pub(super) delays: Delays,
    pub(super) variation: VariationTally,
    pub(super) frame_jitter: FrameJitter,
}

impl MediaTally {
    /// Adds all that `later` counted.
    pub fn merge(&mut self, later: &Self) {
        self.counts.add(&later.counts);
        self.send_lag.merge(&later.send_lag);
        self.delays.merge(&later.delays);
        self.variation.merge(&later.variation);
        self.frame_jitter.merge(&later.frame_jitter);
    }

    /// What is said of an interval.
    pub fn interval(&self) -> MediaInterval {
        MediaInterval {
            streams: self.streams,
            frames_sent: self.counts.frames_sent,
            sent_datagrams: self.counts.sent_datagrams,
            sent_bytes: self.counts.sent_bytes,
            received_datagrams: self.counts.received_datagrams,
            received_bytes: self.counts.received_bytes,
            frames: self.counts.frames,
            damaged_datagrams: self.counts.damaged_datagrams,
        }
    }

    /// What is said at the end.
    pub fn report(&self) -> MediaReport {
        MediaReport {
            send_lag: (!self.send_lag.is_empty()).then(|| self.send_lag.distribution()),
            lost_datagrams: self.counts.bursts.lost,
            delay: self.delays.above_least(),
            variation: self.variation.figures(),
            frame_jitter: (self.frame_jitter.count > 0).then_some(self.frame_jitter),
            ..self.counts.clone()
        }
    }
}
