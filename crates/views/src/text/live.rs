//! Rows as intervals pass: a head when a measurement begins, its columns change or a figure is wider than its column, then
//! a line each.
//!
//! Every cell states its unit, so that a line can be read alone. A column keeps the unit of its first
//! figure while that suits, so that lines compare.

use pathscope_core::presentation::{Figure, Row, Value};
use pathscope_core::quantity::Scale;

use super::line::{Line, Style};
use super::page::Page;
use crate::value;
use crate::words;

/// Spaces before each column.
const GAP: usize = 2;
/// Words in a live row are clipped to this.
const LONGEST_WORDS: usize = 20;

/// The table that is being written, line by line.
#[derive(Default)]
pub struct LiveTable {
    section: Option<String>,
    labels: Vec<String>,
    columns: Vec<Column>,
}

/// One column, as its head was written.
struct Column {
    width: usize,
    /// What its label and its figures have taken so far; `width` leaves room for more.
    needed: usize,
    unit: ColumnUnit,
}

/// What the figures of a column are counted in.
#[derive(Clone, Copy)]
enum ColumnUnit {
    /// The first column tells rows apart, as 500 ms, 1 s, 10 s: nobody compares those.
    EachItsOwn,
    /// What suits the first figure, once there is one.
    FirstFigure(Option<Scale>),
}

impl LiveTable {
    /// Adds the line of one interval.
    pub fn row(&mut self, page: &mut Page, row: &Row) {
        let is_other = self.is_other(row);
        if is_other {
            self.begin(row);
            page.gap();
            if !row.section.is_empty() {
                page.sentence(Line::default(), Style::Strong, &row.section);
            }
        }
        let texts = self.texts(row);
        if self.widen(&texts, page) || is_other {
            self.head(page);
        }
        let cells = self.shown(page).iter().zip(&texts);
        let place = |line: Line, (column, text): (&Column, &String)| {
            line.with(Style::Plain, "  ").with_right(Style::Plain, text, column.width)
        };
        page.line(&cells.fold(Line::default(), place));
    }

    fn texts(&mut self, row: &Row) -> Vec<String> {
        let columns = self.columns.iter_mut().zip(&row.cells);
        columns.map(|(column, cell)| column.text(&cell.value)).collect()
    }

    /// Makes room for figures that are wider than any before, if need be by taking it from columns that have more than they
    /// need; whether that took any.
    fn widen(&mut self, texts: &[String], page: &Page) -> bool {
        let mut is_wider = false;
        for (column, text) in self.columns.iter_mut().zip(texts) {
            column.needed = column.needed.max(words::width(text));
            is_wider |= column.needed > column.width;
            column.width = column.width.max(column.needed);
        }
        let all: usize = self.columns.iter().map(|column| GAP + column.width).sum();
        if is_wider && all > page.columns() {
            self.columns.iter_mut().for_each(|column| column.width = column.needed);
        }
        is_wider
    }

    /// The columns that fit.
    fn shown(&self, page: &Page) -> &[Column] {
        let mut end = 0;
        let fitting = self.columns.iter().take_while(|column| {
            end += GAP + column.width;
            end <= page.columns()
        });
        let fitting = fitting.count().max(1);
        &self.columns[..fitting.min(self.columns.len())]
    }

    /// Whether the row belongs under another head than the last one.
    fn is_other(&self, row: &Row) -> bool {
        let labels = row.cells.iter().map(|cell| &cell.label);
        self.section.as_ref() != Some(&row.section) || !labels.eq(&self.labels)
    }

    /// Makes columns for rows like this one.
    fn begin(&mut self, row: &Row) {
        self.section = Some(row.section.clone());
        self.labels = row.cells.iter().map(|cell| cell.label.clone()).collect();
        let column = |(index, cell): (usize, &Figure)| Column {
            width: usual_width(cell),
            needed: words::width(&cell.label),
            unit: match index {
                0 => ColumnUnit::EachItsOwn,
                _ => ColumnUnit::FirstFigure(None),
            },
        };
        self.columns = row.cells.iter().enumerate().map(column).collect();
    }

    /// Adds a head. Columns that do not fit are left to the result and to JSON; an ellipsis says so.
    fn head(&self, page: &mut Page) {
        let shown = self.shown(page);
        let place = |line: Line, (column, label): (&Column, &String)| {
            line.with(Style::Plain, "  ").with_right(Style::Faint, label, column.width)
        };
        let mut head = shown.iter().zip(&self.labels).fold(Line::default(), place);
        if shown.len() < self.columns.len() && head.width() < page.columns() {
            head = head.with(Style::Faint, "…");
        }
        page.line(&head);
    }
}

