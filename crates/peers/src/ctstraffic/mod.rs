//! ctsTraffic 2.x. Over UDP, streams that are asked for (`streams`); over TCP, connections without a control connection, on each of which the server says first what it is called, then both send
//! as their command lines say, which must be the same in that, and the server says last that it is done.
//!
//! ```text
//!  client                                 server
//!    |<--- 37 bytes: a UUID and 00 ---------|   before anything else
//!    |<=== data, as the pattern has it ====>|   16-bit numbers from 0 to 32,767, little-endian, over and over
//!    |<--- 44 4f 4e 45 (DONE) --------------|   when it has sent and received all
//!    |---- FIN, or RST -------------------->|
//!    |<--- FIN -----------------------------|
//! ```
//!
//! Whoever finds anything wrong resets the connection: that is all that is said of it.

mod stream_words;
mod streams;
mod words;

#[cfg(test)]
mod tests;

use std::net::SocketAddr;

use pathscope_core::Tick;
use pathscope_core::id::Token;
use pathscope_core::quantity::bytes;
use pathscope_core::record::Tells;
use pathscope_flow::Transport;
use pathscope_modes::conventions::{Agreed, Conventions, Framing, StreamEnd};
use pathscope_modes::groups::Test;
use pathscope_modes::load::Extent;
use pathscope_modes::pattern::{Block, Payload};
use pathscope_modes::registry::Plan;

use self::words::CtsTrafficWords;
use crate::Refusal;
use crate::answerers::names_connection;
use crate::attach::{Answer, Answered, AtOnce, HearNothing, NoClaim, Seat};
use crate::dialogue::ServerSettings;
use crate::in_band::{self, InBand};
use crate::inquiry::Inquiry;
use crate::joining::{Calling, Cookie, Identity, Joining};
use crate::peer::{ClientEnd, Control, KnownBy, Listener, OwnDatagrams, Peer};

/// After so many bytes the pattern begins anew.
const PERIOD: usize = 1 << 16;
/// The pattern.
static NUMBERS: [u8; PERIOD] = numbers();
/// How a connection ends.
static AGREED: Agreed = Agreed {
    done: b"DONE",
    settings: "nobody says more: see the other end, and whether both were told the same pattern, transfer and, of pushpull, segments",
};
/// Bytes that a server says first: a UUID as text, and a zero.
const NAME_BYTES: usize = 37;
/// Nothing is made of it: what is sent is the same on all connections.
const TOKEN: Token = Token([0; 16]);

#[expect(
    clippy::large_stack_arrays,
    reason = "it is made by the compiler, and on no stack of ours"
)]
const fn numbers() -> [u8; PERIOD] {
    let mut numbers = [0; PERIOD];
    let mut number = 0;
    while number < PERIOD / 2 {
        let [low, high] = (number as u16).to_le_bytes();
        numbers[2 * number] = low;
        numbers[2 * number + 1] = high;
        number += 1;
    }
    numbers
}

fn digit(value: u8) -> char {
    char::from_digit(value.into(), 16).unwrap_or_default()
}

/// What a connection is called that drew this: a UUID of version 4 as text, and a zero.
fn name_of(mut drawn: [u8; 16]) -> Vec<u8> {
    drawn[6] = drawn[6] & 0x0f | 0x40;
    drawn[8] = drawn[8] & 0x3f | 0x80;
    let mut name = String::with_capacity(NAME_BYTES);
    for (place, byte) in drawn.iter().enumerate() {
        if matches!(place, 4 | 6 | 8 | 10) {
            name.push('-');
        }
        name.extend([byte >> 4, byte & 0xf].map(digit));
    }
    name.push('\0');
    name.into_bytes()
}

/// ctsTraffic.
#[derive(Debug)]
pub enum CtsTraffic {}

