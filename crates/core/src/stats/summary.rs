//! The figures of one latency distribution, as they stand in a document.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{LatencyHistogram, Percentile, STANDARD_PERCENTILES};

/// What one histogram says.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct LatencyFigures {
    /// Samples.
    pub count: u64,
    /// The smallest, exactly.
    pub min_ns: Option<u64>,
    /// The arithmetic mean.
    pub mean_ns: Option<f64>,
    /// The largest, exactly.
    pub max_ns: Option<u64>,
    /// The sample standard deviation.
    pub standard_deviation_ns: Option<f64>,
    /// From the 25th to the 75th percentile, where the samples support both.
    pub interquartile_range_ns: Option<u64>,
    /// The standard percentiles and those asked for, by rising rank, each with its interval.
    pub percentiles: Vec<Percentile>,
}

impl LatencyFigures {
    /// The figures of what `histogram` holds.
    pub fn of(histogram: &LatencyHistogram) -> Self {
        Self::with(histogram, &[])
    }

    /// The same, with these percentiles beside the standard ones.
    pub fn with(histogram: &LatencyHistogram, asked: &[f64]) -> Self {
        let mut percents: Vec<f64> = STANDARD_PERCENTILES.iter().chain(asked).copied().collect();
        percents.sort_by(f64::total_cmp);
        percents.dedup();
        let percentiles: Vec<Percentile> =
            percents.iter().map(|&percent| Percentile::of(histogram, percent)).collect();
        let value = |percent: f64| {
            percentiles.iter().find(|it| (it.percent - percent).abs() < 1e-9)?.value_ns
        };
        Self {
            count: histogram.count(),
            min_ns: histogram.min_ns(),
            mean_ns: histogram.mean_ns(),
            max_ns: histogram.max_ns(),
            standard_deviation_ns: histogram.standard_deviation_ns(),
            interquartile_range_ns: value(75.0).zip(value(25.0)).map(|(high, low)| high - low),
            percentiles,
        }
    }

    /// The stated percentile, if it is among them.
    pub fn percentile(&self, percent: f64) -> Option<&Percentile> {
        self.percentiles.iter().find(|percentile| (percentile.percent - percent).abs() < 1e-9)
    }

    /// The median, where the samples support one.
    pub fn median_ns(&self) -> Option<u64> {
        self.percentile(50.0)?.value_ns
    }

    /// The highest of the percentiles 99, 95 and 90 that the samples support, and of how many samples one is above it, in
    /// words: what happens now and then, of which no median knows.
    pub fn tail_ns(&self) -> Option<(u64, &'static str)> {
        const TAILS: [(f64, &str); 3] = [(99.0, "a hundred"), (95.0, "twenty"), (90.0, "ten")];
        let supported = |(percent, words)| Some((self.percentile(percent)?.value_ns?, words));
        TAILS.into_iter().find_map(supported)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tail_is_the_highest_that_the_samples_support() {
        let tail = |samples: u64| {
            let mut histogram = LatencyHistogram::new();
            (1..=samples).for_each(|sample| histogram.record(sample));
            LatencyFigures::of(&histogram).tail_ns()
        };
        assert_eq!(tail(1_000), Some((990, "a hundred")));
        assert_eq!(tail(200), Some((190, "twenty")));
        assert_eq!(tail(100), Some((90, "ten")));
        assert_eq!(tail(10), None);
    }

    #[test]
    fn percentiles_that_were_asked_for_stand_among_the_others() {
        let mut histogram = LatencyHistogram::new();
        (1..=1_000).for_each(|sample| histogram.record(sample));
        let figures = LatencyFigures::with(&histogram, &[99.99, 50.0, 33.0]);
        let percents: Vec<f64> = figures.percentiles.iter().map(|it| it.percent).collect();
        assert_eq!(percents, [1.0, 25.0, 33.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.9, 99.99]);
        assert_eq!(figures.percentile(33.0).and_then(|it| it.value_ns), Some(330));
        assert_eq!(figures.interquartile_range_ns, Some(500));
    }
}
