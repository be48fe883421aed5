//! The receiver's end of a session, which is one test: of as many connections as have come when the sender says that it begins or, where it
//! says nothing, when no more come. One that has made none sends datagrams, and is told at once that it may: its flows are those that begin
//! until no more do.
//!
//! ```text
//!  Greeting --busy?--> Agreeing --seconds--> Gathering --R--> Counting --no more come--> Preparing --> Attaching --all there--> Running
//!                                           without words ------^  |                       ^                                   |
//!                                                                   +--none has come--> Calling (datagrams)                    |
//!                                                         over <-- Leaving <-- all flows are over, by the close of each -------+
//! ```
//!
//! A sender that has sent all says so where it ends before it had to, and closes its connections then. Who has gone without a word before
//! the time that was agreed on is told of as gone.
//!
//! Where this end's operator has said so, a test is of several senders (`several`).

mod calling;
mod counting;
mod several;
mod stopping;

use std::collections::VecDeque;

use pathscope_core::Tick;
use pathscope_core::id::Role;
use pathscope_core::quantity::Period;
use pathscope_flow::{Dialogue, Input, Output};
use pathscope_modes::groups::Test;
use pathscope_modes::registry::{EndInterval, EndReport};

use self::several::Senders;
use super::hearing::{BUSY, END, FINISHED, Hearing, IDLE, LAST, QUERY, START};
use super::plan::{agreed, stated_cycle};
use super::run::{self, Run};
use super::stage::Stage;
use crate::dialogue::{ServerDialogue, ServerSettings};
use crate::{Moment, PeerError, Refusal};

/// A sender says the first words within this time.
const WORDS: Period = Period::from_secs(15);
/// The next connection has come within this time, or the word to begin.
const NEXT: Period = Period::from_secs(60);
/// No more come when none has for so long: they have been made, and only word of them may be on its way.
const NO_MORE: Period = Period::from_millis(100);
/// Where they are many, the last word of one may have been lost, and is repeated after a second.
const NO_MORE_OF_MANY: Period = Period::from_millis(1_300);
const MANY: u32 = 1_000;
/// Connections that are there are the test's within this time.
const ATTACH: Period = Period::from_secs(15);
/// When they have ended, it says so or is gone within this time.
const LEAVE: Period = Period::from_secs(3);

/// What is asked for. `Output` holds the dialogue's own types, and is made when it is taken.
type Asked = Output<NtttcpServer>;

/// One end of a session.
pub struct NtttcpServer {
    settings: ServerSettings,
    /// Whether there is a connection for words, and whether it is there still.
    has_words: bool,
    is_connected: bool,
    began: Tick,
    stage: Stage,
    /// Connections, or flows of datagrams, that have come before there was a test.
    came: u32,
    /// Where those are: their length, and when the first came.
    datagrams: Option<(u64, Tick)>,
    /// Why one that came could not be kept.
    unkept: Option<Refusal>,
    /// For how long the sender may send, where that was agreed on.
    cycle: Option<Period>,
    hearing: Hearing,
    /// Those of a test of several, each with what it says.
    senders: Option<Box<Senders>>,
    outputs: VecDeque<Asked>,
}

impl NtttcpServer {
    /// With a sender that has just come: with a connection for words, or with its first for data.
    pub(super) fn new(settings: ServerSettings, has_words: bool, now: Tick) -> Self {
        let until = |within: Period| now.plus_nanos(within.0);
        let is_of_several = has_words && settings.is_of_several;
        let stage = if is_of_several {
            Stage::Assembling
        } else if has_words {
            Stage::Greeting(until(WORDS))
        } else {
            Stage::Counting(until(NO_MORE))
        };
        let cycle = if is_of_several { stated_cycle(&settings) } else { None };
        Self {
            settings,
            has_words,
            is_connected: has_words,
            began: now,
            stage,
            came: 0,
            datagrams: None,
            unkept: None,
            cycle,
            hearing: Hearing::default(),
            senders: is_of_several.then(|| Box::new(Senders::new(now))),
            outputs: VecDeque::new(),
        }
    }

    /// Whoever is at the other end, and takes part, is told this.
    fn say(&mut self, word: i32) {
        if let Some(senders) = &self.senders {
            self.outputs.extend(senders.say(word));
        } else if self.is_connected {
            self.outputs.push_back(Output::Send(word.to_be_bytes().to_vec()));
        }
    }

    fn end(&mut self, result: Result<(), PeerError>) {
        self.stage = Stage::Over;
        self.outputs.push_back(Output::End(result));
    }

