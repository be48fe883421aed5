//! What a network looks like to people: tables of text, and a picture.
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

pub use svg::svg;
pub use tables::{conditions, summary, table, text};
