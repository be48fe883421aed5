//! How long a round trip takes, to the last percentile.

mod args;
mod attempts;
mod caveats;
mod command;
mod content;
mod datagram;
mod drain;
mod durations;
mod echo;
pub(crate) mod figures;
mod findings;
mod kept;
mod limits;
mod mode;
mod numbered;
mod one_way;
mod parts;
mod ping;
mod plan;
pub(crate) mod presentation;
mod put_off;
mod results;
mod runs;
mod sample;
mod schedule;
mod shared;
mod summary;
mod tally;
mod trips;
mod variation;
mod window;

#[cfg(test)]
mod tests;

pub use args::LatencyArgs;
pub use command::LatencyCommand;
pub use datagram::NOTED_BYTES;
pub use durations::Durations;
pub use echo::EchoFlow;
pub use kept::{KeptPing, KeptPings};
pub use one_way::{OneWayReport, OneWaySummary};
pub use parts::{PartsReport, PartsSummary};
pub use ping::PingFlow;
pub use plan::{Arrivals, Extent, LatencyPlan, LoadModel, Protocol, Timestamps};
pub use sample::{Outcome, PingRows, Sample};
pub use shared::LatencyShared;
pub use summary::{JitterSummary, LatencyInterval, LatencyReport, LatencySummary};
pub use tally::LatencyTally;
pub use variation::VariationReport;

pub use crate::echoed::HEADER_BYTES;
