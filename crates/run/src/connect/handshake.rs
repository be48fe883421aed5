//! One TCP connection of a flow in the making: connected, and carried through what its peer says and makes of the answer, which
//! is `peers`'. When the next is begun is `opener`'s; one that a worker carries through by itself is `ahead`'s.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use pathscope_core::Tick;
use pathscope_core::id::FlowId;
use pathscope_os::sockets::{self, Settings};
use pathscope_os::{OsError, clock};
use pathscope_peers::attach::{AttachStream, StreamProgress};
use pathscope_peers::registry::StreamAttaching;

use crate::error::{RunError, is_temporary};

/// A connection that is not there and taken by then will not be.
pub(crate) const ATTACH_WITHIN: Duration = Duration::from_secs(10);

/// What is read of an answer at once.
const ANSWER_BYTES: usize = 64;

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

    pub fn broken(&self, why: &impl ToString) -> RunError {
        RunError::Attach { flow: self.flow.0, why: why.to_string() }
    }
}

/// One connection in the making.
#[derive(Debug)]
pub(crate) struct Handshake {
    /// What it waits for, and becomes.
    pub stream: TcpStream,
    pub asking: Asking,
}

impl Handshake {
    /// Begins to connect.
    pub fn begin(asking: Asking, settings: &Settings) -> Result<Self, RunError> {
        let stream = sockets::begin_connect_tcp(asking.server, settings)?.into_tcp_stream();
        Ok(Self { stream, asking })
    }

    /// Whether it is connected, and waits for an answer.
    pub fn is_connected(&self) -> bool {
        self.asking.connected.is_some()
    }

    /// Does what can be done now.
    pub fn go_on(&mut self) -> Result<StreamProgress, RunError> {
        if self.is_connected() { self.hear() } else { self.open() }
    }

    /// Says what it is for, once it is connected.
    fn open(&mut self) -> Result<StreamProgress, RunError> {
        let opening = self.asking.attaching.opening();
        // Empty send buffers have room for an opening. Where the other end speaks first there is none to send.
        let said = match opening.as_slice() {
            [] => self.is_there(),
            opening => self.stream.write(opening).map(drop),
        };
        match said {
            Ok(()) => self.asking.connected = Some(clock::now()),
            // Woken for nothing: it is not connected yet.
            Err(error)
                if matches!(error.kind(), ErrorKind::NotConnected | ErrorKind::WouldBlock) =>
            {
                return Ok(StreamProgress::Waiting);
            }
            // What became of connecting is the first that a socket says.
            Err(source) => return Err(self.asking.not_connected(source)),
        }
        let is_unanswered = self.asking.attaching.missing_bytes() == 0;
        Ok(if is_unanswered { StreamProgress::Attached } else { StreamProgress::Waiting })
    }

    /// Whether it is connected, and if it will not be, why.
    fn is_there(&self) -> io::Result<()> {
        self.stream.take_error()?.map_or(Ok(()), Err)?;
        self.stream.peer_addr().map(drop)
    }

    /// Hears what is answered, and no byte of the flow's own.
    fn hear(&mut self) -> Result<StreamProgress, RunError> {
        let mut answer = [0; ANSWER_BYTES];
        let missing = self.asking.attaching.missing_bytes().min(ANSWER_BYTES);
        match self.stream.read(&mut answer[..missing]) {
            Ok(0) => self.asking.closed(),
            Ok(count) => self.asking.heard(&answer[..count]),
            Err(error) if is_temporary(&error) => Ok(StreamProgress::Waiting),
            Err(error) => Err(self.asking.broken(&error)),
        }
    }
}
