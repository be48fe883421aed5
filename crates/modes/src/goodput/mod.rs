//! How much applications really get through, and whether every byte is right.

mod plan;
mod summary;

pub use plan::{Extent, GoodputPlan, Pattern, Verify};
pub use summary::{FlowCorruption, GoodputInterval, GoodputReport, RateSums, ReceiveWindow};
