//! What the dialogue with a peer has beside what `flow::Dialogue` asks of both its ends, whichever kind of peer that is. What a
//! kind of peer has no words for has an answer here.

use pathscope_core::Tick;
use pathscope_core::id::Token;
use pathscope_core::quantity::Period;
use pathscope_core::record::{Host, PeerFacts};
use pathscope_flow::Dialogue;
use pathscope_modes::groups::Test;
use pathscope_modes::registry::{EndInterval, EndReport};

use crate::PeerError;
use crate::joining::Cookie;
use crate::limits::{Limits, RateLimit};

/// After a stop both ends have so long to end their flows and to report, whichever way they speak: people are told so.
pub const STOP_TAKES: Period = Period::from_secs(15);

/// The client's end: it states every test, and speaks first in all things.
pub trait ClientDialogue:
    Dialogue<Plan = Test, Interval = EndInterval, Report = EndReport, Error = PeerError>
{
    /// Proposes a test as soon as those proposed before are over. May be called at any time before
    /// [`finish`](Self::finish).
    fn propose(&mut self, test: Test, now: Tick);

    /// No further tests: the dialogue ends well when those proposed are over.
    fn finish(&mut self, now: Tick);

    /// From now on a test that could start asks for leave to (`Output::Ready`): it is to start with others. Nothing of a kind of
    /// peer that has nobody to start with.
    fn start_with_others(&mut self) {}

    /// The server's first words are not waited for longer than this, from now on: somebody else waits for them. Nothing of a kind of
    /// peer whose server says none.
    fn await_greeting(&mut self, _within: Period, _now: Tick) {}

    /// What the server's process has drawn for itself when it started, and says at all of its addresses; none: it says nothing.
    fn server_identity(&self) -> Option<Token> {
        None
    }

    /// What all connections of its session say, where they are known by that.
    fn cookie(&self) -> Option<Cookie> {
        None
    }

    /// Who the other end is, once it has answered.
    fn peer_facts(&self) -> Option<PeerFacts>;

    /// The server's machine and program, once it has told of them; nothing of a peer that never does.
    fn server_host(&self) -> Option<&Host> {
        None
    }

    /// Why the server cut a test short, if it did and says so.
    fn stopped_by_server(&self) -> Option<&str> {
        None
    }

    /// How often the control connection was made anew, and why. Never, where a session ends with its connection.
    fn renewals(&self) -> Renewals {
        Renewals::default()
    }
}

/// The server's end: it judges what strangers propose.
pub trait ServerDialogue:
    Dialogue<Plan = Test, Interval = EndInterval, Report = EndReport, Error = PeerError>
{
    /// What the session is called by a client that comes back to it; nothing where none can.
    fn session(&self) -> Option<Token> {
        None
    }

    /// How often the control connection was made anew, and why.
    fn renewals(&self) -> Renewals {
        Renewals::default()
    }
}

/// What a server is and grants, the same for all its sessions.
#[derive(Clone, Debug)]
pub struct ServerSettings {
    /// What it says at all of its addresses, so that a client that knows several of them knows them as one server's. Drawn when its
    /// process starts; no secret, and good for nothing else.
    pub identity: Option<Token>,
    /// Told to each client.
    pub host: Host,
    /// What it grants.
    pub limits: Limits,
    /// Congestion controls that every user of this machine may choose.
    pub congestion_controls: Vec<String>,
    /// Whether clients are asked to say of each connection what it came to.
    pub wants_ends: bool,
    /// The test that clients run who cannot say so, as the server's operator states it.
    pub stated: Option<Test>,
    /// What one test of such clients may move in all, if their operator says so.
    pub rate: Option<RateLimit>,
    /// Whether several clients take part in one test, as their operator says.
    pub is_of_several: bool,
}

/// A client that goes on with a session whose control connection was lost.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Returning {
    /// What the server named the session.
    pub session: Token,
    /// The how manieth attempt of this session: none comes twice.
    pub attempt: u32,
    /// The last good number that the client has received.
    pub received: u64,
    /// What it is told where there is no such session any more.
    pub unknown: Vec<u8>,
}

/// How often a session's control connection was made anew, and why.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Renewals {
    /// How often; a session that was greeted anew before anything came of it counts, too.
    pub made: u32,
    /// Messages that came damaged at this end.
    pub damaged_here: u32,
    /// Messages that came damaged at the other end, as far as it could say.
    pub damaged_there: u32,
}

impl Renewals {
    /// Messages that came damaged at either end.
    pub const fn damaged(&self) -> u32 {
        self.damaged_here.saturating_add(self.damaged_there)
    }
}
