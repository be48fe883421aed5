//! A table: one unit a column, stated in its head, so that a column compares at a glance.
//!
//! Where it is too wide, heads are broken between words first, then words within their cells, then the table is cut into
//! blocks that repeat the first column. Nothing is ever clipped.

use std::iter;

use pathscope_core::presentation::{Table, Value};
use pathscope_core::quantity::Scale;

use super::line::{Line, Style};
use super::page::Page;
use crate::value::{self, Shown};
use crate::words;

/// Spaces before each column.
const GAP: usize = 2;
/// Words are not broken into lines shorter than this: a table is cut into blocks rather.
const LEAST_WORDS: usize = 24;

/// Adds a table.
pub fn table(page: &mut Page, table: &Table) {
    let mut columns = columns(table);
    if columns.is_empty() || table.rows.is_empty() {
        return;
    }
    if !table.title.is_empty() {
        page.sentence(Line::indented(2), Style::Faint, &table.title);
    }
    let room = page.columns();
    if width(&columns) > room {
        columns.iter_mut().for_each(Column::stack_head);
    }
    let mut narrow = columns.clone();
    if break_words(&mut narrow, room) {
        return add(page, &narrow);
    }
    for (index, block) in blocks(&columns, room).iter_mut().enumerate() {
        if index > 0 {
            page.gap();
        }
        break_words(block, room);
        add(page, block);
    }
}

/// One column, ready to be placed.
#[derive(Clone)]
struct Column {
    head: Vec<String>,
    /// What every number in it is counted in; empty where they state it themselves.
    unit: String,
    /// The lines of each cell: one, but of words that were broken.
    cells: Vec<Vec<String>>,
    align: Align,
}

/// Where the cells of a column stand.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Align {
    Left,
    Right,
}

/// The columns of a table; rows that are too short or too long make columns with gaps.
fn columns(table: &Table) -> Vec<Column> {
    let longest_row = table.rows.iter().map(|row| row.cells.len()).max().unwrap_or(0);
    let values: Vec<Vec<_>> = (0..table.columns.len().max(longest_row))
        .map(|index| table.rows.iter().map(|row| row.cells.get(index)).collect())
        .collect();
    let heads = table.columns.iter().map(|column| column.head.as_str()).chain(iter::repeat(""));
    let scales = value::scales(&values);
    let columns = heads.zip(&values).zip(scales);
    columns
        .map(|((head, values), scale)| Column::of(head, values, scale))
        .filter(|column| !column.is_empty())
        .collect()
}

impl Column {
    fn of(head: &str, values: &[Option<&Value>], scale: Option<Scale>) -> Self {
        let shown = |value: &Value| value::beside(value, scale.as_ref());
        let cell = |value: &Value| match shown(value) {
            Shown::Number { number, .. } if scale.is_some() => number,
            shown => shown.text(),
        };
        let is_words = |value: &Value| matches!(value, Value::Text(_) | Value::Worded(..));
        let is_number = |value: &Value| !is_words(value) && *value != Value::Absent;
        let has_text = values.iter().flatten().any(|&value| is_words(value));
        let has_number = values.iter().flatten().any(|&value| is_number(value));
        let mut cells: Vec<String> =
            values.iter().map(|value| value.map(cell).unwrap_or_default()).collect();
        let numbers = cells.iter_mut().zip(values).filter(|(_, value)| {
            scale.is_some()
                && value.is_some_and(|value| matches!(shown(value), Shown::Number { .. }))
        });
        value::align_points(numbers.map(|(cell, _)| cell));
        Self {
            head: vec![head.to_owned()],
            cells: cells.into_iter().map(|cell| vec![cell]).collect(),
            unit: scale.map_or_else(String::new, |scale| scale.unit().to_owned()),
            align: if has_text && !has_number { Align::Left } else { Align::Right },
        }
    }

    /// Whether it says nothing in any row, as a column of errors does where there were none.
    fn is_empty(&self) -> bool {
        self.cells.iter().flatten().all(String::is_empty)
    }

    /// Breaks the head into lines no wider than the column must be anyway.
    fn stack_head(&mut self) {
        let head = self.head.join(" ");
        let longest_word = head.split_whitespace().map(words::width).max().unwrap_or(0);
        let width = widest(self.lines().chain([&self.unit])).max(longest_word);
        self.head = words::wrap(&head, width, width);
    }

    /// Breaks the words of its cells into lines no wider than this.
    fn break_cells(&mut self, width: usize) {
        for cell in &mut self.cells {
            *cell = words::wrap(&cell.join(" "), width, width);
        }
    }

    fn lines(&self) -> impl Iterator<Item = &String> {
        self.cells.iter().flatten()
    }

