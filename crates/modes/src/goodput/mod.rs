//! How much applications really get through, and whether every byte is right.

mod args;
mod errors;
mod failures;
mod farewell;
mod flow;
mod pace;
mod plan;
mod receive;
mod send;
mod shape;
pub mod sheet;
mod summary;
mod verdict;

#[cfg(test)]
mod corruption_tests;
#[cfg(test)]
mod tests;

pub use args::GoodputArgs;
pub use failures::{Disagreement, Disagreements, FailureCounts, disagreements};
pub use flow::{GoodputFlow, GoodputShared};
pub use pace::{Burst, Pace};
pub use plan::{Extent, GoodputPlan, Pattern, Verify};
pub use receive::{ReceiveShared, Receiver};
pub use send::{SendShared, Sender};
pub use shape::{BufferRange, DEFAULT_CONNECT_LIMIT, Iterations, Shape, Shutdown};
pub use summary::{
    DirectionSummary, FlowCorruption, GoodputInterval, GoodputReport, GoodputSummary, RateSums,
    ReceiveWindow,
};
pub use verdict::verdict;
