//! ntttcp for Linux, as its senders speak: connections to ports that follow one another, each of which carries bytes that say nothing from
//! the client to the server, and beside them a connection to the port before, on which both agree on when to begin and to end.
//!
//! ```text
//!  client                               server, at the port before
//!    |---- 58 'X': is it busy? ----------->|
//!    |<--- 0b: it is not ------------------|
//!    |---- seconds ----------------------->|   all numbers are of 32 bits, the high byte first
//!    |<--- seconds ------------------------|
//!    |==== connections to its data ports ==|
//!    |---- 52 'R': begin ----------------->|
//!    |<--- 52 'R' -------------------------|
//!    |==== data ===========================|
//!    |---- 45 'E': all is sent ----------->|
//!    |<--- 0d: it is over -----------------|
//!    |==== all connections are closed =====|
//! ```
//!
//! Without that connection (`-N`) it is another kind here: a server waits for one, or it does not, and nobody can tell. Nobody says what
//! came: what was acknowledged is all that is known. Not here: its servers' part, and UDP, whose datagrams have no numbers.

mod client;
mod words;

#[cfg(test)]
mod tests;

use pathscope_core::Tick;
use pathscope_core::id::Token;
use pathscope_core::record::Tells;
use pathscope_flow::{Group, Transport};
use pathscope_modes::conventions::Conventions;
use pathscope_modes::goodput::Shutdown;
use pathscope_modes::groups::Test;
use pathscope_modes::load::{Extent, Pattern};
use pathscope_modes::pattern::{Block, Payload};
use pathscope_modes::registry::Plan;

pub use self::client::NtttcpClient;
use self::words::Unserved;
use crate::Refusal;
use crate::attach::{Answer, Answered, HearNothing, NoClaim, NoDatagrams, Seat};
use crate::dialogue::ServerSettings;
use crate::in_band::{self, InBand};
use crate::joining::Cookie;
use crate::peer::{ClientEnd, Control, KnownBy, Listener, Peer};

/// What data are made of.
static LETTERS: [u8; 65_536] = [b'A'; 65_536];
/// Nothing is made of it: what is sent is the same on all connections.
const TOKEN: Token = Token([0; 16]);
/// The first port for data.
const PORT: u16 = 5_001;
const PAYLOAD: Payload = Payload::Block(Block::new(&LETTERS));

/// One that agrees on when to begin.
#[derive(Debug)]
pub enum Ntttcp {}

/// One that does not (`-N`).
#[derive(Debug)]
pub enum NtttcpNoSync {}

/// Whether its server can be asked for this test; if not, why.
fn carries(test: &Test) -> Result<(), Refusal> {
    let no = |sentence: &str| Err(Refusal::new("unable", sentence.to_owned()));
    let groups = test.groups();
    if groups.iter().any(|group| group.transport == Transport::Datagram) {
        return no(
            "ntttcp's datagrams have no numbers, so that nobody knows which were lost: leave --protocol udp out",
        );
    }
    let Plan::Goodput(plan) = &test.plan else {
        return no("an ntttcp receiver takes loads over TCP, and nothing else: goodput");
    };
    if plan.pattern != Pattern::Push {
        return no("an ntttcp receiver sends nothing: --pattern push");
    }
    if groups.len() > 1 {
        return no(
            "an ntttcp receiver cannot tell probes from the connections of the load: --no-probe",
        );
    }
    if groups.iter().any(Group::replaces) || plan.shape.shutdown != Shutdown::Graceful {
        return no("connections to an ntttcp receiver are made once, and end in good order");
    }
    Ok(())
}

impl Peer for Ntttcp {
    const NAME: &'static str = "ntttcp";
    const PORT: u16 = PORT;
    const CONTROL: Control = Control::PortBefore;
    const ONE_TEST: bool = true;
    const KNOWN_BY: KnownBy = KnownBy::Nothing;
    const LISTENER: Listener = Listener::Own;
    /// Connections are closed when the server has heard of the end: its threads wait for something to come, and see then that it is over.
    const CONVENTIONS: Conventions = Conventions { payload: PAYLOAD, ..Conventions::OWN };
    const TELLS: Tells = Tells::NOTHING;

    type Client = NtttcpClient;
    type StreamAttaching = Answered;
    type DatagramAttaching = NoDatagrams;
    type Words = Unserved;
    type Greeting = ();
    type Server = InBand;
    type StreamClaim = NoClaim;
    type DatagramClaim = NoClaim;
    type Challenger = HearNothing;

    fn carries(test: &Test) -> Result<(), Refusal> {
        carries(test)?;
        match &test.plan {
            Plan::Goodput(plan) if matches!(plan.extent, Extent::DurationNs(_)) => Ok(()),
            _ => Err(Refusal::new(
                "unable",
                "an ntttcp receiver is told how long a test lasts: --duration, and no --transfer",
            )),
        }
    }

    fn measures(command: &str) -> bool {
        command == "goodput"
    }

    fn client(_: ClientEnd, now: Tick) -> NtttcpClient {
        NtttcpClient::new(now)
    }

    fn attach_stream(_: Seat, _: Option<Token>, _: Option<Cookie>) -> Answered {
        Answered::new(Vec::new(), Answer::None)
    }

    fn server(settings: ServerSettings, (): (), _: [u8; 16], _: Tick) -> InBand {
        InBand::server(Self::NAME, TOKEN, &settings)
    }

    fn challenger(_: [u8; 16]) -> HearNothing {
        HearNothing
    }
}

impl Peer for NtttcpNoSync {
    const NAME: &'static str = "ntttcp-no-sync";
    const PORT: u16 = PORT;
    const CONTROL: Control = Control::InBand;
    const ONE_TEST: bool = true;
    const KNOWN_BY: KnownBy = KnownBy::Nothing;
    const LISTENER: Listener = Listener::Own;
    const CONVENTIONS: Conventions = Conventions { payload: PAYLOAD, ..in_band::CONVENTIONS };
    const TELLS: Tells = Tells::NOTHING;

    type Client = InBand;
    type StreamAttaching = Answered;
    type DatagramAttaching = NoDatagrams;
    type Words = Unserved;
    type Greeting = ();
    type Server = InBand;
    type StreamClaim = NoClaim;
    type DatagramClaim = NoClaim;
    type Challenger = HearNothing;

    fn carries(test: &Test) -> Result<(), Refusal> {
        carries(test)
    }

    fn measures(command: &str) -> bool {
        command == "goodput"
    }

    fn client(_: ClientEnd, _: Tick) -> InBand {
        InBand::client(Self::NAME, TOKEN, None)
    }

    fn attach_stream(_: Seat, _: Option<Token>, _: Option<Cookie>) -> Answered {
        Answered::new(Vec::new(), Answer::None)
    }

    fn server(settings: ServerSettings, (): (), _: [u8; 16], _: Tick) -> InBand {
        InBand::server(Self::NAME, TOKEN, &settings)
    }

    fn challenger(_: [u8; 16]) -> HearNothing {
        HearNothing
    }
}
