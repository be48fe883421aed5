//! One TCP connection of a flow in the making: connected, opened with its token, acknowledged. When the next is begun
//! is `opener`'s.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use pathscope_core::Tick;
use pathscope_core::id::Token;
use pathscope_os::sockets::{self, Settings};
use pathscope_os::{OsError, clock};
use pathscope_peers::native::{
    ACK_BYTES, AttachError, Opening, Seat, decode_ack, decode_checked_ack,
};

use crate::error::{RunError, is_temporary};

/// A connection that is not there and taken by then will not be.
pub(crate) const ATTACH_WITHIN: Duration = Duration::from_secs(10);

/// One connection in the making.
#[derive(Debug)]
pub(crate) struct Handshake {
    /// What it waits for, and becomes.
    pub stream: TcpStream,
    seat: Seat,
    /// What its session is called, where it has a name: its opening bears a proof and a checksum then, and its answer one.
    session: Option<Token>,
    /// Where it goes.
    server: SocketAddr,
    /// When, before its SYN.
    pub begun: Tick,
    /// When it was seen to be established.
    connected: Option<Tick>,
    ack: [u8; ACK_BYTES],
    came: usize,
    /// How often it was begun before, and damaged by the path.
    pub times_damaged: u32,
}

/// How far a connection is.
pub(crate) enum Progress {
    /// It is not there yet.
    Waiting,
    /// It is there, and taken.
    Made,
    /// The path has damaged its opening, or the answer: it is to be made again.
    Damaged,
}

impl Handshake {
    /// Begins to connect.
    pub fn begin(
        (seat, session): (Seat, Option<Token>),
        server: SocketAddr,
        settings: &Settings,
        times_damaged: u32,
    ) -> Result<Self, RunError> {
        let begun = clock::now();
        let stream = sockets::begin_connect_tcp(server, settings)?.into_tcp_stream();
        let (connected, ack, came) = (None, [0; ACK_BYTES], 0);
        Ok(Self { stream, seat, session, server, begun, connected, ack, came, times_damaged })
    }

    /// Whether it is connected, and waits for an answer.
    pub fn is_connected(&self) -> bool {
        self.connected.is_some()
    }

    /// From before its SYN until this end, woken for it, saw that it was established.
    pub fn connect_ns(&self) -> Option<u64> {
        self.connected.map(|connected| connected.nanos_since(self.begun))
    }

    /// Does what can be done now.
    pub fn go_on(&mut self) -> Result<Progress, RunError> {
        if !self.is_connected() {
            if let Some(source) = self.stream.take_error().map_err(|error| self.broken(&error))? {
                let address = self.server;
                return Err(OsError::Connect { protocol: "TCP", address, source }.into());
            }
            // Empty send buffers have room for an opening.
            let opening = match self.session {
                Some(session) => Opening::CheckedData(self.seat, self.seat.proof(session)),
                None => Opening::Data(self.seat),
            };
            match self.stream.write(&opening.encode()) {
                Ok(_) => self.connected = Some(clock::now()),
                // Woken for nothing: it is not connected yet.
                Err(error)
                    if matches!(error.kind(), ErrorKind::NotConnected | ErrorKind::WouldBlock) => {}
                Err(error) => return Err(self.broken(&error)),
            }
            return Ok(Progress::Waiting);
        }
        match self.stream.read(&mut self.ack[self.came..]) {
            Ok(0) if self.is_checked() => Ok(Progress::Damaged),
            Ok(0) => Err(self.broken(&"the server closed the connection without an answer")),
            Ok(count) if self.came + count < ACK_BYTES => {
                self.came += count;
                Ok(Progress::Waiting)
            }
            Ok(_) => match self.decode() {
                Ok(()) => Ok(Progress::Made),
                Err(AttachError::NotAnAck { .. }) if self.is_checked() => Ok(Progress::Damaged),
                Err(why) => Err(RunError::Refused { flow: self.seat.flow.0, why }),
            },
            Err(error) if is_temporary(&error) => Ok(Progress::Waiting),
            Err(error) => Err(self.broken(&error)),
        }
    }

    const fn is_checked(&self) -> bool {
        self.session.is_some()
    }

    fn decode(&self) -> Result<(), AttachError> {
        if self.is_checked() { decode_checked_ack(self.ack) } else { decode_ack(self.ack) }
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
        RunError::Attach { flow: self.seat.flow.0, why: why.to_string() }
    }
}
