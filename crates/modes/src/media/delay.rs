//! Delays of two clocks: their offset is not known, and their differences are.

use pathscope_core::stats::{Distribution, LatencyHistogram};

/// So many delays are kept as they are before they go to the histogram.
const KEPT: usize = 1_024;

/// Delays that are known up to a common offset, in constant memory.
///
/// A histogram's digits are those of the distance from its zero, and the zero that counts, the least delay, is known at the end
/// alone. So the histogram begins at the least that was known when it began. What is below that is kept as it is, and once
/// there is much of it the histogram begins anew, at the least of all: what it holds is further from there, so that its digits
/// suffice. Sums are exact whatever the zero.
#[derive(Debug)]
pub(super) struct Delays {
    /// The first one. All others are told as distances from it.
    origin_ns: Option<i64>,
    /// Distances that are in no histogram: all until it has begun, then those below its begin.
    kept: Vec<i64>,
    /// Where the histogram begins.
    base: Option<i64>,
    /// By the distance from there.
    above: Box<LatencyHistogram>,
    /// Of all distances from the origin.
    count: u64,
    sum: i128,
    squares: f64,
    least: i64,
    most: i64,
}

impl Default for Delays {
    fn default() -> Self {
        Self {
            origin_ns: None,
            // All room at once, so that nothing is allocated while frames come.
            kept: Vec::with_capacity(KEPT),
            base: None,
            above: Box::default(),
            count: 0,
            sum: 0,
            squares: 0.0,
            least: i64::MAX,
            most: i64::MIN,
        }
    }
}

impl Delays {
    /// What it takes beside itself, but for its histogram.
    pub const BYTES: usize = KEPT * size_of::<i64>();

    /// Counts one delay, whatever the offset.
    #[inline]
    pub fn record(&mut self, delay_ns: i64) {
        let origin = *self.origin_ns.get_or_insert(delay_ns);
        let distance = delay_ns.wrapping_sub(origin);
        self.count += 1;
        self.sum += i128::from(distance);
        self.squares += distance as f64 * distance as f64;
        self.least = self.least.min(distance);
        self.most = self.most.max(distance);
        self.place(distance);
    }

    /// Adds those that another worker of this end counted, or that were counted later.
    pub fn merge(&mut self, other: &Self) {
        let Some(theirs) = other.origin_ns else { return };
        let shift = theirs.wrapping_sub(*self.origin_ns.get_or_insert(theirs));
        let moved = |distance: i64| distance.saturating_add(shift);
        let (count, by) = (other.count as f64, shift as f64);
        self.count += other.count;
        self.sum += other.sum + i128::from(shift) * i128::from(other.count);
        self.squares += other.squares + 2.0 * by * other.sum as f64 + count * by * by;
        self.least = self.least.min(moved(other.least));
        self.most = self.most.max(moved(other.most));
        if let Some(theirs) = other.base {
            if self.base.is_none_or(|base| moved(theirs) < base) {
                self.begin_anew();
            }
            let base = self.base.unwrap_or(0);
            for (distance, count) in other.buckets() {
                let from_base = moved(distance).saturating_sub(base);
                self.above.record_many(from_base.max(0).unsigned_abs(), count);
            }
        }
        other.kept.iter().for_each(|&distance| self.place(moved(distance)));
    }

    /// All of them above the least (the PDV form of RFC 5481); nothing where none was counted.
    pub fn above_least(&self) -> Option<Distribution> {
        self.origin_ns?;
        let above = |distance: i64| distance.saturating_sub(self.least).max(0).unsigned_abs();
        let mut all = LatencyHistogram::new();
        self.kept.iter().for_each(|&distance| all.record(above(distance)));
        for (distance, count) in self.buckets() {
            all.record_many(above(distance.min(self.most)), count);
        }
        let (count, sum) = (self.count as f64, self.sum as f64);
        let squares = (self.squares - sum * sum / count).max(0.0);
        let deviation = (self.count > 1).then(|| (squares / (count - 1.0)).sqrt());
        let exactly = self.sum - i128::from(self.least) * i128::from(self.count);
        Some(Distribution {
            min_ns: Some(0),
            max_ns: Some(above(self.most)),
            mean_ns: Some(exactly as f64 / count),
            standard_deviation_ns: deviation,
            ..all.distribution()
        })
    }

