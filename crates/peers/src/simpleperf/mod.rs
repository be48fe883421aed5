//! simpleperf, a throughput tool that is run in labs: connections that each carry messages of 1,000 bytes from the client to the server, and
//! two words at the end. Nothing else is agreed on or said.
//!
//! ```text
//!  client                               server
//!    |---- messages of 1,000 bytes ------>|   for a time, or so many
//!    |---- 42 59 45 (BYE) --------------->|
//!    |<--- 41 43 4b 3a 20 42 59 45 -------|   ACK: BYE
//!    |---- FIN -------------------------->|
//! ```
//!
//! Its server reads what comes as text and looks for the word in it, so that ours is text without it. What clients send is whatever
//! they like: it is counted, and looked at for the word alone.

mod words;

#[cfg(test)]
mod tests;

use std::net::SocketAddr;

use pathscope_core::Tick;
use pathscope_core::id::Token;
use pathscope_core::record::Tells;
use pathscope_flow::Transport;
use pathscope_modes::conventions::{Conventions, Parting, StreamEnd};
use pathscope_modes::goodput::Shutdown;
use pathscope_modes::groups::Test;
use pathscope_modes::load::Pattern;
use pathscope_modes::pattern::{Block, Payload};
use pathscope_modes::registry::Plan;

use self::words::SimpleperfWords;
use crate::Refusal;
use crate::attach::{Answer, Answered, HearNothing, NoClaim, NoDatagrams, Seat};
use crate::dialogue::ServerSettings;
use crate::in_band::{self, InBand};
use crate::inquiry::{Inquiry, Verdict};
use crate::joining::{Cookie, Identity, Joining};
use crate::peer::{ClientEnd, Control, KnownBy, Listener, Peer};

/// Bytes of a message.
const MESSAGE: usize = 1_000;
/// A message: text in which the word is nowhere, wherever it is cut.
static TEXT: [u8; MESSAGE] = text();
/// How a connection ends.
static PARTING: Parting =
    Parting { said: b"BYE", answer: b"ACK: BYE", message_bytes: MESSAGE as u16 };
/// Nothing is made of it: what is sent is the same on all connections.
const TOKEN: Token = Token([0; 16]);

const fn text() -> [u8; MESSAGE] {
    let mut text = [b'0'; MESSAGE];
    let mut place = 0;
    while place < MESSAGE {
        text[place] = b'0' + (place % 10) as u8;
        place += 1;
    }
    text
}

/// simpleperf.
#[derive(Debug)]
pub enum Simpleperf {}

impl Peer for Simpleperf {
    const NAME: &'static str = "simpleperf";
    const PORT: u16 = 8080;
    const CONTROL: Control = Control::InBand;
    const KNOWN_BY: KnownBy = KnownBy::Nothing;
    const LISTENER: Listener = Listener::Own;
    const CONVENTIONS: Conventions = Conventions {
        payload: Payload::Block(Block::new(&TEXT)),
        end: StreamEnd::Word(&PARTING),
        ..in_band::CONVENTIONS
    };
    const TELLS: Tells = Tells::ENDINGS;

    type Client = InBand;
    type StreamAttaching = Answered;
    type DatagramAttaching = NoDatagrams;
    type Words = SimpleperfWords;
    type Greeting = ();
    type Server = InBand;
    type StreamClaim = NoClaim;
    type DatagramClaim = NoClaim;
    type Challenger = HearNothing;

    fn carries(test: &Test) -> Result<(), Refusal> {
        let no = |sentence: &str| Err(Refusal::new("unable", sentence.to_owned()));
        let Plan::Goodput(plan) = &test.plan else {
            return no("a simpleperf server takes loads over TCP, and nothing else: goodput");
        };
        if plan.pattern != Pattern::Push {
            return no("a simpleperf server sends nothing: --pattern push");
        }
        if plan.shape.shutdown != Shutdown::Graceful {
            return no(
                "each connection to a simpleperf server ends with a word, and no other way: --shutdown graceful",
            );
        }
        in_band::carries_to(test, Self::CONVENTIONS.end)
    }

    fn measures(command: &str) -> bool {
        command == "goodput"
    }

    /// A test without a byte.
    fn inquiry(_: ClientEnd, _: Tick) -> Option<Inquiry> {
        Some(Inquiry {
            transport: Transport::Stream,
            says: PARTING.said.to_vec(),
            in_words: "BYE",
            answer: |_, heard| Verdict::of_begin(heard, PARTING.answer),
        })
    }

    fn client(_: ClientEnd, _: Tick) -> InBand {
        InBand::client(Self::NAME, TOKEN, None)
    }

    fn attach_stream(_: Seat, _: Option<Token>, _: Option<Cookie>) -> Answered {
        Answered::new(Vec::new(), Answer::None)
    }

    fn accepted(from: SocketAddr) -> Option<Joining<()>> {
        let identity = Identity::Address(from.ip());
        Some(Joining { greeting: (), identity, answer: Vec::new() })
    }

    fn served_as(_: &Test) -> Option<String> {
        Some("TCP: what comes on each connection is counted, until its client says BYE".to_owned())
    }

    fn server(settings: ServerSettings, (): (), _: [u8; 16], _: Tick) -> InBand {
        InBand::server_of((Self::NAME, Self::CONVENTIONS.end), TOKEN, &settings)
    }

    fn challenger(_: [u8; 16]) -> HearNothing {
        HearNothing
    }
}
