//! How much delay varies, by every definition that has a name, in constant memory.
//!
//! All of them take differences, so the offset between two clocks falls out, and the variation of each
//! direction is known without synchronised clocks. What remains is the difference of their rates: 1 µs a
//! second for each millionth, which between two pings is nothing.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::arrivals::{LastTransit, VariationFigures, VariationTally};

/// One flow's memory of the last arrival: its round trip, and its way there and back.
pub(super) type Last = [LastTransit; 3];

/// What the flows of a worker found, of as many of those as are measured: none, the round trip, or with the server's stamps
/// all three.
pub(super) type Variation = Box<[VariationTally]>;

/// The echo of ping `sequence` came, the first time. The transit times of one way are of two clocks, and mean nothing but by
/// their differences.
pub(super) fn arrived(
    last: &mut Last,
    sequence: u64,
    transits_ns: [i64; 3],
    found: &mut [VariationTally],
) {
    for ((last, transit_ns), found) in last.iter_mut().zip(transits_ns).zip(found) {
        last.arrived(sequence, transit_ns, found);
    }
}

/// How much delay varied, from where the round trip counts: the round trip, and each direction by itself where echoes
/// carry the server's stamps. In documents of version 1, from the sends that were accepted.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct VariationReport {
    /// From the client's first attempt to send to its receipt.
    pub round_trip: VariationFigures,
    /// From the client's first attempt to send to the server's receipt.
    pub forward: Option<VariationFigures>,
    /// From the server's send to the client's receipt.
    pub back: Option<VariationFigures>,
}

impl VariationReport {
    /// What was found comes to this; to nothing where fewer than two echoes came.
    pub(super) fn of(found: &[VariationTally]) -> Option<Self> {
        let mut figures = found.iter().map(VariationTally::figures);
        Some(Self {
            round_trip: figures.next()??,
            forward: figures.next().flatten(),
            back: figures.next().flatten(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(arrivals: &[(u64, i64)]) -> VariationReport {
        let (mut last, mut found): (Last, [VariationTally; 3]) = Default::default();
        for &(sequence, delay) in arrivals {
            // The server's clock runs an hour ahead.
            let there_and_back = [delay / 2 + 3_600_000_000_000, delay / 2 - 3_600_000_000_000];
            let transits_ns = [delay, there_and_back[0], there_and_back[1]];
            arrived(&mut last, sequence, transits_ns, &mut found);
        }
        VariationReport::of(&found).expect("two arrivals or more")
    }

    #[test]
    fn the_clock_offset_falls_out() {
        let report = of(&[(0, 1_000), (1, 1_400), (2, 1_000)]);
        assert_eq!(report.round_trip.ipdv.mean_ns, Some(400.0));
        for way in [report.forward, report.back] {
            assert_eq!(way.expect("stamps").ipdv.mean_ns, Some(200.0));
        }
    }

    #[test]
    fn stamps_of_a_hostile_server_do_not_overflow() {
        let (mut last, mut found): (Last, [VariationTally; 3]) = Default::default();
        for extreme in [i64::MIN, i64::MAX, 0, i64::MIN] {
            arrived(&mut last, 0, [extreme; 3], &mut found);
        }
        assert!(VariationReport::of(&found).is_some());
    }
}
