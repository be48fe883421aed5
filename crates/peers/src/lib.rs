//! Who is at the other end: a folder for each kind of peer.
//!
//! A peer's folder holds its wire format and its dialogues, which implement `flow::Dialogue`. [`registry`]
//! is the one place that lists the kinds and tells them apart; [`limits`] is what a server grants to
//! strangers, whichever way they speak.
//!
//! Pure: no socket, no file, no clock, no thread, nothing printed. Randomness is passed in.

#![forbid(unsafe_code)]

mod error;
pub mod limits;
pub mod native;
pub mod registry;

pub use error::{Moment, PeerError, Refusal};
