//! What a kind of peer is to the rest of the program. Each has a folder that says it for itself; `registry` lists them.

use std::fmt::Debug;
use std::net::SocketAddr;

use pathscope_core::Tick;
use pathscope_core::finding::FindingDefinition;
use pathscope_core::id::Token;
use pathscope_core::record::{Host, Remarks, Substitution, Tells};
use pathscope_modes::conventions::Conventions;
use pathscope_modes::groups::Test;

use crate::Refusal;
use crate::attach::{AttachDatagrams, AttachStream, ClaimSeat, HearDatagrams, Seat};
use crate::dialogue::{ClientDialogue, Returning, ServerDialogue, ServerSettings};
use crate::inquiry::Inquiry;
use crate::joining::{Calling, Cookie, Joining};
use crate::operator::OperatorWords;

/// A kind of peer. Never a value: what is one of it has a type of its own.
pub trait Peer {
    /// What it is called where one is chosen, and in results.
    const NAME: &'static str;
    /// The port of both transports, unless another is chosen.
    const PORT: u16;
    /// Whether a session has a control connection.
    const CONTROL: Control;
    /// What to do where nobody listens for that connection though a server of the kind may be there, if anything.
    const UNHEARD: Option<&'static str> = None;
    /// What it means, and what to do, where a server takes connections at one port and refuses them at another, if a kind's flows go to
    /// several.
    const FEWER_PORTS: Option<&'static str> = None;
    /// Whether a session is over with its first test, so that each of several has one of its own.
    const ONE_TEST: bool = false;
    /// By what a server knows which flow a TCP connection is.
    const KNOWN_BY: KnownBy;
    /// Where its clients come.
    const LISTENER: Listener;
    /// Whether they connect there over TCP, where they have a listener of their own.
    const CONNECTS: bool = true;
    /// What is made of datagrams that come there.
    const DATAGRAMS: OwnDatagrams = OwnDatagrams::None;
    /// What holds on the connections of flows.
    const CONVENTIONS: Conventions;
    /// The same at a server, where that differs.
    const SERVED: Conventions = Self::CONVENTIONS;
    /// What a client of it is told of what it counts.
    const TELLS: Tells;
    /// Whether its server can be told what a test is called and the like, and says what it prints of it.
    const TAKES_REMARKS: bool = false;
    /// The most bytes for which [`receive`](Self::receive) ever asks.
    const FIRST_BYTES: usize = 0;
    /// What can be found of what is said in its sessions.
    const CAVEATS: &'static [FindingDefinition] = &[];

    /// The client's end of a session with one.
    type Client: ClientDialogue;
    /// A TCP connection that asks for its seat.
    type StreamAttaching: AttachStream;
    /// A datagram flow that does, or a lane of one.
    type DatagramAttaching: AttachDatagrams;

    /// What a server's operator can say of its clients.
    type Words: OperatorWords;
    /// What a client says that asks for a session.
    type Greeting: Copy + Debug + Send;
    /// The server's end of a session with one.
    type Server: ServerDialogue + 'static;
    /// A TCP connection that says for which seat it is.
    type StreamClaim: ClaimSeat + Debug;
    /// A datagram flow, or a lane of one, that asks for its seat from a proven address.
    type DatagramClaim: ClaimSeat + Debug;
    /// The server's side of datagram flows that ask for their seats.
    type Challenger: HearDatagrams<Claim = Self::DatagramClaim>;

    /// Whether this subcommand measures with one, as far as that goes: each test is judged by itself ([`carries`](Self::carries)).
    fn measures(_command: &str) -> bool {
        true
    }

    /// What is said to find out whether one is at an address. None of a kind that nothing is known of before a whole test.
    fn inquiry(_end: ClientEnd, _now: Tick) -> Option<Inquiry> {
        None
    }

    /// Whether its words can ask for this test; if not, why, as a fragment of a sentence.
    fn carries(_test: &Test) -> Result<(), Refusal> {
        Ok(())
    }

