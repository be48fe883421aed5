//! Rows as text, for people: status in columns, everything else a line each with its time in front.

use std::fmt::Write as _;

use pathscope_core::journal::{Connection, Entry, PathChange, Stream};
use pathscope_core::record::{FlowError, FlowErrorKind};

use super::time::seconds;
use super::{Table, columns};

/// The width of each column of status; what does not fit pushes the rest to the right.
const WIDTHS: [usize; 17] = [10, 13, 13, 11, 11, 10, 11, 14, 10, 13, 13, 12, 9, 10, 13, 13, 24];

/// What a server's rows of status have of streams stands behind that.
const SERVED_WIDTHS: [usize; 8] = [15, 9, 17, 15, 16, 14, 12, 12];

/// The same of the status of streams; the first seven are where ctsTraffic has them.
const STREAM_WIDTHS: [usize; 13] = [10, 15, 11, 12, 10, 11, 10, 9, 10, 12, 13, 13, 24];

/// And those of all clients together.
const TOTALS_WIDTHS: [usize; 15] = [10, 13, 13, 11, 11, 10, 11, 14, 10, 13, 13, 17, 15, 16, 14];

fn served_widths() -> Vec<usize> {
    [&WIDTHS[..], &SERVED_WIDTHS[..]].concat()
}

/// What stands at the top of a table.
pub fn header(table: Table) -> String {
    match table {
        Table::Status => aligned(&columns::of(table), &WIDTHS),
        Table::ServedStatus => aligned(&columns::of(table), &served_widths()),
        Table::StreamStatus => aligned(&columns::of(table), &STREAM_WIDTHS),
        Table::Totals => aligned(&columns::of(table), &TOTALS_WIDTHS),
        Table::Connections
        | Table::Served
        | Table::Streams
        | Table::Errors
        | Table::Counters
        | Table::Senders
        | Table::Latencies => String::new(),
    }
}

/// The line of an entry, if the table has one.
pub fn row(table: Table, entry: &Entry) -> Option<String> {
    match (table, entry) {
        (Table::Status, Entry::Status(_) | Entry::StreamStatus(_)) => status(table, entry, &WIDTHS),
        (Table::ServedStatus, Entry::Status(_) | Entry::StreamStatus(_)) => {
            status(table, entry, &served_widths())
        }
        (Table::StreamStatus, Entry::StreamStatus(_)) => status(table, entry, &STREAM_WIDTHS),
        (Table::Errors, Entry::StreamClosed(stream)) if stream.facts.error.is_some() => line(entry),
        (
            Table::Connections | Table::Streams | Table::Served,
            Entry::StreamOpened(_) | Entry::StreamClosed(_),
        )
        | (Table::Connections | Table::Served, Entry::Opened(_) | Entry::Closed(_))
        | (Table::Errors, Entry::Trouble(_)) => line(entry),
        (Table::Errors, Entry::Closed(connection)) if connection.facts.error.is_some() => {
            line(entry)
        }
        _ => None,
    }
}

/// The row of all clients together.
pub fn totals(cells: &[String]) -> String {
    aligned(cells, &TOTALS_WIDTHS)
}

fn status(table: Table, entry: &Entry, widths: &[usize]) -> Option<String> {
    columns::cells(table, entry).map(|cells| {
        let cells: Vec<&str> =
            cells.iter().map(|cell| if cell.is_empty() { "-" } else { cell }).collect();
        aligned(&cells, widths)
    })
}

