//! Who is at the other end: a folder for each kind of peer.
//!
//! A peer's folder holds its wire format and its dialogues, which implement `flow::Dialogue`, and what it is as a kind of peer
//! ([`peer`]). [`registry`] is the one place that lists the kinds and tells them apart. What all have in common: [`attach`],
//! how a socket becomes its flow's, [`joining`], how it does where it bears no token, [`access`] and [`seats`], from whom a test
//! takes sockets and who has which place; [`dialogue`], and the one of all that have no control connection ([`in_band`]);
//! [`limits`], what a server grants to strangers, whichever way they speak, and [`operator`], what whoever runs it says of them.
//!
//! Pure: no socket, no file, no clock, no thread, nothing printed. Randomness is passed in.

#![forbid(unsafe_code)]

pub mod access;
mod answerers;
pub mod attach;
mod callers;
pub mod ctstraffic;
pub mod dialogue;
mod error;
mod flow_set;
pub mod in_band;
pub mod inquiry;
pub mod iperf3;
pub mod joining;
pub mod lagscope;
mod later;
pub mod limits;
pub mod mla;
pub mod native;
pub mod ntttcp;
pub mod operator;
pub mod peer;
pub mod registry;
pub mod seats;
pub mod simpleperf;

pub use error::{Moment, PeerError, Refusal};
