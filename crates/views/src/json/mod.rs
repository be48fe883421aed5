//! For programs: the document alone, or one object a line while it runs.
//!
//! What is written is what [`Record`](pathscope_core::event::Record)s say of themselves: base units,
//! full precision. Control characters in strings are escaped by JSON itself.

mod document;
mod stream;
#[cfg(test)]
mod tests;

pub use document::Document;
pub use stream::Stream;
