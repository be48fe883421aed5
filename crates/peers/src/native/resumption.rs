//! A test that outlives its session: what the client keeps of it while the server is gone, and for how long it asks.
//!
//! Not here: the dialogue itself, which begins anew in `client`.

use pathscope_core::Tick;
use pathscope_core::id::Token;
use pathscope_flow::{Phase, Resumed};
use pathscope_modes::groups::Test;
use pathscope_modes::registry::EndInterval;

use super::deadlines;
use super::message::{FlowTotal, Propose};
use crate::PeerError;

/// A session that was lost while its test ran, and is asked for again.
#[derive(Debug)]
pub(super) struct Resumption {
    test: Test,
    resumed: Resumed,
    /// Why the session was lost: told, should it not come back.
    lost: PeerError,
    /// Why it could not be made anew, the last time.
    last: Option<PeerError>,
    /// Not asked for after this.
    until: Tick,
    /// What the test's flow has sent in all, where it has ended meanwhile.
    ended: Option<(FlowTotal, Phase)>,
}

impl Resumption {
    /// Of a test that runs, and was known so.
    pub fn new(test: Test, resumed: Resumed, lost: PeerError, now: Tick) -> Self {
        let until = now.plus_nanos(deadlines::RESUME.0);
        Self { test, resumed, lost, last: None, until, ended: None }
    }

    /// What is asked for.
    pub const fn test(&self) -> &Test {
        &self.test
    }

    /// How it is asked for.
    pub fn proposal(&self) -> Propose {
        Propose::again(&self.test, self.resumed)
    }

    /// A session of this name has taken it up with this token; version 1 has no names. Whether that is possible: there the
    /// flows have no token but their own.
    pub fn is_taken_up(&mut self, token: Token, session: Option<Token>) -> bool {
        self.resumed.session = session;
        session.is_some() || self.resumed.token == token
    }

    /// When it is given up.
    pub const fn until(&self) -> Tick {
        self.until
    }

    /// It was not made anew this time.
    pub fn failed(&mut self, why: PeerError) {
        self.last = Some(why);
    }

    /// What to tell where it is not made anew in time.
    pub fn into_loss(self) -> PeerError {
        let lost = Box::new(self.lost);
        match self.last.map(Box::new) {
            Some(last) => PeerError::NotResumed { lost, last },
            None => *lost,
        }
    }

    /// The flow is in a phase that the other end will have to hear of.
    pub fn note(&mut self, total: FlowTotal, phase: Phase) {
        self.ended.get_or_insert((total, phase));
    }

    /// What [`note`](Self::note) was told.
    pub const fn ended(&self) -> Option<(FlowTotal, Phase)> {
        self.ended
    }
}

/// How the other end's intervals are numbered here: from the first of its session on, which may be later than this end's.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct IntervalOffset {
    /// Of this end, the interval in which the other's first began.
    pub index: u64,
    /// When that was, in time since the start of the test.
    pub start_ns: u64,
}

impl IntervalOffset {
    /// As this end numbers it.
    pub const fn apply(self, interval: &mut EndInterval) {
        interval.index = interval.index.saturating_add(self.index);
        interval.start_ns = interval.start_ns.saturating_add(self.start_ns);
        interval.end_ns = interval.end_ns.saturating_add(self.start_ns);
    }
}
