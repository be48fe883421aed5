//! A mode that was added as people are told to add one: a folder and its line. The client sends a number a tick over TCP,
//! and the server says whether each was the one that was due.

mod args;
pub(crate) mod figures;
mod flow;
mod plan;
mod results;
mod sample;

pub use args::ToyArgs;
pub use flow::{ToyFlow, ToyShared};
pub use plan::ToyPlan;
pub use results::{ToyCounts, ToySummary};
pub use sample::{ToyRows, ToySample};
