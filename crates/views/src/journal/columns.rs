//! The columns of each table, and the cells of a row: names and values, whatever they are written as. Computes nothing:
//! rates are the records' own.

use pathscope_core::journal::{
    ActivityRow, Connection, Entry, KernelView, SenderRow, Status, Stream, StreamStatus, Trouble,
};
use pathscope_core::record::{FlowError, FlowErrorKind};

use super::time::{milliseconds, seconds};
use super::{Table, served};

/// What a machine did.
const COUNTERS: [&str; 14] = [
    "TimeSlice",
    "End",
    "SliceMs",
    "BusyShare",
    "BusiestShare",
    "SoftInterruptShare",
    "StolenShare",
    "RecvBytes",
    "SendBytes",
    "Retransmits",
    "Timeouts",
    "ReceiveBufferErrors",
    "Drops",
    "Measurement",
];

/// How a connection that sends stood.
const SENDERS: [&str; 13] = [
    "TimeSlice",
    "End",
    "Flow",
    "WindowBytes",
    "RttUs",
    "RttVariationUs",
    "RtoUs",
    "ReorderingSegments",
    "Reorderings",
    "Retransmits",
    "Duplicates",
    "Timeouts",
    "Measurement",
];

/// The columns of a table: ctsTraffic's, then ours.
pub fn of(table: Table) -> Vec<&'static str> {
    match table {
        Table::ServedStatus => [of_one(table), &served::STATUS[..]].concat(),
        Table::Served => [of_one(table), &served::ENDS[..]].concat(),
        Table::Totals => served::TOTALS.to_vec(),
        _ => of_one(table).to_vec(),
    }
}

/// Those that rows of connections have, or of streams.
const fn of_one(table: Table) -> &'static [&'static str] {
    match table {
        Table::Status | Table::ServedStatus => &[
            "TimeSlice",
            "SendBps",
            "RecvBps",
            "In-Flight",
            "Completed",
            "NetError",
            "DataError",
            "ProtocolError",
            "SliceMs",
            "SendBytes",
            "RecvBytes",
            "Retransmits",
            "RttUs",
            "MinRttUs",
            "WindowBytes",
            "DeliveryBps",
            "Session",
        ],
        Table::Connections | Table::Served => &[
            "TimeSlice",
            "LocalAddress",
            "RemoteAddress",
            "SendBytes",
            "SendBps",
            "RecvBytes",
            "RecvBps",
            "TimeMs",
            "Result",
            "ConnectionId",
            "Flow",
            "ErrorKind",
            "Errno",
            "Retransmits",
            "RttUs",
            "MinRttUs",
            "WindowBytes",
            "DeliveryBps",
            "Session",
        ],
        Table::StreamStatus => &[
            "TimeSlice",
            "Bits/Sec",
            "Streams",
            "Completed",
            "Dropped",
            "Repeated",
            "Errors",
            "Late",
            "SliceMs",
            "FramesSent",
            "SendBytes",
            "RecvBytes",
            "Session",
        ],
        Table::Streams => &[
            "TimeSlice",
            "LocalAddress",
            "RemoteAddress",
            "Bits/Sec",
            "Completed",
            "Dropped",
            "Repeated",
            "Errors",
            "Result",
            "ConnectionId",
            "Late",
            "LostDatagrams",
            "LongestFreezeMs",
            "BufferNeededMs",
            "FramesSent",
            "SendBytes",
            "RecvBytes",
            "TimeMs",
            "ErrorKind",
            "Errno",
            "Session",
            "Stream",
        ],
        Table::Errors => &[
            "TimeSlice",
            "ErrorKind",
            "Errno",
            "LocalAddress",
            "RemoteAddress",
            "ConnectionId",
            "Flow",
            "Message",
            "Session",
        ],
        Table::Counters => &COUNTERS,
        Table::Senders => &SENDERS,
        // Not in columns, or not these.
        Table::Latencies | Table::Totals => &[],
    }
}

