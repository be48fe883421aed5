//! Puts it together: plan, peer, engine and machines become events and a document. Client, server,
//! signals.
//!
//! A session is one thread at each end that carries out what a dialogue says (`driver`), and worker
//! threads that run the flows (`worker`; what runs on each by its plan is `arms`'). The threads talk
//! through a mailbox. No figure is computed here that a mode could compute.

#![forbid(unsafe_code)]

mod arms;
mod assemble;
mod attach;
mod attendance;
pub mod client;
mod confirmation;
mod crews;
mod datagrams;
mod destinations;
mod driver;
mod error;
mod frames;
mod group;
mod intervals;
pub mod journal;
mod ledger;
mod lookout;
mod mail;
mod making;
mod opener;
mod origins;
mod paths;
mod placement;
mod reconnection;
mod renewed;
pub mod samples;
pub mod server;
mod settings;
mod still;
pub mod stop;
mod streams;
pub mod survey;
pub mod target;
mod test;
mod vacancies;
pub mod wall;
mod worker;

pub use error::RunError;
