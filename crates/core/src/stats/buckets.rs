//! The counters behind a histogram of durations: a bucket for each value that three significant digits tell apart, laid out
//! as Gil Tene's `HdrHistogram` lays them out.
//!
//! Not a library's, for the sake of memory: these begin as zero pages that the system has not handed out yet, and take
//! those alone in which something is counted. A server has some for each of its clients.

/// Bits of a value that are kept: 2,048 steps between a power of two and the next but one are a thousandth each.
const KEPT_BITS: u32 = 11;
/// Buckets of the same width that each power of two has, but for the first, which has twice as many.
const HALF: usize = 1 << (KEPT_BITS - 1);
/// The width of the widest buckets, as a power of two: 60 s have 36 bits.
const WIDEST: usize = 36 - KEPT_BITS as usize;
/// How many buckets there are.
pub(super) const BUCKETS: usize = (WIDEST + 2) * HALF;

/// A counter for each bucket.
#[derive(Clone, Debug)]
pub(super) struct Buckets {
    counts: Box<[u64; BUCKETS]>,
    total: u64,
}

/// The power of two that is the width of the bucket of this value.
#[inline]
const fn width_bits(value: u64) -> u32 {
    u64::BITS - (value | ((1 << KEPT_BITS) - 1)).leading_zeros() - KEPT_BITS
}

/// Where a value is counted. The last bucket holds all that is above it, too.
#[inline]
fn index(value: u64) -> usize {
    let bits = width_bits(value);
    let index = ((bits as usize) << (KEPT_BITS - 1)) + (value >> bits) as usize;
    index.min(BUCKETS - 1)
}

/// The largest value of a bucket.
fn upper(index: usize) -> u64 {
    let (bits, step) = match index / HALF {
        0 | 1 => (0, index),
        power => (power - 1, index % HALF + HALF),
    };
    ((step as u64 + 1) << bits) - 1
}

impl Buckets {
    /// Nothing counted. Allocates once; counting never does.
    pub fn new() -> Self {
        let counts = vec![0; BUCKETS].into_boxed_slice();
        Self { counts: counts.try_into().expect("the slice has this length"), total: 0 }
    }

    /// Counts a value once.
    #[inline]
    pub fn record(&mut self, value: u64) {
        self.record_many(value, 1);
    }

    /// Counts a value so many times.
    #[inline]
    pub fn record_many(&mut self, value: u64, times: u64) {
        // What a peer or a file says may be any number.
        let count = &mut self.counts[index(value)];
        *count = count.saturating_add(times);
        self.total = self.total.saturating_add(times);
    }

    /// Adds all that `other` counted.
    pub fn add(&mut self, other: &Self) {
        if other.total == 0 {
            return;
        }
        for (count, more) in self.counts.iter_mut().zip(other.counts.iter()) {
            // What is not written to needs no memory.
            if *more > 0 {
                *count = count.saturating_add(*more);
            }
        }
        self.total = self.total.saturating_add(other.total);
    }

    /// Forgets everything, keeps the memory.
    pub fn clear(&mut self) {
        self.counts.fill(0);
        self.total = 0;
    }

    /// How many were counted.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// The largest value of each bucket that holds something, and how many it holds, by rising value.
    pub fn recorded(&self) -> impl Iterator<Item = (u64, u64)> {
        let mut left = self.total;
        let counts = self.counts.iter().enumerate().map_while(move |(index, &count)| {
            // Behind the last that was counted there is nothing to look at.
            let is_here = left > 0;
            left = left.saturating_sub(count);
            is_here.then_some((index, count))
        });
        counts.filter(|&(_, count)| count > 0).map(|(index, count)| (upper(index), count))
    }

    /// The largest value of the bucket of the `rank`-th smallest, counted from 1.
    pub fn value_at_rank(&self, rank: u64) -> Option<u64> {
        let mut seen: u64 = 0;
        let mut reaches = |count: u64| {
            seen = seen.saturating_add(count);
            seen >= rank
        };
        self.recorded().find(|&(_, count)| reaches(count)).map(|(value, _)| value)
    }

    /// The smallest value that is counted where this one is.
    pub fn lowest_equivalent(value: u64) -> u64 {
        value >> width_bits(value) << width_bits(value)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn buckets_follow_one_another_without_a_gap() {
        let mut next = 0;
        for place in 0..BUCKETS {
            assert_eq!(index(next), place);
            assert_eq!(index(upper(place)), place);
            assert_eq!(Buckets::lowest_equivalent(upper(place)), next);
            next = upper(place) + 1;
        }
        assert_eq!(next, 1 << 36);
        assert_eq!(index(u64::MAX), BUCKETS - 1);
        assert_eq!(BUCKETS * size_of::<u64>(), 216 << 10);
    }

    #[test]
    fn ranks_are_counted_from_one() {
        let mut buckets = Buckets::new();
        assert_eq!(buckets.value_at_rank(1), None);
        buckets.record_many(5, 3);
        buckets.record(9);
        let ranks = [0, 1, 3, 4, 5].map(|rank| buckets.value_at_rank(rank));
        assert_eq!(ranks, [Some(5), Some(5), Some(5), Some(9), None]);
        buckets.record_many(7, u64::MAX);
        assert_eq!((buckets.total(), buckets.value_at_rank(u64::MAX)), (u64::MAX, Some(7)));
        buckets.clear();
        assert_eq!((buckets.total(), buckets.recorded().count()), (0, 0));
    }

    proptest! {
        #[test]
        fn a_bucket_is_a_thousandth_wide(value in 0_u64..1 << 36) {
            let (least, most) = (Buckets::lowest_equivalent(value), upper(index(value)));
            prop_assert!((least..=most).contains(&value));
            prop_assert!((most - least) as f64 <= value as f64 / 1_000.0);
        }
    }
}
