//! `MultipathLatencyAnalyzer`: its server, which echoes datagrams and knows nothing of tests, and its clients, whose datagrams are echoed.
//!
//! There is nothing to agree on. A socket is a path's when a ping came back on it, and what the server counts nobody is told. Not here:
//! how datagrams are laid out (`modes/conventions/bare`), who is answered and how often (`run`).

mod asking;
mod words;

use std::net::SocketAddr;

use pathscope_core::Tick;
use pathscope_core::id::Token;
use pathscope_core::record::Tells;
use pathscope_flow::Transport;
use pathscope_modes::conventions::bare::{self, Bare, DATAGRAM_BYTES};
use pathscope_modes::conventions::{Conventions, Framing};
use pathscope_modes::groups::Test;
use pathscope_modes::registry::Plan;

use crate::Refusal;
use crate::attach::{Answer, Answered, AttachDatagrams as _, HearNothing, NoClaim, Seat};
use crate::dialogue::ServerSettings;
use crate::in_band::{self, InBand};
use crate::inquiry::{Inquiry, Verdict};
use crate::joining::{Cookie, Joining};
use crate::peer::{ClientEnd, Control, KnownBy, Listener, OwnDatagrams, Peer};

pub use asking::Asking;
pub use words::MlaWords;

/// Its datagrams bear no token.
const NO_TOKEN: Token = Token(*b"analyzers say no");

/// Servers and clients of this kind.
#[derive(Debug)]
pub enum Mla {}

/// In place of what a client says that asks for a session. None does.
#[derive(Clone, Copy, Debug)]
pub enum NoGreeting {}

impl Peer for Mla {
    const NAME: &'static str = "mla";
    const PORT: u16 = 8_888;
    const CONTROL: Control = Control::InBand;
    const KNOWN_BY: KnownBy = KnownBy::Nothing;
    const LISTENER: Listener = Listener::Own;
    const CONNECTS: bool = false;
    const DATAGRAMS: OwnDatagrams = OwnDatagrams::Answered;
    const CONVENTIONS: Conventions = Conventions { framing: Framing::Bare, ..in_band::CONVENTIONS };
    const TELLS: Tells = Tells::NOTHING;

    type Client = InBand;
    type StreamAttaching = Answered;
    type DatagramAttaching = Asking;
    type Words = MlaWords;
    type Greeting = NoGreeting;
    type Server = InBand;
    type StreamClaim = NoClaim;
    type DatagramClaim = NoClaim;
    type Challenger = HearNothing;

    fn carries(test: &Test) -> Result<(), Refusal> {
        let no = |sentence: String| Err(Refusal::new("unable", sentence));
        let Plan::Multipath(plan) = &test.plan else {
            return no("MultipathLatencyAnalyzer echoes the datagrams of paths, and nothing else: pathscope multipath".to_owned());
        };
        if test.groups().len() > 1 {
            return no("MultipathLatencyAnalyzer answers no probes: --no-probe".to_owned());
        }
        if plan.datagram_bytes.0 > DATAGRAM_BYTES as u64 {
            return no(format!(
                "MultipathLatencyAnalyzer has room for datagrams of {DATAGRAM_BYTES} bytes, and {} were asked for: --datagram",
                plan.datagram_bytes.0
            ));
        }
        Ok(())
    }

    fn measures(command: &str) -> bool {
        command == "multipath"
    }

    fn inquiry(_: ClientEnd, now: Tick) -> Option<Inquiry> {
        Some(Inquiry {
            transport: Transport::Datagram,
            says: Asking::new(now).datagram(now)?,
            in_words: "a ping",
            answer: |said, heard| match (Bare::read(said), Bare::read(heard)) {
                (Some(said), Some(heard))
                    if heard.echoed_us > 0
                        && heard == Bare { echoed_us: heard.echoed_us, ..said } =>
                {
                    Verdict::Known
                }
                _ => Verdict::Other,
            },
        })
    }

    fn client(_: ClientEnd, _: Tick) -> InBand {
        InBand::client(Self::NAME, NO_TOKEN, None)
    }

    /// Nobody listens there for it, and no test that is carried asks for it.
    fn attach_stream(_: Seat, _: Option<Token>, _: Option<Cookie>) -> Answered {
        Answered::new(Vec::new(), Answer::None)
    }

    fn attach_datagrams(_: Seat, _: Option<Token>, _: u64, now: Tick) -> Option<Asking> {
        Some(Asking::new(now))
    }

    fn accepted(_: SocketAddr) -> Option<Joining<NoGreeting>> {
        None
    }

    fn answer(datagram: &mut [u8], now: Tick) -> bool {
        bare::echo(datagram, now)
    }

    fn server(_: ServerSettings, greeting: NoGreeting, _: [u8; 16], _: Tick) -> InBand {
        match greeting {}
    }

    fn challenger(_: [u8; 16]) -> HearNothing {
        HearNothing
    }
}

#[cfg(test)]
mod tests;