    /// Puts one distance where it belongs.
    #[inline]
    fn place(&mut self, distance: i64) {
        match self.base {
            Some(base) if distance >= base => {
                self.above.record(distance.saturating_sub(base).unsigned_abs());
            }
            _ => {
                self.kept.push(distance);
                if self.kept.len() == KEPT {
                    self.begin_anew();
                }
            }
        }
    }

    /// Begins the histogram at the least of all, and puts there what was kept.
    #[cold]
    fn begin_anew(&mut self) {
        let base = self.least;
        let from_base = |distance: i64| distance.saturating_sub(base).max(0).unsigned_abs();
        let mut above = Box::<LatencyHistogram>::default();
        self.buckets().for_each(|(distance, count)| above.record_many(from_base(distance), count));
        self.kept.drain(..).for_each(|distance| above.record(from_base(distance)));
        (self.base, self.above) = (Some(base), above);
    }

    /// The histogram's distances from the origin, and how often each was.
    fn buckets(&self) -> impl Iterator<Item = (i64, u64)> {
        let (base, most) = (self.base.unwrap_or(0), self.above.max_ns().unwrap_or(0));
        let buckets = self.above.distribution().buckets.into_iter();
        buckets.map(move |bucket| {
            // The middle: uppers moved twice would be too high twice.
            let middle = i64::try_from(bucket.middle_ns().min(most)).unwrap_or(i64::MAX);
            (base.saturating_add(middle), bucket.count)
        })
    }
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
        let few = of(&[i64::MIN, i64::MAX, 0, i64::MIN]);
        let extremes = [i64::MIN, i64::MAX, 0, -1, 1, i64::MIN + 1, i64::MAX - 1];
        let many: Vec<i64> = extremes.into_iter().cycle().take(5_000).collect();
        for (delays, count) in [(few, 5), (of(&many), 5_001)] {
            let mut both = of(&[7]);
            both.merge(&delays);
            assert_eq!(both.above_least().expect("some").count, count);
        }
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
            prop_assert_eq!(merged.max_ns, whole.max_ns);
            let near = |a: Option<f64>, b: Option<f64>| {
                let (a, b) = (a.unwrap_or(0.0), b.unwrap_or(0.0));
                (a - b).abs() <= 1e-6 * b.abs() + 1e-3
            };
            prop_assert!(near(merged.mean_ns, whole.mean_ns));
            prop_assert!(near(merged.standard_deviation_ns, whole.standard_deviation_ns));
        }

        #[test]
        fn slow_ones_at_first_cost_the_others_no_digit(
            // One, or a path that was slower for a while: longer than any are kept as they are.
            (slow, by) in (prop_oneof![Just(1_usize), 1_usize..2_500], 0_i64..1_000_000_000),
            // Many of tens of microseconds, and some of milliseconds.
            rest in prop::collection::vec(prop_oneof![20_000_i64..90_000, 0_i64..9_000_000], 2_000..4_000),
            parts in 1_usize..5,
        ) {
            let first = (0..slow).map(|place| by + 1_000 * (place as i64 % 97));
            let all: Vec<i64> = first.chain(rest).collect();
            // As with a report interval after each part.
            let mut counted = Delays::default();
            all.chunks(all.len().div_ceil(parts)).for_each(|part| counted.merge(&of(part)));
            let found = counted.above_least().expect("some");
            let least = all.iter().copied().min().expect("some");
            let mut sorted: Vec<f64> = all.iter().map(|it| (it - least) as f64).collect();
            sorted.sort_by(f64::total_cmp);
            let mean = sorted.iter().sum::<f64>() / sorted.len() as f64;
            prop_assert!((found.mean_ns.expect("some") - mean).abs() <= 1e-6 * mean);
            prop_assert_eq!(found.max_ns, sorted.last().map(|it| *it as u64));
            for rank in [sorted.len() / 4, sorted.len() / 2, sorted.len() * 9 / 10] {
                // Those that lie close together may change places.
                let (least, most) = (sorted[rank - 4], sorted[rank + 2]);
                let stated = found.histogram().value_at_rank(rank as u64).expect("as many") as f64;
                let is_near = stated >= 0.996 * least - 2.0 && stated <= 1.004 * most + 2.0;
                prop_assert!(is_near, "{rank}: {stated} of {least} to {most}");
            }
        }
    }
}