/// The cells of the row that a table has for an entry, if it has one.
pub fn cells(table: Table, entry: &Entry) -> Option<Vec<String>> {
    let beside = |own, served: Vec<String>| cells(own, entry).map(|cells| [cells, served].concat());
    match (table, entry) {
        (Table::ServedStatus, _) => beside(Table::Status, served::status(entry)),
        (Table::Served, _) => beside(Table::Connections, served::end(entry)),
        (Table::Status, Entry::Status(status)) => Some(status_cells(status)),
        (Table::Connections, Entry::Closed(connection)) => Some(connection_cells(connection)),
        (Table::Errors, Entry::Closed(connection)) => {
            connection.facts.error.as_ref().map(|error| error_cells(connection, error))
        }
        (Table::Status, Entry::StreamStatus(status)) => {
            Some(status_cells(&status.as_connections()))
        }
        (Table::Connections, Entry::StreamClosed(stream)) => {
            Some(connection_cells(&stream.as_connection()))
        }
        (Table::StreamStatus, Entry::StreamStatus(status)) => Some(stream_status_cells(status)),
        (Table::Streams, Entry::StreamClosed(stream)) => Some(stream_cells(stream)),
        (Table::Errors, Entry::StreamClosed(stream)) => {
            let error = stream.facts.error.as_ref();
            error.map(|error| error_cells(&stream.as_connection(), error))
        }
        (Table::Errors, Entry::Trouble(trouble)) => Some(trouble_cells(trouble)),
        (Table::Counters, Entry::Activity(row)) => Some(activity_cells(row)),
        (Table::Senders, Entry::Sender(row)) => Some(sender_cells(row)),
        _ => None,
    }
}

fn sender_cells(row: &SenderRow) -> Vec<String> {
    let it = &row.look;
    let cell = |value: Option<u64>| value.map_or_else(String::new, |value| value.to_string());
    let micros = |nanoseconds: Option<u64>| cell(nanoseconds.map(|time| time / 1_000));
    let times = [it.rtt_ns, it.rtt_variation_ns, it.retransmission_timeout_ns].map(micros);
    let counts =
        [it.reordering_segments, it.reorderings, it.retransmits, it.duplicates, it.timeouts];
    let which = [seconds(row.at_ns), row.end.to_owned(), it.flow.to_string()];
    let cells = which.into_iter().chain([cell(it.congestion_window_bytes)]).chain(times);
    cells.chain(counts.map(cell)).chain([row.measurement.clone()]).collect()
}

fn activity_cells(row: &ActivityRow) -> Vec<String> {
    let it = &row.activity;
    let share = |share: Option<f64>| share.map_or_else(String::new, |share| format!("{share:.4}"));
    let times = [seconds(row.at_ns), row.end.to_owned(), milliseconds(it.length_ns)];
    let shares = [it.busy_ratio, it.busiest_ratio, it.soft_interrupt_ratio, it.stolen_ratio];
    let counts = [
        it.received_bytes,
        it.sent_bytes,
        it.retransmits,
        it.timeouts,
        it.receive_buffer_errors,
        it.drops,
    ];
    let counts = counts.into_iter().map(|count| count.to_string());
    let cells = times.into_iter().chain(shares.map(share)).chain(counts);
    cells.chain([row.measurement.clone()]).collect()
}

fn status_cells(status: &Status) -> Vec<String> {
    let Status { ended, .. } = status;
    let mut cells = vec![
        seconds(status.at_ns),
        status.sent_per_second().to_string(),
        status.received_per_second().to_string(),
        status.in_flight.to_string(),
        ended.completed.to_string(),
        ended.network_errors.to_string(),
        // Theirs counts both; ours tells the second one again in a column of its own.
        ended.data_or_protocol_errors().to_string(),
        ended.protocol_errors.to_string(),
        milliseconds(status.length_ns),
        status.sent_bytes.to_string(),
        status.received_bytes.to_string(),
    ];
    cells.extend(kernel_cells(&status.tcp));
    cells.push(status.session.clone());
    cells
}

fn stream_status_cells(status: &StreamStatus) -> Vec<String> {
    let frames = &status.frames;
    vec![
        seconds(status.at_ns),
        status.bits_per_second().to_string(),
        status.streams.to_string(),
        frames.completed.to_string(),
        frames.missed.to_string(),
        frames.repeated.to_string(),
        frames.erroneous.to_string(),
        frames.late.to_string(),
        milliseconds(status.length_ns),
        frames.sent.to_string(),
        status.sent_bytes.to_string(),
        status.received_bytes.to_string(),
        status.session.clone(),
    ]
}

