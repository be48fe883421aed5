//! What is said of single connections and streams: lines as they begin and end, and rows of CSV. Not status, which is of all.

use pathscope_core::journal::{Connection, Step, Stream, Trouble};
use pathscope_core::record::{FlowError, FlowErrorKind};

use super::tables::seconds;

/// The columns of connections.
pub const CONNECTIONS: &str = "TimeSlice,LocalAddress,RemoteAddress,SendBytes,SendBps,RecvBytes,RecvBps,TimeMs,Result,ConnectionId\r\n";
/// The columns of streams.
pub const STREAMS: &str = "TimeSlice,LocalAddress,RemoteAddress,Bits/Sec,Completed,Dropped,Repeated,Errors,Result,ConnectionId\r\n";
/// The columns of what the kernel says of connections.
pub const TCP_INFO: &str = "TimeSlice,LocalAddress,RemoteAddress,ConnectionId,SendBytes,SendBps,RecvBytes,RecvBps,TimeMs,\
                            BytesReordered,BytesRetransmitted,SynRetransmitted,DupAcksIn,MinRttUs,Mss,TimeoutEpisodes,FastRetransmit,\
                            SndLimBytesCwnd,SndLimBytesRwin,SndLimBytesSnd\r\n";
/// The name of an identifier that never came.
pub const NO_ID: &str = "00000000-0000-0000-0000-000000000000";

/// A connection has begun.
pub fn opened(connection: &Connection) -> String {
    format!("[{}] TCP connection established {}\n", seconds(connection.at_ns), ends(connection))
}

/// A stream has begun.
pub fn stream_opened(stream: &Stream) -> String {
    format!(
        "[{}] UDP connection established {}\n",
        seconds(stream.at_ns),
        ends(&stream.as_connection())
    )
}

/// A connection has ended.
pub fn closed(connection: &Connection) -> String {
    let facts = &connection.facts;
    format!(
        "[{}] TCP connection {} : {} [{}]: SendBytes[{}] SendBps[{}] RecvBytes[{}] RecvBps[{}] Time[{} ms]\n",
        seconds(connection.at_ns),
        outcome(facts.error.as_ref()),
        ends(connection),
        id(facts.connection_id.as_deref()),
        facts.sent_bytes,
        connection.sent_per_second(),
        facts.received_bytes,
        connection.received_per_second(),
        connection.time_ns / 1_000_000
    )
}

/// A stream has ended.
pub fn stream_closed(stream: &Stream) -> String {
    let (facts, frames) = (&stream.facts, &stream.frames);
    format!(
        "[{}] UDP connection {} : {} [{}]: BitsPerSecond [{}]  Completed [{}]  Dropped [{}]  Repeated [{}]  Errors [{}]\n",
        seconds(stream.at_ns),
        outcome(facts.error.as_ref()),
        ends(&stream.as_connection()),
        id(facts.connection_id.as_deref()),
        stream.bits_per_second(),
        frames.completed,
        frames.missed,
        frames.repeated,
        frames.erroneous
    )
}

/// An error that is no matter of a connection.
pub fn trouble(trouble: &Trouble) -> String {
    let session = trouble.session.as_ref().map(|who| format!("{}: ", line(who)));
    format!("[{}] {}{}\n", seconds(trouble.at_ns), session.unwrap_or_default(), line(&trouble.text))
}

/// A step of a session.
pub fn step(step: &Step) -> String {
    format!("[{}] {}: {}\n", seconds(step.at_ns), line(&step.session), line(&step.text))
}

/// A sentence that is no matter of a connection or a session.
pub fn sentence(at_ns: u64, text: &str) -> String {
    format!("[{}] {}\n", seconds(at_ns), line(text))
}

/// The error that a connection ended with, if it did.
pub fn error(connection: &Connection) -> Option<String> {
    let error = connection.facts.error.as_ref()?;
    Some(format!("[{}] {} {}\n", seconds(connection.at_ns), ends(connection), line(&error.text)))
}

/// The row of a connection that has ended.
pub fn csv_closed(connection: &Connection) -> String {
    let facts = &connection.facts;
    let [local, remote] = places(connection);
    csv(&[
        seconds(connection.at_ns),
        local,
        remote,
        facts.sent_bytes.to_string(),
        connection.sent_per_second().to_string(),
        facts.received_bytes.to_string(),
        connection.received_per_second().to_string(),
        (connection.time_ns / 1_000_000).to_string(),
        result(facts.error.as_ref()),
        id(facts.connection_id.as_deref()),
    ])
}

