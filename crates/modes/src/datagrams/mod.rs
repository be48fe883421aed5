//! How much gets through as datagrams (UDP), and what becomes of each: every one numbered, stamped and verified.

mod args;
mod checks;
mod corruption;
pub(crate) mod figures;
mod findings;
mod flow;
mod limits;
mod mode;
mod plan;
mod presentation;
mod receive;
mod results;
mod runs;
mod schedule;
mod send;
mod shared;
mod summary;
mod tally;
mod together;
mod verdict;
mod window;

#[cfg(test)]
pub(crate) mod tests;

pub use args::DatagramArgs;
pub use corruption::{Damage, DatagramCorruption};
pub use flow::DatagramFlow;
pub use plan::{DatagramsPlan, Offload};
pub use shared::DatagramShared;
pub use summary::{
    DatagramDirection, DatagramFlowFacts, DatagramsInterval, DatagramsReport, DatagramsSummary,
};
pub use tally::DatagramTally;

pub use crate::streams::HEADER_BYTES;
