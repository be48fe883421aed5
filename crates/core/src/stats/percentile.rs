//! A percentile with the interval that its samples support, or how many samples it would need.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{LatencyHistogram, quantile_ranks};

/// The percentiles that every latency summary holds.
pub const STANDARD_PERCENTILES: [f64; 8] = [1.0, 25.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.9];

/// Samples from which a percentile is stated: 10 beyond it, 10 / (1 − p), and for p below the median
/// 10 / p. For p50: 20, p99: 1,000, p99.9: 10,000.
pub fn samples_needed(percent: f64) -> u64 {
    let tail = (percent.min(100.0 - percent) / 100.0).max(1e-12);
    // Rounded to whole samples after taking away what floating point added: 10 / 0.001 is 10,000.
    (10.0 / tail - 1e-6).ceil() as u64
}

/// One percentile of a distribution.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Percentile {
    /// Which one, from 0 to 100.
    pub percent: f64,
    /// The value; absent when the samples do not support it.
    pub value_ns: Option<u64>,
    /// Lower end of the interval that holds the true percentile with 95 % probability, if samples are
    /// independent.
    pub low_ns: Option<u64>,
    /// Upper end of that interval.
    pub high_ns: Option<u64>,
    /// How many samples it takes to state it.
    pub samples_needed: u64,
}

impl Percentile {
    /// The percentile of what `histogram` holds.
    pub fn of(histogram: &LatencyHistogram, percent: f64) -> Self {
        let samples_needed = samples_needed(percent);
        let quantile = percent / 100.0;
        let supported = histogram.count() >= samples_needed;
        let ranks = if supported { quantile_ranks(histogram.count(), quantile) } else { None };
        Self {
            percent,
            value_ns: if supported { histogram.value_at_quantile(quantile) } else { None },
            low_ns: ranks.and_then(|(lower, _)| histogram.value_at_rank(lower)),
            high_ns: ranks.and_then(|(_, upper)| histogram.value_at_rank(upper)),
            samples_needed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_needs_ten_samples_beyond_it() {
        for (percent, needed) in [
            (50.0, 20),
            (90.0, 100),
            (95.0, 200),
            (99.0, 1_000),
            (99.9, 10_000),
            (1.0, 1_000),
            (99.99, 100_000),
        ] {
            assert_eq!(samples_needed(percent), needed, "p{percent}");
        }
    }

    #[test]
    fn too_few_samples_give_no_value_but_say_how_many_are_needed() {
        let mut histogram = LatencyHistogram::new();
        (1..=999).for_each(|sample| histogram.record(sample * 1_000));
        let p99 = Percentile::of(&histogram, 99.0);
        assert_eq!((p99.value_ns, p99.low_ns, p99.samples_needed), (None, None, 1_000));
        histogram.record(1_000_000);
        let p99 = Percentile::of(&histogram, 99.0);
        assert!(p99.low_ns < p99.value_ns && p99.value_ns < p99.high_ns, "{p99:?}");
    }
}
