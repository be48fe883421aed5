//! A histogram of equal, stated widths, exact to the sample. For those who want the ranges they know;
//! percentiles come from the logarithmic one beside it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Ranges of equal width, side by side from a start on.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, JsonSchema, PartialEq, Serialize)]
pub struct LinearRanges {
    /// Where the first range begins.
    pub start_ns: u64,
    /// How wide each is.
    pub width_ns: u64,
    /// How many there are.
    pub count: u32,
}

/// How many samples fell into each range, below the first and above the last. Each range holds its
/// lower edge and not its upper one, so every sample is counted once.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct LinearHistogram {
    /// Where the first range begins.
    pub start_ns: u64,
    /// How wide each is.
    pub width_ns: u64,
    /// Samples below the first range.
    pub below: u64,
    /// Samples in each range, in order.
    pub counts: Vec<u64>,
    /// Samples at or above the end of the last range.
    pub above: u64,
}

impl LinearHistogram {
    /// An empty histogram of these ranges. Allocates once; recording never does.
    pub fn new(ranges: LinearRanges) -> Self {
        Self {
            start_ns: ranges.start_ns,
            width_ns: ranges.width_ns.max(1),
            below: 0,
            counts: vec![0; ranges.count as usize],
            above: 0,
        }
    }

    /// Counts one duration.
    #[inline]
    pub fn record(&mut self, nanoseconds: u64) {
        let Some(offset) = nanoseconds.checked_sub(self.start_ns) else {
            self.below += 1;
            return;
        };
        match self.counts.get_mut((offset / self.width_ns.max(1)) as usize) {
            Some(count) => *count += 1,
            None => self.above += 1,
        }
    }

    /// Adds all that `other`, of the same ranges, counted.
    pub fn merge(&mut self, other: &Self) {
        self.below += other.below;
        self.above += other.above;
        for (sum, count) in self.counts.iter_mut().zip(&other.counts) {
            *sum += count;
        }
    }

    /// Samples in all ranges and beside them.
    pub fn total(&self) -> u64 {
        self.counts
            .iter()
            .fold(self.below.saturating_add(self.above), |sum, &count| sum.saturating_add(count))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn edges_belong_to_the_range_above_them() {
        let ranges = LinearRanges { start_ns: 10, width_ns: 5, count: 3 };
        let mut histogram = LinearHistogram::new(ranges);
        [0, 9, 10, 14, 15, 24, 25, u64::MAX].into_iter().for_each(|it| histogram.record(it));
        assert_eq!((histogram.below, histogram.above), (2, 2));
        assert_eq!(histogram.counts, [2, 1, 1]);
    }

    proptest! {
        #[test]
        fn no_sample_is_lost_and_merging_adds(
            left in prop::collection::vec(any::<u64>(), 0..100),
            right in prop::collection::vec(0_u64..1_000, 0..100),
            (start_ns, width_ns, count) in (0_u64..500, 1_u64..100, 1_u32..50),
        ) {
            let of = |samples: &[u64]| {
                let mut histogram = LinearHistogram::new(LinearRanges { start_ns, width_ns, count });
                samples.iter().for_each(|&sample| histogram.record(sample));
                histogram
            };
            let mut merged = of(&left);
            merged.merge(&of(&right));
            prop_assert_eq!(merged.total() as usize, left.len() + right.len());
            prop_assert_eq!(merged, of(&[left, right].concat()));
        }
    }
}
