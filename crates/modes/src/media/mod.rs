//! Can this path carry this stream: frames on a schedule over UDP, and whether each was there when it was to
//! be played.

mod args;
mod charts;
mod checks;
mod delay;
pub(crate) mod figures;
mod findings;
mod flow;
mod frame;
mod frame_rows;
mod header;
mod layout;
mod ledger;
mod limits;
mod mode;
mod plan;
mod presentation;
mod profiles;
mod receive;
mod results;
mod runs;
mod send;
mod shared;
mod summary;
mod tally;
mod unnumbered;
mod verdict;

#[cfg(test)]
mod tests;

pub use args::MediaArgs;
pub use flow::MediaFlow;
pub use frame::{FrameCounts, FrameRow, Outcome};
pub use frame_rows::FrameRows;
pub use header::HEADER_BYTES;
pub use layout::Layout;
pub use plan::{Direction, MediaPlan, Pacing};
pub use profiles::{PROFILES, Profile};
pub use shared::MediaShared;
pub use summary::{
    DamagedDatagram, FrameJitter, MediaDirection, MediaInterval, MediaReport, MediaSummary,
    StreamFacts,
};
pub use tally::MediaTally;
