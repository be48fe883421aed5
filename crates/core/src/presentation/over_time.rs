//! What is known of a time as stretches of it, and distributions side by side as boxes: the parts of a presentation that are drawn
//! and that no series or histogram is.
//!
//! Not here: the same in words. Whoever makes a timeline or boxes makes a table of them, too.

use crate::figure::Unit;

/// What became of several things over one time: a row for each of them.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Timeline {
    /// What it shows.
    pub title: String,
    /// From when on it is known.
    pub start_ns: u64,
    /// Until when.
    pub end_ns: u64,
    /// The things, in the order in which they are told.
    pub rows: Vec<TimelineRow>,
}

/// What became of one thing.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct TimelineRow {
    /// What it is.
    pub label: String,
    /// What happened to it, by rising begin. Stretches of different kinds may lie over each other.
    pub stretches: Vec<Stretch>,
}

/// A part of the time, or an instant in it where it has no length. Times are since the start of the document.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Stretch {
    /// Its begin.
    pub start_ns: u64,
    /// Its end.
    pub end_ns: u64,
    /// What was then, in a word or two: those of one kind are drawn alike.
    pub what: String,
    /// More of it, in a few words; may be empty.
    pub note: String,
}

impl Timeline {
    /// The same, later by so much.
    pub fn moved(&mut self, by_ns: u64) {
        let later = |at_ns: &mut u64| *at_ns = at_ns.saturating_add(by_ns);
        [&mut self.start_ns, &mut self.end_ns].into_iter().for_each(later);
        for stretch in self.rows.iter_mut().flat_map(|row| &mut row.stretches) {
            [&mut stretch.start_ns, &mut stretch.end_ns].into_iter().for_each(later);
        }
    }

    /// The same on a time that begins so much earlier.
    pub fn moved_back(&mut self, by_ns: u64) {
        let earlier = |at_ns: &mut u64| *at_ns = at_ns.saturating_sub(by_ns);
        [&mut self.start_ns, &mut self.end_ns].into_iter().for_each(earlier);
        for stretch in self.rows.iter_mut().flat_map(|row| &mut row.stretches) {
            [&mut stretch.start_ns, &mut stretch.end_ns].into_iter().for_each(earlier);
        }
    }
}

/// Distributions side by side, each by the same five of its numbers, as a box with whiskers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Boxes {
    /// What it shows.
    pub title: String,
    /// What the numbers are.
    pub unit: Unit,
    /// What the five are called, from the lower whisker to the upper one: `p5`, `p25`, `p50`, `p75`, `p95`.
    pub names: [&'static str; 5],
    /// The distributions.
    pub rows: Vec<BoxRow>,
}

/// One distribution of several.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BoxRow {
    /// What it is of.
    pub label: String,
    /// The five, in base units, rising.
    pub numbers: [f64; 5],
}
