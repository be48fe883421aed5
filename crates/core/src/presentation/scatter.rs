//! Things by when they began and how much each took. Not here: amounts of stretches of time, which are series.

use super::Source;

/// A mark for each of many things, at its begin and its amount.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scatter {
    /// What the amounts are.
    pub source: Source,
    /// What it shows: `connections by their begin`.
    pub title: String,
    /// The things, by kinds.
    pub kinds: Vec<Dots>,
    /// How many of them are here, in a few words: `1,000 of 40,000`.
    pub note: String,
}

/// Things of one kind.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Dots {
    /// What people call them: `failed`.
    pub label: String,
    /// Whether they are what a reader looks for: what went wrong.
    pub is_trouble: bool,
    /// Of each its begin, in time since the start of the document, in nanoseconds, and its amount in the base unit of the source.
    pub points: Vec<(u64, f64)>,
}
