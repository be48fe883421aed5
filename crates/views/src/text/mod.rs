//! For people: rows as intervals pass, then the result.
//!
//! Laid out for 80 columns, in pure text where color is off, and in ASCII where the output shows no more. Every character passes [`words::clean`] on
//! its way out: names and sentences may come from a peer, and a peer must not drive a terminal.

mod figures;
mod findings;
mod histogram;
mod line;
mod live;
mod page;
mod result;
mod series;
mod table;
#[cfg(test)]
mod tests;
mod view;

pub use view::Text;
