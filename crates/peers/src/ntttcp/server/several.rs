//! Several senders of one test (`-M` at ntttcp's receiver): each comes with a connection for words of its own, agrees on the time that this
//! end has stated, and waits, until one says that it is the last. All connections that have come by then are the test's, whosever they
//! are: nothing tells. Not here: what follows the begin, which is as with one sender (`server`).
//!
//! ```text
//!  Greeting --busy?--> Agreeing --seconds--> Gathering --R--> Waiting --+
//!     |                                       |   +--L (the last)------+--> TakesPart --E--> Ended
//!     +--the test has begun--> Turned <-------+ no place, or too late
//! ```
//!
//! One that goes before the test is forgotten, with its connections. One that says what means nothing, or nothing for too long, is let go,
//! and costs the others nothing.

use pathscope_core::Tick;
use pathscope_core::id::Role;
use pathscope_core::quantity::Period;
use pathscope_flow::{Output, Participant};

use super::super::hearing::{BUSY, END, FINISHED, Hearing, IDLE, LAST, QUERY, START, WAIT};
use super::super::stage::Stage;
use super::{Asked, NEXT, NtttcpServer, WORDS};
use crate::{Moment, PeerError};

/// So many wait at once: one place more is kept for the last.
const MOST_WAITING: usize = 7;
/// So many are heard at once, of which some are told that they have no place.
const MOST_HEARD: usize = 64;
/// The last one has come within this time, or those who wait are told that they may not begin.
const OTHERS: Period = Period::from_secs(1_200);

/// All senders of a session.
#[derive(Debug)]
pub(super) struct Senders {
    all: Vec<Sender>,
    /// Where none has come yet, one has by then.
    first_until: Option<Tick>,
    /// Whether one has gone since the last count that may have made connections.
    has_lost: bool,
    /// Whether one has gone without a word while the test ran, before its time.
    is_left_early: bool,
}

#[derive(Debug)]
struct Sender {
    name: Participant,
    hearing: Hearing,
    at: At,
}

/// How far one is; mostly with the time at which it is to be further.
#[derive(Clone, Copy, Debug)]
enum At {
    Greeting(Tick),
    Agreeing(Tick),
    Gathering(Tick),
    Waiting(Tick),
    TakesPart,
    /// It has said that it has sent all.
    Ended,
    /// It was told that it takes no part, and is to close its connection.
    Turned(Tick),
}

impl At {
    const fn deadline(self) -> Option<Tick> {
        match self {
            Self::Greeting(at)
            | Self::Agreeing(at)
            | Self::Gathering(at)
            | Self::Waiting(at)
            | Self::Turned(at) => Some(at),
            Self::TakesPart | Self::Ended => None,
        }
    }

    /// What it was late with.
    const fn late(self) -> (&'static str, Period) {
        match self {
            Self::Greeting(_) => ("ask whether this end is busy", WORDS),
            Self::Agreeing(_) => ("say how long its test takes", WORDS),
            Self::Waiting(_) => ("say that it is the last of the senders (-L)", OTHERS),
            _ => ("make another connection, or say that it begins,", NEXT),
        }
    }

    /// Whether it may have made connections that are kept.
    const fn may_have_connections(self) -> bool {
        matches!(self, Self::Gathering(_) | Self::Waiting(_) | Self::TakesPart)
    }
}

impl Senders {
    pub fn new(now: Tick) -> Self {
        let first_until = Some(now.plus_nanos(WORDS.0));
        Self { all: Vec::new(), first_until, has_lost: false, is_left_early: false }
    }

    /// When there is something to do, whatever comes.
    pub fn deadline(&self) -> Option<Tick> {
        let each = self.all.iter().map(|sender| sender.at.deadline());
        each.chain([self.first_until]).flatten().min()
    }

    /// One has come, and is to be heard.
    pub fn came(&mut self, name: Participant, now: Tick) {
        let at = At::Greeting(now.plus_nanos(WORDS.0));
        self.first_until = None;
        self.all.push(Sender { name, hearing: Hearing::default(), at });
    }

    /// One more connection is there: whoever makes them has longer for the next.
    pub fn connected(&mut self, now: Tick) {
        for sender in &mut self.all {
            if let At::Gathering(deadline) = &mut sender.at {
                *deadline = now.plus_nanos(NEXT.0);
            }
        }
    }

    /// What is said to all that take part.
    pub fn say(&self, word: i32) -> impl Iterator<Item = Asked> {
        let bytes = word.to_be_bytes();
        let taking_part = self.taking_part().map(|sender| sender.name);
        taking_part.map(move |name| Output::SendTo(name, bytes.to_vec()))
    }

