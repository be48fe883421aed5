//! What the ratios of pairs come to.

use pathscope_core::stats::quantile_ranks;
use serde::Serialize;

/// An "at least B" is met when the interval's lower end is at least this share of B.
const TOLERANCE: f64 = 0.03;

/// The ratios of ours to theirs, pair by pair.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RatioSummary {
    /// How many pairs.
    pub pairs: usize,
    /// The median ratio.
    pub median: f64,
    /// Lower end of its 95 % interval, by exact binomial ranks: no assumption about how ratios are
    /// distributed. Absent below 6 pairs.
    pub low: Option<f64>,
    /// Upper end of that interval.
    pub high: Option<f64>,
    /// The smallest ratio.
    pub smallest: f64,
    /// The largest ratio.
    pub largest: f64,
}

impl RatioSummary {
    /// Of these ratios. Not a number where there are none.
    pub fn of(ratios: &[f64]) -> Self {
        let mut sorted = ratios.to_vec();
        sorted.sort_by(f64::total_cmp);
        let at = |rank: u64| sorted.get(usize::try_from(rank).ok()?.checked_sub(1)?).copied();
        let ranks = quantile_ranks(sorted.len() as u64, 0.5);
        Self {
            pairs: sorted.len(),
            median: median_of_sorted(&sorted),
            low: ranks.and_then(|(lower, _)| at(lower)),
            high: ranks.and_then(|(_, upper)| at(upper)),
            smallest: sorted.first().copied().unwrap_or(f64::NAN),
            largest: sorted.last().copied().unwrap_or(f64::NAN),
        }
    }

    /// Whether "at least `bound` times theirs" is met.
    pub fn is_at_least(&self, bound: f64) -> bool {
        self.low.is_some_and(|low| low >= bound * (1.0 - TOLERANCE))
    }

    /// Whether "at most `bound` times theirs" is met.
    pub fn is_at_most(&self, bound: f64) -> bool {
        self.high.is_some_and(|high| high <= bound * (1.0 + TOLERANCE))
    }
}

/// The middle value; not a number where there is none.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    median_of_sorted(&sorted)
}

fn median_of_sorted(sorted: &[f64]) -> f64 {
    match (sorted.len(), sorted.len() / 2) {
        (0, _) => f64::NAN,
        (length, middle) if length % 2 == 1 => sorted[middle],
        (_, middle) => f64::midpoint(sorted[middle - 1], sorted[middle]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fifteen_pairs_give_the_ranks_of_the_sign_test() {
        // Order of arrival does not matter; ranks for n = 15 are 4 and 12 in every table.
        let ratios: Vec<f64> = (1..=15).map(|k| f64::from(k * 7 % 16) / 8.0).collect();
        let summary = RatioSummary::of(&ratios);
        assert_eq!((summary.median, summary.low, summary.high), (1.0, Some(0.5), Some(1.5)));
        assert_eq!((summary.smallest, summary.largest), (0.125, 1.875));
    }

    #[test]
    fn five_pairs_support_no_interval_and_so_no_claim() {
        let summary = RatioSummary::of(&[2.0; 5]);
        assert_eq!((summary.low, summary.high), (None, None));
        assert!(!summary.is_at_least(0.1) && !summary.is_at_most(10.0));
    }

    #[test]
    fn a_claim_rests_on_the_far_end_of_the_interval() {
        let summary = RatioSummary::of(&[0.98; 15]);
        assert!(summary.is_at_least(1.0) && !summary.is_at_least(1.02));
        assert!(summary.is_at_most(0.96) && !summary.is_at_most(0.95));
    }

    #[test]
    fn the_median_of_an_even_number_lies_between() {
        assert_eq!(median(&[4.0, 1.0, 3.0, 2.0]).to_bits(), 2.5_f64.to_bits());
        assert!(median(&[]).is_nan());
    }
}
