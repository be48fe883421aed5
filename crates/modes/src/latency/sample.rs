//! Each ping by itself, and its row of the file of `--samples`.

use pathscope_core::Tick;
use pathscope_core::id::FlowId;
use pathscope_core::journal::{Each, Ping};

use crate::arrivals::difference;
use crate::samples::{Cells, SampleRows, decimal};

/// The first row. `docs/method/latency.md` says what each column holds.
const HEAD: &str = "flow,ping,scheduled_ns,sent_ns,received_ns,rtt_ns,server_residence_ns,outcome,counted_from_ns,server_received_ns\n";

/// What became of a ping.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Outcome {
    /// It was answered, and is in the figures.
    Answered,
    /// It was answered, and belongs to the warm-up.
    WarmUp,
    /// Nothing of it came.
    Lost,
    /// What came of it had other bytes than were sent.
    Corrupt,
}

impl Outcome {
    /// A word for files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::WarmUp => "warm_up",
            Self::Lost => "lost",
            Self::Corrupt => "corrupt",
        }
    }
}

/// One ping that was sent.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Sample {
    /// Its flow.
    pub flow: FlowId,
    /// Its number in the flow, from 0.
    pub sequence: u64,
    /// When it was to leave; in a closed loop, when it left.
    pub due: Tick,
    /// From when its round trip counts: the first attempt to send it, or when it was due where the system refused its flow
    /// then.
    pub from: Tick,
    /// When it left.
    pub sent: Tick,
    /// When its echo came; [`Tick::NEVER`]: no intact one, or not in time.
    pub received: Tick,
    /// When the server received it and sent the echo, by the server's clock, where the echo says so.
    pub server: Option<(Tick, Tick)>,
    /// What became of it.
    pub outcome: Outcome,
}

/// The rows of pings.
#[derive(Debug)]
pub struct PingRows;

impl SampleRows for PingRows {
    type Sample = Sample;

    fn head(&self) -> String {
        HEAD.to_owned()
    }

    fn cells(&self, column: &str) -> Cells {
        if column == "outcome" { Cells::Words } else { Cells::Integers }
    }

    fn add(&mut self, text: &mut Vec<u8>, sample: &Sample, start: Tick) {
        let is_answered = sample.received != Tick::NEVER;
        let answered = |value: u64| is_answered.then_some(value);
        let residence = sample.server.map(|(received, sent)| sent.nanos_since(received));
        for cell in [
            Some(u64::from(sample.flow.0)),
            Some(sample.sequence),
            Some(sample.due.nanos_since(start)),
            Some(sample.sent.nanos_since(start)),
            answered(sample.received.nanos_since(start)),
            answered(sample.received.nanos_since(sample.from)),
            residence,
        ] {
            if let Some(value) = cell {
                decimal(text, value);
            }
            text.push(b',');
        }
        text.extend_from_slice(sample.outcome.name().as_bytes());
        text.push(b',');
        decimal(text, sample.from.nanos_since(start));
        text.push(b',');
        if let Some((received, _)) = sample.server {
            // Another machine's clock has another zero, which may be later than ours.
            decimal(text, difference(received, start));
        }
        text.push(b'\n');
    }

    fn each(&self, sample: &Sample, start: Tick) -> Option<Each> {
        let is_answered = sample.received != Tick::NEVER;
        let over = if is_answered { sample.received } else { sample.sent };
        Some(Each::Ping(Ping {
            at_ns: over.nanos_since(start),
            flow: sample.flow,
            number: sample.sequence,
            sent_ns: sample.sent.nanos_since(start),
            rtt_ns: is_answered.then(|| sample.received.nanos_since(sample.from)),
            outcome: sample.outcome.name(),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Tick = Tick::from_nanos(1_000);

    fn row(sequence: u64, received: Tick, outcome: Outcome) -> String {
        let due = Tick::from_nanos(1_010);
        let (from, sent) = (Tick::from_nanos(1_011), Tick::from_nanos(1_012));
        let server = Some((Tick::from_nanos(77), Tick::from_nanos(80)));
        let server = server.filter(|_| received != Tick::NEVER);
        let sample =
            Sample { flow: FlowId(3), sequence, due, from, sent, received, server, outcome };
        let mut text = Vec::new();
        PingRows.add(&mut text, &sample, START);
        String::from_utf8(text).expect("digits and words")
    }

    #[test]
    fn each_ping_is_a_row() {
        let at = Tick::from_nanos;
        for (expected, row) in [
            ("3,7,10,12,30,19,3,answered,11,-923\n", row(7, at(1_030), Outcome::Answered)),
            ("3,8,10,12,40,29,3,warm_up,11,-923\n", row(8, at(1_040), Outcome::WarmUp)),
            ("3,9,10,12,,,,corrupt,11,\n", row(9, Tick::NEVER, Outcome::Corrupt)),
            (
                "3,18446744073709551615,10,12,,,,lost,11,\n",
                row(u64::MAX, Tick::NEVER, Outcome::Lost),
            ),
        ] {
            assert_eq!(row, expected);
        }
        let cells = |line: &str| line.trim().split(',').count();
        assert_eq!(cells(HEAD), cells(&row(0, Tick::NEVER, Outcome::Lost)));
    }
}