/// The row of a stream that has ended.
pub fn csv_stream_closed(stream: &Stream) -> String {
    let (facts, frames) = (&stream.facts, &stream.frames);
    let [local, remote] = places(&stream.as_connection());
    csv(&[
        seconds(stream.at_ns),
        local,
        remote,
        stream.bits_per_second().to_string(),
        frames.completed.to_string(),
        frames.missed.to_string(),
        frames.repeated.to_string(),
        frames.erroneous.to_string(),
        result(facts.error.as_ref()),
        id(facts.connection_id.as_deref()),
    ])
}

/// The row of what the kernel said of a connection at its end; what Linux does not say is absent.
pub fn csv_tcp_info(connection: &Connection) -> String {
    let facts = &connection.facts;
    let tcp = facts.tcp.as_ref();
    let cell = |value: Option<u64>| value.map_or_else(String::new, |value| value.to_string());
    let absent = String::new;
    let [local, remote] = places(connection);
    csv(&[
        seconds(connection.at_ns),
        local,
        remote,
        id(facts.connection_id.as_deref()),
        facts.sent_bytes.to_string(),
        connection.sent_per_second().to_string(),
        facts.received_bytes.to_string(),
        connection.received_per_second().to_string(),
        (connection.time_ns / 1_000_000).to_string(),
        absent(),
        cell(tcp.and_then(|tcp| tcp.retransmitted_bytes)),
        absent(),
        absent(),
        cell(tcp.and_then(|tcp| tcp.min_rtt_ns).map(|time| time / 1_000)),
        cell(tcp.and_then(|tcp| tcp.segment_bytes)),
        cell(tcp.and_then(|tcp| tcp.timeout_episodes)),
        absent(),
        absent(),
        absent(),
        absent(),
    ])
}

/// How it ended, in a sentence.
fn outcome(error: Option<&FlowError>) -> String {
    let Some(error) = error else { return "succeeded".to_owned() };
    let text = line(&named(error));
    match error.kind {
        FlowErrorKind::Network => format!("failed with the error {text}"),
        FlowErrorKind::Unconfirmed => format!("ended, {text}"),
        FlowErrorKind::Data | FlowErrorKind::Protocol | FlowErrorKind::Unknown => {
            format!("failed with the protocol error {text}")
        }
    }
}

/// How it ended, in a cell: without commas.
fn result(error: Option<&FlowError>) -> String {
    error.map_or_else(|| "Succeeded".to_owned(), |error| plain(&named(error)))
}

/// An error, with the name that it has there or on this system.
fn named(error: &FlowError) -> String {
    let FlowError { kind, text, errno } = error;
    match (kind, errno.as_deref()) {
        (FlowErrorKind::Data, _) => "ErrorDataDidNotMatchBitPattern".to_owned(),
        (_, Some(name)) if !text.contains(name) => format!("{name}: {text}"),
        _ => text.clone(),
    }
}

fn ends(connection: &Connection) -> String {
    let [local, remote] = places(connection);
    format!("[{local} - {remote}]")
}

fn places(connection: &Connection) -> [String; 2] {
    let facts = &connection.facts;
    [&facts.local, &facts.remote]
        .map(|it| it.as_deref().map_or_else(|| "0.0.0.0".to_owned(), plain))
}

/// What names a connection at both ends: words of the other end, which may be any.
fn id(id: Option<&str>) -> String {
    let id = plain(id.unwrap_or(NO_ID));
    // What begins a formula in spreadsheets is text behind an apostrophe (OWASP, CSV injection).
    if id.starts_with(['=', '+', '-', '@']) { format!("'{id}") } else { id }
}

/// Text of one line.
fn line(text: &str) -> String {
    text.chars().map(|it| if it.is_control() { ' ' } else { it }).collect()
}

/// Text of one line without commas and quotes, as readers that split at commas want it: what a comma parts in a sentence a semicolon parts as
/// well, and in a number nothing has to.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut before = ' ';
    let mut rest = text.chars().peekable();
    while let Some(it) = rest.next() {
        match it {
            ',' if before.is_ascii_digit() && rest.peek().is_some_and(char::is_ascii_digit) => {}
            ',' => plain.push(';'),
            '"' => plain.push('\''),
            it if it.is_control() => plain.push(' '),
            it => plain.push(it),
        }
        before = it;
    }
    plain
}

fn csv(cells: &[String]) -> String {
    format!("{}\r\n", cells.join(","))
}

#[cfg(test)]
mod tests;
