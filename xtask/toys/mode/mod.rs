//! A mode that was added as people are told to add one: a folder and its line. The client sends a number a tick over TCP,
//! and the server says whether each was the one that was due.

mod args;
mod command;
mod counts;
pub(crate) mod figures;
mod findings;
mod flow;
mod mode;
mod plan;
mod presentation;
mod results;
mod runs;
mod sample;

pub use args::ToyArgs;
pub use command::ToyCommand;
pub use counts::ToyCounts;
pub use flow::{ToyFlow, ToyShared};
pub use plan::ToyPlan;
pub use results::ToySummary;
pub use sample::{ToyRows, ToySample};
