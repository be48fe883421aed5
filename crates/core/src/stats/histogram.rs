//! A histogram of durations with a fixed memory, whatever the number of samples.

#[cfg(test)]
mod tests;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::quantity::total;

use super::buckets::{BUCKETS, Buckets};

/// Values above this are counted in the last bucket; the exact maximum is kept beside it.
const HIGHEST_NS: u64 = 60_000_000_000;

/// Durations in nanoseconds, to three significant digits (0.1 %) from 1 ns to 60 s, in 216 KiB, of which the system hands
/// out what is counted in.
///
/// Minimum, maximum, sum and sum of squares are kept exactly beside the buckets. Merging is
/// commutative and loses nothing: two halves merged equal the whole.
#[derive(Clone, Debug)]
pub struct LatencyHistogram {
    buckets: Buckets,
    min_ns: u64,
    max_ns: u64,
    sum_ns: u128,
    sum_squares: f64,
    clipped: u64,
}

impl LatencyHistogram {
    /// What one takes, all of its counters in use.
    pub const BYTES: usize = size_of::<Self>() + BUCKETS * size_of::<u64>();

    /// An empty histogram. Allocates once; recording never does.
    pub fn new() -> Self {
        Self {
            buckets: Buckets::new(),
            min_ns: u64::MAX,
            max_ns: 0,
            sum_ns: 0,
            sum_squares: 0.0,
            clipped: 0,
        }
    }

    /// Counts one duration.
    #[inline]
    pub fn record(&mut self, nanoseconds: u64) {
        self.buckets.record(nanoseconds);
        self.min_ns = self.min_ns.min(nanoseconds);
        self.max_ns = self.max_ns.max(nanoseconds);
        self.sum_ns += u128::from(nanoseconds);
        self.sum_squares += nanoseconds as f64 * nanoseconds as f64;
        self.clipped += u64::from(nanoseconds > HIGHEST_NS);
    }

    /// Counts the same duration so many times.
    pub fn record_many(&mut self, nanoseconds: u64, times: u64) {
        if times == 0 {
            return;
        }
        self.buckets.record_many(nanoseconds, times);
        self.min_ns = self.min_ns.min(nanoseconds);
        self.max_ns = self.max_ns.max(nanoseconds);
        self.sum_ns += u128::from(nanoseconds) * u128::from(times);
        self.sum_squares += nanoseconds as f64 * nanoseconds as f64 * times as f64;
        self.clipped += if nanoseconds > HIGHEST_NS { times } else { 0 };
    }

    /// Adds all that `other` counted.
    pub fn merge(&mut self, other: &Self) {
        self.buckets.add(&other.buckets);
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
        self.sum_ns = self.sum_ns.saturating_add(other.sum_ns);
        self.sum_squares += other.sum_squares;
        self.clipped = self.clipped.saturating_add(other.clipped);
    }

    /// Forgets everything, keeps the memory.
    pub fn clear(&mut self) {
        self.buckets.clear();
        (self.min_ns, self.max_ns, self.sum_ns) = (u64::MAX, 0, 0);
        (self.sum_squares, self.clipped) = (0.0, 0);
    }

    /// How many durations were counted.
    pub fn count(&self) -> u64 {
        self.buckets.total()
    }

    /// Whether nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.count() == 0
    }

    /// The largest value of each bucket that holds something, and how many it holds, by rising value.
    pub(super) fn recorded(&self) -> impl Iterator<Item = (u64, u64)> {
        self.buckets.recorded()
    }

    /// The smallest duration, exactly.
    pub fn min_ns(&self) -> Option<u64> {
        (!self.is_empty()).then_some(self.min_ns)
    }

    /// The largest duration, exactly.
    pub fn max_ns(&self) -> Option<u64> {
        (!self.is_empty()).then_some(self.max_ns)
    }

    /// The arithmetic mean, exactly up to the final division.
    pub fn mean_ns(&self) -> Option<f64> {
        (!self.is_empty()).then(|| self.sum_ns as f64 / self.count() as f64)
    }

    /// The sample standard deviation (n − 1 in the denominator); `None` below two samples.
    pub fn standard_deviation_ns(&self) -> Option<f64> {
        let count = self.count() as f64;
        let mean = self.mean_ns()?;
        (count >= 2.0)
            .then(|| ((self.sum_squares - count * mean * mean).max(0.0) / (count - 1.0)).sqrt())
    }

    /// The smallest recorded value, to three digits and never above the maximum, that at least
    /// `quantile` of the samples do not exceed.
    pub fn value_at_quantile(&self, quantile: f64) -> Option<u64> {
        self.value_at_rank(rank_of(quantile, self.count()))
    }

    /// The value of the `rank`-th smallest sample, counted from 1, to three digits.
    pub fn value_at_rank(&self, rank: u64) -> Option<u64> {
        let value = self.buckets.value_at_rank(rank).filter(|_| rank > 0)?;
        // What a file says of its ends may be any two numbers.
        Some(value.min(self.max_ns).max(self.min_ns.min(self.max_ns)))
    }

    /// The same durations, and for each one that took longer than `interval_ns` those that would have been
    /// seen had somebody asked every `interval_ns` meanwhile: v − i, v − 2i, … down to i. A model of what a
    /// tester that waits for its answers leaves out, and no measurement.
    ///
    /// Source: Gil Tene's correction for coordinated omission, as `HdrHistogram` has it.
    #[must_use]
    pub fn corrected(&self, interval_ns: u64) -> Self {
        let mut corrected = self.clone();
        if interval_ns == 0 {
            return corrected;
        }
        for (upper, count) in self.buckets.recorded() {
            let value = upper.min(self.max_ns);
            corrected.add_missing(value.saturating_sub(interval_ns), interval_ns, count);
        }
        corrected
    }

    /// Adds `from`, `from` − i, `from` − 2i, … down to i, so many times each. A bucket at a time: at most as many
    /// steps as there are buckets, however small the interval.
    fn add_missing(&mut self, mut from: u64, interval_ns: u64, count: u64) {
        while from >= interval_ns {
            let least = Buckets::lowest_equivalent(from).max(interval_ns);
            let here = (from - least) / interval_ns + 1;
            let last = from - (here - 1) * interval_ns;
            let samples = here.saturating_mul(count);
            self.buckets.record_many(from, samples);
            self.min_ns = self.min_ns.min(last);
            let middle = f64::midpoint(from as f64, last as f64);
            let twice_ns = (u128::from(from) + u128::from(last)).saturating_mul(samples.into());
            self.sum_ns = self.sum_ns.saturating_add(twice_ns / 2);
            self.sum_squares += samples as f64 * middle * middle;
            let Some(next) = last.checked_sub(interval_ns) else { return };
            from = next;
        }
    }

    /// All that is counted, in a form that can be stored and merged again.
    pub fn distribution(&self) -> Distribution {
        Distribution {
            count: self.count(),
            min_ns: self.min_ns(),
            max_ns: self.max_ns(),
            mean_ns: self.mean_ns(),
            standard_deviation_ns: self.standard_deviation_ns(),
            clipped: self.clipped,
            buckets: self
                .buckets
                .recorded()
                .map(|(upper_ns, count)| Bucket { upper_ns, count })
                .collect(),
        }
    }
}

