//! The file of frames: a row for each, in ctsTraffic's seven columns. One that was whole in time has its stamps, and how its time on the way
//! differs from that of the first such frame and of the one before it; one that was not has zeros, and one that came more than once no row.

use pathscope_core::journal::Frame;

/// The columns.
pub const HEAD: &str = "SequenceNumber,SenderQpc,SenderQpf,ReceiverQpc,ReceiverQpf,RelativeInFlightTimeMs,PrevToCurrentInFlightTimeJitter\r\n";
/// Ticks of the stamps in a second, at both ends: they are told in nanoseconds.
const FREQUENCY: u64 = 1_000_000_000;

/// What is remembered of frames for the rows of later ones.
#[derive(Debug, Default)]
pub struct Jitter {
    /// The frame that came last.
    number: u64,
    /// How long the first that was whole in time was on its way, and the last: by two clocks, so that the difference alone says something.
    flights_ns: Option<(i64, i64)>,
}

impl Jitter {
    /// The row of a frame that has ended, if it has one.
    pub fn row(&mut self, frame: &Frame) -> Option<String> {
        if frame.number <= self.number {
            // Another stream has begun.
            self.flights_ns = None;
        }
        self.number = frame.number;
        let sequence = frame.number.saturating_add(1);
        match frame.outcome {
            "completed" => {}
            "late" | "erroneous" | "dropped" => {
                return Some(format!("{sequence},0,0,0,0,0.000,0.000\r\n"));
            }
            _ => return None,
        }
        let flight_ns = frame.received_ns.wrapping_sub(frame.sent_ns).cast_signed();
        let (first_ns, last_ns) = self.flights_ns.unwrap_or((flight_ns, flight_ns));
        self.flights_ns = Some((first_ns, flight_ns));
        let relative = milliseconds(flight_ns.wrapping_sub(first_ns));
        let change = milliseconds(flight_ns.wrapping_sub(last_ns)).abs();
        let Frame { sent_ns, received_ns, .. } = frame;
        Some(format!(
            "{sequence},{sent_ns},{FREQUENCY},{received_ns},{FREQUENCY},{relative:.3},{change:.3}\r\n"
        ))
    }
}

fn milliseconds(nanoseconds: i64) -> f64 {
    nanoseconds as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use pathscope_core::id::FlowId;

    use super::*;

    fn rows(frames: &[(u64, &'static str, u64, u64)]) -> Vec<Option<String>> {
        let mut jitter = Jitter::default();
        let frame = |&(number, outcome, sent_ns, received_ns): &(u64, &'static str, u64, u64)| {
            let (at_ns, missing, repeats) = (Some(received_ns), 0, 0);
            let flow = FlowId(0);
            Frame {
                at_ns,
                flow,
                number,
                outcome,
                missing,
                repeats,
                margin_ns: None,
                sent_ns,
                received_ns,
            }
        };
        frames.iter().map(|it| jitter.row(&frame(it))).collect()
    }

    /// Section 3.6 of the reference.
    #[test]
    fn a_row_for_each_frame_in_time_zeros_for_those_that_were_not_and_none_of_repeated_ones() {
        const MS: u64 = 1_000_000;
        let all = rows(&[
            (0, "completed", 500 * MS, 10 * MS),
            (1, "completed", 520 * MS, 32 * MS),
            (2, "dropped", 0, 0),
            (3, "repeated", 560 * MS, 90 * MS),
            (4, "completed", 580 * MS, 89 * MS + 500_000),
            (5, "late", 600 * MS, 900 * MS),
            (6, "cut", 0, 0),
            // The next stream has its own first frame.
            (0, "completed", 7, 8),
        ]);
        let row = |text: &str| Some(format!("{text}\r\n"));
        assert_eq!(
            all,
            [
                row("1,500000000,1000000000,10000000,1000000000,0.000,0.000"),
                row("2,520000000,1000000000,32000000,1000000000,2.000,2.000"),
                row("3,0,0,0,0,0.000,0.000"),
                None,
                row("5,580000000,1000000000,89500000,1000000000,-0.500,2.500"),
                row("6,0,0,0,0,0.000,0.000"),
                None,
                row("1,7,1000000000,8,1000000000,0.000,0.000"),
            ]
        );
        let cells = |line: &str| line.split(',').count();
        assert!(all.iter().flatten().all(|row| cells(row) == cells(HEAD)));
    }
}
