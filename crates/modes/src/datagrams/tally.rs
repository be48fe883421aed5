//! What datagram flows count, and what it becomes.

use pathscope_core::stats::{LatencyFigures, LatencyHistogram};

use super::{DatagramsInterval, DatagramsReport};
use crate::arrivals::VariationTally;

/// Counts since the last report. A report takes them whole and leaves fresh ones.
#[derive(Debug, Default)]
pub struct DatagramTally {
    /// Counts, in the fields that they are told in. What is derived, or known of flows alone, is empty.
    pub(super) counts: DatagramsReport,
    /// The most bytes that came in one buffer of a socket: of one datagram, or of several that were joined.
    pub(super) largest_buffer_bytes: u64,
    /// By how much the highest numbers rose: what was received and what was not.
    pub(super) expected: u64,
    /// From the time that a batch was due to the time that it left.
    pub(super) send_lag: Box<LatencyHistogram>,
    pub(super) variation: VariationTally,
}

impl DatagramTally {
    /// Adds what was counted after this.
    pub fn merge(&mut self, later: &Self) {
        self.counts.add(&later.counts);
        self.largest_buffer_bytes = self.largest_buffer_bytes.max(later.largest_buffer_bytes);
        self.expected += later.expected;
        self.send_lag.merge(&later.send_lag);
        self.variation.merge(&later.variation);
    }

    /// What is said of an interval.
    pub fn interval(&self) -> DatagramsInterval {
        let DatagramsReport { sent, sent_bytes, received, received_bytes, .. } = self.counts;
        DatagramsInterval { sent, sent_bytes, received, received_bytes, expected: self.expected }
    }

    /// Adds it to what is said at the end.
    pub fn add_to(&self, report: &mut DatagramsReport) {
        report.add(&self.counts);
        if self.largest_buffer_bytes > 0 {
            report.largest_buffer_bytes =
                report.largest_buffer_bytes.max(Some(self.largest_buffer_bytes));
        }
        if !self.send_lag.is_empty() {
            report.send_lag = Some(LatencyFigures::of(&self.send_lag));
        }
        report.jitter = self.variation.figures();
    }
}
