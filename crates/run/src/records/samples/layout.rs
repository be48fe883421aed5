//! What the rows of a mode look like, whichever form they are written in.

use pathscope_modes::samples::{Cells, SampleRows};

/// What the rows of a mode look like.
#[derive(Debug)]
pub(super) struct Layout {
    /// The first row.
    pub head: String,
    /// The columns, by the names that they have there.
    pub columns: Vec<(String, Cells)>,
    /// What stands where there is no value.
    pub absent: &'static str,
}

impl Layout {
    pub fn of(rows: &impl SampleRows) -> Self {
        let head = rows.head();
        let column = |name: &str| (name.trim().to_owned(), rows.cells(name.trim()));
        let columns = head.split(',').map(column).collect();
        Self { columns, absent: rows.absent(), head }
    }
}