/// An entry as one line, whatever table it stands in.
pub fn line(entry: &Entry) -> Option<String> {
    let text = match entry {
        // A file for programs.
        Entry::Activity(_)
        | Entry::Sender(_)
        | Entry::Progress(_)
        | Entry::TestBegan(_)
        | Entry::TestOver(_)
        | Entry::Each(_) => return None,
        Entry::Status(_) => return row(Table::Status, entry),
        Entry::StreamStatus(_) => return row(Table::StreamStatus, entry),
        Entry::StreamOpened(stream) => {
            let at = seconds(stream.at_ns);
            format!("[{at}] UDP connection established {}\n", ends(&stream.as_connection()))
        }
        Entry::StreamClosed(stream) => stream_closed(stream),
        Entry::Opened(connection) => {
            let at = seconds(connection.at_ns);
            format!("[{at}] TCP connection established {}\n", ends(connection))
        }
        Entry::Closed(connection) => closed(connection),
        Entry::Trouble(trouble) => {
            let session = trouble.session.as_ref().map(|who| format!("{who}: "));
            let at = seconds(trouble.at_ns);
            format!("[{at}] {}{}\n", session.unwrap_or_default(), trouble.text)
        }
        Entry::Step(step) => {
            format!("[{}] {}: {}\n", seconds(step.at_ns), step.session, step.text)
        }
        Entry::Path(change) => {
            let PathChange { at_ns, interface, what, why, .. } = change.as_ref();
            let which = if interface.is_empty() { "paths" } else { "path " };
            format!("[{}] {which}{interface} {what}: {why}\n", seconds(*at_ns))
        }
    };
    Some(text)
}

/// How a connection ended.
fn result(error: Option<&FlowError>) -> String {
    match error {
        None => "succeeded".to_owned(),
        Some(error) if error.kind == FlowErrorKind::Unconfirmed => format!("ended, {}", error.text),
        Some(error) => format!("failed with a {} error, {}", columns::kind(error), error.text),
    }
}

fn stream_closed(stream: &Stream) -> String {
    let facts = &stream.facts;
    let result = result(facts.error.as_ref());
    format!(
        "[{}] UDP connection {result} : {} [{}]: BitsPerSecond[{}] Completed[{}] Dropped[{}] Repeated[{}] Errors[{}] Late[{}] LostDatagrams[{}]\n",
        seconds(stream.at_ns),
        ends(&stream.as_connection()),
        facts.connection_id.as_deref().unwrap_or_default(),
        stream.bits_per_second(),
        stream.frames.completed,
        stream.frames.missed,
        stream.frames.repeated,
        stream.frames.erroneous,
        stream.frames.late,
        stream.lost_datagrams
    )
}

fn closed(connection: &Connection) -> String {
    let Connection { at_ns, time_ns, facts, .. } = connection;
    let result = result(facts.error.as_ref());
    let mut text = format!(
        "[{}] TCP connection {result} : {} [{}]: SendBytes[{}] SendBps[{}] RecvBytes[{}] RecvBps[{}] Time[{} ms]",
        seconds(*at_ns),
        ends(connection),
        facts.connection_id.as_deref().unwrap_or_default(),
        facts.sent_bytes,
        connection.sent_per_second(),
        facts.received_bytes,
        connection.received_per_second(),
        time_ns / 1_000_000
    );
    if let Some(retransmits) = facts.tcp.and_then(|tcp| tcp.retransmits) {
        // Writing to a String cannot fail.
        let _ = write!(text, " Retransmits[{retransmits}]");
    }
    text.push('\n');
    text
}

fn ends(connection: &Connection) -> String {
    let address = |address: &Option<String>| address.clone().unwrap_or_else(|| "?".to_owned());
    format!("[{} - {}]", address(&connection.facts.local), address(&connection.facts.remote))
}

fn aligned(cells: &[impl AsRef<str>], widths: &[usize]) -> String {
    let mut line = String::new();
    for (cell, width) in cells.iter().zip(widths) {
        let _ = write!(line, " {:>width$}", cell.as_ref(), width = width - 1);
    }
    line.push('\n');
    line
}

#[cfg(test)]
mod tests {
    use pathscope_core::journal::{Status, Trouble};
    use pathscope_core::record::{FlowError, FlowErrorKind, FlowFacts};

    use super::*;

