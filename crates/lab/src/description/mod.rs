//! Descriptions that people write, in TOML: how one is walked, and what is wrong with it, with lines and with what is
//! allowed. All faults are told at once.
//!
//! Not here: what is described. Networks are in `topology`; whoever describes more reads it with this.

mod document;
mod fault;

pub use document::{Document, Entry, Said, Table, entries};
pub use fault::{Fault, Faults, MOST_FAULTS, Place, instead, listed, named, quoted};
