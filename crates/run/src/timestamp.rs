//! Wall time as people and documents write it.

use jiff::Timestamp;
use pathscope_os::clock;

/// RFC 3339 in UTC, to the millisecond.
pub fn rfc3339(unix_ns: u64) -> String {
    format!("{:.3}", timestamp(unix_ns))
}

/// Now, as a part of a file's name that sorts by time: `20261121-100544`.
pub fn file_stamp() -> String {
    timestamp(clock::wall_unix_ns()).strftime("%Y%m%d-%H%M%S").to_string()
}

fn timestamp(unix_ns: u64) -> Timestamp {
    Timestamp::from_nanosecond(i128::from(unix_ns)).unwrap_or(Timestamp::UNIX_EPOCH)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use pathscope_core::event::Event;
    use pathscope_core::quantity::{Frequency, Period};
    use pathscope_core::record::Host;

    use super::*;
    use crate::client::{self, CONNECT_WITHIN, Request};
    use crate::records::journal::Journal;
    use crate::stop::Stop;
    use pathscope_modes::follow_up::Tests;
    use pathscope_modes::survey::{self, SurveyOptions};
    use pathscope_peers::registry::PeerKind;

    static WALL: AtomicU64 = AtomicU64::new(1_800_000_000_000_000_000);

    /// A clock that somebody sets back by a day whenever it is read.
    fn stepping() -> u64 {
        WALL.fetch_sub(86_400_000_000_000, Ordering::Relaxed)
    }

    #[test]
    fn a_clock_that_steps_touches_no_figure() {
        let tests = survey::tests(
            &SurveyOptions {
                connections: 2,
                duration: Period::from_millis(300),
                probe_rate: Frequency(100),
                congestion_control: None,
            },
            Period::from_millis(100),
        );
        let request = Request {
            kind: "survey".to_owned(),
            command: Vec::new(),
            here: Host::default(),
            peer: PeerKind::OWN,
            hosts: Vec::new(),
            port: 5210,
            probe_server: None,
            family: None,
            connect_within: CONNECT_WITHIN,
            tests: Tests { are_compared: true, ..tests.into() },
            assertions: Vec::new(),
            afterwards: Box::new(Vec::new),
            journal: Journal::default(),
            samples: None,
            wall_unix_ns: stepping,
        };
        let mut checkpoints = Vec::new();
        let (document, failure) = client::run(request, &Stop::default(), &mut |event| {
            if let Event::Checkpoint { .. } = event {
                checkpoints.push(stepping());
            }
        });
        assert!(failure.is_none(), "{failure:?}");
        assert_eq!(document.started_at, "2027-01-15T08:00:00.000Z");
        assert_eq!(document.measurements.len(), 4);
        // The other end may have begun a moment sooner, and then it ends sooner; but no time is a day, or none.
        let plausible = 100_000_000..86_400_000_000_000;
        assert!(plausible.contains(&document.duration_ns), "{}", document.duration_ns);
        for measurement in &document.measurements {
            assert!(plausible.contains(&measurement.duration_ns), "{}", measurement.duration_ns);
            let ends = measurement.intervals.iter().filter_map(|interval| interval.client.as_ref());
            for end in ends {
                assert!(end.end_ns >= end.start_ns && end.end_ns < 86_400_000_000_000, "{end:?}");
            }
        }
        // It was read once before the first word of it, and set back by each of ours.
        assert!(!checkpoints.is_empty() && checkpoints[0] < 1_800_000_000_000_000_000);
    }

    #[test]
    fn documents_write_rfc_3339() {
        assert_eq!(rfc3339(1_000_000_000_123_456_789), "2001-09-09T01:46:40.123Z");
    }
}
