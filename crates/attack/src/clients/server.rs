//! The server of these cases: it greets, accepts and attaches as the document says, up to where it means harm.

use std::io::{self, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::clock;
use crate::random::Random;
use crate::wire::{Framing, Message, Version, kind};

/// Where it stops doing what it should.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Behaviour {
    NoWelcome,
    Garbage,
    Drip,
    NoAccept,
    NoStarted,
    NoReport,
    IntervalEvery3s,
    IntervalFlood,
    LargeReport,
}

/// Its threads end with the process, which ends with the case.
#[derive(Debug)]
pub struct Server {
    port: u16,
}

/// Nothing here outlives this.
const LIFETIME: Duration = Duration::from_secs(200);

impl Server {
    /// Listens on loopback.
    pub fn start(behaviour: Behaviour) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let port = listener.local_addr()?.port();
        let until = clock::now() + LIFETIME;
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                thread::spawn(move || {
                    // How a client goes is what the case tells.
                    let _ = serve(stream, behaviour, until);
                });
            }
        });
        Ok(Self { port })
    }

    /// Where.
    pub fn port(&self) -> u16 {
        self.port
    }
}

fn serve(mut stream: TcpStream, behaviour: Behaviour, until: Instant) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut opening = [0; 32];
    stream.read_exact(&mut opening)?;
    match opening[8] {
        1 => control(stream, behaviour, until),
        3 => refuse_return(stream),
        kind => {
            if kind == 4 {
                stream.read_exact(&mut [0; 16])?;
            }
            stream.write_all(&[0xf5, 0x70, 0, if kind == 4 { 0xa5 } else { 0 }])?;
            echo(stream)
        }
    }
}

/// What a client that comes back is told: its session is gone.
pub fn refuse_return(mut stream: TcpStream) -> io::Result<()> {
    stream.read_exact(&mut [0; 16])?;
    let framing = Framing::new(Version::Two);
    let body = json!({ "code": "session", "sentence": "it is gone", "hint": "" }).to_string();
    stream.write_all(&framing.checked_frame(kind::REFUSE, body.as_bytes(), false, 0))?;
    // Until the client closes.
    let _ = stream.read(&mut [0; 16]);
    Ok(())
}

/// Pings go back as they came; of a load everything is taken.
fn echo(mut stream: TcpStream) -> io::Result<()> {
    let mut bytes = vec![0; 65_536];
    loop {
        let count = stream.read(&mut bytes)?;
        if count == 0 {
            return Ok(());
        }
        if count <= 64 {
            stream.write_all(&bytes[..count])?;
        }
    }
}

fn control(mut stream: TcpStream, behaviour: Behaviour, until: Instant) -> io::Result<()> {
    let mut head = [0; 6];
    stream.read_exact(&mut head)?;
    let length = u32::from_be_bytes([head[0], head[1], head[2], head[3]]) as usize;
    let mut hello = vec![0; length.min(65_536)];
    stream.read_exact(&mut hello)?;
    let mut link = Link { stream, framing: Framing::new(Version::Two) };
    let welcome = json!({
        "version": 2, "session": "0123456789abcdef0123456789abcdef",
        "capabilities": ["failures"], "security": "none", "limits": {}, "host": {},
    });
    match behaviour {
        Behaviour::NoWelcome => return link.swallow(until),
        Behaviour::Garbage => {
            let mut random = Random(3);
            while clock::now() < until {
                link.stream.write_all(&random.bytes(4_096))?;
            }
        }
        Behaviour::Drip => {
            let bytes = link.framing.encode(kind::WELCOME, welcome.to_string().as_bytes());
            for byte in bytes {
                link.stream.write_all(&[byte])?;
                clock::pause(Duration::from_secs(1));
            }
            return link.swallow(until);
        }
        _ => link.say(kind::WELCOME, &welcome)?,
    }
    let mut next_interval: Option<Instant> = None;
    let mut index = 0;
    while clock::now() < until {
        if next_interval.is_some_and(|due| due <= clock::now()) {
            let pause = if behaviour == Behaviour::IntervalFlood { 0 } else { 3_000 };
            next_interval = Some(clock::now() + Duration::from_millis(pause));
            link.say(kind::INTERVAL, &interval(index))?;
            index += 1;
        }
        let wait = next_interval.map_or(Duration::from_millis(200), |_| Duration::from_millis(1));
        let Some(message) = link.hear(wait)? else { continue };
        match (message.kind, behaviour) {
            (kind::PROPOSE, Behaviour::NoAccept) | (kind::START, Behaviour::NoStarted) => {}
            (kind::PROPOSE, _) => {
                let proposal: Value = serde_json::from_slice(&message.body)?;
                let accept = json!({
                    "token": "00112233445566778899aabbccddeeff", "test": proposal["test"],
                    "substitutions": [],
                });
                link.say(kind::ACCEPT, &accept)?;
            }
            (kind::START, _) => {
                link.say(kind::STARTED, &json!({}))?;
                if matches!(behaviour, Behaviour::IntervalEvery3s | Behaviour::IntervalFlood) {
                    next_interval = Some(clock::now());
                }
                if behaviour == Behaviour::LargeReport {
                    let entries = vec![r#"{"":0}"#; 149_700].join(",");
                    let report = format!("{{\"elapsed_ns\":1,\"x\":[{entries}]}}");
                    link.say_bytes(kind::REPORT, report.as_bytes())?;
                }
            }
            (kind::PING, _) => link.say_bytes(kind::PONG, &message.body)?,
            _ => {}
        }
    }
    Ok(())
}

fn interval(index: u64) -> Value {
    let start = index * 1_000_000_000;
    json!({
        "index": index, "start_ns": start, "end_ns": start + 1_000_000_000,
        "goodput": { "sent_bytes": 0, "received_bytes": 1_000_000 }, "latency": null,
    })
}

struct Link {
    stream: TcpStream,
    framing: Framing,
}

impl Link {
    fn say(&mut self, kind: u16, body: &Value) -> io::Result<()> {
        self.say_bytes(kind, body.to_string().as_bytes())
    }

    fn say_bytes(&mut self, kind: u16, body: &[u8]) -> io::Result<()> {
        let frames = self.framing.encode(kind, body);
        self.stream.write_all(&frames)
    }

    fn hear(&mut self, within: Duration) -> io::Result<Option<Message>> {
        if let Some(message) = self.framing.next() {
            return Ok(Some(message));
        }
        self.stream.set_read_timeout(Some(within))?;
        let mut bytes = [0; 16_384];
        match self.stream.read(&mut bytes) {
            Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => {
                self.framing.feed(&bytes[..count]);
                Ok(self.framing.next())
            }
            Err(error) if crate::caller::is_timeout(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn swallow(&mut self, until: Instant) -> io::Result<()> {
        while clock::now() < until {
            self.hear(Duration::from_secs(1))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_that_is_said_is_heard() {
        let mut link = Framing::new(Version::Two);
        let mut other = Framing::new(Version::Two);
        other.feed(&link.encode(kind::INTERVAL, interval(3).to_string().as_bytes()));
        let heard = other.next().expect("it is whole");
        assert_eq!(heard.kind, kind::INTERVAL);
    }
}
