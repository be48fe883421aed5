//! Rows as intervals pass: a head when a measurement begins or its columns change, then a line each.
//!
//! Every cell states its unit, so that a line can be read alone. A column keeps the unit of its first
//! figure while that suits, so that lines compare.

use pathscope_core::quantity::Scale;
use pathscope_core::sheet::{Figure, Row, Value};

use super::line::{Line, Style};
use super::page::Page;
use super::value;
use super::words;

/// Spaces before each column.
const GAP: usize = 2;
/// Spaces that are left of them before a figure wider than its column.
const NARROWEST_GAP: usize = 1;
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
        if self.is_other(row) {
            self.begin(page, row);
        }
        let columns = self.columns.iter_mut().zip(&row.cells);
        let texts: Vec<String> = columns.map(|(column, cell)| column.text(&cell.value)).collect();
        let mut line = Line::default();
        for (start, text) in self.starts(&texts).into_iter().zip(&texts) {
            // Where there is no room at all, a line too wide is better than figures that run together.
            let least = if line.width() == 0 { 0 } else { line.width() + NARROWEST_GAP };
            line = line.padded_to(start.max(least)).with(Style::Plain, text);
        }
        page.line(&line);
    }

    /// Where the cells of a line begin, so that each ends with its column. What is wider than its column takes from the
    /// gap before it, and then pushes what stands there to the left: the line stays as wide as its head.
    fn starts(&self, texts: &[String]) -> Vec<usize> {
        let mut end = 0;
        let ends = self.columns.iter().map(|column| {
            end += GAP + column.width;
            end
        });
        let ends: Vec<usize> = ends.collect();
        let mut room = usize::MAX;
        let mut starts: Vec<usize> = ends
            .iter()
            .zip(texts)
            .rev()
            .map(|(&end, text)| {
                let start = end.min(room).saturating_sub(words::width(text));
                room = start.saturating_sub(NARROWEST_GAP);
                start
            })
            .collect();
        starts.reverse();
        starts
    }

    /// Whether the row belongs under another head than the last one.
    fn is_other(&self, row: &Row) -> bool {
        let labels = row.cells.iter().map(|cell| &cell.label);
        self.section.as_ref() != Some(&row.section) || !labels.eq(&self.labels)
    }

    /// Adds a head for rows like this one. Columns that do not fit are left to the result and to JSON;
    /// an ellipsis says so.
    fn begin(&mut self, page: &mut Page, row: &Row) {
        self.section = Some(row.section.clone());
        self.labels = row.cells.iter().map(|cell| cell.label.clone()).collect();
        self.columns.clear();
        page.gap();
        if !row.section.is_empty() {
            page.sentence(Line::default(), Style::Strong, &row.section);
        }
        let mut head = Line::default();
        for cell in &row.cells {
            let width = usual_width(cell);
            let room = page.columns().saturating_sub(head.width() + GAP);
            if width > room && !self.columns.is_empty() {
                head = head.with(Style::Faint, "…");
                break;
            }
            head = head.with(Style::Plain, "  ").with_right(Style::Faint, &cell.label, width);
            let unit = match self.columns.len() {
                0 => ColumnUnit::EachItsOwn,
                _ => ColumnUnit::FirstFigure(None),
            };
            self.columns.push(Column { width, unit });
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
            ColumnUnit::FirstFigure(scale) => value::beside(value, scale.as_ref()).text(),
            ColumnUnit::EachItsOwn => value::alone(value).text(),
        };
        let fits = words::width(&shared) <= self.width;
        let text = if fits { shared } else { value::alone(value).text() };
        match value {
            Value::Text(_) => words::clip(&text, self.width),
            _ => text,
        }
    }
}

/// Columns that values like this one take at most, most of the time.
fn usual_width(cell: &Figure) -> usize {
    let figure = match &cell.value {
        Value::BitRate(_) => "999.99 Gbit/s",
        Value::Bytes(_) => "999.99 GiB",
        Value::Duration(_) => "9,999 µs",
        Value::Percentile(_) => "needs 1,000",
        Value::Count(_) => "99,999",
        Value::Frequency(_) => "99,999 /s",
        Value::Ratio(_) => "100.0 %",
        Value::Text(text) => &words::clip(text, LONGEST_WORDS),
        // What the other end counts comes late: leave room for the widest of the usual.
        Value::Absent => "999.9 Gbit/s",
    };
    words::width(figure).max(words::width(&cell.label))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Color;

    fn shown(columns: usize, rows: &[Row]) -> String {
        let mut page = Page::new(columns, Color::Never);
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
        assert_eq!(text, "       a              b…\n       1   2.000 Gbit/s\n");
    }

    #[test]
    fn what_comes_late_has_its_place() {
        let rows = [Value::Absent, Value::BitRate(72.15e9)]
            .map(|rate| row("", &[("second", Value::Count(1)), ("up", rate)]));
        let text = shown(80, &rows);
        let ends: Vec<_> = text.lines().map(words::width).collect();
        assert_eq!(ends, [22, 22, 22], "{text}");
    }

    #[test]
    fn a_column_keeps_its_first_unit_while_that_suits() {
        let rates = [0.0, 9.412e9, 812e6, 3.1e6, 0.0].map(Value::BitRate);
        let rows = rates.map(|rate| row("", &[("second", Value::Count(1)), ("up", rate)]));
        let text = shown(80, &rows);
        let cells: Vec<_> = text.lines().skip(1).map(|line| line[8..].trim()).collect();
        assert_eq!(cells, ["0", "9.412 Gbit/s", "0.812 Gbit/s", "3.100 Mbit/s", "0.000 Gbit/s"]);
    }
}
