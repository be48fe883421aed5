//! The file of `--jitter-file`: a row for each frame that has ended. Its first columns are those of ctsTraffic,
//! with its names, order and units; ours follow, and the stream is the last. See `docs/guide/media.md`.

use pathscope_core::Tick;
use pathscope_core::journal::{Each, Frame};

use super::{FrameRow, Outcome};
use crate::samples::{Cells, SampleRows, decimal};

/// Ticks of our clocks in a second.
const FREQUENCY: u64 = 1_000_000_000;

/// The first row.
const HEAD: &str = "SequenceNumber,SenderQpc,SenderQpf,ReceiverQpc,ReceiverQpf,\
    RelativeInFlightTimeMs,PrevToCurrentInFlightTimeJitter,\
    Outcome,MissingDatagrams,RepeatedDatagrams,MarginMs,Stream\n";

/// The rows of frames.
#[derive(Debug)]
pub struct FrameRows;

impl SampleRows for FrameRows {
    type Sample = FrameRow;

    fn head(&self) -> String {
        HEAD.to_owned()
    }

    fn cells(&self, column: &str) -> Cells {
        match column {
            "RelativeInFlightTimeMs" | "PrevToCurrentInFlightTimeJitter" | "MarginMs" => {
                Cells::Decimals
            }
            "Outcome" => Cells::Words,
            _ => Cells::Integers,
        }
    }

    fn add(&mut self, text: &mut Vec<u8>, frame: &FrameRow, _: Tick) {
        // Theirs count from 1.
        decimal(text, frame.frame.saturating_add(1));
        text.push(b',');
        // Theirs says nothing of frames that were not whole in time but zeros.
        let is_played = matches!(frame.outcome, Outcome::Completed | Outcome::Repeated);
        let played = |value: u64| if is_played { value } else { 0 };
        let stamps = [frame.sent.as_nanos(), FREQUENCY, frame.received.as_nanos(), FREQUENCY];
        for stamp in stamps {
            decimal(text, played(stamp));
            text.push(b',');
        }
        let (relative, change) = frame.flight_ns.unwrap_or_default();
        for nanoseconds in [relative, i64::try_from(change).unwrap_or(i64::MAX)] {
            milliseconds(text, nanoseconds);
            text.push(b',');
        }
        text.extend_from_slice(frame.outcome.name().as_bytes());
        for number in [frame.missing, frame.repeats] {
            text.push(b',');
            decimal(text, number);
        }
        text.push(b',');
        frame.margin_ns.into_iter().for_each(|margin| milliseconds(text, margin));
        text.push(b',');
        decimal(text, frame.flow.0);
        text.push(b'\n');
    }

    fn each(&self, frame: &FrameRow, start: Tick) -> Option<Each> {
        let is_whole =
            matches!(frame.outcome, Outcome::Completed | Outcome::Repeated | Outcome::Late);
        Some(Each::Frame(Frame {
            at_ns: is_whole.then(|| frame.received.nanos_since(start)),
            flow: frame.flow,
            number: frame.frame,
            outcome: frame.outcome.name(),
            missing: frame.missing.into(),
            repeats: frame.repeats.into(),
            margin_ns: frame.margin_ns,
            sent_ns: frame.sent.as_nanos(),
            received_ns: frame.received.as_nanos(),
        }))
    }
}

/// Milliseconds with three decimals, rounded towards zero.
fn milliseconds(text: &mut Vec<u8>, nanoseconds: i64) {
    let micros = nanoseconds.unsigned_abs() / 1_000;
    if nanoseconds < 0 && micros > 0 {
        text.push(b'-');
    }
    decimal(text, micros / 1_000);
    text.push(b'.');
    let digits = [micros / 100 % 10, micros / 10 % 10, micros % 10];
    text.extend(digits.map(|digit| b'0' + digit as u8));
}

#[cfg(test)]
mod tests {
    use pathscope_core::id::FlowId;

    use super::*;

    fn row(outcome: Outcome) -> FrameRow {
        FrameRow {
            flow: FlowId(3),
            frame: 7,
            outcome,
            missing: 0,
            repeats: 0,
            sent: Tick::from_nanos(1_000),
            received: Tick::from_nanos(2_500),
            flight_ns: Some((-1_234_567, 999)),
            margin_ns: Some(1_000_000_000),
        }
    }

    fn text(row: &FrameRow) -> String {
        let mut text = Vec::new();
        FrameRows.add(&mut text, row, Tick::ZERO);
        String::from_utf8(text).expect("digits and words")
    }

    #[test]
    fn a_frame_in_time_has_the_columns_of_others_and_then_ours() {
        assert_eq!(
            text(&row(Outcome::Completed)),
            "8,1000,1000000000,2500,1000000000,-1.234,0.000,completed,0,0,1000.000,3\n"
        );
        let cells = |line: &str| line.trim().split(',').count();
        assert_eq!(cells(HEAD), cells(&text(&row(Outcome::Late))));
    }

    #[test]
    fn a_dropped_frame_is_zeros_as_in_others() {
        let dropped =
            FrameRow { missing: 4, flight_ns: None, margin_ns: None, ..row(Outcome::Dropped) };
        assert_eq!(text(&dropped), "8,0,0,0,0,0.000,0.000,dropped,4,0,,3\n");
    }
}
