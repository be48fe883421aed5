//! What the dialogue with a peer has beside what `flow::Dialogue` asks of both its ends, whichever kind of peer that is. What a
//! kind of peer has no words for has an answer here.

use pathscope_core::Tick;
use pathscope_core::quantity::Period;
use pathscope_core::record::Host;
use pathscope_flow::Dialogue;
use pathscope_modes::groups::Test;
use pathscope_modes::registry::{EndInterval, EndReport};

use crate::PeerError;

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
