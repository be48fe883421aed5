//! How long a round trip takes, to the last percentile.

mod plan;
mod summary;

pub use plan::{Extent, LatencyPlan, LoadModel, Protocol};
pub use summary::{LatencyInterval, LatencyReport};