impl Column {
    /// The value, in the column's unit where that suits and fits.
    fn text(&mut self, value: &Value) -> String {
        let size = value::magnitude(value).map(|(_, size)| size);
        match (self.unit, size) {
            // Until there is a figure, zero has nothing to be counted in.
            (ColumnUnit::FirstFigure(None), Some(0.0)) => return "0".to_owned(),
            (ColumnUnit::FirstFigure(None), Some(_)) => {
                self.unit = ColumnUnit::FirstFigure(value::common_scale([value]));
            }
            _ => {}
        }
        let shared = match self.unit {
            ColumnUnit::FirstFigure(scale) => {
                let suiting = scale.filter(|scale| size.is_none_or(|size| scale.suits(size)));
                value::beside(value, suiting.as_ref()).text()
            }
            ColumnUnit::EachItsOwn => value::alone(value).text(),
        };
        let fits = words::width(&shared) <= self.width;
        let text = if fits { shared } else { value::alone(value).text() };
        match value {
            Value::Text(_) | Value::Worded(..) => words::clip(&text, self.width.max(LONGEST_WORDS)),
            _ => text,
        }
    }
}

/// Columns that values like this one take at most, most of the time.
fn usual_width(cell: &Figure) -> usize {
    let figure = match &cell.value {
        // What the other end counts comes late: leave room for the widest of the usual.
        Value::BitRate(_) | Value::Absent => "999.9 Gbit/s",
        Value::Bytes(_) => "999.9 GiB",
        Value::Duration(_) => "9,999 µs",
        Value::Percentile(_) => "needs 1,000",
        Value::Count(_) => "999,999",
        Value::Frequency(_) => "99,999 /s",
        Value::Ratio(_) => "100.0 %",
        Value::Text(text) | Value::Worded(_, text) => &words::clip(text, LONGEST_WORDS),
    };
    words::width(figure).max(words::width(&cell.label))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::{Charset, Color};

    fn shown(columns: usize, rows: &[Row]) -> String {
        let mut page = Page::new(columns, Color::Never, Charset::Unicode);
        let mut live = LiveTable::default();
        rows.iter().for_each(|row| live.row(&mut page, row));
        let mut out = Vec::new();
        page.write_to(&mut out).expect("a vector takes every byte");
        String::from_utf8(out).expect("text is UTF-8")
    }

    fn row(section: &str, cells: &[(&str, Value)]) -> Row {
        let cell = |(label, value): &(&str, Value)| Figure::new(*label, value.clone());
        Row { section: section.to_owned(), cells: cells.iter().map(cell).collect() }
    }

    #[test]
    fn a_head_is_written_once_and_again_when_columns_change() {
        let one = row("up", &[("lost", Value::Count(0))]);
        let other = row("up", &[("late", Value::Count(0))]);
        let text = shown(80, &[one.clone(), one.clone(), other, one]);
        assert_eq!((text.matches("lost").count(), text.matches("late").count()), (2, 1), "{text}");
    }

    #[test]
    fn columns_without_room_are_named_by_an_ellipsis() {
        let cells = [("a", Value::Count(1)), ("b", Value::BitRate(2e9)), ("c", Value::Count(3))];
        let text = shown(24, &[row("", &cells)]);
        assert_eq!(text, "        a             b…\n        1  2.000 Gbit/s\n");
    }

    #[test]
    fn what_comes_late_has_its_place() {
        let rows = [Value::Absent, Value::BitRate(72.15e9)]
            .map(|rate| row("", &[("second", Value::Count(1)), ("up", rate)]));
        let text = shown(80, &rows);
        let ends: Vec<_> = text.lines().map(words::width).collect();
        assert_eq!(ends, [23, 23, 23], "{text}");
    }

    #[test]
    fn a_figure_wider_than_its_column_gets_a_wider_one_and_touches_nothing() {
        let rows = [7, 1_476_086, 12, u64::MAX].map(|lost| {
            row(
                "",
                &[
                    ("second", Value::Count(1)),
                    ("lost", Value::Count(lost)),
                    ("n", Value::Count(1)),
                ],
            )
        });
        let text = shown(80, &rows);
        let heads: Vec<_> = text.lines().filter(|line| line.ends_with('n')).collect();
        assert_eq!(heads.len(), 3, "{text}");
        assert!(text.lines().all(|line| line.is_empty() || line.starts_with("  ")), "{text}");
        for line in text.lines().filter(|line| line.ends_with('1')) {
            assert_eq!(line.split("  ").filter(|cell| !cell.is_empty()).count(), 3, "{text}");
        }
    }

    #[test]
    fn a_column_keeps_its_first_unit_while_that_suits() {
        let rates = [0.0, 9.412e9, 812e6, 3.1e6, 0.0].map(Value::BitRate);
        let rows = rates.map(|rate| row("", &[("second", Value::Count(1)), ("up", rate)]));
        let text = shown(80, &rows);
        let cells: Vec<_> = text.lines().skip(1).map(|line| line[9..].trim()).collect();
        assert_eq!(cells, ["0", "9.412 Gbit/s", "0.812 Gbit/s", "3.100 Mbit/s", "0 Gbit/s"]);
    }
}
