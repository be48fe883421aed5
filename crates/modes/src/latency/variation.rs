//! How much delay varies, by every definition that has a name, in constant memory.
//!
//! All of them take differences, so the offset between two clocks falls out, and the variation of each
//! direction is known without synchronised clocks. What remains is the difference of their rates: 1 µs a
//! second for each millionth, which between two pings is nothing.

use pathscope_core::stats::{LatencyFigures, LatencyHistogram};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
    seen: Option<(u64, Transits)>,
    round_trip: f64,
    forward: f64,
    back: f64,
}

impl Last {
    /// The echo of ping `sequence` came, the first time.
    pub fn arrived(&mut self, sequence: u64, now: Transits, tally: &mut VariationTally) {
        if let Some((before, last)) = self.seen {
            // RFC 3393 selects the pairs: neighbours in sequence, neither lost nor overtaken.
            let are_neighbours = sequence == before.wrapping_add(1);
            tally.round_trip.differed(
                now.round_trip_ns.wrapping_sub(last.round_trip_ns),
                are_neighbours,
                &mut self.round_trip,
            );
            if let (Some(now), Some(last)) = (now.one_way_ns, last.one_way_ns)
                && let Some((forward, back)) = &mut tally.one_way
            {
                let (there, and_back) = (now.0.wrapping_sub(last.0), now.1.wrapping_sub(last.1));
                forward.differed(there, are_neighbours, &mut self.forward);
                back.differed(and_back, are_neighbours, &mut self.back);
            }
        }
        self.seen = Some((sequence, now));
    }
}

/// What the flows of a worker found.
#[derive(Debug)]
pub(super) struct VariationTally {
    round_trip: Variation,
    /// There and back, where echoes carry stamps.
    one_way: Option<(Variation, Variation)>,
}

/// One of the three.
#[derive(Debug, Default)]
struct Variation {
    /// |D| of neighbours.
    neighbours: Box<LatencyHistogram>,
    smoothed_last: f64,
    smoothed_sum: f64,
    smoothed_most: f64,
    smoothed_count: u64,
}

impl Variation {
    fn differed(&mut self, difference_ns: i64, are_neighbours: bool, smoothed: &mut f64) {
        let size = difference_ns.unsigned_abs();
        // RFC 3550, section 6.4.1, over packets in the order of their arrival.
        *smoothed += (size as f64 - *smoothed) / 16.0;
        self.smoothed_last = *smoothed;
        self.smoothed_sum += *smoothed;
        self.smoothed_most = self.smoothed_most.max(*smoothed);
        self.smoothed_count += 1;
        if are_neighbours {
            self.neighbours.record(size);
        }
    }

    fn merge(&mut self, later: &Self) {
        self.neighbours.merge(&later.neighbours);
        if later.smoothed_count > 0 {
            self.smoothed_last = later.smoothed_last;
        }
        self.smoothed_sum += later.smoothed_sum;
        self.smoothed_most = self.smoothed_most.max(later.smoothed_most);
        self.smoothed_count += later.smoothed_count;
    }

    fn figures(&self) -> Option<VariationFigures> {
        (self.smoothed_count > 0).then(|| VariationFigures {
            rfc3550: InterarrivalJitter {
                last_ns: self.smoothed_last,
                mean_ns: self.smoothed_sum / self.smoothed_count as f64,
                max_ns: self.smoothed_most,
            },
            ipdv: LatencyFigures::of(&self.neighbours),
        })
    }
}

impl VariationTally {
    /// Nothing found yet.
    pub fn new(has_stamps: bool) -> Self {
        Self { round_trip: Variation::default(), one_way: has_stamps.then(Default::default) }
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

/// How much delay varied, from the actual sends on: the round trip, and each direction by itself where echoes
/// carry the server's stamps.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct VariationReport {
    /// From the client's send to its receipt.
    pub round_trip: VariationFigures,
    /// From the client's send to the server's receipt.
    pub forward: Option<VariationFigures>,
    /// From the server's send to the client's receipt.
    pub back: Option<VariationFigures>,
}

/// How much one of them varied, by two definitions.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct VariationFigures {
    /// Smoothed over packets in the order of their arrival.
    pub rfc3550: InterarrivalJitter,
    /// |delay(n+1) − delay(n)| of pings of neighbouring numbers that both came back, one right after the
    /// other (RFC 3393 and the IPDV form of RFC 5481). Its mean is the mean absolute difference.
    pub ipdv: LatencyFigures,
}

/// The interarrival jitter of RFC 3550, section 6.4.1: J += (|D| − J) / 16.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct InterarrivalJitter {
    /// At the end. Says what the last 16 packets or so were like, and no more.
    pub last_ns: f64,
    /// Its mean over all arrivals.
    pub mean_ns: f64,
    /// The most it ever was.
    pub max_ns: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(arrivals: &[(u64, i64)]) -> VariationReport {
        let (mut last, mut tally) = (Last::default(), VariationTally::new(true));
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
    fn the_smoothed_jitter_is_that_of_its_formula() {
        let report = of(&[(0, 1_000), (1, 2_600), (2, 2_600)]).round_trip.rfc3550;
        assert_eq!((report.max_ns, report.last_ns), (100.0, 93.75));
        assert_eq!((report.mean_ns * 1_000.0).round() as u64, 96_875);
    }

    #[test]
    fn no_difference_is_taken_across_a_loss_or_a_reordered_ping() {
        // 2 is lost; 4 comes after 5.
        let report = of(&[(0, 10), (1, 20), (3, 90), (5, 90), (4, 500), (6, 90), (7, 95)]);
        assert_eq!((report.round_trip.ipdv.count, report.round_trip.ipdv.max_ns), (2, Some(10)));
    }

    #[test]
    fn stamps_of_a_hostile_server_do_not_overflow() {
        let (mut last, mut tally) = (Last::default(), VariationTally::new(true));
        for extreme in [i64::MIN, i64::MAX, 0, i64::MIN] {
            let one_way_ns = Some((extreme, extreme));
            last.arrived(0, Transits { round_trip_ns: extreme, one_way_ns }, &mut tally);
        }
        assert!(tally.report().is_some());
    }
}
