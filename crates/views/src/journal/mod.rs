//! The journal as rows: a table of status, one of connections, one of errors, each as CSV or as text.
//!
//! The first columns are those of ctsTraffic, with its names, order and units, so that what reads its files
//! reads these: `SendBps` is bytes a second. Ours follow. Not here: files.

mod columns;
mod csv;
mod each;
mod served;
mod text;
mod time;

use std::fmt;
use std::path::Path;

use pathscope_core::journal::Entry;
use pathscope_core::journal::totals::Slice;

pub use each::{each_as_json, each_as_text};
pub use text::line;

/// What a file of rows holds.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Table {
    /// Rates and counts, a row for each report interval.
    Status,
    /// The same of all clients of a server together.
    Totals,
    /// A row for each connection that has ended.
    Connections,
    /// The same of a server, whose sessions are of connections or of streams.
    ServedStatus,
    /// Rates and frames of streams, a row for each report interval.
    StreamStatus,
    /// A row for each stream that has ended.
    Streams,
    /// A row for each connection or stream of a server that has ended.
    Served,
    /// A row for each error, of a connection or outside of any.
    Errors,
    /// What the machines did, a row for each report interval of each end.
    Counters,
    /// How connections that send stood, a row for each at the end of each report interval.
    Senders,
    /// The round trip of each ping that came back, in whole microseconds, as lagscope writes it.
    Latencies,
}

/// How rows are written.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Form {
    /// RFC 4180, UTF-8, with a header.
    Csv,
    /// Lines for people.
    Text,
}

impl Form {
    /// The form that a file's name asks for: CSV where it ends in `.csv`, text everywhere else.
    pub fn of_path(path: &Path) -> Self {
        let is_csv = path.extension().is_some_and(|name| name.eq_ignore_ascii_case("csv"));
        if is_csv { Self::Csv } else { Self::Text }
    }
}

impl Table {
    /// Whether it has rows of report intervals, which somebody has to ask for.
    pub const fn is_of_status(self) -> bool {
        matches!(self, Self::Status | Self::ServedStatus | Self::StreamStatus | Self::Totals)
    }
}

impl fmt::Display for Table {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Status => "status",
            Self::ServedStatus => "status of a server",
            Self::Totals => "totals of a server",
            Self::Connections => "connections",
            Self::StreamStatus => "status of streams",
            Self::Streams => "streams",
            Self::Served => "connections of a server",
            Self::Errors => "errors",
            Self::Counters => "counters",
            Self::Senders => "senders",
            Self::Latencies => "latencies",
        })
    }
}

/// What stands at the top of a table.
pub fn header(table: Table, form: Form) -> String {
    match form {
        _ if table == Table::Latencies => each::LATENCIES.to_owned(),
        Form::Csv => csv::header(table),
        Form::Text => text::header(table),
    }
}

/// The row that a table has for an entry, if it has one.
pub fn row(table: Table, form: Form, entry: &Entry) -> Option<String> {
    match form {
        _ if table == Table::Latencies => each::latencies(entry),
        Form::Csv => csv::row(table, entry),
        Form::Text => text::row(table, entry),
    }
}

/// The row of what came of all clients together between two rows.
pub fn totals(form: Form, slice: &Slice) -> String {
    let cells = served::totals(slice);
    match form {
        Form::Csv => csv::of_cells(&cells),
        Form::Text => text::totals(&cells),
    }
}

#[cfg(test)]
mod tests {
    use pathscope_core::journal::{Ended, Frames};

    use super::*;

    #[test]
    fn all_clients_together_have_a_row_with_as_many_cells_as_its_header() {
        let ended = Ended { completed: 3, network_errors: 1, data_errors: 2, protocol_errors: 4 };
        let frames =
            Frames { completed: 5, missed: 6, repeated: 7, erroneous: 8, late: 9, sent: 9 };
        let slice = Slice {
            at_ns: 5_000_000_000,
            length_ns: 500_000_000,
            sent_bytes: 1_000,
            received_bytes: 30,
            in_flight: 2,
            ended,
            frames,
            ..Slice::default()
        };
        let row = totals(Form::Csv, &slice);
        assert_eq!(row, "5.000,2000,60,2,3,1,6,4,500.000,1000,30,5,6,7,8\r\n");
        assert_eq!(header(Table::Totals, Form::Csv).split(',').count(), row.split(',').count());
        let (head, line) = (header(Table::Totals, Form::Text), totals(Form::Text, &slice));
        assert_eq!(head.split_whitespace().count(), line.split_whitespace().count());
        assert_eq!(head.len(), line.len(), "each stands under its name");
    }

    #[test]
    fn the_extension_decides() {
        for (path, form) in [
            ("status.csv", Form::Csv),
            ("STATUS.CSV", Form::Csv),
            ("status.txt", Form::Text),
            ("csv", Form::Text),
            ("/dev/stdout", Form::Text),
        ] {
            assert_eq!(Form::of_path(Path::new(path)), form, "{path}");
        }
    }
}
