//! The dialogue of all peers that have no control connection, at either end: what there is to agree on is known before, or is said
//! on the flows' own connections, so that nothing is said here and nothing heard.
//!
//! ```text
//!  client: Idle --propose--> Attaching --all there--> Running --all flows over--> Idle --finish--> over
//!  server: Preparing -prepared-> Attaching --all there--> Running --all flows over--> over
//! ```
//!
//! The other end says nothing of its intervals and reports nothing: what it has counted is absent from a result. Where the plan does not
//! say how much an end sends, the close of its direction does. Not here: by what a connection is known to be of a session (`joining`).

mod carried;
pub mod frames;
mod stated;

use std::collections::VecDeque;

use pathscope_core::Tick;
use pathscope_core::id::{Role, Token};
use pathscope_core::quantity::Period;
use pathscope_core::record::PeerFacts;
use pathscope_flow::{Credentials, Dialogue, Event, Group, Input, Output};
use pathscope_modes::conventions::{Conventions, StreamEnd};
use pathscope_modes::groups::Test;
use pathscope_modes::registry::{EndInterval, EndReport, Plan};

pub use self::carried::{carries, carries_to};
use self::stated::judged;
use crate::dialogue::{ClientDialogue, STOP_TAKES, ServerDialogue, ServerSettings};
use crate::joining::Cookie;
use crate::{Moment, PeerError, Refusal};

/// Between two connections that come. Not for all of them: many take longer.
const ATTACH: Period = Period::from_secs(15);

/// A test in which nothing moves for so long is given up, unless more is asked for: nobody says that the other end is gone.
const QUIET: Period = Period::from_secs(60);

/// One end of a session.
pub struct InBand {
    role: Role,
    /// Whose protocol it is, as results tell it.
    name: &'static str,
    /// What data bear: known to both ends, since it is said nowhere.
    token: Token,
    /// What all connections say.
    cookie: Option<Cookie>,
    stage: Stage,
    /// Those that are proposed, at a client.
    tests: VecDeque<Test>,
    is_finishing: bool,
    /// A test in which nothing moves for so long beside what its plan has it, and for two intervals more, is given up.
    patience: Period,
    /// Server: a test is ended after so long, whatever its plan states of it; and when that is.
    limit: Option<Period>,
    limit_at: Option<Tick>,
    has_met: bool,
    outputs: VecDeque<Asked>,
}

/// What is asked for. `Output` holds the dialogue's own types, and is made when it is taken.
type Asked = Output<InBand>;

#[derive(Debug)]
enum Stage {
    /// No test is under way.
    Idle,
    /// Server: it makes ready for the stated one.
    Preparing(Box<Test>),
    /// So many connections have not come yet.
    Attaching { test: Box<Test>, missing: u64, deadline: Tick },
    /// The flows run. By the deadline something has to have moved or, once they were stopped, all of them to have ended.
    Running { test: Box<Test>, deadline: Tick, is_stopped: bool },
    /// Nothing follows.
    Over,
}

impl InBand {
    /// The client's end, with a kind of server of this name. Its data bear `token`, its connections say `cookie` where they are known
    /// by one.
    pub const fn client(name: &'static str, token: Token, cookie: Option<Cookie>) -> Self {
        Self {
            role: Role::Client,
            name,
            token,
            cookie,
            stage: Stage::Idle,
            tests: VecDeque::new(),
            is_finishing: false,
            patience: QUIET,
            limit: None,
            limit_at: None,
            has_met: false,
            outputs: VecDeque::new(),
        }
    }

    /// The server's end, which runs the test that its operator has stated.
    pub fn server(name: &'static str, token: Token, settings: &ServerSettings) -> Self {
        Self::server_of((name, StreamEnd::Closed), token, settings)
    }

