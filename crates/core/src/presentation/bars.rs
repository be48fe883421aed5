//! Amounts of many things that are alike, side by side. Not here: amounts over time, which are series.

use super::Source;

/// A bar for each of many things, or one for neighbours together where there are too many of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bars {
    /// What it is of.
    pub source: Source,
    /// What it shows: `goodput up of each connection`.
    pub title: String,
    /// In the order in which they are drawn.
    pub bars: Vec<Bar>,
    /// What the things that are marked are: `starved`.
    pub mark: String,
    /// Lines across, that all of them are compared with.
    pub levels: Vec<Level>,
    /// What is said of all of them together, in a few words.
    pub note: String,
}

/// One of the things, or some whose amounts are neighbours.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bar {
    /// Which: `flow 3`.
    pub label: String,
    /// How many things it stands for.
    pub count: u64,
    /// The least amount of any of them, in the base unit of the source.
    pub least: f64,
    /// The most.
    pub most: f64,
    /// Whether they are marked.
    pub is_marked: bool,
}

/// An amount that others are compared with.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Level {
    /// What people call it: `fair share`.
    pub label: String,
    /// How much, in the base unit of the source.
    pub value: f64,
}
