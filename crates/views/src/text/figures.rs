//! A list of labelled figures: those of a group in one unit, numbers aligned at their units, notes beside them.

use std::collections::BTreeSet;
use std::iter;

use pathscope_core::presentation::{Figure, Value};
use pathscope_core::quantity::{Scale, duration_ns};

use super::line::{Line, Style};
use super::page::Page;
use crate::value::{self, Shown};
use crate::words;

/// Labels longer than this push their own figure aside, and not all of them.
const LONGEST_LABEL: usize = 28;

/// Adds figures, the first of which is to be read first.
pub fn figures(page: &mut Page, figures: &[Figure]) {
    let rows = rows(figures);
    let columns = Columns::of(&rows);
    for (index, row) in rows.iter().enumerate() {
        let style = if index == 0 { Style::Strong } else { Style::Plain };
        columns.add(page, row, style);
    }
}

/// Adds what was measured, on what, with what settings: words and values alike begin in one column.
pub fn context(page: &mut Page, figures: &[Figure]) {
    let start = 4 + longest_label(figures.iter());
    for figure in figures {
        let line = Line::indented(2).with(Style::Faint, &figure.label);
        let line = line.padded_to(start.max(line_end(figure)));
        let note = figure.note.iter().map(|note| format!(" ({note})"));
        let text = iter::once(value::alone(&figure.value).text()).chain(note).collect::<String>();
        page.sentence(line, Style::Plain, &text);
    }
}

/// A figure as it will stand in its row.
struct Row<'figure> {
    figure: &'figure Figure,
    shown: Shown,
    note: String,
}

/// Each figure in the unit of its group, with the points of a group below each other.
fn rows(figures: &[Figure]) -> Vec<Row<'_>> {
    let mut rows: Vec<Row<'_>> = figures
        .iter()
        .map(|figure| {
            let scale = scale(figure, figures);
            let shown = shown(&figure.value, scale.as_ref());
            Row { figure, shown, note: note(figure, scale.as_ref()) }
        })
        .collect();
    let groups: BTreeSet<&str> = figures.iter().map(|figure| figure.group.as_str()).collect();
    for group in groups.into_iter().filter(|group| !group.is_empty()) {
        let members = rows.iter_mut().filter(|row| row.figure.group == group);
        value::align_points(members.filter_map(|row| match &mut row.shown {
            Shown::Number { number, .. } => Some(number),
            Shown::Words(_) => None,
        }));
    }
    rows
}

/// The unit that a figure shares with its group, or a percentile by itself with the ends of its interval.
fn scale(figure: &Figure, figures: &[Figure]) -> Option<Scale> {
    match (figure.group.as_str(), &figure.value) {
        ("", Value::Percentile(_)) => value::common_scale([&figure.value]),
        // A figure that stands alone is told by what suits it alone.
        ("", _) => None,
        (group, _) => {
            let members = figures.iter().filter(|other| other.group == group);
            value::common_scale(members.map(|figure| &figure.value))
        }
    }
}

/// The value; where a percentile lacks samples there is room here to say of what.
fn shown(value: &Value, scale: Option<&Scale>) -> Shown {
    match (value, value::beside(value, scale)) {
        (Value::Percentile(_), Shown::Words(needs)) => Shown::Words(format!("{needs} samples")),
        (_, shown) => shown,
    }
}

/// What stands beside a figure: the interval of a percentile, then its own note.
fn note(figure: &Figure, scale: Option<&Scale>) -> String {
    let interval = figure.value.interval_ns().map(|interval| self::interval(interval, scale));
    let own = figure.note.clone().filter(|note| !note.is_empty());
    interval.into_iter().chain(own).collect::<Vec<_>>().join("; ")
}

/// `24.0–24.2 (95 %)`, in the unit of the percentile.
fn interval((low, high): (u64, u64), scale: Option<&Scale>) -> String {
    match scale {
        Some(scale) => {
            format!("{}–{} (95 %)", scale.number(low as f64), scale.number(high as f64))
        }
        None => format!("{} – {} (95 %)", duration_ns(low), duration_ns(high)),
    }
}

/// Where the parts of each row stand.
struct Columns {
    number_start: usize,
    number_width: usize,
    note_start: usize,
}

impl Columns {
    fn of(rows: &[Row<'_>]) -> Self {
        let numbers = rows.iter().filter_map(|row| match &row.shown {
            Shown::Number { number, unit } => Some((words::width(number), words::width(unit))),
            Shown::Words(_) => None,
        });
        let (number_width, unit_width) =
            numbers.fold((0, 0), |most, next| (most.0.max(next.0), most.1.max(next.1)));
        let number_start = 4 + longest_label(rows.iter().map(|row| row.figure));
        Self {
            number_start,
            number_width,
            note_start: number_start + number_width + 1 + unit_width + 2,
        }
    }

    fn add(&self, page: &mut Page, row: &Row<'_>, style: Style) {
        let label = Line::indented(2).with(Style::Plain, &row.figure.label);
        let line = label.padded_to(self.number_start.max(line_end(row.figure)));
        match &row.shown {
            Shown::Number { number, unit } => {
                let line = line
                    .with_right(style, number, self.number_width)
                    .with(Style::Plain, " ")
                    .with(style, unit);
                self.add_note(page, line, &row.note);
            }
            Shown::Words(words) if row.note.is_empty() => page.sentence(line, style, words),
            Shown::Words(words) => self.add_note(page, line.with(style, words), &row.note),
        }
    }

    fn add_note(&self, page: &mut Page, line: Line, note: &str) {
        if note.is_empty() {
            return page.line(&line);
        }
        let start = self.note_start.max(line.width() + 2);
        page.sentence(line.padded_to(start), Style::Faint, note);
    }
}

/// The widest label that all others make room for.
fn longest_label<'figure>(figures: impl Iterator<Item = &'figure Figure>) -> usize {
    let widths = figures.map(|figure| words::width(&figure.label));
    widths.max().unwrap_or(0).min(LONGEST_LABEL)
}

/// The first column after this figure's label.
fn line_end(figure: &Figure) -> usize {
    words::width(&figure.label) + 4
}
