//! What the streams of a worker count, and what it becomes.

use pathscope_core::stats::LatencyHistogram;

use super::delay::Delays;
use super::frame::FrameCounts;
use super::{DamagedDatagram, FrameJitter, MediaInterval, MediaReport};
use crate::arrivals::{LossBursts, VariationTally};

/// Counts and histograms since the last report. A report takes them whole and leaves fresh ones.
#[derive(Debug, Default)]
pub struct MediaTally {
    /// Streams under way when it was reported.
    pub(super) streams: u64,
    pub(super) frames_sent: u64,
    pub(super) unsent_frames: u64,
    pub(super) sent: u64,
    pub(super) sent_bytes: u64,
    pub(super) send_lag: Box<LatencyHistogram>,
    pub(super) frames: FrameCounts,
    pub(super) received: u64,
    pub(super) received_bytes: u64,
    pub(super) duplicates: u64,
    pub(super) reordered: u64,
    pub(super) late_datagrams: u64,
    pub(super) late_by_sender: u64,
    /// Damaged datagrams; of those, the ones that do not say which they were.
    pub(super) damaged: u64,
    pub(super) unreadable: u64,
    /// Datagrams of which nothing came but something damaged.
    pub(super) spoilt: u64,
    pub(super) first_damaged: Option<DamagedDatagram>,
    pub(super) foreign: u64,
    pub(super) early: u64,
    pub(super) forgotten: u64,
    pub(super) unreachable: u64,
    pub(super) delays: Delays,
    pub(super) variation: VariationTally,
    pub(super) frame_jitter: FrameJitter,
    pub(super) bursts: LossBursts,
    pub(super) longest_freeze_ns: u64,
    pub(super) needed_depth_ns: Option<u64>,
}

impl MediaTally {
    /// Adds all that `later` counted.
    pub fn merge(&mut self, later: &Self) {
        for (sum, more) in [
            (&mut self.frames_sent, later.frames_sent),
            (&mut self.unsent_frames, later.unsent_frames),
            (&mut self.sent, later.sent),
            (&mut self.sent_bytes, later.sent_bytes),
            (&mut self.received, later.received),
            (&mut self.received_bytes, later.received_bytes),
            (&mut self.duplicates, later.duplicates),
            (&mut self.reordered, later.reordered),
            (&mut self.late_datagrams, later.late_datagrams),
            (&mut self.late_by_sender, later.late_by_sender),
            (&mut self.damaged, later.damaged),
            (&mut self.unreadable, later.unreadable),
            (&mut self.spoilt, later.spoilt),
            (&mut self.foreign, later.foreign),
            (&mut self.early, later.early),
            (&mut self.forgotten, later.forgotten),
            (&mut self.unreachable, later.unreachable),
        ] {
            *sum += more;
        }
        self.send_lag.merge(&later.send_lag);
        self.frames.add(&later.frames);
        self.first_damaged = self.first_damaged.or(later.first_damaged);
        self.delays.merge(&later.delays);
        self.variation.merge(&later.variation);
        self.frame_jitter.merge(&later.frame_jitter);
        self.bursts.merge(&later.bursts);
        self.longest_freeze_ns = self.longest_freeze_ns.max(later.longest_freeze_ns);
        self.needed_depth_ns = self.needed_depth_ns.max(later.needed_depth_ns);
    }

    /// What is said of an interval.
    pub fn interval(&self) -> MediaInterval {
        MediaInterval {
            streams: self.streams,
            frames_sent: self.frames_sent,
            sent_datagrams: self.sent,
            sent_bytes: self.sent_bytes,
            received_datagrams: self.received,
            received_bytes: self.received_bytes,
            frames: self.frames,
            damaged_datagrams: self.damaged,
        }
    }

    /// What is said at the end.
    pub fn report(&self) -> MediaReport {
        let lag = (!self.send_lag.is_empty()).then(|| self.send_lag.distribution());
        MediaReport {
            frames_sent: self.frames_sent,
            unsent_frames: self.unsent_frames,
            sent_datagrams: self.sent,
            sent_bytes: self.sent_bytes,
            send_lag: lag,
            frames: self.frames,
            received_datagrams: self.received,
            received_bytes: self.received_bytes,
            lost_datagrams: self.bursts.lost,
            duplicates: self.duplicates,
            reordered: self.reordered,
            late_datagrams: self.late_datagrams,
            late_by_sender: self.late_by_sender,
            damaged_datagrams: self.damaged,
            unreadable_datagrams: self.unreadable,
            spoilt_datagrams: self.spoilt,
            first_damaged: self.first_damaged,
            foreign: self.foreign,
            early: self.early,
            forgotten: self.forgotten,
            unreachable: self.unreachable,
            delay: self.delays.above_least(),
            variation: self.variation.figures(),
            frame_jitter: (self.frame_jitter.count > 0).then_some(self.frame_jitter),
            bursts: self.bursts.clone(),
            longest_freeze_ns: self.longest_freeze_ns,
            needed_depth_ns: self.needed_depth_ns,
            ..MediaReport::default()
        }
    }
}
