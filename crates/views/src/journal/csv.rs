//! Rows as CSV: RFC 4180, so lines end in CR LF and whatever needs quotes has them; and no cell is one that a spreadsheet computes.

use std::borrow::Cow;

use csv::{Terminator, WriterBuilder};
use pathscope_core::journal::Entry;

use super::{Table, columns};

/// The names of the columns.
pub fn header(table: Table) -> String {
    record(&columns::of(table))
}

/// The row of an entry, if the table has one.
pub fn row(table: Table, entry: &Entry) -> Option<String> {
    columns::cells(table, entry).map(|cells| record(&cells))
}

/// The row of these cells.
pub fn of_cells(cells: &[String]) -> String {
    record(cells)
}

/// What begins a formula in spreadsheets, and what they leave out before it.
const FORMULA: [char; 6] = ['=', '+', '-', '@', '\t', '\r'];

/// A cell as it is, unless a spreadsheet would compute it: words of another end may stand in one. An apostrophe before it makes it
/// text there (OWASP, CSV injection).
fn as_text(cell: &str) -> Cow<'_, str> {
    let is_formula = cell.starts_with(FORMULA) && cell.parse::<f64>().is_err();
    if is_formula { Cow::Owned(format!("'{cell}")) } else { Cow::Borrowed(cell) }
}

