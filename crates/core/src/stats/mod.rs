//! Accumulators and the figures they become. Each figure names its formula and source.

mod binomial;
mod histogram;
mod percentile;
mod summary;

pub use binomial::quantile_ranks;
pub use histogram::{Bucket, Distribution, LatencyHistogram};
pub use percentile::{Percentile, STANDARD_PERCENTILES, samples_needed};
pub use summary::LatencyFigures;
