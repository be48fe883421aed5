//! Accumulators and the figures they become. Each figure names its formula and source.

mod beyond;
mod binomial;
mod buckets;
mod half_octaves;
mod histogram;
mod linear;
mod numbers;
mod percentile;
mod rank_sum;
mod ratio;
mod shift;
mod summary;
mod trend;
mod two_samples;

pub use binomial::{bound_of_none, quantile_ranks};
pub use half_octaves::{HALF_OCTAVES, HalfOctaveCounts, HalfOctaves, half_octave_edge_ns};
pub use histogram::{Bucket, Distribution, LatencyHistogram};
pub use linear::{LinearHistogram, LinearRanges};
pub use numbers::NumberFigures;
pub use percentile::{Percentile, STANDARD_PERCENTILES, samples_needed};
pub use ratio::Ratio;
pub use shift::{Order, median};
pub use summary::LatencyFigures;
pub use trend::Trend;
pub use two_samples::{Bound, Difference, Telling, false_discovery, holm, least_p};