    /// It gets no test: it is told that it may not begin. There are no words for why.
    fn refuse(&mut self, refusal: Refusal) {
        self.say(END);
        self.end(Err(PeerError::Refused(refusal)));
    }

    fn breach(&mut self, what: String) {
        let (who, moment) = (Role::Client, self.stage.moment());
        self.end(Err(PeerError::Breach { who, moment, what }));
    }

    fn received(&mut self, bytes: &[u8], now: Tick) {
        for &byte in bytes {
            if let Some(word) = self.hearing.word(byte) {
                self.hear(word, now);
            }
        }
    }

    /// What a word means is told by its place: how long a test takes may be the number of another.
    fn hear(&mut self, word: i32, now: Tick) {
        match (&mut self.stage, word) {
            (Stage::Greeting(_), QUERY) => {
                self.say(IDLE);
                self.stage = Stage::Agreeing(now.plus_nanos(WORDS.0));
            }
            (Stage::Greeting(_), other) => self.breach(format!(
                "it began with {other}, and an ntttcp sender asks first whether this end is busy ({QUERY}): it may be none"
            )),
            (Stage::Agreeing(_), seconds) => match u64::try_from(seconds) {
                Ok(seconds) => self.agree(seconds, now),
                Err(_) => self.breach(format!("it asked for {seconds} seconds")),
            },
            // Who is the last of several senders begins like any other.
            (Stage::Gathering(_), START | LAST) => {
                self.stage = Stage::Counting(now.plus_nanos(self.no_more().0));
            }
            (Stage::Running(run), END) => {
                run.ends(now);
                self.say(FINISHED);
                self.drain(now);
            }
            (Stage::Leaving { result, .. }, END) => {
                // It has closed its connections before it said that it does.
                if let Err(PeerError::Closed { .. }) = result {
                    *result = Ok(());
                }
                self.say(FINISHED);
                self.leave();
            }
            (
                Stage::Gathering(_)
                | Stage::Counting(_)
                | Stage::Calling(_)
                | Stage::Preparing(_)
                | Stage::Attaching { .. },
                END,
            ) => {
                self.say(FINISHED);
                let (who, moment) = (Role::Client, self.stage.moment());
                let reason = "it said that it ends".to_owned();
                let stopped = PeerError::Stopped { who, by_this_end: false, moment, reason };
                self.end(Err(stopped));
            }
            (Stage::Running(_), QUERY) => self.say(BUSY),
            // What changes nothing any more.
            (Stage::Running(_) | Stage::Leaving { .. } | Stage::Over, _) => {}
            (_, other) => self.breach(format!("it said {other}, which means nothing there")),
        }
    }

    /// The sender goes on for as long as it likes; 0: until it is ended, which is no longer than this end allows.
    fn agree(&mut self, seconds: u64, now: Tick) {
        let cycle = agreed(seconds, self.settings.limits.duration_ns);
        self.cycle = (cycle > 0).then(|| Period::from_secs(cycle));
        self.say(i32::try_from(cycle).unwrap_or(i32::MAX));
        self.stage = Stage::Gathering(now.plus_nanos(NEXT.0));
    }

    fn prepared(&mut self, now: Tick) {
        match std::mem::replace(&mut self.stage, Stage::Over) {
            Stage::Preparing(test) => {
                let (missing, deadline) = (self.came, now.plus_nanos(ATTACH.0));
                self.stage = Stage::Attaching { test, missing, deadline };
            }
            other => self.stage = other,
        }
    }

    /// One more has its place.
    fn attached(&mut self, now: Tick) {
        let Stage::Attaching { test, missing, deadline } = &mut self.stage else { return };
        *missing = missing.saturating_sub(1);
        *deadline = now.plus_nanos(ATTACH.0);
        if *missing > 0 {
            return;
        }
        let run = Run::begin(test.clone(), (self.cycle, self.settings.limits.duration_ns), now);
        self.outputs.push_back(Output::Start);
        // One that sends datagrams has heard it before.
        if self.datagrams.is_none() {
            self.say(START);
        }
        self.stage = Stage::Running(Box::new(run));
    }

    /// Whether something may still be heard from the other end.
    fn is_heard(&self) -> bool {
        self.senders.as_ref().map_or(self.is_connected, |senders| senders.speak())
    }

    /// All flows of this end are over.
    fn flows_over(&mut self, now: Tick) {
        let Stage::Running(run) = std::mem::replace(&mut self.stage, Stage::Over) else { return };
        let nobody_speaks = !self.is_heard() || run.has_ended || run.is_stopped;
        let mut result = run.result(self.cycle, now);
        if let Some(senders) = &self.senders {
            result = senders.result(result);
        }
        self.stage = Stage::Leaving { deadline: now.plus_nanos(LEAVE.0), result };
        if nobody_speaks {
            self.leave();
        }
    }

