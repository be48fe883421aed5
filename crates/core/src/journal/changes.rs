//! What changed since the last entry of its kind: what went through a connection, where a path went.

use crate::id::FlowId;
use crate::tcp_look::TcpLook;

/// What went through one connection, or one flow of datagrams, in a report interval at this end. Where its directions have threads of
/// their own, there are two of an interval, one of each direction.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConnectionProgress {
    /// When the interval ended, since the journal began.
    pub at_ns: u64,
    /// When it began, since the start of the test.
    pub start_ns: u64,
    /// When it ended, since the start of the test.
    pub end_ns: u64,
    /// Which connection.
    pub flow: FlowId,
    /// Bytes handed to the kernel in it.
    pub sent_bytes: u64,
    /// Bytes taken from the kernel and checked in it.
    pub received_bytes: u64,
    /// How the connection stood at its end, where this end sends on it.
    pub tcp: Option<TcpLook>,
    /// Of a flow of datagrams: what it was of them.
    pub datagrams: Option<DatagramProgress>,
    /// The other end of the session's control connection.
    pub session: String,
}

/// Datagrams of one flow in a report interval at this end.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct DatagramProgress {
    /// Those that the kernel took.
    pub sent: u64,
    /// Those that came the first time, whole and right.
    pub received: u64,
    /// By how much the highest number rose: what is more than was received was lost or is yet to come. Absent where they have no numbers:
    /// what else is told of their order is then not known either.
    pub expected: Option<u64>,
    /// Copies beyond the first.
    pub duplicates: u64,
    /// Those that came after one of a higher number.
    pub reordered: u64,
    /// How much transit times varied at its end, smoothed (RFC 3550, 6.4.1); absent where nothing smooths it.
    pub jitter_ns: Option<u64>,
}

/// Something that happened to a path of a session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PathChange {
    /// When, since the journal began.
    pub at_ns: u64,
    /// The path's place among the paths, 0 being the primary; absent: all of them.
    pub path: Option<u8>,
    /// The interface.
    pub interface: String,
    /// `up`, `down`, `failed`, `route`, `network`, `channel`, `gone`, `back`.
    pub what: String,
    /// A few words why.
    pub why: String,
    /// The other end of the session's control connection.
    pub session: String,
}
