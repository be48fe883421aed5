//! One TCP connection of a flow in the making: connected, opened with its token, acknowledged. When the next is begun
//! is `opener`'s.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use pathscope_core::Tick;
use pathscope_os::sockets::{self, Settings};
use pathscope_os::{OsError, clock};
use pathscope_peers::native::{ACK_BYTES, Opening, Seat, decode_ack};

use crate::error::RunError;

/// A connection that is not there and taken by then will not be.
pub(crate) const ATTACH_WITHIN: Duration = Duration::from_secs(10);

/// One connection in the making.
#[derive(Debug)]
pub(crate) struct Making {
    stream: TcpStream,
    seat: Seat,
    /// Where it goes.
    server: SocketAddr,
    begun: Tick,
    /// When it was seen to be established.
    connected: Option<Tick>,
    ack: [u8; ACK_BYTES],
    came: usize,
}

/// How far a connection is.
pub(crate) enum Progress {
    /// It is not there yet.
    Waiting,
    /// It is there, and taken.
    Made,
}

impl Making {
    /// Begins to connect.
    pub fn begin(seat: Seat, server: SocketAddr, settings: &Settings) -> Result<Self, RunError> {
        let begun = clock::now();
        let stream = sockets::begin_connect_tcp(server, settings)?.into_tcp_stream();
        Ok(Self { stream, seat, server, begun, connected: None, ack: [0; ACK_BYTES], came: 0 })
    }

    /// What it waits for.
    pub fn stream(&self) -> &TcpStream {
        &self.stream
    }

    /// The connection, as it is.
    pub fn into_stream(self) -> TcpStream {
        self.stream
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
        let seat = self.seat;
        if !self.is_connected() {
            if let Some(source) = self.stream.take_error().map_err(|error| broken(seat, &error))? {
                let address = self.server;
                return Err(OsError::Connect { protocol: "TCP", address, source }.into());
            }
            // Empty send buffers have room for an opening.
            match self.stream.write(&Opening::Data(seat).encode()) {
                Ok(_) => self.connected = Some(clock::now()),
                // Woken for nothing: it is not connected yet.
                Err(error) if error.kind() == ErrorKind::NotConnected => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => return Err(broken(seat, &error)),
            }
            return Ok(Progress::Waiting);
        }
        match self.stream.read(&mut self.ack[self.came..]) {
            Ok(0) => {
                let why = "the server closed the connection without an answer".to_owned();
                Err(RunError::Attach { flow: seat.flow.0, why })
            }
            Ok(count) if self.came + count < ACK_BYTES => {
                self.came += count;
                Ok(Progress::Waiting)
            }
            Ok(_) => match decode_ack(self.ack) {
                Ok(()) => Ok(Progress::Made),
                Err(why) => Err(RunError::Refused { flow: seat.flow.0, why }),
            },
            Err(error)
                if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) =>
            {
                Ok(Progress::Waiting)
            }
            Err(error) => Err(broken(seat, &error)),
        }
    }

    /// Why it was given up: it took too long.
    pub fn late(&self) -> RunError {
        if self.is_connected() {
            let why = format!("no answer within {} s", ATTACH_WITHIN.as_secs());
            return RunError::Attach { flow: self.seat.flow.0, why };
        }
        OsError::ConnectTimeout { address: self.server, waited: ATTACH_WITHIN }.into()
    }
}

fn broken(seat: Seat, error: &std::io::Error) -> RunError {
    RunError::Attach { flow: seat.flow.0, why: error.to_string() }
}
