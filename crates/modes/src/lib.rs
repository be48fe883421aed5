//! What is measured: a folder for each thing, and the document that holds the results.
//!
//! A mode's folder holds `args.rs` and `command.rs` (words), `plan.rs` and `limits.rs` (valid by construction, goes on the
//! wire and into the results), `mode.rs` (what follows from a plan), `flow.rs` (the machines), `runs.rs` (what they are
//! started with, and what an end makes of what they leave), `summary.rs` and `results.rs` (what both ends say, and what that
//! comes to), `checks.rs` or `caveats.rs`, `figures.rs` and `findings.rs`
//! (closed lists), and `presentation.rs` (all that a view needs). [`registry`] is the one place that
//! lists them, and [`commands`] the one that lists the subcommands that measure them.
//! [`foreign`] reads what other tools have measured of the same things.
//! [`arrivals`], `checks`, [`drops`], `echoed`, `lag`, [`load`], [`paths`], [`pattern`], [`sockets`], [`streams`] and `verdicts` are
//! what several of them have in common.
//!
//! Pure: no socket, no file, no clock, no thread, nothing printed.

#![forbid(unsafe_code)]

pub mod across;
mod amount;
pub mod amounts;
pub mod arrivals;
pub mod assemble;
pub mod assertion;
pub mod backgrounds;
mod checks;
mod churn;
mod codec;
pub mod command;
pub mod commands;
pub mod compared;
pub mod comparison;
pub mod condition;
pub mod conventions;
pub mod datagrams;
pub mod document;
pub mod draw;
pub mod drops;
mod echoed;
pub mod end;
pub mod figure;
pub mod figures;
mod finding;
pub mod findings;
pub mod flows;
pub mod follow_up;
pub mod foreign;
pub mod goodput;
pub mod groups;
mod heat_maps;
pub mod kernel_sending;
mod lag;
mod last_look;
pub mod latency;
pub mod limits;
pub mod load;
pub mod media;
pub mod memory;
pub mod mode;
pub mod multipath;
pub mod offered;
pub mod paths;
pub mod pattern;
mod pivot;
pub mod placement;
pub mod presentation;
mod probes;
mod rate_search;
pub mod registry;
pub mod repeats;
pub mod results;
pub mod runs;
pub mod samples;
pub mod schema;
pub mod search;
mod section;
pub mod settings;
pub mod sockets;
pub mod span;
pub mod still;
pub mod streams;
mod sums;
pub mod survey;
pub mod times;
mod verdicts;