    fn leave(&mut self) {
        let result = match std::mem::replace(&mut self.stage, Stage::Over) {
            Stage::Leaving { result, .. } => result,
            _ => Ok(()),
        };
        self.outputs.push_back(Output::TestOver);
        self.end(result);
    }

    fn closed(&mut self, now: Tick) {
        self.is_connected = false;
        match &mut self.stage {
            // Its connections tell what becomes of it.
            Stage::Running(run) => {
                run.is_alone(now);
                self.drain(now);
            }
            Stage::Leaving { .. } => self.leave(),
            Stage::Over => {}
            _ => {
                let (who, moment) = (Role::Client, self.stage.moment());
                self.end(Err(PeerError::Closed { who, moment, reason: None }));
            }
        }
    }

    fn expire(&mut self, now: Tick) {
        self.expire_senders(now);
        let late = |what, limit| PeerError::Late { who: Role::Client, what, limit };
        let error = match &self.stage {
            Stage::Counting(at) if now >= *at => return self.counted(now),
            Stage::Calling(calling) if now >= calling.until => return self.have_begun(now),
            Stage::Leaving { deadline, .. } if now >= *deadline => return self.leave(),
            Stage::Greeting(at) if now >= *at => late("ask whether this end is busy", WORDS),
            Stage::Agreeing(at) if now >= *at => late("say how long its test takes", WORDS),
            Stage::Gathering(at) if now >= *at => {
                late("make another connection, or say that it begins,", NEXT)
            }
            Stage::Attaching { deadline, .. } if now >= *deadline => {
                late("keep all of its connections", ATTACH)
            }
            Stage::Running(run) if now >= run.over_at => return self.overdue(now),
            Stage::Running(run) if now >= run.quiet_at => {
                let (who, moment) = (Role::Client, Moment::Running);
                PeerError::Silent { who, moment, silence: run::QUIET }
            }
            _ => return,
        };
        self.end(Err(error));
    }
}

impl Dialogue for NtttcpServer {
    type Plan = Test;
    type Interval = EndInterval;
    type Report = EndReport;
    type Error = PeerError;

    fn input(&mut self, input: Input<'_, Self>, now: Tick) {
        match input {
            Input::Received(bytes) => self.received(bytes, now),
            Input::ControlClosed => self.closed(now),
            Input::Came => self.came(now),
            Input::Recounted(left) => self.recounted(left, now),
            Input::ParticipantCame(name) => self.sender_came(name, now),
            Input::ParticipantReceived(name, bytes) => self.sender_said(name, bytes, now),
            Input::ParticipantClosed(name) => self.sender_closed(name, now),
            Input::Began { bytes } => self.began_flow(bytes, now),
            Input::Prepared(_) => self.prepared(now),
            Input::Unable { code, sentence } => {
                let refusal = Refusal::new(code, sentence);
                if let Stage::Preparing(_) | Stage::Calling(_) = self.stage {
                    self.refuse(refusal);
                } else {
                    self.unkept.get_or_insert(refusal);
                }
            }
            Input::Attached { .. } => self.attached(now),
            Input::Interval(interval) => {
                if let Stage::Running(run) = &mut self.stage
                    && run.test.plan.has_moved_in(&interval)
                {
                    run.moved(now);
                }
            }
            Input::Over(_) => self.flows_over(now),
            Input::Stop(reason) => self.stop(reason, now),
            Input::Deadline => self.expire(now),
            // A client's, or of sessions that are taken up again.
            _ => {}
        }
    }

    fn output(&mut self) -> Option<Output<Self>> {
        self.outputs.pop_front()
    }

    fn deadline(&self) -> Option<Tick> {
        let of_senders = self.senders.as_ref().and_then(|senders| senders.deadline());
        let all = [self.stage.deadline(), of_senders.filter(|_| !self.stage.is_over())];
        all.into_iter().flatten().min()
    }

    fn counts_connections(&self) -> bool {
        self.stage.is_before_test()
    }

    fn counts_datagrams(&self) -> bool {
        matches!(self.stage, Stage::Calling(_))
    }

    /// Who waits for no words sends as soon as it is connected, and who sends datagrams as soon as it may.
    fn comes_since(&self) -> Option<Tick> {
        let first = self.datagrams.map(|(_, first)| first);
        first.or_else(|| (!self.has_words).then_some(self.began))
    }
}

impl ServerDialogue for NtttcpServer {}

#[cfg(test)]
mod tests;
