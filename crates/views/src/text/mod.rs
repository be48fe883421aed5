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
mod value;
mod view;
mod words;

pub(crate) use table::scales as common_scales;
pub use view::Text;
pub use words::{ascii, clean};

use pathscope_core::presentation::Value;
use pathscope_core::quantity::Scale;

/// A value in the unit that suits it alone.
pub(crate) fn shown_alone(value: &Value) -> String {
    value::alone(value).text()
}

/// A value beside others: in a unit that they share, which stands elsewhere.
pub(crate) fn shown_beside(value: &Value, scale: Option<&Scale>) -> String {
    match value::beside(value, scale) {
        value::Shown::Number { number, .. } if scale.is_some() => number,
        shown => shown.text(),
    }
}
