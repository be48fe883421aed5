//! How long a queue was, as the frames that came to it saw it, and how long they waited.

use serde::{Deserialize, Serialize};

/// A queue as its arrivals saw it.
///
/// Seen at arrivals, not averaged over time: that is what the frames met. Where they arrive as a
/// Poisson process the two are the same (Wolff, "Poisson Arrivals See Time Averages", 1982), and
/// bursts see longer queues than time does.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct QueueCounts {
    /// Frames that came while the link was not cut, those that were dropped included.
    pub arrivals: u64,
    /// Frames that waited when each of them came, added up: divided by `arrivals`, the mean.
    pub frames_seen: u64,
    /// Bytes that waited when each of them came, added up.
    pub bytes_seen: u64,
    /// Frames whose transmission has begun.
    pub begun: u64,
    /// Nanoseconds from their arrival to the begin of their transmission, added up.
    pub waited_ns: u64,
    /// The most frames that ever waited.
    pub most_frames: u64,
    /// The most bytes that ever waited.
    pub most_bytes: u64,
    /// The longest that a frame waited.
    pub longest_wait_ns: u64,
}

impl QueueCounts {
    /// A frame has come and found so much waiting.
    pub(in crate::link) fn arrived(&mut self, frames: usize, bytes: u64) {
        self.arrivals += 1;
        self.frames_seen = self.frames_seen.saturating_add(frames as u64);
        self.bytes_seen = self.bytes_seen.saturating_add(bytes);
    }

    /// So much waits now.
    pub(in crate::link) fn grew_to(&mut self, frames: usize, bytes: u64) {
        self.most_frames = self.most_frames.max(frames as u64);
        self.most_bytes = self.most_bytes.max(bytes);
    }

    /// A transmission begins, of a frame that has waited so long.
    pub(in crate::link) fn began(&mut self, waited_ns: u64) {
        self.begun += 1;
        self.waited_ns = self.waited_ns.saturating_add(waited_ns);
        self.longest_wait_ns = self.longest_wait_ns.max(waited_ns);
    }

    /// Those of two queues; the greatest of either.
    pub fn add(&self, other: &Self) -> Self {
        Self {
            arrivals: self.arrivals.saturating_add(other.arrivals),
            frames_seen: self.frames_seen.saturating_add(other.frames_seen),
            bytes_seen: self.bytes_seen.saturating_add(other.bytes_seen),
            begun: self.begun.saturating_add(other.begun),
            waited_ns: self.waited_ns.saturating_add(other.waited_ns),
            most_frames: self.most_frames.max(other.most_frames),
            most_bytes: self.most_bytes.max(other.most_bytes),
            longest_wait_ns: self.longest_wait_ns.max(other.longest_wait_ns),
        }
    }

    /// What was added since `earlier`. A greatest value has no difference: those stay as they are,
    /// of all the time.
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            arrivals: self.arrivals.saturating_sub(earlier.arrivals),
            frames_seen: self.frames_seen.saturating_sub(earlier.frames_seen),
            bytes_seen: self.bytes_seen.saturating_sub(earlier.bytes_seen),
            begun: self.begun.saturating_sub(earlier.begun),
            waited_ns: self.waited_ns.saturating_sub(earlier.waited_ns),
            ..*self
        }
    }
}
