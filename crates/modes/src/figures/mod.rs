//! The figures of all modes in one place, and those of a document by their ids. `docs/figures.md` is written from this,
//! and experiments, assertions and comparisons name figures by it.
//!
//! Not here: what a figure is (`figure`), the lists themselves (each mode has its own), and what views show of them.

mod ends;
mod found;
mod id;
#[cfg(test)]
mod tests;

pub use found::{Found, found};
pub use id::{FigureId, FigureIdError};

pub use crate::figure::{Better, FigureDefinition, Group, STATISTICS, Statistic, Unit};
use crate::{datagrams, goodput, latency, media, multipath, search};

/// All groups, in the order in which they are told.
pub const GROUPS: &[Group] = &[
    goodput::figures::GROUP,
    datagrams::figures::GROUP,
    search::figures::GROUP,
    latency::figures::GROUP,
    latency::figures::LOADED,
    media::figures::GROUP,
    multipath::figures::GROUP,
    ENDS,
];

/// What each end says of itself, whatever was measured.
pub const ENDS: Group = ends::GROUP;
