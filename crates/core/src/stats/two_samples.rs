//! Two sets of runs, before and after a change: how far apart they are, how sure that is, and whether it is more than such runs differ
//! by themselves. One number of each run enters, in the order of time; never the samples within a run, which are not independent.
//!
//! Sources: Hodges and Lehmann, "Estimates of location based on rank tests", Annals of Mathematical Statistics 34 (1963), for the
//! shift; Cliff, "Dominance statistics", Psychological Bulletin 114 (1993), for the effect; Holm, "A simple sequentially
//! rejective multiple test procedure", Scandinavian Journal of Statistics 6 (1979), and Benjamini and Hochberg, "Controlling
//! the false discovery rate", Journal of the Royal Statistical Society B 57 (1995), for many figures at once.
//!
//! Not here: which numbers belong together, and what is good or bad about them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rank_sum::two_sided_p;
use super::ratio::{LEAST_SHARE, Ratio};
use super::shift::{Order, Shift, differences, median};

/// A difference that is seen where there is none as often as this is not shown: one time in twenty.
pub(super) const LEVEL: f64 = 0.05;

/// How the second set lies to the first.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Difference {
    /// How much more the second is: the median of the differences between any of the second and any of the first (Hodges and Lehmann),
    /// in the unit of the values.
    pub shift: f64,
    /// The least and the most that the shift may be with the probability of `coverage`; absent where the runs are too few.
    pub low: Option<f64>,
    /// The other end of it.
    pub high: Option<f64>,
    /// The probability that the interval holds the true shift: at least 0.95, more where the runs are few.
    pub coverage: Option<f64>,
    /// How often two sets of runs of which nothing differs are so far apart: the exact rank sum test, two-sided.
    pub p: f64,
    /// Cliff's delta, -1 to 1: how much more often a run of the second is above one of the first than below it.
    pub delta: f64,
    /// A shift up to this is not told of: the largest of 1 % of the first median, what clocks resolve, and how far halves of one
    /// set are apart.
    pub floor: f64,
    /// What clocks resolve, the least of all that is told of; 0 where it is no time, or what an earlier version wrote.
    #[serde(default)]
    pub resolution: f64,
    /// The same as a share of what the first is, where all numbers are above nothing: what is told then, and judged.
    #[serde(default)]
    pub ratio: Option<Ratio>,
}

/// How far a figure may move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// By this share of what it was: of what has a [`Ratio`].
    Share(f64),
    /// By so much.
    Amount(f64),
}

/// What a difference comes to.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Telling {
    /// There is one: it is larger than the floor, and chance alone shows it less than one time in twenty.
    Shown,
    /// Chance alone shows as much often enough, or no shift this small is told of.
    NotShown,
    /// No difference of so few runs could be shown, however large.
    TooFewRuns,
}

impl Difference {
    /// How the second set lies to the first. `resolution`: the least difference that the instrument tells apart, 0 where there is none.
    /// `None` where one of them is empty or a value is no number.
    pub fn between(first: &[f64], second: &[f64], resolution: f64, order: Order) -> Option<Self> {
        let is_number = |value: &f64| value.is_finite();
        if !first.iter().chain(second).all(is_number) {
            return None;
        }
        let shift = Shift::between(first, second, order)?;
        let of_median = median(first).unwrap_or_default().abs() * LEAST_SHARE;
        Some(Self {
            shift: shift.middle,
            low: shift.interval.map(|it| it.low),
            high: shift.interval.map(|it| it.high),
            coverage: shift.interval.map(|it| it.coverage),
            p: two_sided_p(first, second),
            delta: delta(first, second),
            floor: of_median.max(resolution).max(shift.own),
            resolution,
            ratio: Ratio::between(first, second, resolution, order),
        })
    }

    /// Whether the second is more, as it is told.
    pub fn is_more(&self) -> bool {
        self.ratio.map_or(self.shift, |ratio| ratio.change) > 0.0
    }

    /// Whether there is a difference, with this probability of seeing one where there is none: `p`, or what Holm makes of it.
    pub fn telling(&self, p: f64) -> Telling {
        match self.ratio {
            // Ratios of counts are the same again and again, but for what their logarithms are rounded to.
            Some(Ratio { change, floor, .. }) => self.told(p, change.abs() > floor * (1.0 + 1e-9)),
            None => self.told(p, self.shift.abs() > self.floor),
        }
    }

    /// The same on the scale of a bound.
    pub fn telling_of(&self, p: f64, bound: Bound) -> Telling {
        match bound {
            Bound::Share(_) => self.telling(p),
            Bound::Amount(_) => self.told(p, self.shift.abs() > self.floor),
        }
    }

    fn told(&self, p: f64, is_above_floor: bool) -> Telling {
        if self.coverage.is_none() {
            Telling::TooFewRuns
        } else if p <= LEVEL && is_above_floor {
            Telling::Shown
        } else {
            Telling::NotShown
        }
    }
}

