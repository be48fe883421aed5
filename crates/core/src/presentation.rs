//! All that a view needs: figures, tables, series and distributions, with no knowledge of the mode they come from. A mode
//! fills a [`Presentation`]; a view lays it out and computes nothing.
//!
//! What is a figure of `docs/figures.md` bears its id, and nothing is found by its label. A figure's address is its
//! section's measurement and server, its [`Part`] and its id.

mod bars;
mod over_time;
mod scatter;
mod series;

pub use self::bars::{Bar, Bars, Level};
pub use self::over_time::{BoxRow, Boxes, Stretch, Timeline, TimelineRow};
pub use self::scatter::{Dots, Scatter};
pub use self::series::{Series, SeriesPoint};
pub use crate::estimates::{Estimate, EstimateLine, Estimates};
use crate::figure::{Better, Part, Unit};
use crate::quantity::average;
use crate::record::{Caveat, Check, Verdict};
use crate::stats::{Distribution, HalfOctaves, Percentile};

/// A whole result, or what is known of it before it starts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Presentation {
    /// What this is: `survey of 10.0.0.2`.
    pub title: String,
    /// What was measured, on what, with what settings.
    pub context: Vec<Figure>,
    /// What it was measured on, drawn.
    pub pictures: Vec<Picture>,
    /// The measurements, in the order they were made.
    pub sections: Vec<Section>,
    /// What holds for the whole.
    pub caveats: Vec<Caveat>,
    /// What was typed to have it measured: one command line, or that of each result that is told.
    pub commands: Vec<CommandLine>,
}

/// A drawing that somebody else has made: a view shows it or leaves it out. What it says stands in figures and tables, too.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Picture {
    /// What it shows, also to whoever does not see it.
    pub title: String,
    /// How it is to be read.
    pub note: String,
    /// A complete SVG document. It is shown as a picture, and never as a part of a page.
    pub svg: String,
}

/// A command line, to be repeated.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct CommandLine {
    /// Of several results, whose it is; empty: of the one.
    pub of: String,
    /// Its words, the program's name among them.
    pub words: Vec<String>,
}

impl CommandLine {
    /// That of the one result; nothing where no word is known.
    pub fn known(words: &[String]) -> Vec<Self> {
        let one = Self { of: String::new(), words: words.to_vec() };
        if words.is_empty() { Vec::new() } else { vec![one] }
    }
}

/// One measurement.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Section {
    /// Where the document has it, `measurements[0]`: places of its figures go on from there. Empty: the document itself.
    pub place: String,
    /// The server that it is of, as it was named.
    pub server: Option<String>,
    /// What it is: `goodput up`.
    pub title: String,
    /// What was done, in a few words: `8 TCP connections, push, 10 s`.
    pub subtitle: String,
    /// With what settings, each by its id as `docs/settings.md` has it.
    pub settings: Vec<Figure>,
    /// The figures, most important first.
    pub figures: Vec<Figure>,
    /// Figures that only make sense side by side.
    pub tables: Vec<Table>,
    /// Figures over time.
    pub series: Vec<Series>,
    /// Numbers with their intervals at several places. What they are stands in tables, too.
    pub estimates: Vec<Estimates>,
    /// Distributions of durations.
    pub distributions: Vec<Shape>,
    /// Distributions of durations over time.
    pub heat_maps: Vec<HeatMap>,
    /// What became of several things over time.
    pub timelines: Vec<Timeline>,
    /// Distributions of durations side by side.
    pub boxes: Vec<Boxes>,
    /// Amounts of many things side by side.
    pub bars: Vec<Bars>,
    /// Things by when they began.
    pub scatters: Vec<Scatter>,
    /// What else was seen meanwhile, over time.
    pub backgrounds: Vec<Background>,
    /// What had to hold.
    pub checks: Vec<Check>,
    /// What limited it.
    pub verdict: Option<Verdict>,
    /// What to mind.
    pub caveats: Vec<Caveat>,
}

/// One figure, or one setting of the context.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figure {
    /// Its id as `docs/figures.md` has it, complete: `goodput.rate.up`, `latency.rtt.p99`; of a setting its name. Empty:
    /// words that stand for no single figure.
    pub id: String,
    /// Which one of several that share the id.
    pub part: Part,
    /// What people call it.
    pub label: String,
    /// How much.
    pub value: Value,
    /// What it is a number of, also where there is none.
    pub unit: Unit,
    /// Which of two is the better one.
    pub better: Better,
    /// A few words beside it.
    pub note: Option<String>,
    /// What it is compared with: figures of one section that name the same group share a unit. Empty: it stands alone,
    /// in the unit that suits it.
    pub group: String,
}

impl Figure {
    /// A figure without a note.
    pub fn new(label: impl Into<String>, value: Value) -> Self {
        Self { label: label.into(), value, ..Self::default() }
    }

    /// A setting by its id, which is its label but for `_`.
    pub fn setting(id: &str, text: impl Into<String>) -> Self {
        Self { id: id.to_owned(), ..Self::new(id.replace('_', " "), Value::Text(text.into())) }
    }

    /// The same figure under another label.
    #[must_use]
    pub fn labelled(self, label: impl Into<String>) -> Self {
        Self { label: label.into(), ..self }
    }

    /// The same figure as one of a group: those that are compared, and so share a unit.
    #[must_use]
    pub fn of(self, group: impl Into<String>) -> Self {
        Self { group: group.into(), ..self }
    }

    /// The same figure with a few words beside it; with none where they are empty.
    #[must_use]
    pub fn with_note(self, note: impl Into<String>) -> Self {
        let note = note.into();
        Self { note: (!note.is_empty()).then_some(note), ..self }
    }
}

