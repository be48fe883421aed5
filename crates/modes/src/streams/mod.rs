//! Streams of datagrams, which are sent whether they arrive or not: what the modes have in common that send such.
//!
//! Not here: what a mode sends when, and what it makes of what comes, which are its two halves of a stream.

mod consent;
mod flow;
mod halves;
mod header;

pub(crate) use consent::Consent;
pub use flow::StreamFlow;
pub use halves::{Receives, Sends, Streams};
pub use header::HEADER_BYTES;
pub(crate) use header::{Header, Identity, Reading};
