//! What changed since the last entry of its kind: what went through a connection, where a path went.

use crate::id::FlowId;

/// What went through one connection in a report interval at this end. Where its directions have threads of their own, there are two
/// of an interval, one of each direction.
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
    /// The other end of the session's control connection.
    pub session: String,
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