    fn taking_part(&self) -> impl Iterator<Item = &Sender> {
        self.all.iter().filter(|sender| matches!(sender.at, At::TakesPart))
    }

    /// Whether one of them may still say something of the test.
    pub fn speak(&self) -> bool {
        self.taking_part().next().is_some()
    }

    /// Whether connections have to be counted anew, since one that may have made some has gone.
    pub fn take_lost(&mut self) -> bool {
        std::mem::take(&mut self.has_lost)
    }

    /// What the test came to, as far as they are concerned.
    pub fn result(&self, of_flows: Result<(), PeerError>) -> Result<(), PeerError> {
        if self.is_left_early {
            let (who, moment) = (Role::Client, Moment::Running);
            return of_flows.and(Err(PeerError::Closed { who, moment, reason: None }));
        }
        of_flows
    }

    fn place(&self, name: Participant) -> Option<usize> {
        self.all.iter().position(|sender| sender.name == name)
    }
}

impl NtttcpServer {
    /// One more sender comes.
    pub(super) fn sender_came(&mut self, name: Participant, now: Tick) {
        let Some(senders) = &mut self.senders else { return };
        if senders.all.len() < MOST_HEARD {
            return senders.came(name, now);
        }
        let busy = Output::SendTo(name, BUSY.to_be_bytes().to_vec());
        self.outputs.extend([busy, Output::Dismiss(name)]);
    }

    /// One of several says something.
    pub(super) fn sender_said(&mut self, name: Participant, bytes: &[u8], now: Tick) {
        for &byte in bytes {
            let Some(senders) = &mut self.senders else { return };
            // It may have been let go for what it said before.
            let Some(place) = senders.place(name).filter(|_| !self.stage.is_over()) else { return };
            if let Some(word) = senders.all[place].hearing.word(byte) {
                self.hear_sender(place, word, now);
            }
        }
    }

    fn hear_sender(&mut self, place: usize, word: i32, now: Tick) {
        let is_assembling = matches!(self.stage, Stage::Assembling);
        let Some(senders) = &mut self.senders else { return };
        let waiting = senders.all.iter().filter(|it| matches!(it.at, At::Waiting(_))).count();
        let until = |within: Period| now.plus_nanos(within.0);
        let (answer, at) = match (senders.all[place].at, word) {
            (At::Greeting(_), QUERY) if is_assembling => (IDLE, At::Agreeing(until(WORDS))),
            (At::Greeting(_), QUERY) => (BUSY, At::Turned(until(WORDS))),
            (At::Agreeing(_), 0..) => (self.stated_seconds(), At::Gathering(until(NEXT))),
            (At::Gathering(_), START) if is_assembling && waiting < MOST_WAITING => {
                (WAIT, At::Waiting(until(OTHERS)))
            }
            (At::Gathering(_), LAST) if is_assembling => return self.assembled(place, now),
            // There is no place, or the test has begun without it.
            (At::Gathering(_), START | LAST) => (END, At::Turned(until(WORDS))),
            (At::Gathering(_) | At::Waiting(_), END) => (FINISHED, At::Turned(until(WORDS))),
            // It sends nothing, and its connections are of no test.
            (At::TakesPart, END) if self.stage.is_before_run() => {
                (FINISHED, At::Turned(until(WORDS)))
            }
            (At::TakesPart, END) => (FINISHED, At::Ended),
            // What changes nothing any more.
            (At::TakesPart | At::Ended | At::Turned(_), _) => return,
            _ => return self.let_go(place, now),
        };
        self.turn_to(place, (answer, at), now);
    }

    /// One is answered so, and is so far then.
    fn turn_to(&mut self, place: usize, (answer, at): (i32, At), now: Tick) {
        let Some(senders) = &mut self.senders else { return };
        let sender = &mut senders.all[place];
        let before = std::mem::replace(&mut sender.at, at);
        let said = Output::SendTo(sender.name, answer.to_be_bytes().to_vec());
        self.outputs.push_back(said);
        if let At::Turned(_) = at {
            self.lose(before);
            self.see_who_is_left(before, now);
        }
        if let At::Ended = at {
            self.one_has_ended(now);
        }
    }

    /// For how long all of them send, in seconds: as this end has it, whatever they ask for; 0: until they are ended.
    fn stated_seconds(&self) -> i32 {
        self.cycle.map_or(0, |cycle| i32::try_from(cycle.0 / 1_000_000_000).unwrap_or(i32::MAX))
    }

