//! What a figure is a number of, and which of two is the better one, whatever it is called and however it is shown.
//!
//! Not here: which figures there are. Modes have the list, and `docs/figures.md` is written from it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Better {
    /// More is.
    Higher,
    /// Less is.
    Lower,
    /// Neither: it says how much was done, or of what kind it was.
    #[default]
    Neither,
}

/// Which one of several a figure is, where there is one for each.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub enum Part {
    /// There is one.
    #[default]
    Whole,
    /// Of a direction or an end: `up`, `down`, `client`, `server`. The figure's id says it, too.
    Side(&'static str),
    /// Of an entry of a list, by its name: a path, an address, a trial.
    Entry(String),
}

/// A figure of a distribution.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Statistic {
    /// The last part of its id: `mean`.
    pub name: &'static str,
    /// What it is called behind the name of what it is of: `minimum`.
    pub label: &'static str,
    /// Where the distribution has it.
    pub place: &'static str,
    /// What it is a number of.
    pub unit: Unit,
    /// What it means.
    pub meaning: &'static str,
}

/// What every distribution has. A percentile's id ends with its rank: `p50`, `p99.9`.
pub const STATISTICS: &[Statistic] = &[
    Statistic {
        name: "count",
        label: "count",
        place: "count",
        unit: Unit::Count,
        meaning: "how many there were",
    },
    Statistic {
        name: "min",
        label: "minimum",
        place: "min_ns",
        unit: Unit::Duration,
        meaning: "the smallest, exactly",
    },
    Statistic {
        name: "mean",
        label: "mean",
        place: "mean_ns",
        unit: Unit::Duration,
        meaning: "the arithmetic mean",
    },
    Statistic {
        name: "deviation",
        label: "standard deviation",
        place: "standard_deviation_ns",
        unit: Unit::Duration,
        meaning: "the sample standard deviation, with n − 1",
    },
    Statistic {
        name: "iqr",
        label: "interquartile range",
        place: "interquartile_range_ns",
        unit: Unit::Duration,
        meaning: "from the 25th to the 75th percentile",
    },
    Statistic {
        name: "pN",
        label: "pN",
        place: "percentiles[].value_ns",
        unit: Unit::Duration,
        meaning: "the N-th percentile, where the samples support it; the entry of that `percent`, with its 95 % interval",
    },
    Statistic {
        name: "max",
        label: "maximum",
        place: "max_ns",
        unit: Unit::Duration,
        meaning: "the largest, exactly",
    },
];
