//! One figure, defined once: a name that stays, what people call it, where a document has it, its unit, which direction
//! is better, what it means and where that is defined. Each mode has a list of its own, and makes of it what views get.
//!
//! Not here: the lists side by side, and figures of a document by their ids (`figures`).

pub use pathscope_core::figure::{Better, Part, STATISTICS, Statistic, Unit};
use pathscope_core::presentation::{Chart, Column, Figure, Shape, Source, Table, TableRow, Value};
use pathscope_core::stats::{Distribution, Percentile};

/// One figure of an interval as a point of a series.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// What the series is of.
    pub source: Source,
    /// The value then, where it is known.
    pub value: Option<f64>,
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
macro_rules! group {
    ($group:literal, $title:literal, told $order:literal, at $where:literal;
     $($name:literal $(as $label:literal)?: $unit:ident $better:ident at $place:literal, $page:ident, $meaning:literal;)*) => {
        /// All of them.
        pub const GROUP: $crate::figure::Group = $crate::figure::Group {
            name: $group,
            title: $title,
            order: $order,
            place: $where,
            figures: &[$($crate::figure::FigureDefinition {
                name: $name,
                label: $crate::figure::first(&[$($label,)? $name]),
                place: $place,
                unit: $crate::figure::Unit::$unit,
                better: $crate::figure::Better::$better,
                meaning: $meaning,
                page: $page,
            }),*],
        };
    };
}
pub(crate) use group;

/// What people call a figure: its label, or else its name.
pub(crate) const fn first(words: &[&'static str]) -> &'static str {
    words[0]
}

/// What the list says of one number.
struct Known {
    id: String,
    label: String,
    unit: Unit,
    better: Better,
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
        let Known { id, label, unit, better } = self.known(&part, name);
        Figure { id, part, label, value: amount.value(unit), unit, better, ..Figure::default() }
    }

    /// Of what a series is whose values the report intervals of an end have, at this place of them.
    pub fn series(&self, part: &Part, name: &str, place: &str, chart: Chart) -> Source {
        let Known { id, label, unit, better } = self.known(part, name);
        let place = format!("intervals[].{place}");
        Source { id, label, unit, better, place, sample_column: None, chart }
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
            ..self.series(part, name, "", Chart::Histogram)
        };
        Shape { source, distribution: distribution.clone() }
    }

    /// A table of figures: each column with the end of its cells' names, none where they are no figures; each row with
    /// their begin, what it is of, and its cells.
    pub fn table<const COLUMNS: usize>(
        &self,
        title: impl Into<String>,
        columns: [(&str, &str); COLUMNS],
        rows: impl IntoIterator<Item = (&'static str, Part, [Value; COLUMNS])>,
    ) -> Table {
        let rows: Vec<TableRow> = rows
            .into_iter()
            .map(|(begin, part, cells)| {
                let id = format!("{}.{begin}", self.name);
                TableRow { id, part, cells: cells.into() }
            })
            .collect();
        let begin = rows.first().and_then(|row| row.id.split_once('.')).map_or("", |id| id.1);
        let columns = columns.map(|(head, end)| Column {
            id: end.to_owned(),
            better: self.known(&Part::Whole, &format!("{begin}.{end}")).better,
            head: head.to_owned(),
        });
        Table::new(title, columns, rows)
    }

    /// What the list says of a figure, or of a number of a distribution: `rtt.p99`.
    fn known(&self, part: &Part, name: &str) -> Known {
        let side = match part {
            Part::Side(side) => format!(".{side}"),
            Part::Whole | Part::Entry(_) => String::new(),
        };
        let known = |figure: &FigureDefinition, label: String, end: &str, unit| Known {
            id: format!("{}{side}{end}", self.id(figure)),
            label,
            unit,
            better: if end == ".count" { Better::Neither } else { figure.better },
        };
        let whole = self.figures.iter().find(|figure| figure.name == name);
        let whole = whole.map(|figure| known(figure, figure.label.to_owned(), "", figure.unit));
        let number = |figure: &FigureDefinition| {
            let end = name.strip_prefix(figure.name).filter(|end| end.starts_with('.'))?;
            let statistic = STATISTICS.iter().find(|it| it.name == &end[1..]);
            let unit = statistic.map_or(Unit::Duration, |statistic| statistic.unit);
            let word = statistic.map_or(&end[1..], |statistic| statistic.label);
            let is_it = figure.unit == Unit::Distribution;
            is_it.then(|| known(figure, format!("{} {word}", figure.label), end, unit))
        };
        // What is in no list has no id; a test holds that there is none.
        whole.or_else(|| self.figures.iter().find_map(number)).unwrap_or_else(|| Known {
            id: String::new(),
            label: name.to_owned(),
            unit: Unit::Count,
            better: Better::Neither,
        })
    }
}

/// What each receiver counted in an interval as points over time, up and down: a figure of this name.
pub(crate) fn rate_points(group: &Group, name: &str, rates: [Option<f64>; 2]) -> [Point; 2] {
    let [up, down] = rates;
    [("up", "server", up), ("down", "client", down)].map(|(way, end, value)| {
        let place = format!("{end}.{}.received_bytes", group.name);
        let source = group.series(&Part::Side(way), name, &place, Chart::Area);
        Point { source: Source { label: format!("goodput {way}"), ..source }, value }
    })
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
        match unit {
            Unit::BitRate => Value::BitRate(self),
            Unit::PerSecond => Value::Frequency(self),
            Unit::Share => Value::Ratio(self),
            Unit::Duration => Value::Duration(self.round() as u64),
            _ => Value::Worded(self, format!("{self:.3}")),
        }
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