    /// The same of a kind of peer whose streams end so.
    pub fn server_of(
        (name, end): (&'static str, StreamEnd),
        token: Token,
        settings: &ServerSettings,
    ) -> Self {
        let mut server = Self { role: Role::Server, ..Self::client(name, token, None) };
        match judged(settings, end) {
            Ok(test) => {
                let plan = Box::new(test);
                server.limit = settings.limits.duration_ns;
                server.stage = Stage::Preparing(plan.clone());
                let credentials = Credentials { token, session: None, goes_ahead: false };
                server.outputs.push_back(Output::Prepare { credentials, resumed: None, plan });
            }
            Err(refusal) => server.end(Err(PeerError::Refused(refusal))),
        }
        server
    }

    /// The same, which lets the other end rest for so long.
    #[must_use]
    pub const fn patient(mut self, patience: Period) -> Self {
        self.patience = patience;
        self
    }

    /// Until when something has to move.
    fn quiet_until(&self, test: &Test, now: Tick) -> Tick {
        let Self { patience, .. } = *self;
        let rests = match &test.plan {
            Plan::Latency(plan) => plan.rests_ns(),
            _ => Period(0),
        };
        let report = test.report_every_ns.0.saturating_mul(2);
        now.plus_nanos(patience.0.saturating_add(rests.0).saturating_add(report))
    }

    fn end(&mut self, result: Result<(), PeerError>) {
        self.stage = Stage::Over;
        self.outputs.push_back(Output::End(result));
    }

    /// Begins the next test, or takes leave, where nothing is under way.
    fn go_on(&mut self, now: Tick) {
        if !matches!(self.stage, Stage::Idle) {
            return;
        }
        if let Some(test) = self.tests.pop_front() {
            let plan = Box::new(test);
            let credentials = Credentials { token: self.token, session: None, goes_ahead: false };
            let substitutions = Vec::new();
            self.attach(plan.clone(), now);
            self.outputs.push_back(Output::Open { credentials, plan, substitutions });
        } else if self.is_finishing {
            self.end(Ok(()));
        }
    }

    fn attach(&mut self, test: Box<Test>, now: Tick) {
        let missing = connections_of(&test);
        self.stage = Stage::Attaching { test, missing, deadline: now.plus_nanos(ATTACH.0) };
    }

    /// Server: connections are awaited. Those that follow one another are taken as they come.
    fn prepared(&mut self, test: Box<Test>, now: Tick) {
        if !test.groups().iter().any(Group::replaces) {
            return self.attach(test, now);
        }
        self.run(test, now);
    }

    fn run(&mut self, test: Box<Test>, now: Tick) {
        self.outputs.push_back(Output::Start);
        let deadline = self.quiet_until(&test, now);
        self.limit_at = self.limit.map(|limit| now.plus_nanos(limit.0));
        self.stage = Stage::Running { test, deadline, is_stopped: false };
    }

    /// When a test that runs has run for as long as this end allows.
    const fn ends_by(&self) -> Option<Tick> {
        match self.stage {
            Stage::Running { is_stopped: false, .. } => self.limit_at,
            _ => None,
        }
    }

    /// One more connection is there.
    fn attached(&mut self, now: Tick) {
        let Stage::Attaching { test, missing, deadline } = &mut self.stage else { return };
        *missing = missing.saturating_sub(1);
        *deadline = now.plus_nanos(ATTACH.0);
        if *missing > 0 {
            return;
        }
        self.has_met = true;
        let test = test.clone();
        self.run(test, now);
    }

    /// All flows of this end are over, and so is the test: what there was of the other end came on them.
    fn over(&mut self, now: Tick) {
        if !matches!(self.stage, Stage::Running { .. }) {
            return;
        }
        self.stage = Stage::Idle;
        self.outputs.push_back(Output::TestOver);
        self.is_finishing |= self.role == Role::Server;
        self.go_on(now);
    }

    /// Somebody wants this end to stop. Asked twice, no flow is waited for.
    fn stop(&mut self, reason: &str, now: Tick) {
        let moment = match &mut self.stage {
            Stage::Running { test, deadline, is_stopped: is_stopped @ false } => {
                *is_stopped = true;
                *deadline = now.plus_nanos(STOP_TAKES.0);
                let groups = test.groups().into_iter().map(|group| group.id);
                let stops =
                    groups.map(|group| Output::Tell { group, flow: None, event: Event::Stop });
                self.outputs.extend(stops);
                return;
            }
            Stage::Idle => Moment::BetweenTests,
            Stage::Preparing(_) => Moment::Agreeing,
            Stage::Attaching { .. } => Moment::Attaching,
            Stage::Running { .. } => Moment::Running,
            Stage::Over => return,
        };
        let reason = reason.to_owned();
        self.end(Err(PeerError::Stopped { who: self.role, by_this_end: true, moment, reason }));
    }

    fn expire(&mut self, now: Tick) {
        if let (Some(limit), true) = (self.limit, self.ends_by().is_some_and(|at| now >= at)) {
            return self.stop(&crate::limits::duration_reached(limit), now);
        }
        let error = match self.stage {
            Stage::Attaching { deadline, .. } if now >= deadline => PeerError::Late {
                who: Role::Client,
                what: "make the next of its connections",
                limit: ATTACH,
            },
            Stage::Running { deadline, is_stopped: true, .. } if now >= deadline => {
                PeerError::Unfinished { limit: STOP_TAKES, since: "of the stop" }
            }
            Stage::Running { deadline, .. } if now >= deadline => {
                let silence = self.patience;
                PeerError::Silent { who: self.role.peer(), moment: Moment::Running, silence }
            }
            _ => return,
        };
        self.end(Err(error));
    }
}

/// How many connections of a client are its session's, after the one that begins it. Where they follow one another, any number.
pub fn further_connections(test: &Test) -> u64 {
    let replaces = test.groups().iter().any(Group::replaces);
    if replaces { u64::MAX } else { connections_of(test).saturating_sub(1) }
}

/// Where connections follow one another, so many come before those that they follow are gone at the server: no more than what is
/// reckoned with where a test is provided for.
pub const AHEAD: u32 = 64;

/// How many connections of a client there are at once, at the most.
pub fn connections_at_once(test: &Test) -> u64 {
    connections_of(test).saturating_add(u64::from(AHEAD))
}

/// How many connections a test is of. A flow whose lanes come and go is there with the first of them.
pub fn connections_of(test: &Test) -> u64 {
    let lanes = |group: Group| {
        let each = if group.roams { 1 } else { group.lanes };
        u64::from(group.flows) * u64::from(each)
    };
    test.groups().into_iter().map(lanes).sum()
}

/// What holds on the connections of all of them but for what streams are made of: nothing but their close says where they end.
pub const CONVENTIONS: Conventions = Conventions { end: StreamEnd::Closed, ..Conventions::OWN };

/// Whether what flows of a test carry says of which flow it is, as pings do: then connections have to be told apart.
pub fn names_flows(test: &Test) -> bool {
    matches!(test.plan, Plan::Latency(_))
}

impl Dialogue for InBand {
    type Plan = Test;
    type Interval = EndInterval;
    type Report = EndReport;
    type Error = PeerError;

