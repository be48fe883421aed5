//! How long a round trip takes, to the last percentile.

mod args;
mod datagram;
mod echo;
mod ping;
mod plan;
mod seen;
mod shared;
pub mod sheet;
mod summary;
mod tally;
mod window;

#[cfg(test)]
mod tests;

pub use args::LatencyArgs;
pub use datagram::HEADER_BYTES;
pub use echo::EchoFlow;
pub use ping::PingFlow;
pub use plan::{Extent, LatencyPlan, LoadModel, Protocol};
pub use shared::LatencyShared;
pub use summary::{LatencyInterval, LatencyReport, LatencySummary};
pub use tally::LatencyTally;