    /// The same, and whether its headers have room in the test's datagrams.
    fn takes(test: &Test) -> Result<(), Refusal> {
        let fits = test.fits(Self::CONVENTIONS.framing);
        fits.map_err(|error| Refusal::new("invalid", error.to_string()))?;
        let speaks_first = matches!(Self::KNOWN_BY, KnownBy::Seat);
        if test.plan.asks().fast_open && !speaks_first {
            let text = "at such a server no connection says first what it is for, so none has anything to send with its SYN: \
                        leave --fast-open out";
            return Err(Refusal::new("unable", text));
        }
        Self::carries(test)
    }

    /// A dialogue, on a control connection that has just been made where there is one.
    fn client(end: ClientEnd, now: Tick) -> Self::Client;

    /// A connection for this seat is about to be made; `session` is what the session is called, if it has a name, and `cookie` what
    /// all of its connections say, if they do.
    fn attach_stream(
        seat: Seat,
        session: Option<Token>,
        cookie: Option<Cookie>,
    ) -> Self::StreamAttaching;

    /// A socket for this seat asks from now on; `nonce` is unpredictable and another one for each. None of a kind that knows no
    /// datagrams.
    fn attach_datagrams(
        _seat: Seat,
        _session: Option<Token>,
        _nonce: u64,
        _now: Tick,
    ) -> Option<Self::DatagramAttaching> {
        None
    }

    /// What a caller of this kind is there for who began with these bytes. It is asked again when more have come, and no byte is
    /// read for it but those that it asks for: what follows is the session's or the flow's. Where its clients come to a listener of its
    /// own, none is known by what it says.
    fn receive(_said: &[u8]) -> Sight<Purpose<Self::Greeting, Self::StreamClaim>> {
        Sight::Other
    }

    /// A connection has come from there to the listener that this kind has for itself. None where it has none.
    fn accepted(_from: SocketAddr) -> Option<Joining<Self::Greeting>> {
        None
    }

    /// A connection has come from there to the port [before](Control::PortBefore) the first of those. None where nothing is said there.
    fn accepted_for_words(_from: SocketAddr) -> Option<Joining<Self::Greeting>> {
        None
    }

    /// The same, of a kind that tells each connection what it is called: `entropy` is unpredictable, and another for each.
    fn accepted_as(from: SocketAddr, _entropy: [u8; 16]) -> Option<Joining<Self::Greeting>> {
        Self::accepted(from)
    }

    /// What a datagram asks for that has come to the listener which this kind has for itself, where its datagrams
    /// [begin](OwnDatagrams::Begin) sessions; `entropy` is unpredictable and drawn anew for each. None where it asks for nothing.
    fn called(_datagram: &[u8], _entropy: [u8; 16]) -> Option<Calling<Self::Greeting>> {
        None
    }

    /// Makes the answer to a datagram that has come to the listener that this kind has for itself, in its place, where its datagrams
    /// are [answered](OwnDatagrams::Answered). Whether there is one.
    fn answer(_datagram: &mut [u8], _now: Tick) -> bool {
        false
    }

    /// A dialogue with a client that was admitted and began like this; `entropy` is unpredictable and drawn anew for each.
    fn server(
        settings: ServerSettings,
        greeting: Self::Greeting,
        entropy: [u8; 16],
        now: Tick,
    ) -> Self::Server;

    /// What a person at a server is told of such a client, where the test that stands for what it does states more than is known of it.
    fn served_as(_test: &Test) -> Option<String> {
        None
    }

    /// What of such a test runs otherwise at a server than its client asked for, because of where it listens; a person there is told.
    fn substituted(_test: &Test) -> Vec<Substitution> {
        Vec::new()
    }

    /// What a client is told that began like this and gets no session. All there is to say: it is to close. Nothing
    /// where there are no words for it.
    fn refused(_greeting: Self::Greeting, _refusal: &Refusal) -> Vec<u8> {
        Vec::new()
    }

