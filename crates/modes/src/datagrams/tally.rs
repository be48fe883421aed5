//! What datagram flows count, and what it becomes.

use pathscope_core::stats::{LatencyFigures, LatencyHistogram};

use super::{DatagramsInterval, DatagramsReport};
use crate::arrivals::VariationTally;

/// Counts since the last report. A report takes them whole and leaves fresh ones.
#[derive(Debug, Default)]
pub struct DatagramTally {
    /// Datagrams that the kernel took.
    pub sent: u64,
    /// Their payload.
    pub sent_bytes: u64,
    /// Datagrams that were due and did not leave.
    pub unsent: u64,
    /// Word from the network that datagrams of this end did not arrive.
    pub unreachable: u64,
    /// Datagrams that came the first time, whole and right.
    pub received: u64,
    /// Their payload.
    pub received_bytes: u64,
    /// The most bytes that came in one buffer of a socket: of one datagram, or of several that were joined.
    pub largest_buffer_bytes: u64,
    /// By how much the highest numbers rose: what was received and what was not.
    pub expected: u64,
    /// Copies beyond the first.
    pub duplicates: u64,
    /// Datagrams that came after one of a higher number.
    pub reordered: u64,
    /// How many arrivals had overtaken each of those, in all.
    pub reordering_extent: u64,
    /// The most of one.
    pub reordering_extent_max: u64,
    /// Datagrams that came after the drain, or when their number was not remembered any more.
    pub late: u64,
    /// Datagrams that came otherwise than they were sent.
    pub corrupt: u64,
    /// Of those: with a damaged header, so that their number is not known.
    pub corrupt_headers: u64,
    /// Datagrams of no flow of ours.
    pub foreign: u64,
    /// From the time that a batch was due to the time that it left.
    pub(super) send_lag: Box<LatencyHistogram>,
    pub(super) variation: VariationTally,
}

impl DatagramTally {
    /// Adds what was counted after this.
    pub fn merge(&mut self, later: &Self) {
        self.sent += later.sent;
        self.sent_bytes += later.sent_bytes;
        self.unsent += later.unsent;
        self.unreachable += later.unreachable;
        self.received += later.received;
        self.received_bytes += later.received_bytes;
        self.largest_buffer_bytes = self.largest_buffer_bytes.max(later.largest_buffer_bytes);
        self.expected += later.expected;
        self.duplicates += later.duplicates;
        self.reordered += later.reordered;
        self.reordering_extent += later.reordering_extent;
        self.reordering_extent_max = self.reordering_extent_max.max(later.reordering_extent_max);
        self.late += later.late;
        self.corrupt += later.corrupt;
        self.corrupt_headers += later.corrupt_headers;
        self.foreign += later.foreign;
        self.send_lag.merge(&later.send_lag);
        self.variation.merge(&later.variation);
    }

    /// What is said of an interval.
    pub fn interval(&self) -> DatagramsInterval {
        DatagramsInterval {
            sent: self.sent,
            sent_bytes: self.sent_bytes,
            received: self.received,
            received_bytes: self.received_bytes,
            expected: self.expected,
        }
    }

    /// Adds it to what is said at the end.
    pub fn add_to(&self, report: &mut DatagramsReport) {
        report.sent += self.sent;
        report.sent_bytes += self.sent_bytes;
        report.unsent += self.unsent;
        report.unreachable += self.unreachable;
        report.received += self.received;
        report.received_bytes += self.received_bytes;
        if self.largest_buffer_bytes > 0 {
            report.largest_buffer_bytes =
                report.largest_buffer_bytes.max(Some(self.largest_buffer_bytes));
        }
        report.duplicates += self.duplicates;
        report.reordered += self.reordered;
        report.reordering_extent_sum += self.reordering_extent;
        report.reordering_extent_max = report.reordering_extent_max.max(self.reordering_extent_max);
        report.late += self.late;
        report.corrupt += self.corrupt;
        report.corrupt_headers += self.corrupt_headers;
        report.foreign += self.foreign;
        if !self.send_lag.is_empty() {
            report.send_lag = Some(LatencyFigures::of(&self.send_lag));
        }
        report.jitter = self.variation.figures();
    }
}
