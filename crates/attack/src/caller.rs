//! A control connection as an attacker has it: it greets, proposes, attaches and starts as the document says, and lets
//! a case say anything else at any point.

use std::io::{self, Read as _, Write as _};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::wire::{self, Framing, Message, Pass, Token, Version, kind};
use crate::{clock, sockets};

/// How long an answer may take. Longer than an honest caller's second, since an attack waits behind itself.
pub const PATIENCE: Duration = Duration::from_secs(5);

/// A control connection.
#[derive(Debug)]
pub struct Caller {
    /// Its socket.
    pub stream: TcpStream,
    /// Its frames.
    pub framing: Framing,
    server: SocketAddr,
    source: IpAddr,
    /// What the session is called, once it was welcomed in version 2.
    name: Option<Token>,
}

/// The body of a hello.
pub fn hello() -> Vec<u8> {
    json!({ "capabilities": ["failures"], "security": ["none"], "host": { "name": "stranger" } })
        .to_string()
        .into_bytes()
}

/// An opening and the hello behind it.
pub fn greeting(version: Version) -> Vec<u8> {
    let hello = wire::plain_frame(kind::HELLO, &hello());
    let mut bytes = wire::control_opening(version, &hello);
    bytes.extend(hello);
    bytes
}

impl Caller {
    /// Connects and says nothing.
    pub fn dial(source: IpAddr, server: SocketAddr, version: Version) -> io::Result<Self> {
        let stream = sockets::dial(source, server)?;
        stream.set_write_timeout(Some(PATIENCE))?;
        Ok(Self { stream, framing: Framing::new(version), server, source, name: None })
    }

    /// Connects, greets and is welcomed.
    pub fn greet(source: IpAddr, server: SocketAddr, version: Version) -> io::Result<Self> {
        Self::greet_within(source, server, version, PATIENCE)
    }

    /// The same, where the welcome may take so long.
    pub fn greet_within(
        source: IpAddr,
        server: SocketAddr,
        version: Version,
        within: Duration,
    ) -> io::Result<Self> {
        let mut caller = Self::dial(source, server, version)?;
        caller.stream.write_all(&greeting(version))?;
        let welcome = caller.await_kind_within(&[kind::WELCOME], within)?;
        let welcome: Value = serde_json::from_slice(&welcome.body)?;
        caller.name = welcome["session"].as_str().and_then(wire::token_of);
        Ok(caller)
    }

    /// Says a message.
    pub fn say(&mut self, kind: u16, body: &Value) -> io::Result<()> {
        self.say_bytes(kind, body.to_string().as_bytes())
    }

    /// Says a message whose body need be no JSON.
    pub fn say_bytes(&mut self, kind: u16, body: &[u8]) -> io::Result<()> {
        let frames = self.framing.encode(kind, body);
        self.stream.write_all(&frames)
    }

