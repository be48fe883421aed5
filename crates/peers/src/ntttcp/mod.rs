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
//! Without that connection (`-N`) it is another kind here at a client: a server waits for one, or it does not, and nobody can tell. A server
//! of ours serves both as one: whose data come without words says none. Nobody says what came: what was acknowledged is all that a client
//! knows.
//!
//! Several senders may take part in one test, where its server is told so (`-M`): each says that it begins and is told to wait (57 'W'),
//! until one says `L` in place of `R`, which is the last. All are told `R` then. At our server they are one session (`server/several`).
//!
//! Over UDP the words are the same, and each flow is a socket that sends to its port from the begin on: that nobody has connected by then
//! is how a server knows it. Datagrams have no numbers, and nothing comes back: what was lost nobody knows. Not here: a client that sends
//! them to who has said no word, and a server of such a one.

mod carried;
mod client;
mod hearing;
mod plan;
mod run;
mod server;
mod stage;
mod words;

#[cfg(test)]
mod tests;

use std::net::SocketAddr;

use pathscope_core::Tick;
use pathscope_core::id::Token;
use pathscope_core::record::Tells;
use pathscope_modes::conventions::{Conventions, Framing, StreamEnd};
use pathscope_modes::groups::Test;
use pathscope_modes::pattern::{Block, Payload};

pub use self::client::NtttcpClient;
pub use self::server::NtttcpServer;
use self::words::{NtttcpWords, Unserved};
use crate::Refusal;
use crate::attach::{Answer, Answered, AtOnce, HearNothing, NoClaim, Seat};
use crate::dialogue::{ClientDialogue, ServerSettings};
use crate::in_band::InBand;
use crate::joining::{Cookie, Identity, Joining};
use crate::operator::OperatorWords;
use crate::peer::{ClientEnd, Control, KnownBy, Listener, OwnDatagrams, Peer};

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

/// The same as the first, where several take part in one test: it is the last of them, with whom the server lets all begin.
#[derive(Debug)]
pub enum NtttcpLast {}

/// What they are not alike in.
pub trait Variant {
    /// As of [`Peer`].
    const NAME: &'static str;
    /// As of [`Peer`].
    const CONTROL: Control;
    /// By what streams end, at a client.
    const END: StreamEnd;

    /// As of [`Peer`].
    type Client: ClientDialogue;
    /// As of [`Peer`].
    type Words: OperatorWords;

    /// As of [`Peer`].
    fn client(now: Tick) -> Self::Client;

    /// Whether its server can be asked for a test that both have words for.
    fn is_told(test: &Test) -> Result<(), Refusal>;
}

impl Variant for Ntttcp {
    const NAME: &'static str = "ntttcp";
    const CONTROL: Control = Control::PortBefore;
    /// Connections are closed when the server has heard of the end: its threads wait for something to come, and see then that it is over.
    const END: StreamEnd = StreamEnd::Told;

    type Client = NtttcpClient;
    type Words = NtttcpWords;

    fn client(now: Tick) -> NtttcpClient {
        NtttcpClient::new(now)
    }

    fn is_told(test: &Test) -> Result<(), Refusal> {
        carried::is_timed(test)
    }
}

impl Variant for NtttcpLast {
    const NAME: &'static str = "ntttcp-last";
    const CONTROL: Control = Control::PortBefore;
    const END: StreamEnd = StreamEnd::Told;

    type Client = NtttcpClient;
    type Words = Unserved;

    fn client(now: Tick) -> NtttcpClient {
        NtttcpClient::last(now)
    }

    fn is_told(test: &Test) -> Result<(), Refusal> {
        carried::is_timed(test)
    }
}

impl Variant for NtttcpNoSync {
    const NAME: &'static str = "ntttcp-no-sync";
    const CONTROL: Control = Control::InBand;
    const END: StreamEnd = StreamEnd::Closed;

    type Client = InBand;
    type Words = Unserved;

    fn is_told(test: &Test) -> Result<(), Refusal> {
        carried::is_of_streams(test)
    }

    fn client(_: Tick) -> InBand {
        InBand::client(<Self as Variant>::NAME, TOKEN, None)
    }
}

/// How a sender comes to a server of ours.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Came {
    /// With a connection for words.
    ForWords,
    /// With its first connection for data.
    WithData,
}

impl<V: Variant> Peer for V {
    const NAME: &'static str = <V as Variant>::NAME;
    const PORT: u16 = PORT;
    const CONTROL: Control = <V as Variant>::CONTROL;
    const UNHEARD: Option<&'static str> = Some(
        "words go to the port before the first for data, and a receiver that was started with -N hears none: --peer ntttcp-no-sync",
    );
    const FEWER_PORTS: Option<&'static str> = Some(
        "the receiver is there and listens at fewer ports than this end connects to: start it with as many (-P, 16 where nothing is said), \
         or connect to fewer",
    );
    const ONE_TEST: bool = true;
    const KNOWN_BY: KnownBy = KnownBy::Nothing;
    const LISTENER: Listener = Listener::Own;
    const DATAGRAMS: OwnDatagrams = OwnDatagrams::Flows;
    const CONVENTIONS: Conventions = Conventions {
        payload: PAYLOAD,
        end: <V as Variant>::END,
        framing: Framing::Unnumbered,
        ..Conventions::OWN
    };
    /// A sender closes its connections when it has sent all, with words or without.
    const SERVED: Conventions = Conventions { end: StreamEnd::Closed, ..Self::CONVENTIONS };
    const TELLS: Tells = Tells::NOTHING;

    type Client = <V as Variant>::Client;
    type StreamAttaching = Answered;
    type DatagramAttaching = AtOnce;
    type Words = <V as Variant>::Words;
    type Greeting = Came;
    type Server = NtttcpServer;
    type StreamClaim = NoClaim;
    type DatagramClaim = NoClaim;
    type Challenger = HearNothing;

    fn carries(test: &Test) -> Result<(), Refusal> {
        carried::carries(test).and_then(|()| V::is_told(test))
    }

    fn measures(command: &str) -> bool {
        command == "goodput"
    }

    fn client(_: ClientEnd, now: Tick) -> Self::Client {
        <V as Variant>::client(now)
    }

    fn attach_stream(_: Seat, _: Option<Token>, _: Option<Cookie>) -> Answered {
        Answered::new(Vec::new(), Answer::None)
    }

    fn attach_datagrams(_: Seat, _: Option<Token>, _: u64, _: Tick) -> Option<AtOnce> {
        Some(AtOnce)
    }

    fn accepted(from: SocketAddr) -> Option<Joining<Came>> {
        Some(joining(Came::WithData, from))
    }

    fn accepted_for_words(from: SocketAddr) -> Option<Joining<Came>> {
        Some(joining(Came::ForWords, from))
    }

    fn server(settings: ServerSettings, came: Came, _: [u8; 16], now: Tick) -> NtttcpServer {
        NtttcpServer::new(settings, came == Came::ForWords, now)
    }

    /// There are no words for why: it is told that this end is busy, which it asks for first. On a connection for data nothing is said.
    fn refused(came: Came, _: &Refusal) -> Vec<u8> {
        match came {
            Came::ForWords => hearing::BUSY.to_be_bytes().to_vec(),
            Came::WithData => Vec::new(),
        }
    }

    fn challenger(_: [u8; 16]) -> HearNothing {
        HearNothing
    }
}

/// Senders have no names: those of one address are one.
fn joining(greeting: Came, from: SocketAddr) -> Joining<Came> {
    let identity = Identity::Address(from.ip().to_canonical());
    Joining { greeting, identity, answer: Vec::new() }
}
