//! Puts it together: plan, peer, engine and machines become events and a document. Client, server,
//! signals.
//!
//! A session is one thread at each end that carries out what a dialogue says (`session/driver`), and worker
//! threads that run the flows (`workers`). Workers leave their messages in the session's inbox. No figure is
//! computed here that a mode could compute.

#![forbid(unsafe_code)]

pub mod client;
mod connect;
mod error;
pub mod findings;
mod holders;
mod messages;
mod paths;
mod promised;
mod queue;
mod readying;
pub mod records;
pub mod server;
mod session;
pub mod stop;
pub mod target;
mod threads;
pub mod timestamp;
mod workers;

pub use error::RunError;
