//! One client: what it says next, when something came. It never waits.

use std::io::{self, Read as _, Write as _};
use std::net::{IpAddr, SocketAddr, TcpStream, UdpSocket};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::PING_BYTES;
use crate::caller::{greeting, is_timeout};
use crate::datagrams::Seat;
use crate::wire::{self, Framing, Message, Pass, Token, Version, kind};
use crate::{clock, sockets};

/// What words of seats begin with.
const SEAT: &[u8] = b"PSAT";
/// What a flow has said for its seat may be lost where it has no answer by then.
const ASKS_AGAIN_AFTER: Duration = Duration::from_millis(500);

/// How far a client is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Stage {
    /// Its control connection is being made.
    Dials,
    /// It has greeted, and awaits its welcome.
    Greets,
    /// It has proposed its test.
    Proposes,
    /// Its flow's connection is being made.
    DialsFlow,
    /// Its flow has asked for its seat.
    Asks,
    /// Its flow has proved its address: datagrams alone.
    Proves,
    /// It has said that its flow is there.
    Starts,
    /// Its test runs.
    Runs,
    /// It has reported, and awaits the server's report.
    Reports,
    /// It has said that it leaves.
    Leaves,
    /// It has left in good order.
    Over,
}

/// The socket of its flow.
#[derive(Debug)]
pub enum Flow {
    None,
    Stream(TcpStream),
    Datagrams(UdpSocket),
}

/// A ping that has no answer yet.
#[derive(Clone, Copy, Debug)]
struct Ping {
    sent_at: Instant,
    /// So many bytes of its answer came.
    came: usize,
    is_measured: bool,
}

/// What came of a look at a flow.
#[derive(Clone, Copy, Debug)]
pub struct Answer {
    pub took: Duration,
    /// Whether it is one of those that are measured.
    pub is_measured: bool,
}

/// A client.
#[derive(Debug)]
pub struct One {
    pub stage: Stage,
    /// Since when it is in the making, or leaving.
    pub since: Instant,
    pub control: TcpStream,
    pub flow: Flow,
    source: IpAddr,
    server: SocketAddr,
    framing: Framing,
    name: Option<Token>,
    token: Token,
    nonce: [u8; 8],
    pub sent: u64,
    pub answered: u64,
    waits: Option<Ping>,
    begun: Instant,
    /// When its flow asked for its seat last.
    asked: Instant,
}

impl One {
    /// Begins to make its control connection.
    pub fn begin(source: IpAddr, server: SocketAddr, nonce: [u8; 8]) -> io::Result<Self> {
        let now = clock::now();
        Ok(Self {
            stage: Stage::Dials,
            since: now,
            control: sockets::begin_to_dial(source, server)?,
            flow: Flow::None,
            source,
            server,
            framing: Framing::new(Version::Two),
            name: None,
            token: Token::default(),
            nonce,
            sent: 0,
            answered: 0,
            waits: None,
            begun: now,
            asked: now,
        })
    }

    /// Whether it is neither made nor over.
    pub const fn is_in_the_making(&self) -> bool {
        !matches!(self.stage, Stage::Runs | Stage::Reports | Stage::Leaves | Stage::Over)
    }

    /// Whether a ping of its has no answer yet.
    pub const fn waits(&self) -> bool {
        self.waits.is_some()
    }

    /// Its control connection has something, or is there.
    pub fn control_is_ready(&mut self, test: &Value, is_over_udp: bool) -> io::Result<()> {
        if self.stage == Stage::Dials {
            connected(&self.control)?;
            self.control.write_all(&greeting(Version::Two))?;
            self.stage = Stage::Greets;
        }
        let mut bytes = [0; 16_384];
        loop {
            let count = match self.control.read(&mut bytes) {
                Ok(0) if self.stage == Stage::Over => return Ok(()),
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(count) => count,
                Err(error) if is_timeout(&error) => return Ok(()),
                Err(error) => return Err(error),
            };
            self.framing.feed(&bytes[..count]);
            while let Some(message) = self.framing.next() {
                self.hear(&message, test, is_over_udp)?;
            }
            // Less than there was room for was all that there was.
            if count < bytes.len() {
                return Ok(());
            }
        }
    }

