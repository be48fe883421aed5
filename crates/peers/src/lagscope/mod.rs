//! lagscope, as it has been since its messages are those of latte.exe: one TCP connection, on which the client says one message that
//! is no ping and then pings, each as long as it was told, and gets back what it said. Nothing is agreed on, and nobody says a
//! word at the end.
//!
//! ```text
//!  client                                       server
//!    |---- d0 14 00 00, 41 41 … ------------------>|   as long as a ping
//!    |<--- the same -------------------------------|
//!    |---- 00 00 00 00, 41 41 … ------------------>|   ping 0, and so on
//!    |<--- the same -------------------------------|
//!    |---- FIN ----------------------------------->|
//! ```
//!
//! Here every connection is a session of its own at the server, which echoes what comes as it comes: it serves messages of every
//! length.

use std::net::SocketAddr;

use pathscope_core::id::Token;
use pathscope_core::quantity::{Bytes, Frequency, Period};
use pathscope_core::record::Tells;
use pathscope_core::{Tick, Wait};
use pathscope_flow::Transport;
use pathscope_modes::conventions::{Conventions, NumberedPings, Pings};
use pathscope_modes::groups::Test;
use pathscope_modes::latency::{Extent, LatencyPlan, LoadModel, Protocol};
use pathscope_modes::pattern::Block;
use pathscope_modes::registry::Plan;

use crate::Refusal;
use crate::attach::{Answer, Answered, HearNothing, NoClaim, NoDatagrams, Seat};
use crate::dialogue::ServerSettings;
use crate::in_band::{self, InBand};
use crate::inquiry::{Inquiry, Verdict};
use crate::joining::{Cookie, Identity, Joining};
use crate::peer::{ClientEnd, Control, KnownBy, Listener, Peer};

#[cfg(test)]
mod tests;
mod words;

pub use words::LagscopeWords;

/// What the first message begins with: 5328, little-endian, which the server of latte.exe wants to hear.
const OPENING: [u8; 4] = [0xd0, 0x14, 0, 0];
/// What follows it, and the number of a ping.
const FILLER: Block = Block::new(&[b'A'; 16 << 10]);
/// The shortest message: a number and nothing else.
const SHORTEST: Bytes = Bytes(NumberedPings::NUMBER_BYTES as u64);
/// What the server takes of a connection at once. Longer messages go back in pieces.
const AT_ONCE: Bytes = Bytes(16 << 10);
/// So long a client may send nothing: it sleeps between two pings for as many seconds as it was told.
const SILENCE: Period = Period::from_secs(600);
/// Nothing is made of it: what is sent is the same in every session.
const TOKEN: Token = Token([0; 16]);

/// lagscope.
#[derive(Debug)]
pub enum Lagscope {}

impl Peer for Lagscope {
    const NAME: &'static str = "lagscope";
    const PORT: u16 = 6001;
    const CONTROL: Control = Control::InBand;
    const KNOWN_BY: KnownBy = KnownBy::Nothing;
    const LISTENER: Listener = Listener::Own;
    const CONVENTIONS: Conventions = Conventions {
        pings: Pings::Numbered(NumberedPings { opening: OPENING, filler: FILLER }),
        ..in_band::CONVENTIONS
    };
    const TELLS: Tells = Tells::NOTHING;

    type Client = InBand;
    type StreamAttaching = Answered;
    type DatagramAttaching = NoDatagrams;
    type Words = LagscopeWords;
    type Greeting = ();
    type Server = InBand;
    type StreamClaim = NoClaim;
    type DatagramClaim = NoClaim;
    type Challenger = HearNothing;

    fn carries(test: &Test) -> Result<(), Refusal> {
        let no = |sentence: String| Err(Refusal::new("unable", sentence));
        let Plan::Latency(plan) = &test.plan else {
            return no("a lagscope server echoes pings, and nothing else: latency".to_owned());
        };
        if plan.protocol != Protocol::Tcp {
            return no("a lagscope server knows TCP alone: --protocol tcp".to_owned());
        }
        if plan.size_bytes < SHORTEST {
            return no(format!("a ping to a lagscope server is {SHORTEST} or longer: --size"));
        }
        if plan.reply_bytes() != plan.size_bytes {
            let sentence =
                "a lagscope server sends back what it was sent: --size, without --reply-size";
            return no(sentence.to_owned());
        }
        if !plan.server_cpus.is_empty() {
            let sentence = "a lagscope server is told nothing of processors: leave --server-cpu out, and start it with -f";
            return no(sentence.to_owned());
        }
        in_band::carries(test)
    }

    fn measures(command: &str) -> bool {
        command == "latency"
    }

    fn inquiry(_: ClientEnd, _: Tick) -> Option<Inquiry> {
        Some(Inquiry {
            transport: Transport::Stream,
            says: OPENING.to_vec(),
            in_words: "a first message of 4 bytes",
            answer: |said, heard| Verdict::of_begin(heard, said),
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

    fn server(settings: ServerSettings, (): (), _: [u8; 16], _: Tick) -> InBand {
        InBand::server(Self::NAME, TOKEN, &settings).patient(SILENCE)
    }

    fn challenger(_: [u8; 16]) -> HearNothing {
        HearNothing
    }
}

/// What a server runs for each connection: it echoes for as long as pings come, and waits as lagscope's own does. How long pings are, and how
/// many come, the client alone knows.
pub fn echo(change: impl FnOnce(&mut LatencyPlan)) -> Test {
    let mut plan = LatencyPlan {
        protocol: Protocol::Tcp,
        load_model: LoadModel::Closed,
        extent: Extent::WithLoad,
        size_bytes: AT_ONCE,
        wait: Wait::Sleep,
        ..LatencyPlan::probe(Frequency(1))
    };
    change(&mut plan);
    Test::new(plan.into(), None, Period::from_secs(1))
}
