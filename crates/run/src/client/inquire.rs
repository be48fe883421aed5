//! Finding out which kind of server is at a host: each kind is asked at the port that it has by itself, one after the other, and at no other.
//! Bounded in time; what was sent is told.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::time::Duration;

use pathscope_core::record::{Host, Remarks};
use pathscope_flow::Transport;
use pathscope_os::{OsError, clock, random};
use pathscope_peers::inquiry::{Inquiry, Verdict};
use pathscope_peers::peer::{ClientEnd, Peer};
use pathscope_peers::registry::{PeerKind, PeerVisitor};

use crate::error::RunError;
use crate::stop::Stop;
use crate::target;

/// A server that has not accepted or answered by then is not of the kind that is asked for.
const PATIENCE: Duration = Duration::from_millis(1_500);

/// How much of an answer is looked at.
const ANSWER_BYTES: usize = 256;

/// The first kind of server that answers at `host` and carries the subcommand `command`. `tell` hears what was asked and what came
/// of it, a line for each kind.
pub fn kind_of_server(
    host: &str,
    command: &str,
    stop: &Stop,
    tell: &mut dyn FnMut(&str),
) -> Result<PeerKind, RunError> {
    let (mut asked, mut unasked): (Vec<String>, Vec<String>) = Default::default();
    for &kind in PeerKind::ALL {
        let end = ClientEnd {
            host: Host::default(),
            wants_ends: false,
            remarks: Remarks::default(),
            entropy: random::bytes()?,
        };
        let Some(inquiry) = kind.visit(Asking(command, end)) else { continue };
        let Some(inquiry) = inquiry else {
            unasked.push(format!("--peer {kind}"));
            continue;
        };
        let over = if inquiry.transport == Transport::Stream { "TCP" } else { "UDP" };
        let place = format!("{over} port {}", kind.port());
        let addresses = target::resolve(host, kind.port(), stop)?;
        let mut found = Err("nothing is there".to_owned());
        for address in addresses {
            if stop.reason().is_some() {
                return Err(RunError::Interrupted);
            }
            found = ask(&inquiry, address);
            if found.is_ok() {
                break;
            }
        }
        let sent = inquiry.in_words;
        match found {
            Ok(()) => {
                let name = kind.to_string();
                let article = if name.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
                tell(&format!(
                    "--peer auto: {place}, asked with {sent}: {article} {name} server answers"
                ));
                return Ok(kind);
            }
            Err(why) => tell(&format!("--peer auto: {place}, asked with {sent}: {why}")),
        }
        asked.push(format!("{kind} at {place}"));
    }
    let asked = asked.join(", ");
    let others = if unasked.is_empty() {
        String::new()
    } else {
        let unasked = unasked.join(", ");
        format!(". Not asked, since a word would begin a test there: name it with {unasked}")
    };
    Err(RunError::Peer(format!(
        "no server that '{command}' can be measured with answers at {host}; asked: {asked}. Where one listens on another port, name it: \
         --peer KIND --port PORT{others}"
    )))
}

/// What is asked of a kind that measures so.
struct Asking<'command>(&'command str, ClientEnd);

impl PeerVisitor for Asking<'_> {
    /// None of a kind that does not measure so; within, none of one that cannot be asked.
    type Output = Option<Option<Inquiry>>;

    fn visit<P: Peer>(self) -> Self::Output {
        let Self(command, end) = self;
        P::measures(command).then(|| P::inquiry(end, clock::now()))
    }
}

/// Asks at an address. Why it is none, as a fragment of a sentence.
fn ask(inquiry: &Inquiry, address: SocketAddr) -> Result<(), String> {
    match inquiry.transport {
        Transport::Stream => {
            let stream = TcpStream::connect_timeout(&address, PATIENCE);
            let mut stream = stream.map_err(|source| {
                let protocol = "TCP";
                OsError::Connect { protocol, address, source }.to_string()
            })?;
            let said = stream.write_all(&inquiry.says);
            said.map_err(|error| format!("it takes nothing: {error}"))?;
            hear(inquiry, |bytes, left| {
                stream.set_read_timeout(Some(left))?;
                stream.read(bytes)
            })
        }
        Transport::Datagram => {
            let any: SocketAddr =
                if address.is_ipv4() { ([0, 0, 0, 0], 0).into() } else { ([0u16; 8], 0).into() };
            let socket = UdpSocket::bind(any).and_then(|socket| {
                socket.connect(address)?;
                socket.send(&inquiry.says)?;
                Ok(socket)
            });
            let socket = socket.map_err(|error| format!("nothing can be sent there: {error}"))?;
            hear(inquiry, |bytes, left| {
                socket.set_read_timeout(Some(left))?;
                socket.recv(bytes)
            })
        }
    }
}

/// Hears until it is known what answers.
fn hear(
    inquiry: &Inquiry,
    mut read: impl FnMut(&mut [u8], Duration) -> std::io::Result<usize>,
) -> Result<(), String> {
    let (mut heard, begun) = (Vec::new(), clock::now());
    let mut bytes = [0; ANSWER_BYTES];
    loop {
        let left = PATIENCE.saturating_sub(clock::now().since(begun));
        if left.is_zero() {
            return Err(silent());
        }
        match read(&mut bytes, left) {
            Ok(0) => return Err("it closed without an answer".to_owned()),
            Ok(count) => heard.extend_from_slice(&bytes[..count]),
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                return Err(silent());
            }
            Err(error) => return Err(format!("no answer: {error}")),
        }
        match (inquiry.answer)(&inquiry.says, &heard) {
            Verdict::Known => return Ok(()),
            Verdict::More if heard.len() < ANSWER_BYTES => {}
            Verdict::More | Verdict::Other => {
                return Err("what answers is something else".to_owned());
            }
        }
    }
}

fn silent() -> String {
    format!("no answer within {} ms", PATIENCE.as_millis())
}
