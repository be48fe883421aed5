//! What a connection in the making is for, how far it is, and what it may come to. Not the connection, which is `connect`'s or a
//! worker's.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use pathscope_core::Tick;
use pathscope_core::id::FlowId;
use pathscope_os::{OsError, clock};
use pathscope_peers::attach::{AttachStream, StreamProgress};
use pathscope_peers::registry::StreamAttaching;

use crate::error::RunError;

/// A connection that is not there and taken by then will not be.
pub(crate) const ATTACH_WITHIN: Duration = Duration::from_secs(10);

/// What a connection is for, how far it is, and what it may come to.
#[derive(Debug)]
pub(crate) struct Asking {
    pub flow: FlowId,
    pub attaching: StreamAttaching,
    /// Where it goes.
    pub server: SocketAddr,
    /// When, before its SYN.
    pub begun: Tick,
    /// When it was seen to be established.
    pub connected: Option<Tick>,
    /// How often it was begun before, and damaged by the path.
    pub times_damaged: u32,
}

impl Asking {
    /// A connection that is begun now.
    pub fn new(
        (flow, attaching): (FlowId, StreamAttaching),
        server: SocketAddr,
        times_damaged: u32,
    ) -> Self {
        Self { flow, attaching, server, begun: clock::now(), connected: None, times_damaged }
    }

    /// From before its SYN until this end, woken for it, saw that it was established.
    pub fn connect_ns(&self) -> Option<u64> {
        self.connected.map(|connected| connected.nanos_since(self.begun))
    }

    /// Something of the answer came.
    pub fn heard(&mut self, bytes: &[u8]) -> Result<StreamProgress, RunError> {
        let flow = self.flow.0;
        self.attaching.received(bytes).map_err(|why| RunError::Refused { flow, why })
    }

    /// The other end has closed before its answer was whole.
    pub fn closed(&self) -> Result<StreamProgress, RunError> {
        if self.attaching.closes_when_damaged() {
            return Ok(StreamProgress::Damaged);
        }
        Err(self.broken(&"the server closed the connection without an answer"))
    }

    /// What came of connecting.
    pub fn not_connected(&self, source: io::Error) -> RunError {
        OsError::Connect { protocol: "TCP", address: self.server, source }.into()
    }

    /// Why it was given up: it came damaged, again and again.
    pub fn damaged(&self) -> RunError {
        self.broken(&"the server closed the connection without an answer that can be read")
    }

    /// Why it was given up: it took too long.
    pub fn late(&self) -> RunError {
        if self.connected.is_some() {
            return self.broken(&format!("no answer within {} s", ATTACH_WITHIN.as_secs()));
        }
        OsError::ConnectTimeout { address: self.server, waited: ATTACH_WITHIN }.into()
    }

    /// Why it was given up: it broke after it was established.
    pub fn failed(&self, error: &io::Error) -> RunError {
        let (why, errno) = (error.to_string(), error.raw_os_error());
        RunError::Attach { flow: self.flow.0, why, errno }
    }

    fn broken(&self, why: &impl ToString) -> RunError {
        RunError::Attach { flow: self.flow.0, why: why.to_string(), errno: None }
    }
}
