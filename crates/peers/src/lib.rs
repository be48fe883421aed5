//! Who is at the other end: a folder for each kind of peer.
//!
//! A peer's folder holds its wire format and its dialogues, which implement `flow::Dialogue`, and what it is as a kind of peer
//! ([`peer`]). [`registry`] is the one place that lists the kinds and tells them apart. What all have in common: [`attach`],
//! how a socket becomes its flow's, [`access`] and [`seats`], from whom a test takes sockets and who has which place; [`dialogue`];
//! [`limits`], what a server grants to strangers, whichever way they speak.
//!
//! Pure: no socket, no file, no clock, no thread, nothing printed. Randomness is passed in.

#![forbid(unsafe_code)]

pub mod access;
pub mod attach;
mod callers;
pub mod dialogue;
mod error;
mod later;
pub mod limits;
pub mod native;
pub mod peer;
pub mod registry;
pub mod seats;

pub use error::{Moment, PeerError, Refusal};