    /// The next message within a time; None where none came. Pings are answered.
    pub fn hear(&mut self, within: Duration) -> io::Result<Option<Message>> {
        let until = clock::now() + within;
        loop {
            if let Some(message) = self.framing.next() {
                if message.kind == kind::PING {
                    self.say_bytes(kind::PONG, &message.body)?;
                    continue;
                }
                return Ok(Some(message));
            }
            let left = clock::left(until).max(Duration::from_micros(100));
            self.stream.set_read_timeout(Some(left))?;
            let mut bytes = [0; 16_384];
            match self.stream.read(&mut bytes) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(count) => {
                    // A server that speaks version 1 alone, or refuses, is heard as it speaks.
                    if self.framing.heard == 0 && self.framing.first_byte().is_none() {
                        let is_two = bytes[0] == 0xf5;
                        self.framing.version = if is_two { Version::Two } else { Version::One };
                    }
                    self.framing.feed(&bytes[..count]);
                }
                Err(error) if is_timeout(&error) => {
                    if clock::now() >= until {
                        return Ok(None);
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// The next message of one of these types; a refusal or a stop is an error, what else comes is passed over.
    pub fn await_kind(&mut self, kinds: &[u16]) -> io::Result<Message> {
        self.await_kind_within(kinds, PATIENCE)
    }

    fn await_kind_within(&mut self, kinds: &[u16], within: Duration) -> io::Result<Message> {
        let until = clock::now() + within;
        while let Some(message) = self.hear(clock::left(until))? {
            match message.kind {
                wanted if kinds.contains(&wanted) => return Ok(message),
                kind::REFUSE | kind::STOP => {
                    let said = String::from_utf8_lossy(&message.body).into_owned();
                    return Err(io::Error::new(io::ErrorKind::PermissionDenied, said));
                }
                _ => {}
            }
        }
        Err(io::ErrorKind::TimedOut.into())
    }

    /// Proposes a test, and is told its token.
    pub fn propose(&mut self, test: &Value) -> io::Result<Token> {
        self.say(kind::PROPOSE, &json!({ "test": test }))?;
        let accept = self.await_kind(&[kind::ACCEPT])?;
        let accept: Value = serde_json::from_slice(&accept.body)?;
        accept["token"].as_str().and_then(wire::token_of).ok_or(io::ErrorKind::InvalidData.into())
    }

    /// What its sockets show for a test.
    pub const fn pass(&self, token: Token) -> Pass {
        Pass { token, name: self.name }
    }

    /// Attaches a TCP flow of group 0: the connection, and the code that answers it.
    pub fn attach(&self, token: Token, flow: u32) -> io::Result<(TcpStream, u8)> {
        attach(self.source, self.server, self.framing.version, self.pass(token), flow)
    }

    /// Says that all flows are attached, and hears that the server's run.
    pub fn start(&mut self) -> io::Result<()> {
        self.say(kind::START, &json!({}))?;
        self.await_kind(&[kind::STARTED]).map(drop)
    }

    /// Proposes a test over TCP, attaches so many flows and starts it.
    pub fn run(&mut self, test: &Value, flows: u32) -> io::Result<(Token, Vec<TcpStream>)> {
        let token = self.propose(test)?;
        let mut streams = Vec::new();
        for flow in 0..flows {
            let (stream, code) = self.attach(token, flow)?;
            if code != 0 {
                return Err(io::Error::other(format!("flow {flow} was refused by code {code}")));
            }
            streams.push(stream);
        }
        self.start()?;
        Ok((token, streams))
    }

    /// Answers the pings that have come, until then.
    pub fn tend(&mut self, until: Instant) -> io::Result<()> {
        while clock::now() < until {
            self.hear(clock::left(until))?;
        }
        Ok(())
    }
}

/// Attaches a TCP flow of group 0 from any address.
pub fn attach(
    source: IpAddr,
    server: SocketAddr,
    version: Version,
    pass: Pass,
    flow: u32,
) -> io::Result<(TcpStream, u8)> {
    let mut stream = sockets::dial(source, server)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    stream.write_all(&wire::data_opening(version, pass, 0, flow, 0))?;
    let mut answer = [0; 4];
    stream.read_exact(&mut answer)?;
    Ok((stream, answer[2]))
}

/// Keeps callers alive: answers pings of all of them until then; how many are left.
pub fn tend_all(callers: &mut Vec<Caller>, until: Instant) -> usize {
    while clock::now() < until && !callers.is_empty() {
        callers.retain_mut(|caller| {
            loop {
                match caller.hear(Duration::ZERO) {
                    Ok(Some(message)) if message.kind == kind::STOP => return false,
                    Ok(Some(_)) => {}
                    Ok(None) => return true,
                    Err(_) => return false,
                }
            }
        });
        clock::pause(clock::left(until).min(Duration::from_millis(200)));
    }
    callers.len()
}

/// Whether only time has passed.
pub fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}