/// A value and its unit. The view decides digits and spelling.
#[derive(Clone, Debug, Default, PartialEq)]
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
    /// A number in its base unit, which people are told in other words: `0.998`, `the median rose by 3 %`.
    Worded(f64, String),
    /// Words.
    Text(String),
    /// Not measured.
    #[default]
    Absent,
}

impl Value {
    /// A number of this unit.
    pub fn of(unit: Unit, number: f64) -> Self {
        let is_whole = number >= 0.0 && number.fract() == 0.0;
        match unit {
            Unit::BitRate => Self::BitRate(number),
            Unit::PerSecond => Self::Frequency(number),
            Unit::Share => Self::Ratio(number),
            Unit::Duration => Self::Duration(number.round() as u64),
            Unit::Bytes if number >= 0.0 => Self::Bytes(number.round() as u64),
            Unit::Count if is_whole => Self::Count(number as u64),
            Unit::Count => Self::Worded(number, average(number)),
            _ => Self::Worded(number, format!("{number:.3}")),
        }
    }

    /// How much it is, in the base unit of its figure; nothing of words.
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Bytes(number) | Self::Duration(number) | Self::Count(number) => {
                Some(*number as f64)
            }
            Self::BitRate(number)
            | Self::Frequency(number)
            | Self::Ratio(number)
            | Self::Worded(number, _) => Some(*number),
            Self::Percentile(percentile) => percentile.value_ns.map(|value| value as f64),
            Self::Text(_) | Self::Absent => None,
        }
    }

    /// The interval that holds the true value with 95 % probability, where one is known.
    pub fn interval_ns(&self) -> Option<(u64, u64)> {
        match self {
            Self::Percentile(percentile) => {
                percentile.value_ns.and(percentile.low_ns.zip(percentile.high_ns))
            }
            _ => None,
        }
    }
}

/// Figures side by side. A cell's id is that of its row, a point, and that of its column.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// What it shows.
    pub title: String,
    /// Its columns.
    pub columns: Vec<Column>,
    /// Its rows, each as long as `columns`.
    pub rows: Vec<TableRow>,
}

impl Table {
    /// A table of these columns and rows.
    pub fn new(
        title: impl Into<String>,
        columns: impl IntoIterator<Item = impl Into<Column>>,
        rows: impl IntoIterator<Item = impl Into<TableRow>>,
    ) -> Self {
        let columns = columns.into_iter().map(Into::into).collect();
        Self { title: title.into(), columns, rows: rows.into_iter().map(Into::into).collect() }
    }
}

/// A column of a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Column {
    /// The end of the id of each of its cells; empty where they are no figures.
    pub id: String,
    /// What people call it.
    pub head: String,
    /// Which of two of its cells is the better one.
    pub better: Better,
}

impl<T: Into<String>> From<T> for Column {
    fn from(head: T) -> Self {
        Self { head: head.into(), ..Self::default() }
    }
}

/// A row of a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TableRow {
    /// The begin of the id of each of its cells; empty where they are no figures.
    pub id: String,
    /// What its cells are of.
    pub part: Part,
    /// Its cells.
    pub cells: Vec<Value>,
}

impl From<Vec<Value>> for TableRow {
    fn from(cells: Vec<Value>) -> Self {
        Self { cells, ..Self::default() }
    }
}

/// Which chart suits a series or a distribution.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Chart {
    /// An area from zero, that what flowed fills.
    Area,
    /// A bar for each stretch of time, upon those of what else is counted of the same things: parts of a whole.
    Stack,
    /// A line.
    #[default]
    Line,
    /// Bars over ranges of durations, each as many times longer than the last.
    Histogram,
    /// A field of time and durations, as dark as there were many.
    HeatMap,
}

/// What a series or a distribution is of, and where its values are.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Source {
    /// The figure that it shows, as `docs/figures.md` has it: `goodput.rate.up`, `latency.rtt`.
    pub id: String,
    /// What people call it.
    pub label: String,
    /// What its values are.
    pub unit: Unit,
    /// Which of two of them is the better one.
    pub better: Better,
    /// Where its section of the document has them, as places in `docs/figures.md` are told: each entry of a list is `[]`.
    pub place: String,
    /// The column of a file of samples that has them one by one.
    pub sample_column: Option<&'static str>,
    /// What it is best drawn as.
    pub chart: Chart,
}

/// What was seen beside a measurement over time, and belongs together: what the machines did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Background {
    /// What it is of: `machines`.
    pub title: String,
    /// The figures, over time.
    pub series: Vec<Series>,
    /// Statistics of each, over its points: a table for each unit.
    pub statistics: Vec<Table>,
}

/// How durations are distributed. The edges of its buckets are fixed,
/// the same in every distribution.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shape {
    /// What it is of.
    pub source: Source,
    /// How many durations fell into which bucket.
    pub distribution: Distribution,
}

/// How durations were distributed over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HeatMap {
    /// What it is of.
    pub source: Source,
    /// Stretches of time, in order; those without any duration are left out.
    pub columns: Vec<HeatColumn>,
}

/// How the durations of one stretch of time were distributed.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct HeatColumn {
    /// Its begin, in time since the start of the document.
    pub start_ns: u64,
    /// Its end.
    pub end_ns: u64,
    /// How many durations fell into which range.
    pub counts: HalfOctaves,
}

/// One line of a live report: the same columns in each line of a measurement.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// Which measurement: `goodput up`.
    pub section: String,
    /// Labelled values, in the order of their columns.
    pub cells: Vec<Figure>,
}