fn stream_cells(stream: &Stream) -> Vec<String> {
    let facts = &stream.facts;
    let frames = &stream.frames;
    vec![
        seconds(stream.at_ns),
        facts.local.clone().unwrap_or_default(),
        facts.remote.clone().unwrap_or_default(),
        stream.bits_per_second().to_string(),
        frames.completed.to_string(),
        frames.missed.to_string(),
        frames.repeated.to_string(),
        frames.erroneous.to_string(),
        facts.error.as_ref().map_or_else(|| "Succeeded".to_owned(), |error| error.text.clone()),
        facts.connection_id.clone().unwrap_or_default(),
        frames.late.to_string(),
        stream.lost_datagrams.to_string(),
        milliseconds(stream.longest_freeze_ns),
        stream.needed_depth_ns.map_or_else(String::new, milliseconds),
        frames.sent.to_string(),
        facts.sent_bytes.to_string(),
        facts.received_bytes.to_string(),
        (stream.time_ns / 1_000_000).to_string(),
        facts.error.as_ref().map_or("", kind).to_owned(),
        facts.error.as_ref().and_then(|error| error.errno.clone()).unwrap_or_default(),
        stream.session.clone(),
        facts.flow.to_string(),
    ]
}

fn connection_cells(connection: &Connection) -> Vec<String> {
    let facts = &connection.facts;
    let mut cells = vec![
        seconds(connection.at_ns),
        facts.local.clone().unwrap_or_default(),
        facts.remote.clone().unwrap_or_default(),
        facts.sent_bytes.to_string(),
        connection.sent_per_second().to_string(),
        facts.received_bytes.to_string(),
        connection.received_per_second().to_string(),
        (connection.time_ns / 1_000_000).to_string(),
        facts.error.as_ref().map_or_else(|| "Succeeded".to_owned(), |error| error.text.clone()),
        facts.connection_id.clone().unwrap_or_default(),
        facts.flow.to_string(),
        facts.error.as_ref().map_or("", kind).to_owned(),
        facts.error.as_ref().and_then(|error| error.errno.clone()).unwrap_or_default(),
    ];
    cells.extend(kernel_cells(&facts.tcp.as_ref().map(KernelView::of).unwrap_or_default()));
    cells.push(connection.session.clone());
    cells
}

fn error_cells(connection: &Connection, error: &FlowError) -> Vec<String> {
    let facts = &connection.facts;
    vec![
        seconds(connection.at_ns),
        kind(error).to_owned(),
        error.errno.clone().unwrap_or_default(),
        facts.local.clone().unwrap_or_default(),
        facts.remote.clone().unwrap_or_default(),
        facts.connection_id.clone().unwrap_or_default(),
        facts.flow.to_string(),
        error.text.clone(),
        connection.session.clone(),
    ]
}

fn trouble_cells(trouble: &Trouble) -> Vec<String> {
    let none = String::new;
    vec![
        seconds(trouble.at_ns),
        "run".to_owned(),
        none(),
        none(),
        none(),
        none(),
        none(),
        trouble.text.clone(),
        trouble.session.clone().unwrap_or_default(),
    ]
}

fn kernel_cells(tcp: &KernelView) -> [String; 5] {
    let cell = |value: Option<u64>| value.map_or_else(String::new, |value| value.to_string());
    let micros = |nanoseconds: Option<u64>| cell(nanoseconds.map(|time| time / 1_000));
    [
        cell(tcp.retransmits),
        micros(tcp.rtt_ns),
        micros(tcp.min_rtt_ns),
        cell(tcp.window_bytes),
        cell(tcp.delivery_bps.map(|bits| bits / 8)),
    ]
}

/// The kind of an error, as it is counted.
pub fn kind(error: &FlowError) -> &'static str {
    match error.kind {
        FlowErrorKind::Network => "network",
        FlowErrorKind::Data => "data",
        FlowErrorKind::Protocol => "protocol",
        FlowErrorKind::Unconfirmed | FlowErrorKind::Unknown => "unknown",
    }
}
