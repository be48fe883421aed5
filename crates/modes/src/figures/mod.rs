//! All figures of all modes in one place: for each a name that stays, where a document has it, its unit, which direction
//! is better, what it means and where that is defined. `docs/figures.md` is written from this, and experiments,
//! assertions and comparisons name figures by it.
//!
//! Not here: figures' values, and what presentations call them.

mod ends;
mod found;
mod groups;
mod id;
#[cfg(test)]
mod tests;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use found::{Found, found};
pub use groups::GROUPS;
pub use id::{FigureId, FigureIdError};

/// Figures of one thing that is measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Group {
    /// The first part of the id of each: `latency`.
    pub name: &'static str,
    /// What it is, in a few words.
    pub title: &'static str,
    /// Where a document has them; places of figures go on from there.
    pub place: &'static str,
    /// The figures.
    pub figures: &'static [FigureDefinition],
}

impl Group {
    /// The name of one of its figures, which stays the same in every version: `latency.rtt`.
    pub fn id(&self, figure: &FigureDefinition) -> String {
        format!("{}.{}", self.name, figure.name)
    }

    /// Where a document has it. `{way}` stands for `up` and `down`, `[]` for each entry of a list.
    pub fn place_of(&self, figure: &FigureDefinition) -> String {
        format!("{}.{}", self.place, figure.place)
    }
}

/// One figure, or one kind of it: in a document there may be one for each way or path.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct FigureDefinition {
    /// Its name in its group: `rtt`.
    pub name: &'static str,
    /// Where it is in its group's place.
    pub place: &'static str,
    /// What it is a number of.
    pub unit: Unit,
    /// Which direction is the better one.
    pub better: Better,
    /// What it means, as a fragment.
    pub meaning: &'static str,
    /// Where it is defined, from the folder of documentation.
    pub page: &'static str,
}

/// What a figure is a number of.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Bits a second.
    BitRate,
    /// Things a second.
    PerSecond,
    /// Bytes.
    Bytes,
    /// Things.
    Count,
    /// Nanoseconds.
    Duration,
    /// A share of one.
    Share,
    /// A number without a unit.
    #[default]
    Number,
    /// Decibels over a milliwatt.
    Dbm,
    /// Megahertz.
    Megahertz,
    /// Many durations: [`STATISTICS`] of them, each a figure of its own, and percentiles.
    Distribution,
    /// Durations' percentiles alone.
    Percentiles,
}

/// Which direction of a figure is the better one for whoever uses the path.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Better {
    /// More is.
    Higher,
    /// Less is.
    Lower,
    /// Neither: it says how much was done, or of what kind it was.
    Neither,
}

/// A figure of a distribution.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Statistic {
    /// The last part of its id: `mean`.
    pub name: &'static str,
    /// Where the distribution has it.
    pub place: &'static str,
    /// What it is a number of.
    pub unit: Unit,
    /// What it means.
    pub meaning: &'static str,
}

/// What every distribution has. A percentile's id ends with its rank: `p50`, `p99.9`.
pub const STATISTICS: &[Statistic] = &[
    Statistic { name: "count", place: "count", unit: Unit::Count, meaning: "how many there were" },
    Statistic {
        name: "min",
        place: "min_ns",
        unit: Unit::Duration,
        meaning: "the smallest, exactly",
    },
    Statistic {
        name: "mean",
        place: "mean_ns",
        unit: Unit::Duration,
        meaning: "the arithmetic mean",
    },
    Statistic {
        name: "deviation",
        place: "standard_deviation_ns",
        unit: Unit::Duration,
        meaning: "the sample standard deviation, with n − 1",
    },
    Statistic {
        name: "iqr",
        place: "interquartile_range_ns",
        unit: Unit::Duration,
        meaning: "from the 25th to the 75th percentile",
    },
    Statistic {
        name: "pN",
        place: "percentiles[].value_ns",
        unit: Unit::Duration,
        meaning: "the N-th percentile, where the samples support it; the entry of that `percent`, with its 95 % interval",
    },
    Statistic {
        name: "max",
        place: "max_ns",
        unit: Unit::Duration,
        meaning: "the largest, exactly",
    },
];

impl FigureDefinition {
    /// A figure of which more is better.
    pub(crate) const fn higher(name: &'static str, place: &'static str, unit: Unit) -> Self {
        Self { name, place, unit, better: Better::Higher, meaning: "", page: "" }
    }

    /// A figure of which less is better.
    pub(crate) const fn lower(name: &'static str, place: &'static str, unit: Unit) -> Self {
        Self { better: Better::Lower, ..Self::higher(name, place, unit) }
    }

    /// A figure that is neither good nor bad.
    pub(crate) const fn neutral(name: &'static str, place: &'static str, unit: Unit) -> Self {
        Self { better: Better::Neither, ..Self::higher(name, place, unit) }
    }

    /// The same with its meaning, and the page that defines it.
    pub(crate) const fn means(self, meaning: &'static str, page: &'static str) -> Self {
        Self { meaning, page, ..self }
    }
}