fn record<T: AsRef<str>>(cells: &[T]) -> String {
    let mut writer = WriterBuilder::new().terminator(Terminator::CRLF).from_writer(Vec::new());
    let cells = cells.iter().map(|cell| as_text(cell.as_ref()));
    // Writing to memory fails only where it runs out, and rows are not compared in length.
    let written = writer
        .write_record(cells.map(Cow::into_owned))
        .ok()
        .and_then(|()| writer.into_inner().ok());
    written.and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use pathscope_core::counters::HostActivity;
    use pathscope_core::id::FlowId;
    use pathscope_core::journal::{
        ActivityRow, Connection, Ended, Frames, KernelView, SenderRow, Status, Stream,
        StreamStatus, Trouble,
    };
    use pathscope_core::record::{FlowError, FlowErrorKind, FlowFacts};
    use pathscope_core::tcp_look::TcpLook;

    use super::*;

    #[test]
    fn status_begins_with_the_columns_that_other_tools_read() {
        assert!(header(Table::Status).starts_with(
            "TimeSlice,SendBps,RecvBps,In-Flight,Completed,NetError,DataError,ProtocolError,"
        ));
        let status = Status {
            at_ns: 5_002_000_000,
            length_ns: 1_000_000_000,
            sent_bytes: 2_635_357_062,
            received_bytes: 124,
            in_flight: 8,
            ended: Ended { completed: 3, network_errors: 1, data_errors: 4, protocol_errors: 1 },
            tcp: KernelView {
                retransmits: Some(2),
                rtt_ns: Some(1_234_567),
                delivery_bps: Some(80),
                ..KernelView::default()
            },
            session: "[::1]:4000".to_owned(),
        };
        assert_eq!(
            row(Table::Status, &Entry::Status(Box::new(status))).as_deref(),
            Some(
                "5.002,2635357062,124,8,3,1,5,1,1000.000,2635357062,124,2,1234,,,10,[::1]:4000\r\n"
            )
        );
    }

    #[test]
    fn streams_begin_with_the_columns_that_other_tools_read() {
        assert!(
            header(Table::StreamStatus)
                .starts_with("TimeSlice,Bits/Sec,Streams,Completed,Dropped,Repeated,Errors,Late,")
        );
        assert!(header(Table::Streams).starts_with(
            "TimeSlice,LocalAddress,RemoteAddress,Bits/Sec,Completed,Dropped,Repeated,Errors,Result,ConnectionId,"
        ));
        assert!(header(Table::Streams).ends_with(",Stream\r\n"));
        let frames =
            Frames { completed: 297, missed: 2, repeated: 1, erroneous: 4, late: 1, sent: 0 };
        let status = StreamStatus {
            at_ns: 5_000_000_000,
            length_ns: 5_000_000_000,
            received_bytes: 15_624_900,
            receives: true,
            streams: 1,
            frames,
            ..StreamStatus::default()
        };
        let entry = Entry::StreamStatus(Box::new(status));
        assert_eq!(
            row(Table::StreamStatus, &entry).as_deref(),
            Some("5.000,24999840,1,297,2,1,4,1,5000.000,0,0,15624900,\r\n")
        );
        // In the file of a server, which serves connections, too.
        let served = row(Table::ServedStatus, &entry).expect("it has one");
        assert!(served.starts_with("5.000,0,3124980,1,"), "{served}");
        assert!(served.ends_with(",24999840,1,297,2,1,4,1,0\r\n"), "{served}");
        let of_connections = row(Table::ServedStatus, &Entry::Status(Box::default()));
        assert!(of_connections.is_some_and(|row| row.ends_with(",,,,,,,,\r\n")));
        let facts = FlowFacts { received_bytes: 1_000, sent_bytes: 7, ..FlowFacts::default() };
        let stream = Stream {
            streamed_ns: 1_000_000_000,
            facts,
            receives: true,
            frames,
            ..Stream::default()
        };
        let entry = Entry::StreamClosed(Box::new(stream));
        let served = row(Table::Served, &entry).expect("it has one");
        assert!(served.ends_with(",8000,297,2,1,4,1,0,0,0.000,\r\n"), "{served}");
        let row = row(Table::Streams, &entry).expect("it has one");
        assert!(row.starts_with("0.000,,,8000,297,2,1,4,Succeeded,,1,0,0.000,,0,7,1000,0,,,,0"));
    }

    #[test]
    fn a_connection_that_failed_stands_in_two_tables() {
        assert!(header(Table::Connections).starts_with(
            "TimeSlice,LocalAddress,RemoteAddress,SendBytes,SendBps,RecvBytes,RecvBps,TimeMs,Result,ConnectionId,"
        ));
        let error = FlowError {
            kind: FlowErrorKind::Network,
            text: "it broke, and said \"so\"".to_owned(),
            errno: Some("ECONNRESET".to_owned()),
        };
        let facts = FlowFacts {
            connection_id: Some("id".to_owned()),
            local: Some("10.0.0.1:2".to_owned()),
            sent_bytes: 500,
            error: Some(error),
            ..FlowFacts::default()
        };
        let connection =
            Connection { at_ns: 1_000_000, time_ns: 250_000_000, facts, session: "s".to_owned() };
        let entry = Entry::Closed(Box::new(connection));
        assert_eq!(
            row(Table::Connections, &entry).as_deref(),
            Some(
                "0.001,10.0.0.1:2,,500,2000,0,0,250,\"it broke, and said \"\"so\"\"\",id,0,network,ECONNRESET,,,,,,s\r\n"
            )
        );
        assert_eq!(
            row(Table::Errors, &entry).as_deref(),
            Some(
                "0.001,network,ECONNRESET,10.0.0.1:2,,id,0,\"it broke, and said \"\"so\"\"\",s\r\n"
            )
        );
        assert_eq!(row(Table::Status, &entry), None);
    }

    #[test]
    fn what_a_spreadsheet_would_compute_is_text() {
        for formula in [
            "=HYPERLINK(\"x\")",
            "+1+cmd|' /C calc'!A0",
            "-2+3",
            "@SUM(1)",
            "\t=1",
            "\r=1",
            "-",
            "=",
        ] {
            assert_eq!(as_text(formula), format!("'{formula}"));
        }
        for plain in
            ["", "-1", "-0.5", "+7", "10.0.0.1:2", "[::1]:4000", "a=b", "it broke, and said"]
        {
            assert_eq!(as_text(plain), plain);
        }
        let text = "=1+1".to_owned();
        let trouble = Entry::Trouble(Box::new(Trouble { at_ns: 0, text, session: None }));
        let row = row(Table::Errors, &trouble).expect("it has one");
        assert!(row.contains(",'=1+1,"), "{row}");
    }

    #[test]
    fn every_row_has_as_many_cells_as_its_header() {
        let trouble = Trouble { at_ns: 0, text: "a\r\nb".to_owned(), session: None };
        let trouble = Entry::Trouble(Box::new(trouble));
        let status = Entry::Status(Box::default());
        let closed = Entry::Closed(Box::default());
        let streams = Entry::StreamStatus(Box::default());
        let stream = Entry::StreamClosed(Box::default());
        for (table, entry) in [
            (Table::Status, &status),
            (Table::Status, &streams),
            (Table::StreamStatus, &streams),
            (Table::Streams, &stream),
            (Table::Connections, &stream),
            (Table::Connections, &closed),
            (Table::ServedStatus, &status),
            (Table::ServedStatus, &streams),
            (Table::Served, &stream),
            (Table::Served, &closed),
            (Table::Errors, &trouble),
        ] {
            let text = header(table) + &row(table, entry).expect("it has a row");
            let mut reader = csv::Reader::from_reader(text.as_bytes());
            let records: Vec<_> = reader.records().collect();
            assert!(matches!(records.as_slice(), [Ok(_)]), "{records:?}");
        }
    }

    #[test]
    fn what_a_machine_did_is_a_row_of_shares_and_counts() {
        let activity = HostActivity {
            length_ns: 1_000_250_000,
            busiest_ratio: Some(0.5),
            stolen_ratio: Some(1.0 / 3.0),
            received_bytes: 7,
            drops: 2,
            ..HostActivity::default()
        };
        let measurement = "goodput up".to_owned();
        let row_of = ActivityRow { at_ns: 2_000_000_000, end: "server", measurement, activity };
        assert_eq!(
            row(Table::Counters, &Entry::Activity(Box::new(row_of))).as_deref(),
            Some("2.000,server,1000.250,,0.5000,,0.3333,7,0,0,0,0,2,goodput up\r\n")
        );
        assert_eq!(header(Table::Counters).split(',').count(), 14);
    }

    #[test]
    fn how_a_sender_stood_is_a_row_and_what_is_not_known_is_empty() {
        let look = TcpLook {
            flow: FlowId(3),
            congestion_window_bytes: Some(14_480),
            rtt_ns: Some(250_999),
            retransmission_timeout_ns: Some(204_000_000),
            retransmits: Some(7),
            ..TcpLook::default()
        };
        let measurement = "goodput".to_owned();
        let row_of = SenderRow { at_ns: 1_000_000_000, end: "client", measurement, look };
        assert_eq!(
            row(Table::Senders, &Entry::Sender(Box::new(row_of))).as_deref(),
            Some("1.000,client,3,14480,250,,204000,,,7,,,goodput\r\n")
        );
        assert_eq!(header(Table::Senders).split(',').count(), 13);
    }
}
