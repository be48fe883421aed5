//! What loads have in common, whatever carries them: words of their plans, windows and rates of what was received, and the
//! account of connections with what an end says of it. What a mode makes of it is in its folder.

mod acknowledged;
mod args;
pub(crate) mod bars;
mod connections;
mod facts;
mod failures;
mod fast_open;
mod periods;
mod plan;
pub(crate) mod presentation;
mod rates;
mod remotes;
mod report;
mod together;
mod window;

pub use acknowledged::Acknowledged;
pub use args::LoadArgs;
pub use connections::{ConnectionEnd, Connections, FLOWS_TOLD};
pub(crate) use facts::facts;
pub use failures::{Disagreement, ErrnoCount, FailureCounts, failure_of_both};
pub use fast_open::FastOpen;
pub use periods::{RATE_PERIOD, period_of_whole_blocks};
pub use plan::{Extent, Pattern, Verify};
pub use rates::{
    FEWEST_RECEIVES, FlowRate, FlowReceived, NoFairness, RateSpread, RateSums, Rates, Starved,
};
pub use remotes::RemoteCounts;
pub use report::{FlowCorruption, GoodputReport};
pub use together::{JointTransfer, Together};
pub use window::ReceiveWindow;
pub(crate) use window::Stage;
