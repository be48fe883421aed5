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
    /// Many durations: statistics of them, each a figure of its own, and percentiles.
    // The schema goes on to name the list by the name that it has in the code.
    #[schemars(
        description = "Many durations: [`STATISTICS`] of them, each a figure of its own, and percentiles."
    )]
    Distribution,
    /// Durations' percentiles alone.
    Percentiles,
}

/// Which direction of a figure is the better one for whoever uses the path.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
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
