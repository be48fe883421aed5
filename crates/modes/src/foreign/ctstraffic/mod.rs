//! The files of ctsTraffic: rows of status, of connections and of streams as they ended, of what TCP counted of them, and of frames.
//!
//! Which end wrote a file stands in none: what this end sent counts as `up`, as of a client's.

mod ends;
mod frames;
mod status;
mod tcp_info;

use pathscope_core::quantity::shown;

use super::{Fault, Form, columns, rows};

const TOOL: &str = "ctsTraffic";
/// What is not in any of them.
const UNKNOWN: &str = "hosts, settings and which end wrote it are not in the file: what its end sent is told as up, as of a client's";

/// All of them.
pub(super) const FORMS: [&Form; 6] = [
    &status::CONNECTIONS,
    &status::STREAMS,
    &ends::CONNECTIONS,
    &ends::STREAMS,
    &frames::FRAMES,
    &tcp_info::TCP_INFO,
];

/// Whether the first line has these columns and no others.
fn has(text: &str, names: &[&str]) -> bool {
    columns(text).eq(names.iter().copied())
}

/// The cells of each row, of which there are so many, with the number of its line.
fn cells<const MANY: usize>(
    text: &str,
) -> Result<impl Iterator<Item = Result<(usize, [&str; MANY]), Fault>>, Fault> {
    Ok(rows(text)?.map(|(line, row)| {
        let cells: Vec<&str> = row.split(',').map(str::trim).collect();
        let count = cells.len();
        let cells: Result<[&str; MANY], _> = cells.try_into();
        cells.map(|cells| (line, cells)).map_err(|_| {
            let why = format!("it has {count} values and has to have {MANY}");
            Fault::Line { line, why }
        })
    }))
}

/// A whole number.
fn number(cell: &str) -> Result<u64, String> {
    cell.parse().map_err(|_| format!("'{}' is no whole number", shown(cell)))
}

/// Seconds or another unit of so many nanoseconds, from zero on.
fn time(cell: &str, unit_ns: f64) -> Result<u64, String> {
    let value = cell.parse::<f64>().ok().filter(|value| value.is_finite() && *value >= 0.0);
    let value = value.ok_or_else(|| format!("'{}' is no time", shown(cell)))?;
    Ok((value * unit_ns).round() as u64)
}

/// A fault of a line.
fn at(line: usize) -> impl Fn(String) -> Fault {
    move |why| Fault::Line { line, why }
}