    /// The last one is there: the test is of all who have said that they begin.
    fn assembled(&mut self, last: usize, now: Tick) {
        let no_more = now.plus_nanos(self.no_more().0);
        let Some(senders) = &mut self.senders else { return };
        for (place, sender) in senders.all.iter_mut().enumerate() {
            if place == last || matches!(sender.at, At::Waiting(_)) {
                sender.at = At::TakesPart;
            }
        }
        self.stage = Stage::Counting(no_more);
    }

    /// One is let go, without a word: there is none that it would understand.
    fn let_go(&mut self, place: usize, now: Tick) {
        let Some(senders) = &mut self.senders else { return };
        self.outputs.push_back(Output::Dismiss(senders.all[place].name));
        self.forget(place, now);
    }

    /// One has closed its connection.
    pub(super) fn sender_closed(&mut self, name: Participant, now: Tick) {
        let place = self.senders.as_ref().and_then(|senders| senders.place(name));
        if let Some(place) = place {
            self.forget(place, now);
        }
    }

    fn forget(&mut self, place: usize, now: Tick) {
        let cycle = self.cycle;
        let Some(senders) = &mut self.senders else { return };
        let Sender { at, .. } = senders.all.remove(place);
        if let At::TakesPart = at {
            senders.is_left_early |= match &self.stage {
                Stage::Running(run) => run.is_early(cycle, now),
                stage => stage.is_begun(),
            };
        }
        self.lose(at);
        self.see_who_is_left(at, now);
        if let At::TakesPart = at {
            self.one_has_ended(now);
        }
    }

    /// Connections of one that was so far are none of the test. While others wait they are forgotten at once, as those of another test would be; and
    /// when the last has come once more, since connections may close later than the one for words.
    fn lose(&mut self, gone: At) {
        let Some(senders) = self.senders.as_mut().filter(|_| gone.may_have_connections()) else {
            return;
        };
        senders.has_lost = true;
        if let Stage::Assembling = self.stage {
            self.outputs.push_back(Output::Recount);
        }
    }

    /// One that was so far is none of them any more: before a test without any there is nothing to wait for.
    fn see_who_is_left(&mut self, gone: At, now: Tick) {
        let Some(senders) = &self.senders else { return };
        let is_assembling = matches!(self.stage, Stage::Assembling);
        let is_left = |sender: &Sender| match sender.at {
            At::TakesPart => true,
            At::Turned(_) | At::Ended => false,
            _ => is_assembling,
        };
        let has_begun =
            matches!(self.stage, Stage::Running(_) | Stage::Leaving { .. } | Stage::Over);
        if has_begun || senders.all.iter().any(is_left) {
            return;
        }
        let who = Role::Client;
        let is_late = gone.deadline().is_some_and(|deadline| now >= deadline);
        let (what, limit) = gone.late();
        let moment = self.stage.moment();
        self.end(Err(if is_late {
            PeerError::Late { who, what, limit }
        } else {
            PeerError::Closed { who, moment, reason: None }
        }));
    }

    /// One says nothing more of the test. Where it was the last that might, the test is over with what is on its way.
    fn one_has_ended(&mut self, now: Tick) {
        let Some(senders) = self.senders.as_ref().filter(|senders| !senders.speak()) else {
            return;
        };
        let have_said_so = senders.all.iter().any(|it| matches!(it.at, At::Ended));
        match &mut self.stage {
            Stage::Running(run) if have_said_so && !senders.is_left_early => run.ends(now),
            Stage::Running(run) => run.is_alone(now),
            Stage::Leaving { result, .. } => {
                // They have closed their connections before they said that they do.
                if have_said_so
                    && !senders.is_left_early
                    && let Err(PeerError::Closed { .. }) = result
                {
                    *result = Ok(());
                }
                return self.leave();
            }
            _ => return,
        }
        self.drain(now);
    }

    /// Those whose time has come.
    pub(super) fn expire_senders(&mut self, now: Tick) {
        let Some(senders) = &self.senders else { return };
        if senders.first_until.is_some_and(|until| now >= until) {
            let (what, limit) = At::Greeting(now).late();
            return self.end(Err(PeerError::Late { who: Role::Client, what, limit }));
        }
        let is_due = |it: &Sender| it.at.deadline().is_some_and(|at| now >= at);
        let due: Vec<Participant> =
            senders.all.iter().filter(|it| is_due(it)).map(|it| it.name).collect();
        for name in due {
            let Some(senders) = &self.senders else { return };
            let Some(place) = senders.place(name) else { continue };
            if self.stage.is_over() {
                return;
            }
            if let At::Waiting(_) = senders.all[place].at {
                self.outputs.push_back(Output::SendTo(name, END.to_be_bytes().to_vec()));
            }
            self.let_go(place, now);
        }
    }
}
