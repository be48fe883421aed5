//! How far one set of runs lies from another: the shift of Hodges and Lehmann with its interval, and the same of halves of one set, of which
//! nothing differs.
//!
//! Not here: on which scale numbers are held against each other, and when a shift is told of (`two_samples`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rank_sum::differences_outside;

/// So many runs each side has to have: of fewer, halves cannot be held against each other, and nobody knows what runs of that side differ by
/// themselves. One run that met a bad minute would be told of as a change, however many stand on the other side.
pub(super) const LEAST_RUNS: usize = 4;

/// In which order the runs of both sets were.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// They took turns: what changes slowly meets both alike.
    Turns,
    /// They did not, or it is not known: whatever changed meanwhile is part of the difference.
    Blocks,
}

/// How far the second set lies from the first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shift {
    /// The median of all differences between any of the second and any of the first.
    pub(super) middle: f64,
    /// Where it truly lies; absent where the runs are too few.
    pub(super) interval: Option<Interval>,
    /// How far halves of one set are apart, at the most.
    pub(super) own: f64,
}

/// Where a shift lies, and with which probability.
#[derive(Clone, Copy, Debug)]
pub(super) struct Interval {
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) coverage: f64,
}

impl Shift {
    /// `None` where one of the sets is empty, or numbers are near the largest that there are: a difference of those is none.
    pub(super) fn between(first: &[f64], second: &[f64], order: Order) -> Option<Self> {
        let mut all = differences(first, second);
        let middle = median(&all).filter(|value| value.is_finite())?;
        let are_enough = first.len().min(second.len()) >= LEAST_RUNS;
        let ranks = differences_outside(first.len(), second.len()).filter(|_| are_enough);
        let interval = ranks.map(|(outside, coverage)| {
            let last = all.len() - outside;
            let low = *all.select_nth_unstable_by(outside - 1, f64::total_cmp).1;
            let high = *all.select_nth_unstable_by(last, f64::total_cmp).1;
            Interval { low, high, coverage }
        });
        let own = own_shift(first, order).max(own_shift(second, order));
        Some(Self { middle, interval, own })
    }
}

/// The middle of all values, or the mean of the middle two. `None` of none.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut values = values.to_vec();
    let half = values.len() / 2;
    if values.is_empty() {
        return None;
    }
    let upper = *values.select_nth_unstable_by(half, f64::total_cmp).1;
    if values.len() % 2 == 1 {
        return Some(upper);
    }
    let lower = values[..half].iter().copied().max_by(f64::total_cmp)?;
    Some(lower / 2.0 + upper / 2.0)
}

/// All differences between any of the second and any of the first.
pub(super) fn differences(first: &[f64], second: &[f64]) -> Vec<f64> {
    second.iter().flat_map(|value| first.iter().map(move |from| value - from)).collect()
}

/// How far halves of one set are apart, of which nothing differs: every other run, which shows what runs differ by, and the first half
/// against the second, which shows what drifts. Whole sets in blocks are twice as far apart in time as their halves, and so is what
/// drifts. `values` in the order of time. 0 where they are too few to be halved.
fn own_shift(values: &[f64], order: Order) -> f64 {
    if values.len() < LEAST_RUNS {
        return 0.0;
    }
    let every_other =
        |from: usize| values.iter().skip(from).step_by(2).copied().collect::<Vec<_>>();
    let (early, late) = values.split_at(values.len() / 2);
    let as_far = match order {
        Order::Turns => 1.0,
        Order::Blocks => 2.0,
    };
    let between =
        |first: &[f64], second: &[f64]| median(&differences(first, second)).unwrap_or(0.0).abs();
    between(&every_other(0), &every_other(1)).max(as_far * between(early, late))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0]), Some(3.0));
        assert_eq!(median(&[9.0, 1.0, 4.0]), Some(4.0));
        assert_eq!(median(&[9.0, 1.0, 4.0, 6.0]), Some(5.0));
        assert_eq!(median(&[f64::MAX, f64::MAX]), Some(f64::MAX));
    }
}