/// The probabilities of many tests at once, so that any of them is at most 0.05 where nothing differs only one time in twenty: Holm's
/// procedure, in the order of `p`.
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&one, &other| p[one].total_cmp(&p[other]));
    let mut adjusted = vec![1.0; p.len()];
    let mut most: f64 = 0.0;
    for (done, place) in order.into_iter().enumerate() {
        most = most.max(p[place] * (p.len() - done) as f64);
        adjusted[place] = most.min(1.0);
    }
    adjusted
}

/// The probabilities of many tests at once, so that of those that are then at most 0.05 one in twenty is by chance, as they are expected:
/// Benjamini and Hochberg's procedure, in the order of `p`. Where nothing differs at all, any is told of one time in twenty.
/// It holds for figures that move together, as those of one run do: Benjamini and Yekutieli, "The control of the false discovery
/// rate in multiple testing under dependency", Annals of Statistics 29 (2001).
pub fn false_discovery(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&one, &other| p[other].total_cmp(&p[one]));
    let mut adjusted = vec![1.0; p.len()];
    let mut least: f64 = 1.0;
    for (above, place) in order.into_iter().enumerate() {
        let rank = p.len() - above;
        least = least.min(p[place] * p.len() as f64 / rank as f64);
        adjusted[place] = least;
    }
    adjusted
}

/// The least probability that sets of these sizes can have, however far apart they are.
pub fn least_p(first: usize, second: usize) -> f64 {
    let value = |place: usize| place as f64;
    let first_values: Vec<f64> = (0..first).map(value).collect();
    let second_values: Vec<f64> = (first..first + second).map(value).collect();
    two_sided_p(&first_values, &second_values)
}

