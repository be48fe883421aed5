//! One TCP connection of a flow in the making: connected, and carried through what its peer says and makes of the answer, which
//! is `peers`'. When the next is begun is `opener`'s; one that a worker carries through by itself is `ahead`'s.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;

use pathscope_os::errno::is_connecting;
use pathscope_os::sockets::{self, Settings};
use pathscope_os::{clock, fast_open};
use pathscope_peers::attach::{AttachStream, StreamProgress};

use crate::error::{RunError, is_temporary};
use crate::messages::asking::{Asking, Syn};

/// What is read of an answer at once.
const ANSWER_BYTES: usize = 64;

/// One connection in the making.
#[derive(Debug)]
pub(crate) struct Handshake {
    /// What it waits for, and becomes.
    pub stream: TcpStream,
    pub asking: Asking,
}

impl Handshake {
    /// Begins to connect; `is_fast`: with a SYN that bears what it says first, where this system can do that already.
    pub fn begin(mut asking: Asking, settings: &Settings, is_fast: bool) -> Result<Self, RunError> {
        let server = asking.server;
        let socket = if is_fast {
            let (socket, waits) = fast_open::begin_connect_tcp(server, settings)?;
            asking.syn = if waits { Syn::WithWords } else { Syn::WithoutWords };
            socket
        } else {
            sockets::begin_connect_tcp(server, settings)?
        };
        Ok(Self { stream: socket.into_tcp_stream(), asking })
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
            Err(error) if is_early(&error) => return Ok(StreamProgress::Waiting),
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
            Err(error) => Err(self.asking.failed(error)),
        }
    }
}

/// Woken for nothing: it is not connected yet. Of a SYN that was to bear what is said and left without it that is said in its own way.
fn is_early(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotConnected | ErrorKind::WouldBlock)
        || error.raw_os_error().is_some_and(is_connecting)
}