    fn width(&self) -> usize {
        widest(self.head.iter().chain(self.lines()).chain([&self.unit]))
    }

    fn place(&self, line: Line, style: Style, text: &str) -> Line {
        let (start, width) = (line.width() + GAP, self.width());
        let line = line.padded_to(start);
        match self.align {
            Align::Left => line.with(style, text).padded_to(start + width),
            Align::Right => line.with_right(style, text, width),
        }
    }
}

fn widest<'text>(texts: impl Iterator<Item = &'text String>) -> usize {
    texts.map(|text| words::width(text)).max().unwrap_or(0)
}

fn width(columns: &[Column]) -> usize {
    columns.iter().map(|column| GAP + column.width()).sum()
}

/// Breaks words, of the widest column of them first, until the columns fit; whether they do. The first column, by which
/// rows are known, stays as it is.
fn break_words(columns: &mut [Column], room: usize) -> bool {
    let mut unbroken: Vec<usize> = (1..columns.len()).collect();
    unbroken.retain(|&at| columns[at].align == Align::Left && columns[at].width() > LEAST_WORDS);
    unbroken.sort_by_key(|&at| columns[at].width());
    while let (Some(at), true) = (unbroken.pop(), width(columns) > room) {
        let excess = width(columns) - room;
        let narrower = columns[at].width().saturating_sub(excess).max(LEAST_WORDS);
        columns[at].break_cells(narrower);
    }
    width(columns) <= room
}

/// The columns in blocks that fit, each of which begins with the first column.
fn blocks(columns: &[Column], room: usize) -> Vec<Vec<Column>> {
    let Some((key, others)) = columns.split_first() else { return Vec::new() };
    let mut blocks = vec![vec![key.clone()]];
    for column in others {
        let block = blocks.last_mut().expect("there is a block from the start");
        if block.len() > 1 && width(block) + GAP + column.width() > room {
            blocks.push(vec![key.clone(), column.clone()]);
        } else {
            block.push(column.clone());
        }
    }
    blocks
}

fn add(page: &mut Page, columns: &[Column]) {
    let head_lines = columns.iter().map(|column| column.head.len()).max().unwrap_or(0);
    for index in 0..head_lines {
        add_line(page, columns, Style::Strong, |column| {
            // Heads stand on the line below them, not under the one above.
            let missing = head_lines - column.head.len();
            index.checked_sub(missing).map_or("", |index| &column.head[index])
        });
    }
    if columns.iter().any(|column| !column.unit.is_empty()) {
        add_line(page, columns, Style::Faint, |column| &column.unit);
    }
    let rows = columns.iter().map(|column| column.cells.len()).max().unwrap_or(0);
    for row in 0..rows {
        let lines = columns.iter().map(|column| column.cells[row].len()).max().unwrap_or(0);
        for line in 0..lines.max(1) {
            add_line(page, columns, Style::Plain, |column| {
                column.cells[row].get(line).map_or("", String::as_str)
            });
        }
    }
}

fn add_line(page: &mut Page, columns: &[Column], style: Style, text: impl Fn(&Column) -> &str) {
    let place = |line, column: &Column| column.place(line, style, text(column));
    page.line(&columns.iter().fold(Line::default(), place));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::{Charset, Color};

    fn shown(columns: usize, heads: &[&str], rows: Vec<Vec<Value>>) -> String {
        let mut page = Page::new(columns, Color::Never, Charset::Unicode);
        table(&mut page, &Table::new("", heads.iter().copied(), rows));
        let mut out = Vec::new();
        page.write_to(&mut out).expect("a vector takes every byte");
        String::from_utf8(out).expect("text is UTF-8")
    }

    #[test]
    fn words_too_long_for_a_line_go_on_in_the_next_and_lose_nothing() {
        let error = "cannot connect to TCP 10.0.0.2:5210: Connection refused (os error 111)";
        let row = |flow, error: &str| vec![Value::Count(flow), Value::Text(error.to_owned())];
        let text = shown(40, &["flow", "error"], vec![row(0, error), row(1, "")]);
        assert_eq!(
            text,
            "  flow  error\n     0  cannot connect to TCP\n        10.0.0.2:5210: Connection\n        refused (os error 111)\n     1\n"
        );
    }

    #[test]
    fn the_points_of_a_column_stand_below_each_other() {
        let times = [39_510, 5_886_000, 2_012_000_000].map(|time| vec![Value::Duration(time)]);
        let text = shown(40, &["RTT"], times.to_vec());
        assert_eq!(text, "         RTT\n          ms\n      0.0395\n      5.886\n  2,012\n");
    }
}
