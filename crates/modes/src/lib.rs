//! What is measured: a folder for each thing, and the document that holds the results.
//!
//! A mode's folder holds `args.rs` (words), `plan.rs` (valid by construction, goes on the wire and into
//! the results), `machine.rs` (the flows), `summary.rs` (typed results) and `presentation.rs` (all that a view
//! needs). [`registry`] is the one place that lists them.
//! [`arrivals`], `consent`, [`pattern`] and [`sockets`] are what several of them have in common.
//!
//! Pure: no socket, no file, no clock, no thread, nothing printed.

#![forbid(unsafe_code)]

pub mod arrivals;
mod consent;
pub mod datagrams;
pub mod document;
pub mod draw;
pub mod figures;
pub mod follow_up;
pub mod goodput;
pub mod latency;
pub mod limits;
pub mod media;
pub mod memory;
pub mod mode;
pub mod multipath;
pub mod offered;
pub mod pattern;
pub mod placement;
pub mod presentation;
pub mod registry;
pub mod sockets;
pub mod span;
mod stamps;
