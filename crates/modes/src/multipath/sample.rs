//! The stamps of each datagram on each path, for whoever wants the raw material, and the rows of the file of `--samples`: one
//! for each datagram, put together from what became of it on each path. Who writes them, and when, is somebody else's affair.

use pathscope_core::Tick;
use pathscope_core::id::Lane;
use pathscope_core::journal::{Each, Leg};

use crate::samples::{SampleRows, decimal};

/// What became of one number on one path. Those of one number follow one another, one for each path of the plan.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct MultipathSample {
    /// The number, from 0.
    pub number: u64,
    /// The path's place.
    pub lane: Lane,
    /// When it left and came back.
    pub stamps: Stamps,
}

/// What became of one number on one path. [`Tick::NEVER`]: that did not happen.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Stamps {
    /// Before the system call.
    pub sent: Tick,
    /// By the server's clock, before its system call.
    pub echoed: Tick,
    /// After the system call.
    pub received: Tick,
}

impl Stamps {
    /// Nothing happened.
    pub(crate) const NONE: Self =
        Self { sent: Tick::NEVER, echoed: Tick::NEVER, received: Tick::NEVER };

    pub(super) fn is_sent(&self) -> bool {
        self.sent != Tick::NEVER
    }

    pub(super) fn is_received(&self) -> bool {
        self.received != Tick::NEVER
    }

    pub(super) fn latency_ns(&self) -> Option<u64> {
        self.is_received().then(|| self.received.nanos_since(self.sent))
    }
}

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

    fn absent(&self) -> &'static str {
        "-1"
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
        let Stamps { sent, echoed, received } = sample.stamps;
        // The echo is of the server's clock, which has no start here.
        for (at, since) in [(sent, start), (echoed, Tick::ZERO), (received, start)] {
            self.text.extend_from_slice(b", ");
            if at == Tick::NEVER {
                self.text.extend_from_slice(b"-1");
            } else {
                decimal(&mut self.text, at.nanos_since(since) / 1_000);
            }
        }
        if self.next == Lane(self.lanes) {
            self.text.push(b'\n');
            rows.extend_from_slice(&self.text);
        }
    }

    fn each(&self, sample: &MultipathSample, start: Tick) -> Option<Each> {
        let since_start = |at: Tick| (at != Tick::NEVER).then(|| at.nanos_since(start));
        let &MultipathSample { number, lane, stamps } = sample;
        let [sent_ns, received_ns] = [stamps.sent, stamps.received].map(since_start);
        let echoed_ns = (stamps.echoed != Tick::NEVER).then(|| stamps.echoed.as_nanos());
        Some(Each::Leg(Leg { number, path: lane.0, sent_ns, echoed_ns, received_ns }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_leg_is_told_by_itself() {
        let at = Tick::from_nanos;
        let stamps = Stamps { sent: at(3_000), echoed: at(77_000), received: Tick::NEVER };
        let sample = MultipathSample { number: 7, lane: Lane(1), stamps };
        let leg = Leg {
            number: 7,
            path: 1,
            sent_ns: Some(2_000),
            echoed_ns: Some(77_000),
            received_ns: None,
        };
        assert_eq!(StampRows::new(2).each(&sample, at(1_000)), Some(Each::Leg(leg)));
    }

    #[test]
    fn stamps_stand_in_the_columns_of_the_original() {
        let (at, never) = (Tick::from_nanos, Tick::NEVER);
        let mut rows = StampRows::new(3);
        let mut text = rows.head().into_bytes();
        let mut add = |number, lane, sent, echoed, received| {
            let stamps = Stamps { sent, echoed, received };
            let sample = MultipathSample { number, lane: Lane(lane), stamps };
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
