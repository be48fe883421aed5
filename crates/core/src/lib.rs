//! The vocabulary that every other room speaks: quantities, time, statistics, and the parts of a
//! result that all modes share.
//!
//! This room imports nothing of ours, opens no socket or file, reads no clock, and prints nothing.
//! It does not know which modes, peers, engines or views exist.

#![forbid(unsafe_code)]

pub mod counters;
pub mod edits;
pub mod error;
mod estimates;
pub mod event;
pub mod figure;
pub mod finding;
pub mod id;
mod indented;
pub mod journal;
pub mod network;
pub mod presentation;
pub mod quantity;
pub mod record;
pub mod sending;
pub mod shell;
pub mod side_by_side;
pub mod stats;
pub mod tcp_look;
mod tick;
mod wait;

pub use tick::Tick;
pub use wait::Wait;
