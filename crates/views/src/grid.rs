//! A table for a page as wide as it likes: one unit a column, stated in its head. The text, which has to fit, has its own.

use pathscope_core::presentation::{Table, Value};

use crate::value::{scales, shown_beside};

/// A table as words; rows are as long as there are heads.
pub struct Grid {
    /// What stands above each column.
    pub heads: Vec<String>,
    /// Which columns hold words alone, and so begin at the left.
    pub is_words: Vec<bool>,
    /// The cells of each row.
    pub rows: Vec<Vec<String>>,
}

impl Grid {
    /// The cells of a table; none where there is nothing in it. What a row lacks is empty, and what it has beyond the heads stands
    /// below none.
    pub fn of(table: &Table) -> Option<Self> {
        let longest = table.rows.iter().map(|row| row.cells.len()).max()?;
        let count = longest.max(table.columns.len());
        let values: Vec<Vec<Option<&Value>>> =
            (0..count).map(|at| table.rows.iter().map(|row| row.cells.get(at)).collect()).collect();
        let scales = scales(&values);
        let head = |at: usize| {
            let name = table.columns.get(at).map_or("", |column| column.head.as_str());
            match &scales[at] {
                Some(scale) if name.is_empty() => scale.unit().to_owned(),
                Some(scale) => format!("{name}, {}", scale.unit()),
                None => name.to_owned(),
            }
        };
        let is_words = |column: &Vec<Option<&Value>>| {
            column.iter().flatten().all(|value| matches!(value, Value::Text(_) | Value::Worded(..)))
        };
        let cell = |row: usize, at: usize| {
            values[at][row]
                .map_or_else(String::new, |value| shown_beside(value, scales[at].as_ref()))
        };
        (count > 0).then(|| Self {
            heads: (0..count).map(head).collect(),
            is_words: values.iter().map(is_words).collect(),
            rows: (0..table.rows.len())
                .map(|row| (0..count).map(|at| cell(row, at)).collect())
                .collect(),
        })
    }
}
