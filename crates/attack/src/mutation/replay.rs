//! A recorded session said again to a live server, with changes.

use std::io::{self, Read as _, Write as _};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use serde_json::{Value, json};

use super::Session;
use super::change::{Saying, changed, changed_json, flipped};
use crate::caller::{Caller, greeting};
use crate::datagrams::Seat;
use crate::random::Random;
use crate::sockets;
use crate::wire::{Message, Pass, Token, data_opening, kind, token_of};

/// How long an answer is awaited that may never come.
const SHORT: Duration = Duration::from_millis(300);

/// What a round works with.
struct Round<'all> {
    random: &'all mut Random,
    session: &'all Session,
    server: SocketAddr,
    source: IpAddr,
    percent: usize,
    changes: u64,
}

/// One session; how much of it was changed. How it ends is the server's affair.
pub fn round(random: &mut Random, session: &Session, server: SocketAddr) -> u64 {
    let source = IpAddr::V4(Ipv4Addr::new(127, 0, 2, 1 + random.below(200) as u8));
    let percent = 5 + random.below(40);
    let mut round = Round { random, session, server, source, percent, changes: 0 };
    let _ = round.run();
    round.changes
}

impl Round<'_> {
    fn run(&mut self) -> io::Result<()> {
        if self.random.happens(3) {
            return self.changed_greeting();
        }
        let version = self.session.version;
        let mut caller = Caller::greet(self.source, self.server, version)?;
        let mut token = [0; 16];
        let mut streams = Vec::new();
        for message in &self.session.recording.by_client {
            if matches!(message.kind, kind::PING | kind::PONG | kind::LEAVE) {
                continue;
            }
            if message.kind == kind::PROPOSE {
                if let Some(accept) = self.propose(&mut caller, message)? {
                    token = token_in(&accept).unwrap_or(token);
                    streams = self.attach(caller.pass(token));
                }
                continue;
            }
            self.say(&mut caller, message)?;
            match message.kind {
                kind::START => {
                    hear(&mut caller, kind::STARTED)?;
                }
                _ => while caller.hear(Duration::ZERO)?.is_some() {},
            }
        }
        drop(streams);
        if self.random.happens(70) {
            let last = if self.random.happens(50) { kind::LEAVE } else { kind::STOP };
            caller.say(last, &json!({ "reason": "", "ends": true }))?;
            caller.hear(SHORT)?;
        }
        Ok(())
    }

    /// The proposal, and before it some that are like it, as long as each is refused: a session may be told no seven times.
    fn propose(&mut self, caller: &mut Caller, proposal: &Message) -> io::Result<Option<Message>> {
        for _ in 0..self.random.below(6) {
            self.changes += 1;
            let body = changed_json(self.random, &proposal.body);
            caller.say_bytes(kind::PROPOSE, &body)?;
            if let Some(accept) = hear(caller, kind::ACCEPT)? {
                return Ok(Some(accept));
            }
        }
        self.say(caller, proposal)?;
        hear(caller, kind::ACCEPT)
    }

    fn changed_greeting(&mut self) -> io::Result<()> {
        self.changes += 1;
        let mut stream = sockets::dial(self.source, self.server)?;
        stream.write_all(&flipped(self.random, &greeting(self.session.version)))?;
        stream.set_read_timeout(Some(SHORT))?;
        stream.read(&mut [0; 256]).map(drop)
    }

    fn say(&mut self, caller: &mut Caller, message: &Message) -> io::Result<()> {
        if !self.random.happens(self.percent) {
            return caller.say_bytes(message.kind, &message.body);
        }
        self.changes += 1;
        let others = &self.session.recording.by_client;
        for saying in changed(self.random, message, others, &mut caller.framing) {
            match saying {
                Saying::Message(message) => caller.say_bytes(message.kind, &message.body)?,
                Saying::Bytes(bytes) => caller.stream.write_all(&bytes)?,
                Saying::Close => return Err(io::ErrorKind::ConnectionAborted.into()),
            }
        }
        Ok(())
    }

    /// Attaches what was attached when it was recorded, under the token of today.
    fn attach(&mut self, pass: Pass) -> Vec<std::net::TcpStream> {
        let mut streams = Vec::new();
        for (group, flow, lane) in self.session.recording.attached.clone() {
            let opening = data_opening(self.session.version, pass, group, flow, lane);
            // A place that was not given is one that is missing.
            streams.extend(self.attach_one(opening));
        }
        for (group, flow, lane) in self.session.recording.seats.clone() {
            let seat = Seat { pass, group, flow, lane };
            let Ok(socket) = sockets::seat(self.source, 0, self.server) else { continue };
            let _ = socket.set_read_timeout(Some(Duration::from_millis(50)));
            let _ = seat.take(&socket, self.random);
            if self.random.happens(self.percent) {
                self.changes += 1;
                let _ = socket.send(&self.random.bytes(400));
            }
        }
        streams
    }

    fn attach_one(&mut self, mut opening: Vec<u8>) -> io::Result<std::net::TcpStream> {
        if self.random.happens(self.percent / 4) {
            self.changes += 1;
            opening = flipped(self.random, &opening);
        }
        let mut stream = sockets::dial(self.source, self.server)?;
        stream.set_read_timeout(Some(SHORT))?;
        stream.write_all(&opening)?;
        stream.read_exact(&mut [0; 4])?;
        if self.random.happens(self.percent) {
            self.changes += 1;
            let length = self.random.below(3_000);
            stream.write_all(&self.random.bytes(length))?;
        }
        Ok(stream)
    }
}

/// A message of that type, where it comes soon; None where something else was said in its place.
fn hear(caller: &mut Caller, wanted: u16) -> io::Result<Option<Message>> {
    while let Some(message) = caller.hear(SHORT)? {
        if message.kind == wanted {
            return Ok(Some(message));
        }
        if message.kind == kind::REFUSE {
            return Ok(None);
        }
    }
    Ok(None)
}

fn token_in(accept: &Message) -> Option<Token> {
    let accept: Value = serde_json::from_slice(&accept.body).ok()?;
    token_of(accept["token"].as_str()?)
}
