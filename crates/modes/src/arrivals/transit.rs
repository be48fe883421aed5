//! How much transit times vary, by two definitions that have a name, in constant memory.
//!
//! Both take differences, so the offset between two clocks falls out. What remains is the difference of their
//! rates: 1 µs a second for each millionth, which between two datagrams is nothing.

use pathscope_core::Tick;
use pathscope_core::quantity::duration_ns;
use pathscope_core::stats::{LatencyFigures, LatencyHistogram};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// From `earlier` to `later`, which may be of another clock.
#[inline]
pub(crate) fn difference(later: Tick, earlier: Tick) -> i64 {
    later.as_nanos().wrapping_sub(earlier.as_nanos()) as i64
}

/// One flow's memory of the last arrival, and its smoothed jitter.
#[derive(Clone, Copy, Debug, Default)]
pub struct LastTransit {
    seen: Option<(u64, i64)>,
    smoothed: f64,
}

impl LastTransit {
    /// The interarrival jitter as it is now.
    pub fn smoothed_ns(&self) -> f64 {
        self.smoothed
    }

    /// Datagram `sequence` came, the first time; it took so long by two clocks, whose offset does not matter.
    #[inline]
    pub fn arrived(&mut self, sequence: u64, transit_ns: i64, tally: &mut VariationTally) {
        if let Some((before, last)) = self.seen.replace((sequence, transit_ns)) {
            // RFC 3393 selects the pairs: neighbours in sequence, neither lost nor overtaken.
            let are_neighbours = sequence == before.wrapping_add(1);
            let difference = transit_ns.wrapping_sub(last).unsigned_abs();
            // RFC 3550, section 6.4.1, over packets in the order of their arrival.
            self.smoothed += (difference as f64 - self.smoothed) / 16.0;
            tally.smoothed_last = self.smoothed;
            tally.smoothed_sum += self.smoothed;
            tally.smoothed_most = tally.smoothed_most.max(self.smoothed);
            tally.smoothed_count += 1;
            match (are_neighbours, difference) {
                (true, 0) => tally.alike += 1,
                (true, difference) => tally.neighbours.record(difference),
                (false, _) => {}
            }
        }
    }
}

/// What the flows of a worker found.
#[derive(Debug, Default)]
pub struct VariationTally {
    /// |D| of neighbours, but for those where it is nothing.
    neighbours: Box<LatencyHistogram>,
    /// Neighbours that took equally long: all that were sent joined and came joined, most of a fast flow's. A count
    /// costs a tenth of a place in the histogram.
    alike: u64,
    smoothed_last: f64,
    smoothed_sum: f64,
    smoothed_most: f64,
    smoothed_count: u64,
}

impl VariationTally {
    /// Adds what was found after this.
    pub fn merge(&mut self, later: &Self) {
        self.neighbours.merge(&later.neighbours);
        self.alike += later.alike;
        if later.smoothed_count > 0 {
            self.smoothed_last = later.smoothed_last;
        }
        self.smoothed_sum += later.smoothed_sum;
        self.smoothed_most = self.smoothed_most.max(later.smoothed_most);
        self.smoothed_count += later.smoothed_count;
    }

    /// The mean of the interarrival jitter, and over how many arrivals; 0 over none.
    pub fn smoothed(&self) -> (f64, u64) {
        let count = self.smoothed_count;
        (if count > 0 { self.smoothed_sum / count as f64 } else { 0.0 }, count)
    }

    /// What it comes to; nothing where fewer than two datagrams of a flow came.
    pub fn figures(&self) -> Option<VariationFigures> {
        (self.smoothed_count > 0).then(|| {
            let mut neighbours = LatencyHistogram::new();
            neighbours.merge(&self.neighbours);
            neighbours.record_many(0, self.alike);
            VariationFigures {
                rfc3550: InterarrivalJitter {
                    last_ns: self.smoothed_last,
                    mean_ns: self.smoothed_sum / self.smoothed_count as f64,
                    max_ns: self.smoothed_most,
                },
                ipdv: LatencyFigures::of(&neighbours),
            }
        })
    }
}

/// How much a transit time varied, by two definitions.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct VariationFigures {
    /// Smoothed over packets in the order of their arrival.
    pub rfc3550: InterarrivalJitter,
    /// |delay(n+1) − delay(n)| of packets of neighbouring numbers that both came, one right after the
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

impl InterarrivalJitter {
    /// What is said beside its mean.
    pub(crate) fn words(&self) -> String {
        format!("RFC 3550, mean; at most {}", duration_ns(self.max_ns.round() as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(arrivals: &[(u64, i64)]) -> VariationFigures {
        let (mut last, mut tally) = (LastTransit::default(), VariationTally::default());
        arrivals.iter().for_each(|&(sequence, delay)| last.arrived(sequence, delay, &mut tally));
        tally.figures().expect("two arrivals or more")
    }

    #[test]
    fn the_smoothed_jitter_is_that_of_its_formula() {
        let jitter = of(&[(0, 1_000), (1, 2_600), (2, 2_600)]).rfc3550;
        assert_eq!((jitter.max_ns, jitter.last_ns), (100.0, 93.75));
        assert_eq!((jitter.mean_ns * 1_000.0).round() as u64, 96_875);
    }

    #[test]
    fn no_difference_is_taken_across_a_loss_or_a_reordered_datagram() {
        // 2 is lost; 4 comes after 5.
        let ipdv = of(&[(0, 10), (1, 20), (3, 90), (5, 90), (4, 500), (6, 90), (7, 95)]).ipdv;
        assert_eq!((ipdv.count, ipdv.max_ns), (2, Some(10)));
    }

    #[test]
    fn neighbours_that_took_equally_long_count_like_any() {
        let (mut one, mut other) = (VariationTally::default(), VariationTally::default());
        let mut last = LastTransit::default();
        (0..30).for_each(|sequence| last.arrived(sequence, 10, &mut one));
        (30..41).for_each(|sequence| last.arrived(sequence, 15, &mut other));
        one.merge(&other);
        let ipdv = one.figures().expect("41 arrivals").ipdv;
        assert_eq!((ipdv.count, ipdv.min_ns, ipdv.max_ns), (40, Some(0), Some(5)));
        assert_eq!((ipdv.mean_ns, ipdv.median_ns()), (Some(0.125), Some(0)));
    }

    #[test]
    fn hostile_stamps_do_not_overflow() {
        let ipdv = of(&[(0, i64::MIN), (1, i64::MAX), (2, 0), (3, i64::MIN)]).ipdv;
        assert_eq!(ipdv.count, 3);
    }
}