    /// The one of a server whose unpredictable secret this is, drawn once a process.
    fn challenger(secret: [u8; 16]) -> Self::Challenger;
}

/// Where the dialogue of a kind of peer is held.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Control {
    /// On a TCP connection of its own, apart from the flows.
    Connection,
    /// On a TCP connection that goes to the port before that of the first flow. Of nothing on the flows' own connections is it said what
    /// they are, so that there are no probes; and all names and ports of a run are of one server.
    PortBefore,
    /// There is no such connection: all that is said is said on the flows' own, and the session ends with them.
    InBand,
}

/// Where the clients of a kind of peer come.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Listener {
    /// To the port of all kinds: it is told by the first bytes.
    Shared,
    /// To one of its own, where nothing need be heard: its clients may wait for the server to speak first.
    Own,
    /// To the port of all kinds, or to its own, which is then another of all kinds: it is told by the first bytes at either.
    Either,
}

impl Listener {
    /// Whether it is told by its first bytes, where others come, too.
    pub const fn is_shared(self) -> bool {
        matches!(self, Self::Shared | Self::Either)
    }
}

/// What a server makes of datagrams that come to the listener which a kind of peer has for itself.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum OwnDatagrams {
    /// It has none for them.
    None,
    /// Each is answered by itself, and that is all: there is no session. Whoever can make its source another's has the answer sent there,
    /// so that only who is near or allowed is answered.
    Answered,
    /// Each asks for a session of one stream, which goes to where it came from. The same holds of who is answered.
    Begin,
    /// Each is of a flow of its client's session, which says on its control connection when flows begin: the first of a flow begins it.
    /// Nobody is answered.
    Flows,
}

/// By what a server knows which flow a TCP connection is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum KnownBy {
    /// Each says for which seat it is.
    Seat,
    /// The first that comes is the first flow: a client makes the next when it knows that the one before has its place.
    Arrival,
    /// Nothing, and it is no matter: the one that comes first is the first there, whichever it is here. A client makes as many at once as
    /// it will; what they carry must be the same on all of them.
    Nothing,
}

/// This end, at a client.
#[derive(Clone, Debug)]
pub struct ClientEnd {
    /// As far as the peer is told of it.
    pub host: Host,
    /// Whether the server is asked to say of each connection what it came to.
    pub wants_ends: bool,
    /// What is said of each test beside, where the kind [has a place](Peer::TAKES_REMARKS) for that.
    pub remarks: Remarks,
    /// Unpredictable, and drawn anew for each session.
    pub entropy: [u8; 32],
}

/// What a kind of peer makes of a caller's first bytes.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Sight<T> {
    /// It is none of its own.
    Other,
    /// It may be one. So many bytes in all are needed, more than there are, and no fewer tell more.
    More(usize),
    /// It is one, and is there for this.
    Known(T),
    /// It is one, and what it said makes no sense: who it is and why, as a fragment of a sentence.
    Unreadable(String),
}

/// What a connection is for.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Purpose<G, C> {
    /// To carry the dialogue of a session that is asked for.
    Session(G),
    /// To carry that of a session whose connection was lost.
    Return(Returning),
    /// To be a lane of a flow.
    Seat(C),
    /// To be the next lane of a flow of its client's session. Where it is the first, it begins that, and carries its dialogue if the kind
    /// has a control connection.
    Join(Joining<G>),
}

impl<G, C> Purpose<G, C> {
    /// The same, of whichever kind.
    pub(crate) fn map<H, D>(
        self,
        session: impl FnOnce(G) -> H,
        seat: impl FnOnce(C) -> D,
    ) -> Purpose<H, D> {
        match self {
            Self::Session(greeting) => Purpose::Session(session(greeting)),
            Self::Return(back) => Purpose::Return(back),
            Self::Seat(claim) => Purpose::Seat(seat(claim)),
            Self::Join(joining) => Purpose::Join(joining.map(session)),
        }
    }
}
