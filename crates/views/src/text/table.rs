//! A table: one unit a column, stated in its head, so that a column compares at a glance.
//!
//! Where it is too wide, heads are broken between words first, then the table is cut into blocks that
//! repeat the first column. Only words are ever clipped, and numbers never.

use std::iter;

use pathscope_core::quantity::Scale;
use pathscope_core::sheet::{Table, Value};

use super::line::{Line, Style};
use super::page::Page;
use super::value::{self, Shown};
use super::words;

/// Spaces before each column.
const GAP: usize = 2;

/// Adds a table.
pub fn table(page: &mut Page, table: &Table) {
    let mut columns = columns(table, page.columns() / 2);
    if columns.is_empty() || table.rows.is_empty() {
        return;
    }
    if !table.title.is_empty() {
        page.sentence(Line::indented(2), Style::Faint, &table.title);
    }
    if width(&columns) <= page.columns() {
        return add(page, &columns);
    }
    columns.iter_mut().for_each(Column::stack_head);
    for (index, block) in blocks(&columns, page.columns()).iter().enumerate() {
        if index > 0 {
            page.gap();
        }
        add(page, block);
    }
}

/// One column, ready to be placed.
#[derive(Clone)]
struct Column {
    head: Vec<String>,
    /// What every number in it is counted in; empty where they state it themselves.
    unit: String,
    cells: Vec<String>,
    align: Align,
}

/// Where the cells of a column stand.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Align {
    Left,
    Right,
}

/// The columns of a table; rows that are too short or too long make columns with gaps.
fn columns(table: &Table, longest_words: usize) -> Vec<Column> {
    let longest_row = table.rows.iter().map(Vec::len).max().unwrap_or(0);
    let values: Vec<Vec<_>> = (0..table.columns.len().max(longest_row))
        .map(|index| table.rows.iter().map(|row| row.get(index)).collect())
        .collect();
    let heads = table.columns.iter().map(String::as_str).chain(iter::repeat(""));
    let scales = scales(&values);
    let columns = heads.zip(&values).zip(scales);
    columns
        .map(|((head, values), scale)| Column::of(head, values, scale, longest_words))
        .filter(|column| !column.is_empty())
        .collect()
}

/// The unit of each column: one for all neighbours of a kind where one suits them, since p50 and p99 are
/// compared, too.
fn scales(columns: &[Vec<Option<&Value>>]) -> Vec<Option<Scale>> {
    let own = |values: &Vec<Option<&Value>>| value::common_scale(values.iter().copied().flatten());
    let scaled: Vec<_> = columns.iter().map(|values| (values, own(values))).collect();
    let kind = |scale: &Option<Scale>| scale.map(|scale| scale.dimension());
    let neighbours = scaled.chunk_by(|left, right| kind(&left.1) == kind(&right.1));
    let shared = neighbours.flat_map(|run| {
        let values = run.iter().flat_map(|(values, _)| values.iter());
        let common = value::common_scale(values.copied().flatten());
        run.iter().map(move |&(_, own)| own.and(common).or(own))
    });
    shared.collect()
}

impl Column {
    fn of(
        head: &str,
        values: &[Option<&Value>],
        scale: Option<Scale>,
        longest_words: usize,
    ) -> Self {
        let cell = |value: &Value| match value::beside(value, scale.as_ref()) {
            Shown::Words(words) => words::clip(&words, longest_words),
            Shown::Number { number, .. } if scale.is_some() => number,
            shown @ Shown::Number { .. } => shown.text(),
        };
        let has_text = values.iter().flatten().any(|value| matches!(value, Value::Text(_)));
        let has_number =
            values.iter().flatten().any(|value| !matches!(value, Value::Text(_) | Value::Absent));
        Self {
            head: vec![head.to_owned()],
            cells: values.iter().map(|value| value.map(cell).unwrap_or_default()).collect(),
            unit: scale.map_or_else(String::new, |scale| scale.unit().to_owned()),
            align: if has_text && !has_number { Align::Left } else { Align::Right },
        }
    }

    /// Whether it says nothing in any row, as a column of errors does where there were none.
    fn is_empty(&self) -> bool {
        self.cells.iter().all(String::is_empty)
    }

    /// Breaks the head into lines no wider than the column must be anyway.
    fn stack_head(&mut self) {
        let head = self.head.join(" ");
        let longest_word = head.split_whitespace().map(words::width).max().unwrap_or(0);
        let width = widest(self.cells.iter().chain([&self.unit])).max(longest_word);
        self.head = words::wrap(&head, width, width);
    }

    fn width(&self) -> usize {
        widest(self.head.iter().chain(&self.cells).chain([&self.unit]))
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
        add_line(page, columns, Style::Plain, |column| &column.cells[row]);
    }
}

fn add_line(page: &mut Page, columns: &[Column], style: Style, text: impl Fn(&Column) -> &str) {
    let place = |line, column: &Column| column.place(line, style, text(column));
    page.line(&columns.iter().fold(Line::default(), place));
}
