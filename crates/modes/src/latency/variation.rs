//! How much delay varies, by every definition that has a name, in constant memory.
//!
//! All of them take differences, so the offset between two clocks falls out, and the variation of each
//! direction is known without synchronised clocks. What remains is the difference of their rates: 1 µs a
//! second for each millionth, which between two pings is nothing.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::arrivals::{LastTransit, VariationFigures, VariationTally};

/// What varies: three transit times of one ping and its echo. Those of one way are of two clocks, and
/// mean nothing but by their differences.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Transits {
    pub round_trip_ns: i64,
    /// There and back, where the echo carries the server's stamps.
    pub one_way_ns: Option<(i64, i64)>,
}

/// One flow's memory of the last arrival.
#[derive(Clone, Debug, Default)]
pub(super) struct Last {
    round_trip: LastTransit,
    forward: LastTransit,
    back: LastTransit,
}

impl Last {
    /// The echo of ping `sequence` came, the first time.
    pub fn arrived(&mut self, sequence: u64, now: Transits, tally: &mut VariationTallies) {
        self.round_trip.arrived(sequence, now.round_trip_ns, &mut tally.round_trip);
        if let (Some((there, and_back)), Some((forward, back))) =
            (now.one_way_ns, &mut tally.one_way)
        {
            self.forward.arrived(sequence, there, forward);
            self.back.arrived(sequence, and_back, back);
        }
    }
}

/// What the flows of a worker found.
#[derive(Debug)]
pub(super) struct VariationTallies {
    round_trip: VariationTally,
    /// There and back, where echoes carry stamps.
    one_way: Option<(VariationTally, VariationTally)>,
}

impl VariationTallies {
    /// Nothing found yet.
    pub fn new(has_stamps: bool) -> Self {
        Self { round_trip: VariationTally::default(), one_way: has_stamps.then(Default::default) }
    }

    /// Adds what was found after this.
    pub fn merge(&mut self, later: &Self) {
        self.round_trip.merge(&later.round_trip);
        if let (Some(sum), Some(later)) = (&mut self.one_way, &later.one_way) {
            sum.0.merge(&later.0);
            sum.1.merge(&later.1);
        }
    }

    /// What it comes to; nothing where fewer than two echoes came.
    pub fn report(&self) -> Option<VariationReport> {
        Some(VariationReport {
            round_trip: self.round_trip.figures()?,
            forward: self.one_way.as_ref().and_then(|ways| ways.0.figures()),
            back: self.one_way.as_ref().and_then(|ways| ways.1.figures()),
        })
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

#[cfg(test)]
mod tests {
    use super::*;

    fn of(arrivals: &[(u64, i64)]) -> VariationReport {
        let (mut last, mut tally) = (Last::default(), VariationTallies::new(true));
        for &(sequence, delay) in arrivals {
            // The server's clock runs an hour ahead.
            let one_way_ns = Some((delay / 2 + 3_600_000_000_000, delay / 2 - 3_600_000_000_000));
            last.arrived(sequence, Transits { round_trip_ns: delay, one_way_ns }, &mut tally);
        }
        tally.report().expect("two arrivals or more")
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
        let (mut last, mut tally) = (Last::default(), VariationTallies::new(true));
        for extreme in [i64::MIN, i64::MAX, 0, i64::MIN] {
            let one_way_ns = Some((extreme, extreme));
            last.arrived(0, Transits { round_trip_ns: extreme, one_way_ns }, &mut tally);
        }
        assert!(tally.report().is_some());
    }
}
