//! iperf3, versions 3.1 to 3.21. A control connection on which the server drives a test of loads; data on connections of their own to the
//! same port, which are known by the 37 bytes that all connections of a client say first, or from sockets over UDP that say four.
//!
//! ```text
//!  client                               server
//!    |---- cookie, 37 bytes ------------->|
//!    |<--- 09 ----------------------------|
//!    |---- parameters, JSON ------------->|
//!    |<--- 0a ----------------------------|
//!    |==== streams, one after another ===>|
//!    |<--- 01, 02 ------------------------|
//!    |<============ data ================>|   one way on each stream, whatever bytes
//!    |---- 04 --------------------------->|
//!    |<--- 0d ----------------------------|
//!    |---- results, JSON ---------------->|
//!    |<--- results, JSON -----------------|
//!    |<--- 0e ----------------------------|
//!    |---- 10 --------------------------->|
//! ```
//!
//! Nothing says what data are made of, so that nobody can compare them, and nothing is said while they flow.

mod attaching;
mod carried;
mod client;
mod course;
mod deadlines;
mod errors;
mod findings;
mod framing;
mod json;
mod parameters;
mod plans;
mod reports;
mod results;
mod sent;
mod server;
mod session;
mod states;
mod words;

#[cfg(test)]
mod tests;

pub use attaching::{Connecting, HearConnects};
pub use client::Client;
pub use server::Server;
pub use words::Iperf3Words;

use pathscope_core::Tick;
use pathscope_core::finding::{Finding as _, FindingDefinition};
use pathscope_core::id::Token;
use pathscope_core::record::{Substitution, Tells};
use pathscope_flow::Transport;
use pathscope_modes::conventions::sequenced::{Layout, Width};
use pathscope_modes::conventions::{Conventions, Framing, StreamEnd};
use pathscope_modes::groups::Test;
use pathscope_modes::pattern::Payload;

use self::findings::Iperf3Caveat;
use crate::Refusal;
use crate::attach::{Answer, Answered, NoClaim, Seat};
use crate::dialogue::ServerSettings;
use crate::inquiry::{Inquiry, Verdict};
use crate::joining::{Cookie, Identity, Joining};
use crate::peer::{ClientEnd, Control, KnownBy, Listener, Peer, Purpose, Sight};

/// What it is called.
const NAME: &str = "iperf3";
/// Letters of a cookie that this end draws.
const LETTERS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";

/// iperf3.
#[derive(Debug)]
pub enum Iperf3 {}

impl Peer for Iperf3 {
    const NAME: &'static str = NAME;
    const PORT: u16 = 5201;
    const CONTROL: Control = Control::Connection;
    const ONE_TEST: bool = true;
    const KNOWN_BY: KnownBy = KnownBy::Arrival;
    const LISTENER: Listener = Listener::Either;
    const CONVENTIONS: Conventions = Conventions {
        payload: Payload::Opaque,
        end: StreamEnd::Stopped,
        framing: Framing::Sequenced(Layout::of(Width::Bits64)),
        ..Conventions::OWN
    };
    const TELLS: Tells = Tells { report: true, payload: false, ..Tells::NOTHING };
    const TAKES_REMARKS: bool = true;
    const FIRST_BYTES: usize = Cookie::BYTES;
    const CAVEATS: &'static [FindingDefinition] = Iperf3Caveat::ALL;

    type Client = Client;
    type StreamAttaching = Answered;
    type DatagramAttaching = Connecting;
    type Words = Iperf3Words;
    type Greeting = Cookie;
    type Server = Server;
    type StreamClaim = NoClaim;
    type DatagramClaim = NoClaim;
    type Challenger = HearConnects;

    fn measures(command: &str) -> bool {
        command == "goodput"
    }

    /// It costs the server a client that goes before it has said what it wants.
    fn inquiry(end: ClientEnd, _: Tick) -> Option<Inquiry> {
        Some(Inquiry {
            transport: Transport::Stream,
            says: cookie_of(&end.entropy).0.to_vec(),
            in_words: "a cookie of 37 bytes",
            answer: |_, heard| match heard {
                [] => Verdict::More,
                // It asks for parameters, or serves somebody else.
                [states::PARAM_EXCHANGE | states::ACCESS_DENIED, ..] => Verdict::Known,
                _ => Verdict::Other,
            },
        })
    }

    fn carries(test: &Test) -> Result<(), Refusal> {
        carried::carries(test)
    }

    fn client(end: ClientEnd, now: Tick) -> Client {
        let token = end.entropy.last_chunk().copied().unwrap_or_default();
        let tool = &end.host.tool;
        let version = format!("{} {}", tool.name, tool.version);
        Client::new(cookie_of(&end.entropy), Token(token), (version, end.remarks), now)
    }

    fn attach_stream(_: Seat, _: Option<Token>, cookie: Option<Cookie>) -> Answered {
        let opening = cookie.map(|Cookie(cookie)| cookie.to_vec());
        Answered::new(opening.unwrap_or_default(), Answer::None)
    }

    fn attach_datagrams(_: Seat, _: Option<Token>, _: u64, now: Tick) -> Option<Connecting> {
        Some(Connecting::new(now))
    }

    fn receive(said: &[u8]) -> Sight<Purpose<Cookie, NoClaim>> {
        let seen = &said[..said.len().min(Cookie::BYTES)];
        let (letters, last) = seen.split_at(seen.len().min(Cookie::BYTES - 1));
        if !letters.iter().all(|&byte| is_letter(byte)) {
            return Sight::Other;
        }
        match (last, said.first_chunk()) {
            ([], _) => Sight::More(Cookie::BYTES),
            ([0], Some(&cookie)) => {
                let cookie = Cookie(cookie);
                let identity = Identity::Cookie(cookie);
                Sight::Known(Purpose::Join(Joining {
                    greeting: cookie,
                    identity,
                    answer: Vec::new(),
                }))
            }
            _ => Sight::Other,
        }
    }

    fn server(settings: ServerSettings, _: Cookie, entropy: [u8; 16], now: Tick) -> Server {
        Server::new(settings, Token(entropy), now)
    }

    fn substituted(test: &Test) -> Vec<Substitution> {
        plans::substituted(test)
    }

    fn refused(_: Cookie, _: &Refusal) -> Vec<u8> {
        vec![states::ACCESS_DENIED]
    }

    fn challenger(_: [u8; 16]) -> HearConnects {
        HearConnects
    }
}

/// Up to 3.1 a cookie holds the host's name and a time, later `a-z2-7` alone.
const fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_')
}

/// What all connections of a client say that drew this.
fn cookie_of(drawn: &[u8; 32]) -> Cookie {
    let mut cookie = [0; Cookie::BYTES];
    let letters = cookie.iter_mut().take(Cookie::BYTES - 1);
    letters.enumerate().for_each(|(place, letter)| {
        // Five bits each.
        let (byte, bit) = (place * 5 / 8, place * 5 % 8);
        let next = drawn.get(byte + 1).copied().unwrap_or_default();
        let bits = u16::from_be_bytes([drawn[byte], next]) >> (11 - bit) & 0x1f;
        *letter = LETTERS[usize::from(bits)];
    });
    Cookie(cookie)
}
