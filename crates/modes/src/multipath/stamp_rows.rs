//! A row of the file of `--samples` for each datagram, put together from what became of it on each path. Who writes it,
//! and when, is somebody else's affair.

use pathscope_core::Tick;
use pathscope_core::id::Lane;

use super::MultipathSample;
use crate::samples::{SampleRows, decimal};

/// A row that is put together from what became of one datagram on each path.
#[derive(Debug)]
pub struct StampRows {
    text: Vec<u8>,
    number: u64,
    lanes: u8,
    /// The path that comes next.
    next: Lane,
}

impl StampRows {
    /// Rows of so many paths.
    pub fn new(lanes: u8) -> Self {
        Self { text: Vec::new(), number: 0, lanes, next: Lane(0) }
    }
}

impl SampleRows for StampRows {
    type Sample = MultipathSample;

    /// The columns of `MultipathLatencyAnalyzer`, for any number of paths.
    fn head(&self) -> String {
        let mut head = "Sequence number".to_owned();
        for lane in 0..self.lanes {
            let path = match lane {
                0 => "Primary".to_owned(),
                1 => "Secondary".to_owned(),
                other => format!("Path {}", other + 1),
            };
            for what in ["Send", "Echo", "Receive"] {
                for part in [", ", &path, " ", what, " timestamp (microsec)"] {
                    head.push_str(part);
                }
            }
        }
        head.push('\n');
        head
    }

    /// Adds the next path, and hands the row over when it is whole. One of which a part was dropped is left out.
    fn add(&mut self, rows: &mut Vec<u8>, sample: &MultipathSample, start: Tick) {
        if sample.lane == Lane(0) {
            self.text.clear();
            decimal(&mut self.text, sample.number);
            (self.number, self.next) = (sample.number, Lane(0));
        }
        if sample.lane != self.next || sample.number != self.number {
            return;
        }
        self.next = Lane(self.next.0 + 1);
        // The echo is of the server's clock, which has no start here.
        let (sent, received) = (sample.sent.nanos_since(start), sample.received.nanos_since(start));
        let echoed = sample.echoed.as_nanos();
        for (at, nanoseconds) in
            [(sample.sent, sent), (sample.echoed, echoed), (sample.received, received)]
        {
            self.text.extend_from_slice(b", ");
            if at == Tick::NEVER {
                self.text.extend_from_slice(b"-1");
            } else {
                decimal(&mut self.text, nanoseconds / 1_000);
            }
        }
        if self.next == Lane(self.lanes) {
            self.text.push(b'\n');
            rows.extend_from_slice(&self.text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_stand_in_the_columns_of_the_original() {
        let (at, never) = (Tick::from_nanos, Tick::NEVER);
        let mut rows = StampRows::new(3);
        let mut text = rows.head().into_bytes();
        let mut add = |number, lane, sent, echoed, received| {
            let sample = MultipathSample { number, lane: Lane(lane), sent, echoed, received };
            rows.add(&mut text, &sample, at(1_000));
        };
        add(0, 0, at(3_000), at(77_000), at(9_999));
        add(0, 1, at(4_000), never, never);
        add(0, 2, never, never, never);
        // One whose first part was dropped has no row.
        add(1, 1, at(4_000), never, never);
        add(1, 2, at(4_000), never, never);
        (0..3).for_each(|lane| add(2, lane, at(1_000), never, never));
        let head = "Sequence number, Primary Send timestamp (microsec), \
            Primary Echo timestamp (microsec), Primary Receive timestamp (microsec), \
            Secondary Send timestamp (microsec), Secondary Echo timestamp (microsec), \
            Secondary Receive timestamp (microsec), Path 3 Send timestamp (microsec), \
            Path 3 Echo timestamp (microsec), Path 3 Receive timestamp (microsec)";
        let rows = "0, 2, 77, 8, 3, -1, -1, -1, -1, -1\n2, 0, -1, -1, 0, -1, -1, 0, -1, -1\n";
        assert_eq!(String::from_utf8(text).expect("digits and words"), format!("{head}\n{rows}"));
    }
}