    #[test]
    fn columns_stand_under_their_names_and_never_touch() {
        let status = Status {
            at_ns: 5_002_000_000,
            length_ns: 1_000_000_000,
            sent_bytes: u64::MAX,
            ..Status::default()
        };
        let entry = Entry::Status(Box::new(status));
        for table in [Table::Status, Table::ServedStatus] {
            let (header, row) = (header(table), row(table, &entry).expect("it has a row"));
            assert_eq!(row.split_whitespace().count(), header.split_whitespace().count());
        }
        let header = header(Table::Status);
        let row = row(Table::Status, &entry).expect("it has a row");
        assert!(header.starts_with(" TimeSlice      SendBps      RecvBps  In-Flight"), "{header}");
        assert!(row.starts_with("     5.002 18446744073709551615            0"), "{row}");
    }

    #[test]
    fn a_connection_has_a_line_when_it_begins_and_one_when_it_ends() {
        let facts = FlowFacts {
            connection_id: Some("id".to_owned()),
            local: Some("10.0.0.1:2".to_owned()),
            remote: Some("10.0.0.2:3".to_owned()),
            sent_bytes: 500,
            ..FlowFacts::default()
        };
        let connection = Connection { time_ns: 250_000_000, facts, ..Connection::default() };
        let opened = Entry::Opened(Box::new(connection.clone()));
        assert_eq!(
            row(Table::Connections, &opened).as_deref(),
            Some("[0.000] TCP connection established [10.0.0.1:2 - 10.0.0.2:3]\n")
        );
        let closed = Entry::Closed(Box::new(connection.clone()));
        assert_eq!(
            row(Table::Connections, &closed).as_deref(),
            Some(
                "[0.000] TCP connection succeeded : [10.0.0.1:2 - 10.0.0.2:3] [id]: SendBytes[500] SendBps[2000] RecvBytes[0] RecvBps[0] Time[250 ms]\n"
            )
        );
        assert_eq!(row(Table::Errors, &closed), None);
        let error =
            FlowError { kind: FlowErrorKind::Data, text: "it is wrong".to_owned(), errno: None };
        let mut failed = connection;
        failed.facts.error = Some(error);
        let failed = row(Table::Errors, &Entry::Closed(Box::new(failed))).expect("it has a line");
        assert!(failed.contains("failed with a data error, it is wrong"), "{failed}");
    }

    #[test]
    fn the_status_of_streams_has_the_columns_where_others_have_them() {
        let header = header(Table::StreamStatus);
        for (name, end) in [
            ("TimeSlice", 10),
            ("Bits/Sec", 25),
            ("Streams", 36),
            ("Completed", 48),
            ("Dropped", 58),
            ("Repeated", 69),
            ("Errors", 79),
        ] {
            assert!(header[..end].ends_with(name), "{name} ends at {end}: {header}");
        }
    }

    #[test]
    fn what_becomes_of_a_path_has_a_line() {
        let change = PathChange {
            at_ns: 1_500_000_000,
            path: Some(1),
            interface: "wlan1".to_owned(),
            what: "down".to_owned(),
            why: "its link is gone".to_owned(),
            ..PathChange::default()
        };
        let said = line(&Entry::Path(Box::new(change.clone())));
        assert_eq!(said.as_deref(), Some("[1.500] path wlan1 down: its link is gone\n"));
        let all = PathChange { path: None, interface: String::new(), ..change };
        let said = line(&Entry::Path(Box::new(all)));
        assert_eq!(said.as_deref(), Some("[1.500] paths down: its link is gone\n"));
    }

    #[test]
    fn trouble_says_whose_it_is() {
        let session = Some("10.0.0.1:9".to_owned());
        let trouble = Trouble { at_ns: 1_500_000_000, text: "no".to_owned(), session };
        assert_eq!(
            row(Table::Errors, &Entry::Trouble(Box::new(trouble))).as_deref(),
            Some("[1.500] 10.0.0.1:9: no\n")
        );
    }
}