    fn hear(&mut self, message: &Message, test: &Value, is_over_udp: bool) -> io::Result<()> {
        match (message.kind, self.stage) {
            (kind::PING, _) => self.say(kind::PONG, &message.body)?,
            (kind::REFUSE | kind::STOP, _) => {
                let said = String::from_utf8_lossy(&message.body).into_owned();
                return Err(io::Error::new(io::ErrorKind::PermissionDenied, said));
            }
            (kind::WELCOME, Stage::Greets) => {
                let welcome: Value = serde_json::from_slice(&message.body)?;
                self.name = welcome["session"].as_str().and_then(wire::token_of);
                self.stage = Stage::Proposes;
                self.say(kind::PROPOSE, json!({ "test": test }).to_string().as_bytes())?;
            }
            (kind::ACCEPT, Stage::Proposes) => {
                let accept: Value = serde_json::from_slice(&message.body)?;
                let token = accept["token"].as_str().and_then(wire::token_of);
                self.token = token.ok_or(io::ErrorKind::InvalidData)?;
                self.attach(is_over_udp)?;
            }
            (kind::STARTED, Stage::Starts) => {
                self.stage = Stage::Runs;
                self.begun = clock::now();
            }
            (kind::REPORT, Stage::Reports) => {
                // The client closes first, and says then that the test is over.
                self.flow = Flow::None;
                self.say(kind::END, b"{}")?;
                self.say(kind::LEAVE, b"{}")?;
                self.stage = Stage::Leaves;
            }
            (kind::ACK, Stage::Leaves) => self.stage = Stage::Over,
            _ => {}
        }
        Ok(())
    }

    fn say(&mut self, kind: u16, body: &[u8]) -> io::Result<()> {
        let frames = self.framing.encode(kind, body);
        self.control.write_all(&frames)
    }

    const fn pass(&self) -> Pass {
        Pass { token: self.token, name: self.name }
    }

    fn attach(&mut self, is_over_udp: bool) -> io::Result<()> {
        if is_over_udp {
            let socket = UdpSocket::bind(SocketAddr::new(self.source, 0))?;
            socket.connect(self.server)?;
            socket.set_nonblocking(true)?;
            socket.send(&Seat::first(self.pass()).request(self.nonce))?;
            self.asked = clock::now();
            (self.flow, self.stage) = (Flow::Datagrams(socket), Stage::Asks);
        } else {
            self.flow = Flow::Stream(sockets::begin_to_dial(self.source, self.server)?);
            self.stage = Stage::DialsFlow;
        }
        Ok(())
    }

    /// Its flow's socket has something, or is there. What came of the ping that waits, if that is answered.
    pub fn flow_is_ready(&mut self) -> io::Result<Option<Answer>> {
        if let (Flow::Stream(stream), Stage::DialsFlow) = (&mut self.flow, self.stage) {
            connected(stream)?;
            let pass = Pass { token: self.token, name: self.name };
            stream.write_all(&wire::data_opening(Version::Two, pass, 0, 0, 0))?;
            self.stage = Stage::Asks;
        }
        let mut bytes = [0; 2_048];
        let mut answer = None;
        loop {
            let read = match &mut self.flow {
                Flow::None => return Ok(None),
                Flow::Stream(stream) => stream.read(&mut bytes),
                Flow::Datagrams(socket) => socket.recv(&mut bytes),
            };
            let came = match read {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(count) => &bytes[..count],
                Err(error) if is_timeout(&error) => return Ok(answer),
                Err(error) => return Err(error),
            };
            answer = self.heard(came)?.or(answer);
            // Less than there was room for was all that there was of a stream. Of several datagrams it is told once.
            if matches!(self.flow, Flow::Stream(_)) && came.len() < bytes.len() {
                return Ok(answer);
            }
        }
    }

    /// Its flow's socket brought this.
    fn heard(&mut self, came: &[u8]) -> io::Result<Option<Answer>> {
        match (self.stage, &self.flow) {
            // What was asked for twice is answered twice.
            (Stage::Starts | Stage::Runs, Flow::Datagrams(_)) if came.starts_with(SEAT) => {}
            (Stage::Asks, Flow::Stream(_)) => self.seated(came.get(2).copied())?,
            (Stage::Asks, Flow::Datagrams(socket)) if came.get(4) == Some(&2) => {
                let cookie = came.get(16..32).ok_or(io::ErrorKind::InvalidData)?;
                socket.send(&Seat::first(self.pass()).confirmed(self.nonce, cookie))?;
                self.stage = Stage::Proves;
            }
            (Stage::Proves, Flow::Datagrams(_)) if came.get(4) == Some(&4) => {
                self.seated(came.get(5).copied())?;
            }
            (Stage::Runs, _) => return self.answered(came.len(), came),
            _ => {}
        }
        Ok(None)
    }

