//! What the streams of a worker count, and what it becomes.

use pathscope_core::record::FlowError;
use pathscope_core::stats::LatencyHistogram;

use super::delay::Delays;
use super::{FrameCounts, FrameJitter, MediaPlan, MediaReport};
use crate::arrivals::VariationTally;
use crate::flows::{Accumulate, AtEnd};
use crate::sums::add_fields;

/// Counts and histograms since the last report, which takes them whole and leaves fresh ones; and those of an end, added
/// up.
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
    /// What was counted, as it is told.
    pub(super) fn told(self) -> MediaReport {
        MediaReport {
            send_lag: (!self.send_lag.is_empty()).then(|| self.send_lag.distribution()),
            lost_datagrams: self.counts.bursts.lost,
            delay: self.delays.above_least(),
            variation: self.variation.figures(),
            frame_jitter: (self.frame_jitter.count > 0).then_some(self.frame_jitter),
            ..self.counts
        }
    }
}

impl Accumulate<MediaPlan> for MediaTally {
    fn count(&mut self, later: &Self) {
        self.counts.add(&later.counts);
        self.send_lag.merge(&later.send_lag);
        self.delays.merge(&later.delays);
        self.variation.merge(&later.variation);
        self.frame_jitter.merge(&later.frame_jitter);
    }

    fn add(&mut self, worker: MediaReport) {
        add_fields!(self.counts, worker; streams_omitted, failed);
        self.counts.are_unnumbered |= worker.are_unnumbered;
        self.counts.streams.extend(worker.streams);
    }

    fn lose(&mut self, flows: u64, _: &FlowError) {
        self.counts.failed += flows;
    }

    fn report(mut self, end: AtEnd<'_>) -> MediaReport {
        self.counts.streams.sort_by_key(|stream| stream.flow);
        for stream in &mut self.counts.streams {
            stream.connection_id = (end.name)(stream.flow);
        }
        MediaReport { socket_drops: end.socket_drops, ..self.told() }
    }
}

/// What one stream came to.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ReceivedStream {
    pub frames: FrameCounts,
    pub bytes: u64,
    pub lost: u64,
    pub longest_freeze_ns: u64,
    pub needed_depth_ns: Option<u64>,
}