    fn input(&mut self, input: Input<'_, Self>, now: Tick) {
        match input {
            Input::Prepared(_) => {
                if let Stage::Preparing(test) = std::mem::replace(&mut self.stage, Stage::Idle) {
                    self.prepared(test, now);
                }
            }
            Input::Unable { code, sentence } => {
                let sentence = sentence.to_owned();
                self.end(Err(PeerError::Refused(Refusal::new(code, sentence))));
            }
            Input::Attached { .. } => self.attached(now),
            Input::Interval(interval) => {
                if let Stage::Running { test, is_stopped: false, .. } = &self.stage
                    && test.plan.has_moved_in(&interval)
                {
                    let until = self.quiet_until(test, now);
                    if let Stage::Running { deadline, .. } = &mut self.stage {
                        *deadline = until;
                    }
                }
            }
            Input::Over(_) => self.over(now),
            Input::Stop(reason) => self.stop(reason, now),
            Input::Deadline => self.expire(now),
            // There is no control connection, and nobody to be told of a flow or to start with.
            Input::Received(_)
            | Input::MayStart
            | Input::ControlClosed
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
            Stage::Attaching { deadline, .. } => Some(deadline),
            Stage::Running { deadline, .. } => {
                Some(self.ends_by().map_or(deadline, |at| deadline.min(at)))
            }
            Stage::Idle | Stage::Preparing(_) | Stage::Over => None,
        }
    }
}

impl ClientDialogue for InBand {
    fn propose(&mut self, test: Test, now: Tick) {
        self.tests.push_back(test);
        self.go_on(now);
    }

    fn finish(&mut self, now: Tick) {
        self.is_finishing = true;
        self.go_on(now);
    }

    fn cookie(&self) -> Option<Cookie> {
        self.cookie
    }

    fn peer_facts(&self) -> Option<PeerFacts> {
        let facts = || PeerFacts { name: self.name.to_owned(), ..PeerFacts::default() };
        self.has_met.then(facts)
    }
}

impl ServerDialogue for InBand {}

#[cfg(test)]
mod tests;
