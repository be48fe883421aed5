//! Whether a set of runs moved further than it may, where that was stated before: a bound that is not nothing, as a condition of a comparison has.
//!
//! A bound says by itself what is too small to be told of, so the floor of a difference has nothing to say where the ranks alone show that
//! the shift is beyond the bound: the whole interval of the shift lies there. That holds of sides that took turns, where chance is all
//! that moves them apart; of sides in blocks, whose ranks tell what drifts, the floor holds as ever.
//!
//! Source: Hollander and Wolfe, "Nonparametric Statistical Methods", 2nd ed., section 4.3: the rank sum test of a shift is that of no
//! shift, with one set moved back, and the interval is of all shifts that it does not refuse.

use super::rank_sum::two_sided_p;
use super::shift::{Order, median};
use super::two_samples::{Bound, Difference, LEVEL, Telling};

impl Difference {
    /// How often two sets of which the second is moved back by what the bound allows are so far apart: the rank sum test. 1 where the second
    /// has not moved further, and never less than `p`. `first` and `second`: those that this is the difference of.
    pub fn p_beyond(&self, first: &[f64], second: &[f64], bound: Bound) -> f64 {
        let moved = match bound {
            Bound::Amount(most) => self.back_by(second, most),
            Bound::Share(most) => self.back_by_share(first, second, most),
        };
        moved.map_or(1.0, |moved| two_sided_p(first, &moved).max(self.p))
    }

    /// The second set moved back by so much; none where it has not moved as far.
    fn back_by(&self, second: &[f64], most: f64) -> Option<Vec<f64>> {
        let most = most.abs().max(self.resolution);
        let back = most * self.shift.signum();
        (self.shift.abs() > most).then(|| second.iter().map(|value| value - back).collect())
    }

    /// The same by a share of what the first is.
    fn back_by_share(&self, first: &[f64], second: &[f64], most: f64) -> Option<Vec<f64>> {
        let change = self.ratio?.change;
        let most = most.abs().max(self.resolution / median(first)?);
        // A change is never below -1, so what is allowed of one that is beyond it is above.
        let factor = 1.0 + most * change.signum();
        (change.abs() > most).then(|| second.iter().map(|value| value / factor).collect())
    }

    /// Whether there is a difference, where a bound was stated: as [`Difference::telling_of`] says, or because the ranks show that it is beyond
    /// the bound. `p_beyond`: of that, or what Holm makes of it.
    pub fn telling_beyond(&self, p: f64, bound: Bound, p_beyond: f64, order: Order) -> Telling {
        match self.telling_of(p, bound) {
            Telling::NotShown if order == Order::Turns && p_beyond <= LEVEL => Telling::Shown,
            telling => telling,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Far apart by themselves, half against half, and further from the others.
    const FIRST: [f64; 6] = [100.0, 104.0, 101.0, 105.0, 102.0, 106.0];
    /// Any amount: it says on which scale a difference is judged.
    const BOUND: Bound = Bound::Amount(1.0);

    fn moved(by: f64) -> (Difference, Vec<f64>) {
        let second: Vec<f64> = FIRST.iter().map(|value| value + by).collect();
        (Difference::between(&FIRST, &second, 0.5, Order::Turns).expect("numbers"), second)
    }

    #[test]
    fn a_bound_is_passed_where_the_whole_interval_is() {
        for by in [-20.0, -9.0, -4.0, -1.0, 0.0, 1.0, 4.0, 9.0, 20.0] {
            let (difference, second) = moved(by);
            let (low, high) = difference.low.zip(difference.high).expect("enough runs");
            for most in [0.0, 0.25, 2.5, 7.25, 30.0] {
                let least = f64::max(most, 0.5);
                let is_whole = if difference.shift > 0.0 { low > least } else { high < -least };
                let p = difference.p_beyond(&FIRST, &second, Bound::Amount(most));
                assert_eq!(p <= LEVEL, is_whole, "moved by {by}, may by {most}: {p}");
                assert!(p >= difference.p);
            }
        }
    }

    #[test]
    fn a_share_is_passed_where_the_whole_interval_is() {
        for factor in [0.5, 0.8, 0.93, 0.99, 1.0, 1.02, 1.1, 2.0] {
            let second: Vec<f64> = FIRST.iter().map(|value| value * factor).collect();
            let difference = Difference::between(&FIRST, &second, 0.0, Order::Turns);
            let difference = difference.expect("numbers");
            let ratio = difference.ratio.expect("above nothing");
            let (low, high) = ratio.low.zip(ratio.high).expect("enough runs");
            for most in [0.0, 0.01, 0.04, 0.15, 0.7, 0.999] {
                let is_whole = if ratio.change > 0.0 { low > most } else { high < -most };
                let p = difference.p_beyond(&FIRST, &second, Bound::Share(most));
                assert_eq!(p <= LEVEL, is_whole, "times {factor}, may by {most}: {p}");
                assert!(p >= difference.p);
            }
        }
    }

    #[test]
    fn the_floor_hides_nothing_that_is_beyond_a_bound_in_turns() {
        let mut second: Vec<f64> = FIRST.iter().map(|value| value - 9.0).collect();
        // Halves of this side are as far apart as the sides.
        second[3..].iter_mut().for_each(|value| *value -= 30.0);
        let difference = Difference::between(&FIRST, &second, 0.0, Order::Turns).expect("numbers");
        assert_eq!(difference.telling(difference.p), Telling::NotShown, "{difference:?}");
        let p = difference.p_beyond(&FIRST, &second, Bound::Amount(1.0));
        assert_eq!(difference.telling_beyond(difference.p, BOUND, p, Order::Turns), Telling::Shown);
        assert_eq!(
            difference.telling_beyond(difference.p, BOUND, p, Order::Blocks),
            Telling::NotShown
        );
        let p = difference.p_beyond(&FIRST, &second, Bound::Amount(20.0));
        assert_eq!(
            difference.telling_beyond(difference.p, BOUND, p, Order::Turns),
            Telling::NotShown
        );
    }

    #[test]
    fn what_a_clock_does_not_resolve_is_beyond_nothing() {
        let (difference, second) = moved(0.4);
        assert!((difference.p_beyond(&FIRST, &second, Bound::Amount(0.0)) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn few_runs_stay_too_few() {
        let (first, second) = ([1.0, 1.1, 1.2], [9.0, 9.1, 9.2]);
        let difference = Difference::between(&first, &second, 0.0, Order::Turns).expect("numbers");
        let p = difference.p_beyond(&first, &second, Bound::Amount(1.0));
        assert_eq!(
            difference.telling_beyond(difference.p, BOUND, p, Order::Turns),
            Telling::TooFewRuns
        );
    }
}
