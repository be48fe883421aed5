//! How long a round trip takes, to the last percentile.

mod datagram;
mod echo;
mod ping;
mod plan;
mod shared;
mod summary;
mod tally;
mod window;

pub use datagram::HEADER_BYTES;
pub use echo::EchoFlow;
pub use ping::PingFlow;
pub use plan::{Extent, LatencyPlan, LoadModel, Protocol};
pub use shared::LatencyShared;
pub use summary::{LatencyInterval, LatencyReport};
pub use tally::LatencyTally;
