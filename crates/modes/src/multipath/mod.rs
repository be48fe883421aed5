//! How much a second path to a server helps: every datagram goes out on every path, and the first answer counts.
//!
//! Not here: sockets, interfaces and routes; `run` brings paths up and takes them down, and a machine hears of
//! it as lanes.

mod args;
mod caveats;
mod charts;
mod command;
mod datagram;
mod echo;
pub(crate) mod figures;
mod findings;
mod flow;
mod gaps;
mod ledger;
mod limits;
mod losses;
mod mode;
mod plan;
mod policies;
mod presentation;
mod replay;
mod report;
mod results;
mod ring;
mod runs;
mod sample;
mod shared;
mod summary;

#[cfg(test)]
mod tests;

pub use args::MultipathArgs;
pub use command::MultipathCommand;
pub use echo::{MultipathEcho, MultipathEchoShared};
pub use flow::MultipathFlow;
pub use gaps::{GapReport, Outage};
pub use losses::LossesOverTime;
pub use plan::{MOST_PATHS, MultipathPlan, SendOrder};
pub use policies::{Policy, PolicyReport};
pub use replay::Replay;
pub use report::{
    LossPair, MultipathInterval, MultipathReport, MultipathTally, PathInterval, PathReport,
};
pub use sample::{MultipathSample, StampRows, Stamps};
pub use shared::MultipathShared;
pub use summary::{MultipathSummary, PathSummary, PolicySummary};

pub use crate::echoed::HEADER_BYTES;
