//! What several numbers came to at several places, each with its interval, for a chart: a figure over the values of a setting, how far the
//! figures of a comparison moved.
//!
//! Not here: where a place stands in a picture, which is a view's affair.

use crate::figure::Unit;

/// A chart of numbers with their intervals. All of them are in one unit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Estimates {
    /// What it shows: `goodput up`.
    pub title: String,
    /// What its places are: `connections`, `percentile`. Empty: their names say so.
    pub axis: String,
    /// What its numbers are.
    pub unit: Unit,
    /// What is compared at each place.
    pub lines: Vec<EstimateLine>,
}

/// Numbers that belong together, in the order of their places.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EstimateLine {
    /// What they are of; empty where there is one line.
    pub label: String,
    /// The numbers.
    pub points: Vec<Estimate>,
    /// Whether places follow one another, so that a line may go from one to the next.
    pub is_joined: bool,
}

/// A number and its interval.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Estimate {
    /// What its place is called: `4`, `p99`.
    pub place: String,
    /// How much the place is, where it is a number. Where all are, places stand as far apart as their numbers are.
    pub at: Option<f64>,
    /// The number, in the base unit.
    pub value: f64,
    /// Where the true number lies with 95 % probability; absent where too little is known.
    pub interval: Option<(f64, f64)>,
}
