//! How many times as much one set of runs is as another, where all of their numbers are above nothing: a rate, a duration. The shift of
//! their logarithms, so that no share of what it was is lost twice: a fall is never one of more than all.
//!
//! Sources: Hauschke, Steinijans and Diletti, "A distribution-free procedure for the statistical analysis of bioequivalence studies",
//! International Journal of Clinical Pharmacology 28 (1990): the median of all ratios of one set's numbers to the other's, and the
//! interval of those ratios whose ranks are the ones of the interval of a shift.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::shift::{Order, Shift, median};

/// What is less than this share of what it was is too small to be told of, however sure it is.
pub(super) const LEAST_SHARE: f64 = 0.01;

/// By how much of what the first set is the second is more or less: ratios of the second to the first, less 1. None is below -1.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Ratio {
    /// The median of the ratios of any of the second to any of the first, less 1; of an even number the geometric mean of the middle two.
    pub change: f64,
    /// The least and the most that it may be, with the same probability as the shift; absent where the runs are too few.
    pub low: Option<f64>,
    /// The other end of it.
    pub high: Option<f64>,
    /// A change up to this, the way it went, is not told of: 1 %, what clocks resolve as a share of the first median, or the ratio of
    /// halves of one set.
    pub floor: f64,
}

impl Ratio {
    /// `None` where a number is not above nothing: no number of times as much leads there.
    pub(super) fn between(
        first: &[f64],
        second: &[f64],
        resolution: f64,
        order: Order,
    ) -> Option<Self> {
        let logarithms = |values: &[f64]| -> Option<Vec<f64>> {
            values.iter().map(|value| (*value > 0.0).then(|| value.ln())).collect()
        };
        let shift = Shift::between(&logarithms(first)?, &logarithms(second)?, order)?;
        let least = shift.own.max(LEAST_SHARE.ln_1p());
        let least = least.copysign(shift.middle).exp_m1().abs();
        Some(Self {
            change: shift.middle.exp_m1(),
            low: shift.interval.map(|it| it.low.exp_m1()),
            high: shift.interval.map(|it| it.high.exp_m1()),
            floor: least.max(resolution / median(first)?),
        })
        .filter(|it| it.change.is_finite() && it.floor.is_finite())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn between(first: &[f64], second: &[f64]) -> Option<Ratio> {
        Ratio::between(first, second, 0.0, Order::Turns)
    }

    fn near(one: f64, other: f64) -> bool {
        (one - other).abs() < 1e-9
    }

    #[test]
    fn it_is_the_median_of_all_ratios() {
        let first = [1.0, 2.0, 4.0, 8.0, 16.0];
        let ratio = between(&first, &first.map(|value| value * 3.0)).expect("above nothing");
        assert!(near(ratio.change, 2.0), "{ratio:?}");
        let (low, high) = ratio.low.zip(ratio.high).expect("enough runs");
        // Each end is one of the ratios: 3 / 8 and 3 * 8.
        assert!(near(low, 3.0 / 8.0 - 1.0) && near(high, 23.0), "{ratio:?}");
    }

    #[test]
    fn what_is_undone_comes_back() {
        let first = [10.0, 11.0, 9.0, 10.5, 9.5, 10.2];
        let second = [31.0, 28.0, 33.0, 30.0, 29.0, 30.5];
        let up = between(&first, &second).expect("above nothing");
        let down = between(&second, &first).expect("above nothing");
        assert!(near((1.0 + up.change) * (1.0 + down.change), 1.0));
        assert!(near((1.0 + up.floor) * (1.0 - down.floor), 1.0), "{up:?} {down:?}");
    }

    /// The shift of these numbers themselves goes to -1.224 times the median: a duration that falls below nothing.
    #[test]
    fn nothing_falls_by_more_than_all() {
        let first = [4.094, 0.21, 5.9, 0.18, 9.6];
        let second = [0.1988, 0.15, 4.3, 0.17, 6.1];
        let ratio = between(&first, &second).expect("above nothing");
        assert!(ratio.low.is_some_and(|low| low > -1.0), "{ratio:?}");
        let tiny = between(&first, &first.map(|value| value * 1e-9)).expect("above nothing");
        assert!(tiny.change > -1.0 && tiny.change < -0.999_999, "{tiny:?}");
    }

    #[test]
    fn of_what_is_not_above_nothing_there_is_none() {
        let all = [1.0, 2.0, 3.0, 4.0];
        assert_eq!(between(&all, &[1.0, 0.0, 3.0, 4.0]), None);
        assert_eq!(between(&[-1.0, 2.0, 3.0, 4.0], &all), None);
        assert_eq!(between(&[], &all), None);
    }

    #[test]
    fn clocks_resolve_a_share_of_what_it_was() {
        let first = [100.0, 101.0, 99.0, 100.0];
        let ratio = Ratio::between(&first, &first.map(|it| it * 2.0), 75.0, Order::Turns);
        assert!(near(ratio.expect("above nothing").floor, 0.75));
    }
}
