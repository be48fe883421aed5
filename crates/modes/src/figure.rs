//! One figure, defined once: a name that stays, what people call it, where a document has it, its unit, which direction
//! is better, what it means and where that is defined. Each mode has a list of its own, and makes of it what views get.
//!
//! Not here: the lists side by side, and figures of a document by their ids (`figures`).

use std::borrow::Borrow;

pub use pathscope_core::figure::{Better, Part, Unit};
use pathscope_core::presentation::{Chart, Column, Figure, Shape, Source, Table, TableRow, Value};
use pathscope_core::quantity::count;
use pathscope_core::stats::{Distribution, HalfOctaves, Percentile};

/// One figure of an interval as a point of a series.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// What the series is of.
    pub source: Source,
    /// The value then, where it is known.
    pub value: Option<f64>,
}

/// A distribution of an interval, as a column of a heat map.
#[derive(Clone, Debug, PartialEq)]
pub struct Heat<'interval> {
    /// What the map is of.
    pub source: Source,
    /// How many durations fell into which range.
    pub counts: &'interval HalfOctaves,
}

/// Figures of one thing that is measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Group {
    /// The first part of the id of each: `latency`.
    pub name: &'static str,
    /// What it is, in a few words.
    pub title: &'static str,
    /// Where it stands among all groups wherever they are told side by side.
    pub order: u8,
    /// Where a document has them; places of figures go on from there.
    pub place: &'static str,
    /// The figures.
    pub figures: &'static [FigureDefinition],
    /// Those that it is measured for, by their names without a side: what a comparison judges first.
    pub primary: &'static [&'static str],
}

/// One figure, or one kind of it: in a document there may be one for each way or path.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct FigureDefinition {
    /// Its name in its group: `rtt`.
    pub name: &'static str,
    /// What people call it.
    pub label: &'static str,
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

/// A list of figures: `"name" as "label": Unit Better at "place", PAGE, "meaning";`, where what is called by its name has
/// no label.
macro_rules! list {
    ($($name:literal $(as $label:literal)?: $unit:ident $better:ident at $place:literal, $page:ident, $meaning:literal;)*) => {
        &[$($crate::figure::FigureDefinition {
            name: $name,
            label: $crate::figure::first(&[$($label,)? $name]),
            place: $place,
            unit: $crate::figure::Unit::$unit,
            better: $crate::figure::Better::$better,
            meaning: $meaning,
            page: $page,
        }),*]
    };
}
pub(crate) use list;

/// A group of figures, and the list of them.
macro_rules! group {
    ($group:literal, $title:literal, told $order:literal, at $where:literal, for $primary:expr; $($figures:tt)*) => {
        /// All of them.
        pub const GROUP: $crate::figure::Group = $crate::figure::Group {
            name: $group,
            title: $title,
            order: $order,
            place: $where,
            figures: $crate::figure::list! { $($figures)* },
            primary: &$primary,
        };
    };
}
pub(crate) use group;

const DISTRIBUTIONS: &str = "method/latency.md#figures";

/// What every distribution has, each a figure of its own whose better one is that of the whole. A percentile's id ends with
/// its rank: `p50`, `p99.9`.
pub const STATISTICS: &[FigureDefinition] = list! {
    "count": Count Neither at "count", DISTRIBUTIONS, "how many there were";
    "min" as "minimum": Duration Lower at "min_ns", DISTRIBUTIONS, "the smallest, exactly";
    "mean": Duration Lower at "mean_ns", DISTRIBUTIONS, "the arithmetic mean";
    "deviation" as "standard deviation": Duration Lower at "standard_deviation_ns", DISTRIBUTIONS, "the sample standard deviation, with n − 1";
    "iqr" as "interquartile range": Duration Lower at "interquartile_range_ns", DISTRIBUTIONS, "from the 25th to the 75th percentile";
    "pN": Duration Lower at "percentiles[].value_ns", DISTRIBUTIONS, "the N-th percentile, where the samples support it; the entry of that `percent`, with its 95 % interval";
    "max" as "maximum": Duration Lower at "max_ns", DISTRIBUTIONS, "the largest, exactly";
};

