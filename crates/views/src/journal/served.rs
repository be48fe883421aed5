//! What a server's rows have of streams, beside what all rows have of connections: one server serves both. And the rows of all of its
//! clients together.

use pathscope_core::journal::totals::Slice;
use pathscope_core::journal::{Entry, Frames};

use super::time::{milliseconds, seconds};

/// In rows of status, behind the columns of connections.
pub const STATUS: [&str; 8] = [
    "Bits/Sec",
    "Streams",
    "FramesCompleted",
    "FramesDropped",
    "FramesRepeated",
    "FramesErrors",
    "FramesLate",
    "FramesSent",
];

/// In rows of what has ended.
pub const ENDS: [&str; 10] = [
    "Bits/Sec",
    "FramesCompleted",
    "FramesDropped",
    "FramesRepeated",
    "FramesErrors",
    "FramesLate",
    "FramesSent",
    "LostDatagrams",
    "LongestFreezeMs",
    "BufferNeededMs",
];

/// Of all clients together; the first are ctsTraffic's.
pub const TOTALS: [&str; 15] = [
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
    "FramesCompleted",
    "FramesDropped",
    "FramesRepeated",
    "FramesErrors",
];

/// Of what came of all clients between two rows.
pub fn totals(slice: &Slice) -> Vec<String> {
    let ended = slice.ended;
    let Frames { completed, missed, repeated, erroneous, .. } = slice.frames;
    let first = [seconds(slice.at_ns)];
    let rates = [
        slice.sent_per_second(),
        slice.received_per_second(),
        slice.in_flight,
        ended.completed,
        ended.network_errors,
        ended.data_or_protocol_errors(),
        ended.protocol_errors,
    ];
    let length = [milliseconds(slice.length_ns)];
    let counts = [slice.sent_bytes, slice.received_bytes, completed, missed, repeated, erroneous];
    let text = |number: u64| number.to_string();
    first.into_iter().chain(rates.map(text)).chain(length).chain(counts.map(text)).collect()
}

/// Of an interval; nothing of connections.
pub fn status(entry: &Entry) -> Vec<String> {
    let Entry::StreamStatus(status) = entry else { return empty(STATUS.len()) };
    let rate = [status.bits_per_second(), status.streams].map(|number| number.to_string());
    rate.into_iter().chain(frames(&status.frames)).collect()
}

/// Of a stream that has ended; nothing of a connection.
pub fn end(entry: &Entry) -> Vec<String> {
    let Entry::StreamClosed(stream) = entry else { return empty(ENDS.len()) };
    let behind = [
        stream.lost_datagrams.to_string(),
        milliseconds(stream.longest_freeze_ns),
        stream.needed_depth_ns.map_or_else(String::new, milliseconds),
    ];
    let rate = [stream.bits_per_second().to_string()];
    rate.into_iter().chain(frames(&stream.frames)).chain(behind).collect()
}

fn frames(frames: &Frames) -> [String; 6] {
    let Frames { completed, missed, repeated, erroneous, late, sent } = *frames;
    [completed, missed, repeated, erroneous, late, sent].map(|number| number.to_string())
}

fn empty(cells: usize) -> Vec<String> {
    vec![String::new(); cells]
}
