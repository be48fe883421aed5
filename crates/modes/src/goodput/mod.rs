//! How much applications really get through, and whether every byte is right.

mod args;
mod both_ends;
mod checks;
mod counted_window;
mod errnos;
mod errors;
mod farewell;
pub(crate) mod figures;
mod findings;
mod flow;
mod joining;
mod limits;
mod mode;
mod pace;
mod parting;
mod patience;
mod plan;
mod presentation;
mod receive;
mod results;
mod runs;
mod segments;
mod send;
mod shape;
mod shared;
mod summary;
mod together;
mod verdict;

#[cfg(test)]
mod tests;

pub use both_ends::disagreements;
pub use errnos::ErrnoCounts;
pub use flow::GoodputFlow;
pub use pace::{Burst, Pace};
pub use plan::{BufferRange, GoodputPlan};
pub use receive::Receiver;
pub use send::Sender;
pub use shape::{DEFAULT_CONNECT_LIMIT, Iterations, Shape, Shutdown};
pub use shared::GoodputShared;
pub use summary::{DirectionSummary, FailureTimes, GoodputInterval, GoodputSummary};
pub use verdict::verdict;

pub use crate::load::{FlowCorruption, GoodputReport};