impl Peer for CtsTraffic {
    const NAME: &'static str = "ctstraffic";
    const PORT: u16 = 4444;
    const CONTROL: Control = Control::InBand;
    const KNOWN_BY: KnownBy = KnownBy::Nothing;
    const LISTENER: Listener = Listener::Own;
    const DATAGRAMS: OwnDatagrams = OwnDatagrams::Begin;
    const CONVENTIONS: Conventions = Conventions {
        payload: Payload::Block(Block::new(&NUMBERS)),
        end: StreamEnd::Agreed(&AGREED),
        framing: Framing::Frames,
        ..in_band::CONVENTIONS
    };
    const TELLS: Tells = Tells::ENDINGS;

    type Client = InBand;
    type StreamAttaching = Answered;
    type DatagramAttaching = AtOnce;
    type Words = CtsTrafficWords;
    type Greeting = ();
    type Server = InBand;
    type StreamClaim = NoClaim;
    type DatagramClaim = NoClaim;
    type Challenger = HearNothing;

    fn carries(test: &Test) -> Result<(), Refusal> {
        if let Some(carried) = streams::carries(test) {
            return carried;
        }
        let no = |sentence: &str| Err(Refusal::new("unable", sentence.to_owned()));
        let Plan::Goodput(plan) = &test.plan else {
            return no(
                "a ctsTraffic server runs loads over TCP and streams of frames over UDP, and nothing else: goodput, media",
            );
        };
        if matches!(plan.extent, Extent::DurationNs(_)) {
            return no(
                "a ctsTraffic server ends each connection after the bytes that it was told: say with --transfer how many (1GiB unless \
                 it was told otherwise), and with --time-limit when to stop",
            );
        }
        if !plan.server_cpus.is_empty() {
            return no("a ctsTraffic server is told nothing of processors: leave --server-cpu out");
        }
        in_band::carries_to(test, Self::CONVENTIONS.end)
    }

    fn measures(command: &str) -> bool {
        matches!(command, "goodput" | "media")
    }

    /// It costs the server a connection that comes to nothing. One that serves streams alone has no such port, and cannot be asked: over UDP
    /// an answer is a whole stream.
    fn inquiry(_: ClientEnd, _: Tick) -> Option<Inquiry> {
        Some(Inquiry {
            transport: Transport::Stream,
            says: Vec::new(),
            in_words: "a connection on which nothing is said",
            answer: |_, heard| names_connection(heard),
        })
    }

    fn client(_: ClientEnd, _: Tick) -> InBand {
        InBand::client(Self::NAME, TOKEN, None)
    }

    fn attach_stream(_: Seat, _: Option<Token>, _: Option<Cookie>) -> Answered {
        Answered::new(Vec::new(), Answer::Name)
    }

    fn attach_datagrams(_: Seat, _: Option<Token>, _: u64, _: Tick) -> Option<AtOnce> {
        Some(AtOnce)
    }

    fn accepted_as(from: SocketAddr, entropy: [u8; 16]) -> Option<Joining<()>> {
        let identity = Identity::Address(from.ip());
        Some(Joining { greeting: (), identity, answer: name_of(entropy) })
    }

    fn called(said: &[u8], entropy: [u8; 16]) -> Option<Calling<()>> {
        streams::called(said, entropy)
    }

    /// How many connections a client makes, and for how long, it does not say.
    fn served_as(test: &Test) -> Option<String> {
        let Plan::Goodput(plan) = &test.plan else { return None };
        let each = match (plan.extent, plan.shape.transfer_most_bytes) {
            (Extent::TransferBytes(low), Some(high)) => {
                format!("{} to {}", bytes(low.0), bytes(high.0))
            }
            (Extent::TransferBytes(all), None) => bytes(all.0),
            // It states none.
            (Extent::DurationNs(_), _) => return None,
        };
        let rate = plan.rate_bps.map_or_else(String::new, |rate| format!(", at most {rate} each"));
        Some(format!(
            "TCP {}: each connection that comes moves {each}{rate}{}, and is told DONE",
            plan.pattern.name(),
            plan.verify.words()
        ))
    }

    fn server(settings: ServerSettings, (): (), _: [u8; 16], _: Tick) -> InBand {
        InBand::server_of((Self::NAME, Self::CONVENTIONS.end), TOKEN, &settings)
    }

    fn challenger(_: [u8; 16]) -> HearNothing {
        HearNothing
    }
}