fn delta(first: &[f64], second: &[f64]) -> f64 {
    let all = differences(first, second);
    let above = all.iter().filter(|difference| **difference > 0.0).count();
    let below = all.iter().filter(|difference| **difference < 0.0).count();
    (above as f64 - below as f64) / all.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::super::shift::LEAST_RUNS;
    use super::*;

    fn near(one: f64, other: f64) -> bool {
        (one - other).abs() < 1e-9
    }

    fn between(first: &[f64], second: &[f64]) -> Difference {
        Difference::between(first, second, 0.0, Order::Turns).expect("numbers")
    }

    #[test]
    fn the_shift_is_the_median_of_all_differences() {
        let difference = between(&[10.0, 11.0, 12.0, 13.0, 14.0], &[21.0, 20.0, 22.0, 24.0, 23.0]);
        assert!(near(difference.shift, 10.0));
        assert_eq!((difference.low, difference.high), (Some(7.0), Some(13.0)));
        assert!(near(difference.delta, 1.0));
        assert!((difference.p - 2.0 / 252.0).abs() < 1e-9);
        assert!(difference.coverage.is_some_and(|coverage| (0.95..1.0).contains(&coverage)));
        assert_eq!(difference.telling(difference.p), Telling::Shown);
    }

    #[test]
    fn a_worked_example_of_a_textbook_comes_out() {
        // Hollander and Wolfe, table 4.1, permeability of the human chorioamnion: the shift is 0.305 with -0.15 to 0.76 at 0.95.
        let term = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46];
        let early = [1.15, 0.88, 0.90, 0.74, 1.21];
        let difference = between(&early, &term);
        assert!((difference.shift - 0.305).abs() < 1e-9, "{}", difference.shift);
        assert!((difference.low.expect("enough") + 0.15).abs() < 1e-9);
        assert!((difference.high.expect("enough") - 0.76).abs() < 1e-9);
        assert!((difference.p - 0.254_412).abs() < 1e-4, "{}", difference.p);
    }

    #[test]
    fn three_runs_a_side_tell_nothing_however_far_apart() {
        let difference = between(&[1.0, 1.0, 1.1], &[100.0, 101.0, 102.0]);
        assert_eq!((difference.low, difference.high, difference.coverage), (None, None, None));
        assert_eq!(difference.telling(difference.p), Telling::TooFewRuns);
        // A single run each has a difference, and no more.
        let single = between(&[4.0], &[5.0]);
        assert_eq!((single.shift, single.telling(single.p)), (1.0, Telling::TooFewRuns));
    }

    #[test]
    fn many_runs_of_one_side_do_not_make_up_for_few_of_the_other() {
        let many: Vec<f64> = (0..39).map(f64::from).collect();
        for few in 1..LEAST_RUNS {
            let few: Vec<f64> = (0..few).map(|it| 1_000.0 + it as f64).collect();
            for difference in [between(&few, &many), between(&many, &few)] {
                assert_eq!(difference.telling(difference.p), Telling::TooFewRuns);
                assert_eq!(difference.low, None);
            }
        }
        let difference = between(&[1000.0, 1001.0, 1002.0, 1003.0], &many);
        assert_eq!(difference.telling(difference.p), Telling::Shown);
    }

    #[test]
    fn what_is_sure_and_tiny_is_not_told_of() {
        let first = [1000.0, 1000.1, 1000.2, 1000.3, 1000.4, 1000.5];
        let second = first.map(|value| value + 5.0);
        let difference = between(&first, &second);
        assert!(difference.p < 0.01);
        assert!((difference.floor - 10.0).abs() < 0.1, "1 % of the median: {}", difference.floor);
        assert_eq!(difference.telling(difference.p), Telling::NotShown);
        // Of times, what a clock resolves.
        let times = Difference::between(&first, &second.map(|it| it + 20.0), 75.0, Order::Turns)
            .expect("numbers");
        assert_eq!((times.floor, times.telling(times.p)), (75.0, Telling::NotShown));
        let bound = Bound::Amount(0.0);
        assert_eq!(times.telling_of(times.p, bound), Telling::NotShown);
    }

    /// Of counts halves and sets are apart by the same ratio, as 6 and 8 are, and not by more.
    #[test]
    fn what_is_at_the_floor_is_not_above_it() {
        let first = [6.0, 8.0, 6.0, 8.0, 6.0, 8.0, 6.0, 8.0];
        let second = [8.0, 6.0, 8.0, 8.0, 8.0, 8.0, 8.0, 8.0];
        let difference = between(&first, &second);
        let ratio = difference.ratio.expect("above nothing");
        assert!(near(ratio.change, ratio.floor) || ratio.change < ratio.floor, "{ratio:?}");
        assert_eq!(difference.telling(0.0), Telling::NotShown, "{ratio:?}");
    }

    #[test]
    fn what_drifts_as_much_by_itself_is_not_told_of() {
        // One machine that grows slower all the time, and its runs in two blocks.
        let first: Vec<f64> = (0..8).map(|it| 100.0 + f64::from(it)).collect();
        let second: Vec<f64> = (8..16).map(|it| 100.0 + f64::from(it)).collect();
        let difference = between(&first, &second);
        assert!(difference.p < 0.001, "the ranks alone say so: {}", difference.p);
        assert!(near(difference.floor, 4.0));
        assert!(near(difference.shift, 8.0));
        // Halves are half as far apart as the sets: the floor is no cure where sides did not take turns.
        assert_eq!(difference.telling(difference.p), Telling::Shown);
        let turns: (Vec<f64>, Vec<f64>) = (
            (0..16).step_by(2).map(f64::from).collect(),
            (1..16).step_by(2).map(f64::from).collect(),
        );
        let difference = between(&turns.0, &turns.1);
        assert_eq!(difference.telling(difference.p), Telling::NotShown);
    }

    #[test]
    fn many_at_once_are_held_to_more() {
        let near = |one: &[f64], other: &[f64]| {
            assert_eq!(one.len(), other.len());
            assert!(
                one.iter().zip(other).all(|(one, other)| (one - other).abs() < 1e-12),
                "{one:?}"
            );
        };
        near(&holm(&[0.01, 0.04, 0.03, 0.005]), &[0.03, 0.06, 0.06, 0.02]);
        near(&holm(&[0.5, 0.9]), &[1.0, 1.0]);
        near(&holm(&[0.02]), &[0.02]);
        near(&holm(&[]), &[]);
    }

    #[test]
    fn of_many_that_are_told_of_few_are_by_chance() {
        // Benjamini and Hochberg, section 3.2: of these fifteen the first four are told of at 0.05.
        let p = [
            0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262,
            0.5719, 0.6528, 0.7590, 1.0,
        ];
        let adjusted = false_discovery(&p);
        assert_eq!(adjusted.iter().filter(|p| **p <= 0.05).count(), 4);
        assert!((adjusted[3] - 0.0095 * 15.0 / 4.0).abs() < 1e-12);
        // Where all are alike, none is held to more.
        assert!(false_discovery(&[0.03; 9]).iter().all(|p| (p - 0.03).abs() < 1e-12));
        assert!(false_discovery(&[]).is_empty());
    }

    #[test]
    fn the_least_probability_is_that_of_sets_that_do_not_overlap() {
        assert!((least_p(5, 5) - 2.0 / 252.0).abs() < 1e-9);
        assert!((least_p(1, 1) - 1.0).abs() < 1e-9);
        assert!(least_p(40, 40) < 1e-9);
    }

    #[test]
    fn what_is_no_number_is_not_compared() {
        assert_eq!(Difference::between(&[], &[1.0], 0.0, Order::Turns), None);
        assert_eq!(Difference::between(&[1.0], &[f64::NAN], 0.0, Order::Turns), None);
        assert_eq!(Difference::between(&[f64::INFINITY], &[1.0], 0.0, Order::Turns), None);
        let zeros = between(&[0.0; 6], &[0.0; 6]);
        assert_eq!((zeros.shift, zeros.delta, zeros.p), (0.0, 0.0, 1.0));
        assert_eq!(zeros.telling(zeros.p), Telling::NotShown);
    }
}