impl Default for LatencyHistogram {
    fn default() -> Self {
        Self::new()
    }
}

/// A histogram as it stands in a document: only the buckets that hold something.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Distribution {
    /// Samples in all buckets.
    pub count: u64,
    /// The smallest sample, exactly.
    pub min_ns: Option<u64>,
    /// The largest sample, exactly.
    pub max_ns: Option<u64>,
    /// The arithmetic mean.
    pub mean_ns: Option<f64>,
    /// The sample standard deviation.
    pub standard_deviation_ns: Option<f64>,
    /// Samples above 60 s; they are in the last bucket.
    pub clipped: u64,
    /// The buckets, by rising value.
    pub buckets: Vec<Bucket>,
}

impl Distribution {
    /// Every two neighbours become one, which reaches as far as the higher of them. Counts stay exact.
    pub fn halve(&mut self) {
        let merged = self.buckets.chunks(2).map(|pair| Bucket {
            upper_ns: pair.iter().map(|bucket| bucket.upper_ns).max().unwrap_or(0),
            count: total(pair.iter().map(|bucket| bucket.count)),
        });
        self.buckets = merged.collect();
    }

    /// The histogram again. Sum and deviation come from the stored mean and deviation, so nothing is
    /// lost by storing and reading; buckets out of range are clipped, not refused.
    pub fn histogram(&self) -> LatencyHistogram {
        let mut histogram = LatencyHistogram::new();
        for bucket in &self.buckets {
            histogram.buckets.record_many(bucket.upper_ns, bucket.count);
        }
        let count = histogram.count() as f64;
        let mean = self.mean_ns.unwrap_or(0.0);
        let deviation = self.standard_deviation_ns.unwrap_or(0.0);
        histogram.min_ns = self.min_ns.unwrap_or(u64::MAX);
        histogram.max_ns = self.max_ns.unwrap_or(0).max(self.min_ns.unwrap_or(0));
        histogram.sum_ns = (mean * count).round().max(0.0) as u128;
        histogram.sum_squares =
            deviation * deviation * (count - 1.0).max(0.0) + count * mean * mean;
        histogram.clipped = self.clipped;
        histogram
    }
}

/// One bucket that holds something.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct Bucket {
    /// The largest value that falls into this bucket.
    pub upper_ns: u64,
    /// Samples in it.
    pub count: u64,
}

impl Bucket {
    /// The smallest value that falls into it; where neighbours were merged, into the highest of them.
    pub fn lower_ns(&self) -> u64 {
        Buckets::lowest_equivalent(self.upper_ns)
    }

    /// The middle of the values that fall into it.
    pub fn middle_ns(&self) -> u64 {
        let lower = self.lower_ns();
        lower + (self.upper_ns - lower) / 2
    }
}

/// The rank, counted from 1, of the smallest of so many samples that at least `quantile` of them do not exceed: the nearest
/// rank, ⌈q·n⌉. A percentile has at most seven decimals, so it is counted in whole billionths: in binary fractions 99.9 %
/// of 10,000 would be a little more than 9,990, and the rank 9,991.
fn rank_of(quantile: f64, samples: u64) -> u64 {
    const WHOLE: u128 = 1_000_000_000;
    let billionths = (quantile.clamp(0.0, 1.0) * WHOLE as f64).round() as u128;
    let rank = (billionths * u128::from(samples)).div_ceil(WHOLE);
    u64::try_from(rank).unwrap_or(u64::MAX).max(1)
}
