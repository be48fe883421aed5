//! One TCP connection of a flow in the making: connected, and carried through what its peer says and makes of the answer, which
//! is `peers`'. When the next is begun is `opener`'s.

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

/// One connection in the making.
#[derive(Debug)]
pub(crate) struct Handshake {
    /// What it waits for, and becomes.
    pub stream: TcpStream,
    flow: FlowId,
    attaching: StreamAttaching,
    /// Where it goes.
    server: SocketAddr,
    /// When, before its SYN.
    pub begun: Tick,
    /// When it was seen to be established.
    connected: Option<Tick>,
    /// How often it was begun before, and damaged by the path.
    pub times_damaged: u32,
}

impl Handshake {
    /// Begins to connect.
    pub fn begin(
        (flow, attaching): (FlowId, StreamAttaching),
        server: SocketAddr,
        settings: &Settings,
        times_damaged: u32,
    ) -> Result<Self, RunError> {
        let begun = clock::now();
        let stream = sockets::begin_connect_tcp(server, settings)?.into_tcp_stream();
        Ok(Self { stream, flow, attaching, server, begun, connected: None, times_damaged })
    }

    /// Whether it is connected, and waits for an answer.
    pub fn is_connected(&self) -> bool {
        self.connected.is_some()
    }

    /// From before its SYN until this end, woken for it, saw that it was established.
    pub fn connect_ns(&self) -> Option<u64> {
        self.connected.map(|connected| connected.nanos_since(self.begun))
    }

    /// What the server has called it.
    pub fn called(&self) -> Option<String> {
        self.attaching.called()
    }

    /// Does what can be done now.
    pub fn go_on(&mut self) -> Result<StreamProgress, RunError> {
        if self.is_connected() { self.hear() } else { self.open() }
    }

    /// Says what it is for, once it is connected.
    fn open(&mut self) -> Result<StreamProgress, RunError> {
        let opening = self.attaching.opening();
        // Empty send buffers have room for an opening. Where the other end speaks first there is none to send.
        let said = match opening.as_slice() {
            [] => self.is_there(),
            opening => self.stream.write(opening).map(drop),
        };
        match said {
            Ok(()) => self.connected = Some(clock::now()),
            // Woken for nothing: it is not connected yet.
            Err(error)
                if matches!(error.kind(), ErrorKind::NotConnected | ErrorKind::WouldBlock) =>
            {
                return Ok(StreamProgress::Waiting);
            }
            // What became of connecting is the first that a socket says.
            Err(source) => {
                let address = self.server;
                return Err(OsError::Connect { protocol: "TCP", address, source }.into());
            }
        }
        let is_unanswered = self.attaching.missing_bytes() == 0;
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
        let missing = self.attaching.missing_bytes().min(ANSWER_BYTES);
        match self.stream.read(&mut answer[..missing]) {
            Ok(0) if self.attaching.closes_when_damaged() => Ok(StreamProgress::Damaged),
            Ok(0) => Err(self.broken(&"the server closed the connection without an answer")),
            Ok(count) => {
                let flow = self.flow.0;
                let judged = self.attaching.received(&answer[..count]);
                judged.map_err(|why| RunError::Refused { flow, why })
            }
            Err(error) if is_temporary(&error) => Ok(StreamProgress::Waiting),
            Err(error) => Err(self.broken(&error)),
        }
    }

    /// Why it was given up: it came damaged, again and again.
    pub fn damaged(&self) -> RunError {
        self.broken(&"the server closed the connection without an answer that can be read")
    }

    /// Why it was given up: it took too long.
    pub fn late(&self) -> RunError {
        if self.is_connected() {
            return self.broken(&format!("no answer within {} s", ATTACH_WITHIN.as_secs()));
        }
        OsError::ConnectTimeout { address: self.server, waited: ATTACH_WITHIN }.into()
    }

    fn broken(&self, why: &impl ToString) -> RunError {
        RunError::Attach { flow: self.flow.0, why: why.to_string() }
    }
}
