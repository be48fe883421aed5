//! The figures of all modes in one place, and those of a document by their ids. `docs/figures.md` is written from this,
//! and experiments, assertions and comparisons name figures by it.
//!
//! Not here: what a figure is (`figure`), the lists themselves (each mode has its own), and what views show of them.

mod ends;
mod found;
mod id;
mod near;
mod servers;
#[cfg(test)]
mod tests;

pub use crate::amount::{read, told};
pub use found::{Found, found, is_primary};
pub use id::{FigureId, FigureIdError};

pub use crate::figure::{Better, FigureDefinition, Group, STATISTICS, Unit};
use crate::{registry, search};

/// All groups, in the order in which they are told.
pub fn groups() -> impl Iterator<Item = &'static Group> {
    let of_modes = registry::FIGURES.iter().copied().flatten();
    let mut all: Vec<_> = of_modes.chain([&search::figures::GROUP, &SERVERS, &ENDS]).collect();
    all.sort_by_key(|group| group.order);
    all.into_iter()
}

/// What each end says of itself, whatever was measured.
pub const ENDS: Group = ends::GROUP;

/// What there is of several servers together.
pub const SERVERS: Group = servers::GROUP;
