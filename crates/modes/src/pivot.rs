//! A figure at each value of one setting, in rows, and of another, in columns.

use pathscope_core::figure::Unit;
use pathscope_core::presentation::{Table, Value};
use pathscope_core::stats::median;

/// A number, and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Cell {
    /// What it is of: a table for each.
    pub(crate) of: String,
    /// The value of the first setting.
    pub(crate) row: String,
    /// The value of the second.
    pub(crate) column: String,
    /// What it is a number of.
    pub(crate) unit: Unit,
    /// The number, in the base unit. Of several in one place the median is told.
    pub(crate) number: f64,
}

/// A table for what each of these numbers are of, rows and columns in the order in which they come. `settings`: of the rows, and of the columns. What
/// is not known stays empty.
pub(crate) fn pivot(settings: [&str; 2], cells: &[Cell]) -> Vec<Table> {
    let each = |name: fn(&Cell) -> &str| {
        let mut names: Vec<&str> = Vec::new();
        for cell in cells {
            if !names.contains(&name(cell)) {
                names.push(name(cell));
            }
        }
        names
    };
    let (rows, columns) = (each(|it| &it.row), each(|it| &it.column));
    let of = each(|it| &it.of);
    let table = |of: &str| {
        let at = |row: &str, column: &str| {
            let here =
                cells.iter().filter(|it| it.of == of && it.row == row && it.column == column);
            let numbers: Vec<f64> = here.clone().map(|it| it.number).collect();
            let unit = here.map(|it| it.unit).next();
            median(&numbers).zip(unit).map_or(Value::Absent, |(it, unit)| Value::of(unit, it))
        };
        let row = |row: &&str| {
            let own = columns.iter().map(|column| at(row, column));
            [Value::Text((*row).to_owned())].into_iter().chain(own).collect::<Vec<_>>()
        };
        let heads = columns.iter().map(|column| format!("{}={column}", settings[1]));
        let heads = [settings[0].to_owned()].into_iter().chain(heads);
        Table::new(of, heads, rows.iter().map(row))
    };
    of.into_iter().map(table).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_number_stands_where_its_settings_say() {
        let cell = |of: &str, row: &str, column: &str, number| {
            let [of, row, column] = [of, row, column].map(str::to_owned);
            Cell { of, row, column, unit: Unit::Duration, number }
        };
        let cells = [
            cell("RTT", "1", "cubic", 5.0),
            cell("RTT", "1", "bbr", 7.0),
            cell("RTT", "8", "cubic", 1.0),
            cell("RTT", "8", "cubic", 9.0),
            cell("RTT", "8", "cubic", 3.0),
            cell("lost", "8", "bbr", 2.0),
        ];
        let tables = pivot(["connections", "congestion"], &cells);
        let titles: Vec<&str> = tables.iter().map(|table| table.title.as_str()).collect();
        assert_eq!(titles, ["RTT", "lost"]);
        let heads: Vec<&str> = tables[0].columns.iter().map(|it| it.head.as_str()).collect();
        assert_eq!(heads, ["connections", "congestion=cubic", "congestion=bbr"]);
        let text = |text: &str| Value::Text(text.to_owned());
        // Of several runs the median; what nobody measured stays empty.
        assert_eq!(tables[0].rows[0].cells, [text("1"), Value::Duration(5), Value::Duration(7)]);
        assert_eq!(tables[0].rows[1].cells, [text("8"), Value::Duration(3), Value::Absent]);
        assert_eq!(tables[1].rows[0].cells, [text("1"), Value::Absent, Value::Absent]);
    }
}
