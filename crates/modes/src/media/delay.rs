//! Delays of two clocks: their offset is not known, and their differences are.

use pathscope_core::stats::{Distribution, LatencyHistogram};

/// Delays that are known up to a common offset, in constant memory.
#[derive(Debug, Default)]
pub(super) struct Delays {
    /// What is taken for zero: the first one.
    base_ns: Option<i64>,
    /// At or above it, and below it, by their distance from it.
    above: Box<LatencyHistogram>,
    below: Box<LatencyHistogram>,
}

impl Delays {
    /// Counts one delay, whatever the offset.
    #[inline]
    pub fn record(&mut self, delay_ns: i64) {
        let base = *self.base_ns.get_or_insert(delay_ns);
        let from_base = delay_ns.wrapping_sub(base);
        let half = if from_base < 0 { &mut self.below } else { &mut self.above };
        half.record(from_base.unsigned_abs());
    }

    /// Adds those that another worker of this end counted.
    pub fn merge(&mut self, other: &Self) {
        let Some(theirs) = other.base_ns else { return };
        let base = *self.base_ns.get_or_insert(theirs);
        if base == theirs {
            self.above.merge(&other.above);
            self.below.merge(&other.below);
            return;
        }
        let shift = theirs.wrapping_sub(base);
        for (size, count, is_below) in other.values() {
            let value = signed(size, is_below).saturating_add(shift);
            let half = if value < 0 { &mut self.below } else { &mut self.above };
            half.record_many(value.unsigned_abs(), count);
        }
    }

    /// All of them above the least (the PDV form of RFC 5481); nothing where none was counted.
    pub fn above_least(&self) -> Option<Distribution> {
        self.base_ns?;
        let least = match self.below.max_ns() {
            Some(depth) => signed(depth, true),
            None => signed(self.above.min_ns().unwrap_or(0), false),
        };
        let mut all = LatencyHistogram::new();
        for (size, count, is_below) in self.values() {
            let value = signed(size, is_below).saturating_sub(least);
            all.record_many(value.max(0).unsigned_abs(), count);
        }
        Some(all.distribution())
    }

    /// Distance from the base, how often, and whether below it.
    fn values(&self) -> impl Iterator<Item = (u64, u64, bool)> {
        let of = |half: &LatencyHistogram, is_below| {
            let most = half.max_ns().unwrap_or(0);
            let buckets = half.distribution().buckets.into_iter();
            buckets.map(move |bucket| (bucket.upper_ns.min(most), bucket.count, is_below))
        };
        of(&self.below, true).chain(of(&self.above, false))
    }
}

fn signed(size: u64, is_below: bool) -> i64 {
    let size = i64::try_from(size).unwrap_or(i64::MAX);
    if is_below { -size } else { size }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(delays: &[i64]) -> Delays {
        let mut counted = Delays::default();
        delays.iter().for_each(|&delay| counted.record(delay));
        counted
    }

    #[test]
    fn the_offset_falls_out() {
        for offset in [0, -3_600_000_000_000, i64::MIN] {
            let delays: Vec<i64> =
                [500, 100, 900, 500].map(|it: i64| offset.wrapping_add(it)).to_vec();
            let found = of(&delays).above_least().expect("four");
            let extremes = (found.count, found.min_ns, found.max_ns);
            assert_eq!(extremes, (4, Some(0), Some(800)), "{offset}");
        }
        assert_eq!(Delays::default().above_least(), None);
    }

    #[test]
    fn hostile_stamps_do_not_overflow() {
        let delays = of(&[i64::MIN, i64::MAX, 0, i64::MIN]);
        let mut both = of(&[7]);
        both.merge(&delays);
        assert_eq!(both.above_least().expect("five").count, 5);
    }

    proptest! {
        #[test]
        fn two_workers_find_what_one_finds(
            left in prop::collection::vec(0_i64..1_000_000_000, 1..60),
            right in prop::collection::vec(0_i64..1_000_000_000, 1..60),
        ) {
            let whole = of(&[&left[..], &right[..]].concat()).above_least().expect("some");
            let mut merged = of(&left);
            merged.merge(&of(&right));
            let merged = merged.above_least().expect("some");
            prop_assert_eq!(merged.count, whole.count);
            // Three digits of each, moved twice.
            let slack = 4_000_000.0;
            let near = |a: Option<u64>, b: Option<u64>| {
                (a.unwrap_or(0) as f64 - b.unwrap_or(0) as f64).abs() <= slack
            };
            prop_assert!(near(merged.max_ns, whole.max_ns));
            prop_assert!((merged.mean_ns.unwrap_or(0.0) - whole.mean_ns.unwrap_or(0.0)).abs() <= slack);
        }
    }
}