    fn seated(&mut self, code: Option<u8>) -> io::Result<()> {
        if code != Some(0) {
            return Err(io::Error::other(format!("its flow was refused by code {code:?}")));
        }
        self.stage = Stage::Starts;
        self.say(kind::START, b"{}")
    }

    fn answered(&mut self, count: usize, came: &[u8]) -> io::Result<Option<Answer>> {
        let wrong = |what: &str| io::Error::other(format!("an answer {what}"));
        let Some(ping) = &mut self.waits else { return Err(wrong("that nothing was asked for")) };
        let expected = bytes_of(self.sent - 1, &self.token);
        let rest = &expected[ping.came..];
        // An echo of a datagram bears two stamps and a kind of the server's.
        let is_right = match self.flow {
            Flow::Datagrams(_) => {
                count == PING_BYTES && came[5..32] == rest[5..32] && came[48..] == rest[48..]
            }
            _ => count <= rest.len() && came == &rest[..count],
        };
        if !is_right {
            return Err(wrong("with other bytes than were sent"));
        }
        ping.came += count;
        if ping.came < PING_BYTES {
            return Ok(None);
        }
        let (took, is_measured) = (ping.sent_at.elapsed(), ping.is_measured);
        self.answered += 1;
        self.waits = None;
        Ok(Some(Answer { took, is_measured }))
    }

    /// Sends its next ping.
    pub fn ping(&mut self, is_measured: bool) -> io::Result<()> {
        let ping = bytes_of(self.sent, &self.token);
        let sent_at = clock::now();
        match &mut self.flow {
            Flow::None => return Ok(()),
            Flow::Stream(stream) => stream.write_all(&ping)?,
            Flow::Datagrams(socket) => drop(socket.send(&ping)?),
        }
        self.sent += 1;
        self.waits = Some(Ping { sent_at, came: 0, is_measured });
        Ok(())
    }

    /// Says again what its flow has said for its seat some time ago, where that is datagrams, of which any may be lost.
    pub fn ask_again(&mut self) -> io::Result<()> {
        if self.asked.elapsed() < ASKS_AGAIN_AFTER {
            return Ok(());
        }
        if let (Flow::Datagrams(socket), Stage::Asks | Stage::Proves) = (&self.flow, self.stage) {
            self.asked = clock::now();
            // A request is always challenged, and what proves the address follows from that.
            socket.send(&Seat::first(self.pass()).request(self.nonce))?;
            self.stage = Stage::Asks;
        }
        Ok(())
    }

    /// Says how much it has sent in all, and what came of its test.
    pub fn report(&mut self) -> io::Result<()> {
        let total = match self.flow {
            Flow::Datagrams(_) => self.sent,
            _ => self.sent * PING_BYTES as u64,
        };
        let totals = json!({ "flows": [{ "group": 0, "flow": 0, "total": total }] });
        self.say(kind::TOTALS, totals.to_string().as_bytes())?;
        let report = json!({
            "elapsed_ns": self.begun.elapsed().as_nanos() as u64,
            "latency": { "sent": self.sent, "received": self.answered },
        });
        self.say(kind::REPORT, report.to_string().as_bytes())?;
        (self.stage, self.since) = (Stage::Reports, clock::now());
        Ok(())
    }
}

/// What the ping of a number consists of. Over TCP a server that echoes all of it compares nothing: that is the client's affair.
fn bytes_of(number: u64, token: &Token) -> [u8; PING_BYTES] {
    let mut ping = [0; PING_BYTES];
    ping[..4].copy_from_slice(b"PSPG");
    ping[4] = 1;
    ping[8..16].copy_from_slice(&token[8..]);
    ping[16..24].copy_from_slice(&number.to_le_bytes());
    ping[48..].copy_from_slice(token);
    ping
}

/// Whether a connection that was begun is there.
fn connected(stream: &TcpStream) -> io::Result<()> {
    match stream.take_error()? {
        Some(error) => Err(error),
        None => stream.set_nodelay(true),
    }
}
