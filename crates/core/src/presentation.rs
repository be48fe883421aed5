//! All that a view needs: labelled figures, tables, series and distributions, with no knowledge of the
//! mode they come from. A mode fills a [`Presentation`]; a view lays it out and computes nothing.

use crate::record::{Caveat, Check, Verdict};
use crate::stats::{Distribution, Percentile};

/// A whole result, or what is known of it before it starts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Presentation {
    /// What this is: `survey of 10.0.0.2`.
    pub title: String,
    /// What was measured, on what, with what settings.
    pub context: Vec<Figure>,
    /// The measurements, in the order they were made.
    pub sections: Vec<Section>,
    /// What holds for the whole.
    pub caveats: Vec<Caveat>,
}

/// One measurement.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Section {
    /// What it is: `goodput up`.
    pub title: String,
    /// What was done, in a few words: `8 TCP connections, push, 10 s`.
    pub subtitle: String,
    /// The figures, most important first.
    pub figures: Vec<Figure>,
    /// Figures that only make sense side by side.
    pub tables: Vec<Table>,
    /// Figures over time.
    pub series: Vec<Series>,
    /// Distributions of durations.
    pub distributions: Vec<(String, Distribution)>,
    /// What had to hold.
    pub checks: Vec<Check>,
    /// What limited it.
    pub verdict: Option<Verdict>,
    /// What to mind.
    pub caveats: Vec<Caveat>,
}

/// One figure with its label.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// What it is.
    pub label: String,
    /// How much.
    pub value: Value,
    /// A few words beside it.
    pub note: Option<String>,
    /// What it is compared with: figures of one section that name the same group share a unit. Empty: it stands alone,
    /// in the unit that suits it.
    pub group: String,
}

impl Figure {
    /// A figure without a note.
    pub fn new(label: impl Into<String>, value: Value) -> Self {
        Self { label: label.into(), value, note: None, group: String::new() }
    }

    /// The same figure as one of a group: those that are compared, and so share a unit.
    #[must_use]
    pub fn of(mut self, group: impl Into<String>) -> Self {
        self.group = group.into();
        self
    }

    /// The same figure with a few words beside it.
    #[must_use]
    pub fn with_note(mut self, note: impl Into<String>) -> Self {
        self.note = Some(note.into());
        self
    }
}

/// A value and its unit. The view decides digits and spelling.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// An amount of data.
    Bytes(u64),
    /// Bits a second.
    BitRate(f64),
    /// A length of time in nanoseconds.
    Duration(u64),
    /// A number of things.
    Count(u64),
    /// Things a second.
    Frequency(f64),
    /// A share of one.
    Ratio(f64),
    /// A percentile of durations, with its interval or the samples it would need.
    Percentile(Percentile),
    /// Words.
    Text(String),
    /// Not measured.
    Absent,
}

/// Figures side by side.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// What it shows.
    pub title: String,
    /// The heads of its columns.
    pub columns: Vec<String>,
    /// Its rows, each as long as `columns`.
    pub rows: Vec<Vec<Value>>,
}

/// One figure over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// What it is.
    pub label: String,
    /// Time since the start of the document in nanoseconds, and the value then; gaps are absent.
    pub points: Vec<(u64, Option<f64>)>,
    /// What the values are.
    pub unit: Unit,
}

/// Units of a series.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Unit {
    /// Bits a second.
    BitRate,
    /// Nanoseconds.
    Nanoseconds,
    /// A number of things.
    #[default]
    Count,
}

/// One line of a live report: the same columns in each line of a measurement.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// Which measurement: `goodput up`.
    pub section: String,
    /// Labelled values, in the order of their columns.
    pub cells: Vec<Figure>,
}
