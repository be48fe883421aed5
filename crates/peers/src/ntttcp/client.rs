//! The sender's end of the connection on which both ends agree on when a test begins and ends.
//!
//! ```text
//!  Greeting --idle--> Idle --propose--> Agreeing --seconds--> Attaching --all there--> Starting --R--> Running
//!                                                                                                        |
//!                                                          over <-- Ending <--E-- all flows are over ----+
//! ```
//!
//! A server runs one test of a connection. What it says of the end changes nothing any more: where it says nothing, the test is over all
//! the same.

use std::collections::VecDeque;

use pathscope_core::Tick;
use pathscope_core::id::Role;
use pathscope_core::quantity::Period;
use pathscope_core::record::PeerFacts;
use pathscope_flow::{Credentials, Dialogue, Event, Input, Output};
use pathscope_modes::groups::Test;
use pathscope_modes::registry::{EndInterval, EndReport};

use super::hearing::{BUSY, END, FINISHED, Hearing, IDLE, LAST, QUERY, START, WAIT};
use super::{Ntttcp, TOKEN, carried};
use crate::dialogue::{ClientDialogue, STOP_TAKES};
use crate::in_band::connections_of;
use crate::peer::Peer;
use crate::{Moment, PeerError, Refusal};

/// A server says each of its words within this time.
const ANSWER: Period = Period::from_secs(15);
/// Where it waits for other senders, it may take longer.
const OTHERS: Period = Period::from_secs(1_200);
/// The next connection is there within this time.
const ATTACH: Period = Period::from_secs(15);
/// A test in which nothing moves for so long is given up.
const QUIET: Period = Period::from_secs(60);
/// It need not say that it has heard of the end.
const FAREWELL: Period = Period::from_secs(5);
/// So much longer than a test the server is asked to go on: it would reset connections that it ends first.
const MARGIN_S: u64 = 1;

/// What is asked for. `Output` holds the dialogue's own types, and is made when it is taken.
type Asked = Output<NtttcpClient>;

/// One end of a session.
#[expect(clippy::struct_excessive_bools, reason = "each is so or not, whatever the others are")]
pub struct NtttcpClient {
    stage: Stage,
    tests: VecDeque<Test>,
    is_finishing: bool,
    /// Whether it is the last of several senders, whom the server lets begin with it.
    is_last: bool,
    has_met: bool,
    /// Whether the connection is there.
    is_connected: bool,
    hearing: Hearing,
    outputs: VecDeque<Asked>,
}

#[derive(Debug)]
enum Stage {
    /// It was asked whether it is busy.
    Greeting(Tick),
    /// It is not, and no test is under way.
    Idle,
    /// It was told how long a test takes.
    Agreeing(Box<Test>, Tick),
    /// So many connections have not come yet.
    Attaching { test: Box<Test>, missing: u64, deadline: Tick },
    /// It was told to begin, and is to within this time.
    Starting(Box<Test>, Tick, Period),
    /// The flows run. By the deadline something has to have moved or, once they were stopped, all of them to have ended.
    Running { test: Box<Test>, deadline: Tick, is_stopped: bool },
    /// It was told of the end.
    Ending(Tick),
    /// Its test is over: the server may be gone.
    Done,
    /// Nothing follows.
    Over,
}

impl NtttcpClient {
    /// On a connection that has just been made.
    pub fn new(now: Tick) -> Self {
        let mut client = Self {
            stage: Stage::Greeting(now.plus_nanos(ANSWER.0)),
            tests: VecDeque::new(),
            is_finishing: false,
            is_last: false,
            has_met: false,
            is_connected: true,
            hearing: Hearing::default(),
            outputs: VecDeque::new(),
        };
        client.say(QUERY);
        client
    }

    /// The same, of the last of several senders.
    pub fn last(now: Tick) -> Self {
        Self { is_last: true, ..Self::new(now) }
    }

    fn say(&mut self, word: i32) {
        self.outputs.push_back(Output::Send(word.to_be_bytes().to_vec()));
    }

    fn end(&mut self, result: Result<(), PeerError>) {
        self.stage = Stage::Over;
        self.outputs.push_back(Output::End(result));
    }

    fn refuse(&mut self, code: &str, sentence: String) {
        self.end(Err(PeerError::Refused(Refusal::new(code, sentence))));
    }

    fn moment(&self) -> Moment {
        match self.stage {
            Stage::Greeting(_) => Moment::Greeting,
            Stage::Idle | Stage::Done | Stage::Over => Moment::BetweenTests,
            Stage::Agreeing(..) => Moment::Agreeing,
            Stage::Attaching { .. } => Moment::Attaching,
            Stage::Starting(..) => Moment::Starting,
            Stage::Running { .. } => Moment::Running,
            Stage::Ending(_) => Moment::Ending,
        }
    }

