//! How much applications really get through, and whether every byte is right.

mod errors;
mod flow;
mod plan;
mod receive;
mod send;
mod summary;

pub use flow::{GoodputFlow, GoodputShared};
pub use plan::{Extent, GoodputPlan, Pattern, Verify};
pub use receive::{ReceiveShared, Receiver};
pub use send::{SendShared, Sender};
pub use summary::{FlowCorruption, GoodputInterval, GoodputReport, RateSums, ReceiveWindow};
