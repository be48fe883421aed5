//! A row of the file of `--samples` for each datagram, put together from what became of it on each path. Who writes it,
//! and when, is `samples`.

use pathscope_core::Tick;
use pathscope_core::id::Lane;
use pathscope_modes::multipath::MultipathSample;

use crate::records::samples::decimal;

/// A row that is put together from what became of one datagram on each path.
#[derive(Debug)]
pub(crate) struct StampsRow {
    text: Vec<u8>,
    number: u64,
    lanes: u8,
    /// The path that comes next.
    next: Lane,
}

impl StampsRow {
    /// The columns of `MultipathLatencyAnalyzer`, for any number of paths.
    pub fn head(lanes: u8) -> String {
        let mut head = "Sequence number".to_owned();
        for lane in 0..lanes {
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

    /// Rows of so many paths.
    pub fn new(lanes: u8) -> Self {
        Self { text: Vec::new(), number: 0, lanes, next: Lane(0) }
    }

    /// Adds the next path, and hands the row over when it is whole. One of which a part was dropped is left out.
    pub fn add(&mut self, rows: &mut Vec<u8>, sample: &MultipathSample, start: Tick) {
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