    /// Proposes the next test, or takes leave, where nothing is under way.
    fn go_on(&mut self, now: Tick) {
        if !matches!(self.stage, Stage::Idle | Stage::Done) {
            return;
        }
        match self.tests.pop_front() {
            Some(test) => {
                self.say(proposed(&test));
                self.stage = Stage::Agreeing(Box::new(test), now.plus_nanos(ANSWER.0));
            }
            None if self.is_finishing => self.end(Ok(())),
            None => {}
        }
    }

    fn received(&mut self, bytes: &[u8], now: Tick) {
        for &byte in bytes {
            if let Some(word) = self.hearing.word(byte) {
                self.hear(word, now);
            }
        }
    }

    fn hear(&mut self, word: i32, now: Tick) {
        let stage = std::mem::replace(&mut self.stage, Stage::Over);
        match (stage, word) {
            (Stage::Greeting(_), IDLE | FINISHED) => {
                self.has_met = true;
                self.stage = Stage::Idle;
                self.go_on(now);
            }
            (Stage::Greeting(_), BUSY) => {
                let sentence = "it is busy with another sender; wait until that test is over";
                self.refuse("busy", sentence.to_owned());
            }
            (Stage::Agreeing(test, _), seconds) if seconds >= 0 => self.agreed(test, seconds, now),
            (Stage::Starting(test, ..), START) => {
                self.outputs.push_back(Output::Start);
                let deadline = quiet_until(&test, now);
                self.stage = Stage::Running { test, deadline, is_stopped: false };
            }
            (Stage::Starting(test, ..), WAIT) => {
                self.stage = Stage::Starting(test, now.plus_nanos(OTHERS.0), OTHERS);
            }
            (Stage::Starting(..), END) => {
                self.refuse("refused", "it takes no more senders into this test".to_owned());
            }
            (Stage::Starting(..), _) if self.is_last => {
                let sentence = "it waits for no several senders: start it with -M, or send to it as any one, with --peer ntttcp";
                self.refuse("refused", sentence.to_owned());
            }
            (Stage::Ending(_), _) => self.over(now),
            // To the last of several senders it says twice that they begin.
            (stage @ (Stage::Running { .. } | Stage::Done | Stage::Over), _) => self.stage = stage,
            (stage, word) => {
                self.stage = stage;
                let moment = self.moment();
                let what = format!(
                    "it said {word}, which means nothing there; it may be no ntttcp receiver"
                );
                self.end(Err(PeerError::Breach { who: Role::Server, moment, what }));
            }
        }
    }

    /// The server runs for so long; 0: until it is ended.
    fn agreed(&mut self, test: Box<Test>, seconds: i32, now: Tick) {
        let least = seconds_of(&test);
        if seconds > 0 && u64::from(seconds.unsigned_abs()) < least {
            let sentence = format!(
                "it runs for {seconds} s, and this test takes {least} s: start it with -t {least} or more"
            );
            return self.refuse("duration", sentence);
        }
        let credentials = Credentials { token: TOKEN, session: None, goes_ahead: false };
        let missing = connections_of(&test);
        let deadline = now.plus_nanos(ATTACH.0);
        self.stage = Stage::Attaching { test: test.clone(), missing, deadline };
        self.outputs.push_back(Output::Open { credentials, plan: test, substitutions: Vec::new() });
    }

    /// One more connection is there.
    fn attached(&mut self, now: Tick) {
        let Stage::Attaching { test, missing, deadline } = &mut self.stage else { return };
        *missing = missing.saturating_sub(1);
        *deadline = now.plus_nanos(ATTACH.0);
        if *missing == 0 {
            let test = test.clone();
            self.stage = Stage::Starting(test, now.plus_nanos(ANSWER.0), ANSWER);
            self.say(if self.is_last { LAST } else { START });
        }
    }

    /// All flows of this end are over.
    fn flows_over(&mut self, now: Tick) {
        if !matches!(self.stage, Stage::Running { .. }) {
            return;
        }
        if !self.is_connected {
            return self.over(now);
        }
        self.say(END);
        self.stage = Stage::Ending(now.plus_nanos(FAREWELL.0));
    }

    fn over(&mut self, now: Tick) {
        self.stage = Stage::Done;
        self.outputs.push_back(Output::TestOver);
        self.go_on(now);
    }

    fn closed(&mut self, now: Tick) {
        self.is_connected = false;
        match &self.stage {
            // Nothing else tells that it takes datagrams: no more are sent to who may be gone.
            Stage::Running { test, .. } if carried::is_of_datagrams(test) => {
                let (who, moment) = (Role::Server, Moment::Running);
                self.end(Err(PeerError::Closed { who, moment, reason: None }));
            }
            // What it takes and acknowledges tells more than that connection.
            Stage::Running { .. } | Stage::Done | Stage::Over => {}
            Stage::Ending(_) => self.over(now),
            _ => {
                let moment = self.moment();
                self.end(Err(PeerError::Closed { who: Role::Server, moment, reason: None }));
            }
        }
    }

