//! What a network looks like to people: tables of text, and a picture, in which each link may bear what was found out about it.
//!
//! Computes nothing that is true of the network, only where it stands on the page, and always the same
//! for the same network.

mod labels;
mod layout;
mod shape;
mod svg;
mod tables;
#[cfg(test)]
mod tests;
mod words;

pub use labels::Note;
pub use svg::{svg, svg_with};
pub use tables::{conditions, summary, table, text};
