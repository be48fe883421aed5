//! The figures of one latency distribution, as they stand in a document.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{LatencyHistogram, Percentile, STANDARD_PERCENTILES};

/// What one histogram says.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
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
    /// The standard percentiles, each with its interval.
    pub percentiles: Vec<Percentile>,
}

impl LatencyFigures {
    /// The figures of what `histogram` holds.
    pub fn of(histogram: &LatencyHistogram) -> Self {
        Self {
            count: histogram.count(),
            min_ns: histogram.min_ns(),
            mean_ns: histogram.mean_ns(),
            max_ns: histogram.max_ns(),
            standard_deviation_ns: histogram.standard_deviation_ns(),
            percentiles: STANDARD_PERCENTILES
                .iter()
                .map(|&percent| Percentile::of(histogram, percent))
                .collect(),
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
}