    /// Somebody wants this end to stop. Asked twice, no flow is waited for.
    fn stop(&mut self, reason: &str, now: Tick) {
        if let Stage::Running { test, deadline, is_stopped: is_stopped @ false } = &mut self.stage {
            *is_stopped = true;
            *deadline = now.plus_nanos(STOP_TAKES.0);
            let groups = test.groups().into_iter().map(|group| group.id);
            let stops = groups.map(|group| Output::Tell { group, flow: None, event: Event::Stop });
            self.outputs.extend(stops);
            return;
        }
        if matches!(self.stage, Stage::Over) {
            return;
        }
        let (moment, reason) = (self.moment(), reason.to_owned());
        self.end(Err(PeerError::Stopped { who: Role::Client, by_this_end: true, moment, reason }));
    }

    fn expire(&mut self, now: Tick) {
        let late = |what, limit| PeerError::Late { who: Role::Server, what, limit };
        let error = match self.stage {
            Stage::Greeting(at) if now >= at => late("answer as an ntttcp receiver does", ANSWER),
            Stage::Agreeing(_, at) if now >= at => late("say how long it runs", ANSWER),
            Stage::Starting(_, at, limit) if now >= at => late("begin", limit),
            Stage::Attaching { deadline, .. } if now >= deadline => PeerError::Late {
                who: Role::Client,
                what: "make the next of its connections",
                limit: ATTACH,
            },
            Stage::Running { deadline, is_stopped: true, .. } if now >= deadline => {
                PeerError::Unfinished { limit: STOP_TAKES, since: "of the stop" }
            }
            Stage::Running { deadline, .. } if now >= deadline => {
                PeerError::Silent { who: Role::Server, moment: Moment::Running, silence: QUIET }
            }
            Stage::Ending(at) if now >= at => return self.over(now),
            _ => return,
        };
        self.end(Err(error));
    }
}

/// How long a test takes, in whole seconds.
fn seconds_of(test: &Test) -> u64 {
    test.stated_duration().map_or(0, |duration| duration.0.div_ceil(1_000_000_000))
}

/// What the server is asked to run for: never a number that it takes for a word.
pub(super) fn proposed(test: &Test) -> i32 {
    let mut seconds = i32::try_from(seconds_of(test).saturating_add(MARGIN_S)).unwrap_or(i32::MAX);
    while [QUERY, START, LAST, END].contains(&seconds) {
        seconds += 1;
    }
    seconds
}

/// Until when something has to move.
fn quiet_until(test: &Test, now: Tick) -> Tick {
    now.plus_nanos(QUIET.0.saturating_add(test.report_every_ns.0.saturating_mul(2)))
}

impl Dialogue for NtttcpClient {
    type Plan = Test;
    type Interval = EndInterval;
    type Report = EndReport;
    type Error = PeerError;

    fn input(&mut self, input: Input<'_, Self>, now: Tick) {
        match input {
            Input::Received(bytes) => self.received(bytes, now),
            Input::ControlClosed => self.closed(now),
            Input::Attached { .. } => self.attached(now),
            Input::Interval(interval) => {
                if let Stage::Running { test, deadline, is_stopped: false } = &mut self.stage
                    && test.plan.has_moved_in(&interval)
                {
                    *deadline = quiet_until(test, now);
                }
            }
            Input::Over(_) => self.flows_over(now),
            Input::Stop(reason) => self.stop(reason, now),
            Input::Deadline => self.expire(now),
            // A server's, or of sessions that are taken up again.
            Input::Prepared(_)
            | Input::Unable { .. }
            | Input::MayStart
            | Input::Reconnected
            | Input::Unreached
            | Input::Returned { .. }
            | Input::Phase { .. }
            | Input::Came
            | Input::Began { .. }
            | Input::Recounted(_)
            | Input::ParticipantCame(_)
            | Input::ParticipantReceived(..)
            | Input::ParticipantClosed(_)
            | Input::Ended { .. } => {}
        }
    }

    fn output(&mut self) -> Option<Output<Self>> {
        self.outputs.pop_front()
    }

    fn deadline(&self) -> Option<Tick> {
        match self.stage {
            Stage::Greeting(at)
            | Stage::Agreeing(_, at)
            | Stage::Starting(_, at, _)
            | Stage::Ending(at)
            | Stage::Attaching { deadline: at, .. }
            | Stage::Running { deadline: at, .. } => Some(at),
            Stage::Idle | Stage::Done | Stage::Over => None,
        }
    }
}

impl ClientDialogue for NtttcpClient {
    fn propose(&mut self, test: Test, now: Tick) {
        self.tests.push_back(test);
        self.go_on(now);
    }

    fn finish(&mut self, now: Tick) {
        self.is_finishing = true;
        self.go_on(now);
    }

    fn peer_facts(&self) -> Option<PeerFacts> {
        let facts =
            || PeerFacts { name: <Ntttcp as Peer>::NAME.to_owned(), ..PeerFacts::default() };
        self.has_met.then(facts)
    }
}