/// What people call a figure: its label, or else its name.
pub(crate) const fn first(words: &[&'static str]) -> &'static str {
    words[0]
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

    /// A figure of which there is one, by its name: `lost`, `rtt.p99`.
    pub fn figure(&self, name: &str, amount: impl Amount) -> Figure {
        self.of_part(Part::Whole, name, amount)
    }

    /// A figure of a direction or an end.
    pub fn of(&self, side: &'static str, name: &str, amount: impl Amount) -> Figure {
        self.of_part(Part::Side(side), name, amount)
    }

    /// A figure of an entry of a list.
    pub fn of_entry(&self, entry: impl Into<String>, name: &str, amount: impl Amount) -> Figure {
        self.of_part(Part::Entry(entry.into()), name, amount)
    }

    fn of_part(&self, part: Part, name: &str, amount: impl Amount) -> Figure {
        let Source { id, label, unit, better, .. } = self.source(&part, name);
        Figure { id, part, label, value: amount.value(unit), unit, better, ..Figure::default() }
    }

    /// Those of these counts of which there is one or more, each with a few words.
    pub fn counted<'all>(
        &self,
        part: &Part,
        counts: impl IntoIterator<Item = (&'all str, u64, &'all str)>,
    ) -> Vec<Figure> {
        let counts = counts.into_iter().filter(|(_, number, _)| *number > 0);
        let figure =
            |(name, number, note)| self.of_part(part.clone(), name, number).with_note(note);
        counts.map(figure).collect()
    }

    /// Of what a series is whose values the report intervals of an end have, at this place of them.
    pub fn series(&self, part: &Part, name: &str, place: &str, chart: Chart) -> Source {
        Source { place: format!("intervals[].{place}"), chart, ..self.source(part, name) }
    }

    /// Of what a heat map is whose columns the report intervals of an end have, at this place of them.
    pub fn heat_map(&self, part: &Part, name: &str, place: &str) -> Source {
        self.series(part, name, place, Chart::HeatMap)
    }

    /// A distribution that an end's report has at this place, and a file of samples in this column.
    pub fn shape(
        &self,
        part: &Part,
        (name, place, sample_column): (&str, &str, &'static str),
        distribution: &Distribution,
    ) -> Shape {
        let source = Source {
            place: place.to_owned(),
            sample_column: Some(sample_column),
            chart: Chart::Histogram,
            ..self.source(part, name)
        };
        Shape { source, distribution: distribution.clone() }
    }

    /// A table of figures: of each row the begin of its cells' names, what it is of, and what its cells are made of.
    pub fn table<T>(
        &self,
        title: impl Into<String>,
        columns: &[Cell<T>],
        rows: impl IntoIterator<Item = (&'static str, Part, impl Borrow<T>)>,
    ) -> Table {
        let row = |(begin, part, row): (&str, Part, _)| TableRow {
            id: format!("{}.{begin}", self.name),
            part,
            cells: columns.iter().map(|(.., cell)| cell(Borrow::borrow(&row))).collect(),
        };
        let rows: Vec<TableRow> = rows.into_iter().map(row).collect();
        let begin = rows.first().and_then(|row| row.id.split_once('.')).map_or("", |id| id.1);
        let column = |&(head, end, _): &Cell<T>| Column {
            id: end.to_owned(),
            better: self.source(&Part::Whole, &format!("{begin}.{end}")).better,
            head: head.to_owned(),
        };
        let columns: Vec<Column> = columns.iter().map(column).collect();
        Table::new(title, columns, rows)
    }

    /// What the list says of a figure, or of a number of a distribution: `rtt.p99`.
    pub(crate) fn source(&self, part: &Part, name: &str) -> Source {
        let side = match part {
            Part::Side(side) => format!(".{side}"),
            Part::Whole | Part::Entry(_) => String::new(),
        };
        let source = |figure: &FigureDefinition, label: String, end: &str, unit| Source {
            id: format!("{}{side}{end}", self.id(figure)),
            label,
            unit,
            better: if end == ".count" { Better::Neither } else { figure.better },
            ..Source::default()
        };
        let whole = self.figures.iter().find(|figure| figure.name == name);
        let whole = whole.map(|figure| source(figure, figure.label.to_owned(), "", figure.unit));
        let number = |figure: &FigureDefinition| {
            let end = name.strip_prefix(figure.name)?;
            let number = end.strip_prefix('.').filter(|_| figure.unit == Unit::Distribution)?;
            let statistic = STATISTICS.iter().find(|it| it.name == number);
            let (word, unit) = statistic.map_or((number, Unit::Duration), |it| (it.label, it.unit));
            Some(source(figure, format!("{} {word}", figure.label), end, unit))
        };
        // What is in no list has no id; a test holds that there is none.
        whole.or_else(|| self.figures.iter().find_map(number)).unwrap_or_else(|| Source {
            label: name.to_owned(),
            unit: Unit::Count,
            ..Source::default()
        })
    }
}

/// A column of a table: its head, the end of its cells' names, none where they are no figures, and its cell of a row.
pub type Cell<T> = (&'static str, &'static str, fn(&T) -> Value);

/// A column of a table of no figures: its head and its cell of a row.
pub type PlainCell<T> = (&'static str, fn(&T) -> Value);

/// A table of cells that are no figures.
pub(crate) fn plain_table<T>(
    title: impl Into<String>,
    columns: &[PlainCell<T>],
    rows: impl IntoIterator<Item = T>,
) -> Table {
    let row = |row: T| columns.iter().map(|(_, cell)| cell(&row)).collect::<Vec<_>>();
    Table::new(title, columns.iter().map(|(head, _)| *head), rows.into_iter().map(row))
}

/// Those of these counts of which there is one or more, in words.
pub(crate) fn counts<'all>(counts: impl IntoIterator<Item = (u64, &'all str)>) -> Vec<String> {
    let counts = counts.into_iter().filter(|(number, _)| *number > 0);
    counts.map(|(number, what)| format!("{} {what}", count(number))).collect()
}

/// What is said beside a figure: those of these words that there are.
pub(crate) fn notes<const MOST: usize>(words: [Option<String>; MOST]) -> String {
    words.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

/// How much, as reports have it.
pub trait Amount {
    /// The value of a figure that is a number of this.
    fn value(self, unit: Unit) -> Value;
}

impl Amount for u64 {
    fn value(self, unit: Unit) -> Value {
        match unit {
            Unit::Bytes => Value::Bytes(self),
            Unit::Duration => Value::Duration(self),
            Unit::BitRate => Value::BitRate(self as f64),
            _ => Value::Count(self),
        }
    }
}

impl Amount for f64 {
    fn value(self, unit: Unit) -> Value {
        Value::of(unit, self)
    }
}

impl Amount for Percentile {
    fn value(self, _: Unit) -> Value {
        Value::Percentile(self)
    }
}

impl Amount for Value {
    fn value(self, _: Unit) -> Value {
        self
    }
}

impl<T: Amount> Amount for Option<T> {
    fn value(self, unit: Unit) -> Value {
        self.map_or(Value::Absent, |amount| amount.value(unit))
    }
}
