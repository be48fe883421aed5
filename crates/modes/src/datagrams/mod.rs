//! How much gets through as datagrams (UDP), and what becomes of each: every one numbered, stamped and verified.

mod args;
mod checks;
mod corruption;
pub(crate) mod figures;
mod findings;
mod flow;
pub(crate) mod header;
mod limits;
mod mode;
mod plan;
mod presentation;
mod receive;
mod results;
mod runs;
mod send;
mod summary;
mod tally;
mod verdict;
mod window;

#[cfg(test)]
mod tests;

pub use args::DatagramArgs;
pub use corruption::{Damage, DatagramCorruption};
pub use flow::{DatagramFlow, DatagramShared};
pub use header::HEADER_BYTES;
pub use plan::{DatagramsPlan, Offload};
pub use runs::DatagramWorker;
pub use summary::{
    DatagramDirection, DatagramFlowFacts, DatagramsInterval, DatagramsReport, DatagramsSummary,
};
pub use tally::DatagramTally;
