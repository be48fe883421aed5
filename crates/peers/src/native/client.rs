//! The client's side of the dialogue: it states every test, and speaks first in all things. What is said is
//! in `message`; what happens within one test in `active_test`.
//!
//! ```text
//!  Greeting --welcome--> Idle --propose--> Agreeing --accept--> Testing --both reports--> Idle ...
//!                          |                                      |
//!                        finish --> End(Ok)                     lost, and the test outlives that
//!                                                                 v
//!  Greeting <---------------------reconnected------------------- Away
//! ```
//!
//! In version 2 a control connection that is lost is made anew below all this, in `line`, and no stage changes: what is
//! drawn here is what happens where the session itself is gone. A session that is made anew goes the same way, for the test
//! that runs: it is proposed again, with its token and the name of the session that it had, its lanes are attached again,
//! and its flows here never stop.
//!
//! In one file: one end's dialogue, whose states are read side by side.

mod losses;

use std::collections::VecDeque;

use pathscope_core::Tick;
use pathscope_core::id::{ConnectionId, FlowId, Role, Token};
use pathscope_core::quantity::Period;
use pathscope_core::record::{Host, PeerFacts};
use pathscope_flow::{Credentials, Dialogue, GroupId, Input, Output};
use pathscope_modes::groups::Test;
use pathscope_modes::registry::{EndInterval, EndReport};

use super::active_test::ActiveTest;
use super::connection::connection_id;
use super::line::Line;
use super::message::{Accept, Hello, Message, Propose, Welcome};
use super::opening::{Greeting, HelloCheck, Opening};
use super::own_ends::end_of;
use super::own_totals::total_of;
use super::resumption::{IntervalOffset, Resumption};
use super::{
    EndsWanted, OtherEnd, PROTOCOL, SECURITY_NONE, VERSIONS, VersionRange, capabilities, deadlines,
    wishes,
};
use crate::dialogue::{ClientDialogue, Renewals};
use crate::{Moment, PeerError};

/// The client's end of one control connection: any number of tests, one after the other.
#[derive(Debug)]
pub struct Client {
    line: Line<Self>,
    stage: Stage,
    tests: VecDeque<Test>,
    finishing: bool,
    server: Option<OtherEnd>,
    host: Host,
    wants_ends: bool,
    /// Whether tests start with others.
    starts_with_others: bool,
    /// How long the server's first words are waited for.
    greeted_within: Period,
    /// The token under which the test that runs began.
    token: Option<Token>,
    /// When that test started here, and the number of its next interval.
    started: Tick,
    next_interval: u64,
    resumption: Option<Resumption>,
    versions: VersionRange,
    /// How often the greeting has been damaged, or cut off.
    greetings_lost: u32,
    /// Why it is said again, and until when another connection is waited for.
    greets_again: Option<(PeerError, Tick)>,
    /// What the server said to an earlier greeting, where that could not be read. It tells more than that a later connection
    /// was closed or refused.
    unreadable: Option<PeerError>,
}

#[derive(Debug)]
enum Stage {
    /// The session is lost, or could not be begun; another connection is awaited.
    Away,
    Greeting {
        deadline: Tick,
    },
    Idle,
    Agreeing {
        test: Box<Test>,
        deadline: Tick,
    },
    Testing(Box<ActiveTest>),
    /// All is said, and the server has not confirmed it yet.
    Leaving {
        deadline: Tick,
    },
}

impl Client {
    /// A dialogue on a connection that has just been made; `host` is told to the server.
    pub fn new(host: Host, now: Tick) -> Self {
        Self::asking(host, false, now)
    }

    /// The same; where `wants_ends`, the server is asked to say of each connection what it came to.
    pub fn asking(host: Host, wants_ends: bool, now: Tick) -> Self {
        Self::speaking(VERSIONS, host, wants_ends, now)
    }

    /// The same, in no other versions than these.
    pub(super) fn speaking(
        versions: VersionRange,
        host: Host,
        wants_ends: bool,
        now: Tick,
    ) -> Self {
        let mut client = Self {
            line: Line::new(Role::Client),
            stage: Stage::Away,
            tests: VecDeque::new(),
            finishing: false,
            server: None,
            host,
            wants_ends,
            starts_with_others: false,
            greeted_within: deadlines::HELLO,
            token: None,
            started: now,
            next_interval: 0,
            resumption: None,
            versions,
            greetings_lost: 0,
            greets_again: None,
            unreadable: None,
        };
        let said = client.greet(now);
        client.settle(said, now);
        client
    }

    /// The first words on a connection.
    fn greet(&mut self, now: Tick) -> Result<(), PeerError> {
        self.greets_again = None;
        self.stage = Stage::Greeting { deadline: now.plus_nanos(self.greeted_within.0) };
        let security = vec![SECURITY_NONE.to_owned()];
        let capabilities = capabilities(self.wants_ends);
        let hello = Hello { capabilities, security, host: self.host.clone() };
        let hello = Message::Hello(Box::new(hello)).encode()?;
        // The opening of a client of version 1 has no checksum, and its hello none.
        let check = (self.versions.most > 1).then(|| HelloCheck::of(&hello));
        let greeting = Greeting { versions: self.versions, hello: check };
        self.line.put(Output::Send(Opening::Control(greeting).encode()));
        self.line.put(Output::Send(hello));
        Ok(())
    }

    /// The server, once it has answered.
    pub const fn server(&self) -> Option<&OtherEnd> {
        self.server.as_ref()
    }

    /// Says the next proposal, or that there is none, if it is time.
    fn go_on(&mut self, now: Tick) -> Result<(), PeerError> {
        if self.line.has_ended() || !matches!(self.stage, Stage::Idle) {
            return Ok(());
        }
        if let Some(resumption) = &self.resumption {
            self.line.say(&Message::Propose(resumption.proposal()))?;
            let deadline = now.plus_nanos(deadlines::ACCEPT.0);
            self.stage = Stage::Agreeing { test: Box::new(resumption.test().clone()), deadline };
        } else if let Some(test) = self.tests.pop_front() {
            self.line.say(&Message::Propose(Propose::new(&test)))?;
            let deadline = now.plus_nanos(deadlines::ACCEPT.0);
            self.stage = Stage::Agreeing { test: Box::new(test), deadline };
        } else if self.finishing && self.line.is_numbered() {
            self.stage = Stage::Leaving { deadline: now.plus_nanos(deadlines::LEAVE.0) };
            self.line.say(&Message::Leave)?;
        } else if self.finishing {
            self.line.end(Ok(()));
        }
        Ok(())
    }

    fn settle(&mut self, result: Result<(), PeerError>, now: Tick) {
        let Err(error) = result else { return };
        if self.line.has_ended() {
            return;
        }
        let was_away = self.line.is_away();
        let Err(error) = self.line.lose(error, now) else { return };
        if matches!(self.stage, Stage::Leaving { .. }) {
            // All was said. What goes wrong now costs nothing.
            return self.line.end(Ok(()));
        }
        let Err(error) = self.greet_again(error, now) else { return };
        let Err(error) = self.resume(error, now) else { return };
        if let Stage::Testing(active) = &self.stage {
            active.abandon(&mut self.line, was_away || !matches!(error, PeerError::Stopped { .. }));
        }
        self.line.fail(error);
    }

    const fn moment(&self) -> Moment {
        match &self.stage {
            Stage::Away if self.resumption.is_none() => Moment::Greeting,
            Stage::Away => Moment::Running,
            Stage::Greeting { .. } => Moment::Greeting,
            Stage::Idle | Stage::Leaving { .. } => Moment::BetweenTests,
            Stage::Agreeing { .. } => Moment::Agreeing,
            Stage::Testing(active) => active.moment(),
        }
    }

    fn received(&mut self, mut bytes: &[u8], now: Tick) -> Result<(), PeerError> {
        self.line.heard(now);
        while let Some(message) = self.line.next(&mut bytes, self.moment(), now)? {
            self.hear(message, now)?;
            if self.line.has_ended() {
                return Ok(());
            }
        }
        if matches!(self.stage, Stage::Leaving { .. }) && self.line.is_confirmed() {
            self.line.end(Ok(()));
            return Ok(());
        }
        self.line.answer()
    }

    fn hear(&mut self, message: Message, now: Tick) -> Result<(), PeerError> {
        match (message, &mut self.stage) {
            (Message::Welcome(welcome), Stage::Greeting { .. }) => self.welcome(*welcome, now),
            (Message::Refuse(refusal), Stage::Greeting { .. } | Stage::Agreeing { .. }) => {
                Err(PeerError::Refused(refusal))
            }
            (Message::Accept(accept), Stage::Agreeing { .. }) => self.accept(*accept, now),
            (Message::Started, Stage::Testing(active)) if active.moment() == Moment::Starting => {
                let most = active.longest_run();
                active.run(most, "the test has run a minute beyond its duration".to_owned(), now);
                if self.resumption.take().is_some() {
                    let start_ns = now.nanos_since(self.started);
                    active.number_from(IntervalOffset { index: self.next_interval, start_ns });
                    self.line.put(Output::Resumed);
                } else {
                    (self.started, self.next_interval) = (now, 0);
                    self.line.put(Output::Start);
                }
                Ok(())
            }
            (Message::Stop(stop), _) => {
                if stop.ends {
                    self.line.note_leave();
                }
                self.peer_stopped(&stop.reason, now)
            }
            (message, Stage::Testing(active)) => {
                active.hear(&mut self.line, message, now)?;
                self.close_test(now)
            }
            (message, _) => Err(self.line.unexpected(self.moment(), &message)),
        }
    }

    fn welcome(&mut self, welcome: Welcome, now: Tick) -> Result<(), PeerError> {
        if !self.versions.holds(welcome.version) {
            let what = format!(
                "it chose version {} of the protocol; this client offered {}",
                welcome.version, self.versions
            );
            return Err(self.line.breach(Moment::Greeting, &what));
        }
        match (welcome.session, self.line.is_numbered()) {
            (Some(session), true) if welcome.version > 1 => self.line.name(session),
            (None, false) if welcome.version == 1 => {}
            _ => {
                let what = "its frames are of another version than it chose";
                return Err(self.line.breach(Moment::Greeting, &what));
            }
        }
        if welcome.security != SECURITY_NONE {
            let what = format!("it chose '{}' to secure the connection", welcome.security);
            return Err(self.line.breach(Moment::Greeting, &what));
        }
        self.server = Some(OtherEnd {
            version: welcome.version,
            capabilities: welcome.capabilities,
            host: welcome.host,
            limits: Some(welcome.limits),
            identity: welcome.server,
        });
        self.unreadable = None;
        self.line.watch(now);
        self.stage = Stage::Idle;
        self.go_on(now)
    }

    fn accept(&mut self, accept: Accept, now: Tick) -> Result<(), PeerError> {
        let Stage::Agreeing { test, .. } = &self.stage else { return Ok(()) };
        if accept.test != **test {
            return Err(PeerError::OtherTest);
        }
        self.line.bear_silence(deadlines::patience(&accept.test));
        let mut active = ActiveTest::new(accept.test.clone(), wishes(self.server.as_ref()), now);
        let Accept { token, test: plan, substitutions } = accept;
        let session = self.line.session();
        // What is said ahead is told from other words by the checksum before it: version 1 has none.
        let goes_ahead =
            session.is_some() && self.server.as_ref().is_some_and(OtherEnd::takes_early_data);
        let credentials = Credentials { token, session, goes_ahead };
        match &mut self.resumption {
            None => {
                self.token = Some(token);
                let plan = Box::new(plan);
                self.line.put(Output::Open { credentials, plan, substitutions });
            }
            Some(resumption) => {
                if !resumption.is_taken_up(token, credentials.session) {
                    let what = "it gave a test that runs another token";
                    return Err(self.line.breach(Moment::Agreeing, &what));
                }
                if let Some((total, phase)) = resumption.ended() {
                    active.phase(&mut self.line, total, phase, now)?;
                }
                self.line.put(Output::Rejoin(credentials));
            }
        }
        self.stage = Stage::Testing(Box::new(active));
        Ok(())
    }

    fn peer_stopped(&mut self, reason: &str, now: Tick) -> Result<(), PeerError> {
        match &mut self.stage {
            Stage::Testing(active) if active.is_running() => {
                self.line.note_reason(reason);
                active.stop(&mut self.line, now);
                Ok(())
            }
            _ => Err(self.line.stopped(Role::Server, self.moment(), reason)),
        }
    }

    /// A stop from this end: what runs is wound up, and no further test is proposed.
    fn stop(&mut self, reason: &str, now: Tick) -> Result<(), PeerError> {
        self.tests.clear();
        self.finishing = true;
        match &mut self.stage {
            Stage::Idle => self.go_on(now),
            Stage::Testing(active) if active.is_running() => {
                active.stop_from_here(&mut self.line, reason, now)
            }
            _ => Err(self.line.stopped(Role::Client, self.moment(), reason)),
        }
    }

    /// When both reports are said: the sockets are closed, then the server is told.
    fn close_test(&mut self, now: Tick) -> Result<(), PeerError> {
        if matches!(&self.stage, Stage::Testing(active) if active.is_over()) {
            self.line.put(Output::TestOver);
            self.line.say(&Message::End)?;
            self.stage = Stage::Idle;
            return self.go_on(now);
        }
        Ok(())
    }

    fn expire(&mut self, now: Tick) -> Result<(), PeerError> {
        self.line.expire(self.moment(), now)?;
        let (what, limit) = match &mut self.stage {
            Stage::Greeting { deadline } if now >= *deadline => {
                return Err(PeerError::Ungreeted { limit: self.greeted_within });
            }
            Stage::Agreeing { deadline, .. } if now >= *deadline => {
                ("answer the proposal of a test", deadlines::ACCEPT)
            }
            Stage::Testing(active) => return active.expire(&mut self.line, now),
            Stage::Away if self.resumption.as_ref().is_some_and(|it| now >= it.until()) => {
                return Err(self.line.closed(Moment::Running));
            }
            Stage::Away if self.greets_again.as_ref().is_some_and(|&(_, until)| now >= until) => {
                return Err(self.not_greeted());
            }
            Stage::Leaving { deadline } if now >= *deadline => {
                self.line.end(Ok(()));
                return Ok(());
            }
            _ => return Ok(()),
        };
        Err(PeerError::Late { who: Role::Server, what, limit })
    }

    fn attached(&mut self, group: GroupId, flow: FlowId, now: Tick) -> Result<(), PeerError> {
        let Stage::Testing(active) = &mut self.stage else { return Ok(()) };
        active.attach(group, flow, now);
        if !active.is_complete() || active.moment() != Moment::Attaching {
            return Ok(());
        }
        if self.starts_with_others && self.resumption.is_none() {
            if active.await_others(now) {
                self.line.put(Output::Ready);
            }
            return Ok(());
        }
        self.start(now)
    }

    /// Says that all flows are there.
    fn start(&mut self, now: Tick) -> Result<(), PeerError> {
        let Stage::Testing(active) = &mut self.stage else { return Ok(()) };
        active.await_start(now);
        self.line.say(&Message::Start)
    }

    fn act(&mut self, input: Input<'_, Self>, now: Tick) -> Result<(), PeerError> {
        match (input, &mut self.stage) {
            // Of a connection that is given up.
            (Input::Received(_) | Input::ControlClosed, Stage::Away) => Ok(()),
            (Input::Received(_) | Input::ControlClosed, _) if self.line.is_deaf() => Ok(()),
            (Input::Received(bytes), _) => self.received(bytes, now),
            (Input::ControlClosed, _) => Err(self.line.closed(self.moment())),
            (Input::Reconnected, Stage::Away) => {
                if self.resumption.is_none() {
                    self.line.note_renewed();
                }
                self.greet(now)
            }
            (Input::Reconnected, _) => {
                self.line.ask(now);
                Ok(())
            }
            // A server that outlives nothing may be there again soon.
            (Input::Unreached, Stage::Away) if self.resumption.is_some() => Ok(()),
            (Input::Unreached, Stage::Away) => Err(self.not_greeted()),
            (Input::Unreached, _) => self.line.unreached(),
            (Input::Attached { group, flow }, _) => self.attached(group, flow, now),
            (Input::MayStart, Stage::Testing(active)) if active.awaits_others() => self.start(now),
            (Input::Phase { group, flow, phase, totals }, stage) => {
                let total = total_of(group, flow, totals);
                if let Some(resumption) = &mut self.resumption {
                    resumption.note(total, phase);
                }
                match stage {
                    Stage::Testing(active) => active.phase(&mut self.line, total, phase, now),
                    _ => Ok(()),
                }
            }
            (Input::Ended { group, flow, totals, failure }, Stage::Testing(active)) => {
                active.ended(&mut self.line, end_of((group, flow), totals, failure), now)
            }
            (Input::Interval(interval), stage) => {
                self.next_interval = interval.index.saturating_add(1);
                match stage {
                    Stage::Testing(active) => active.interval(&mut self.line, interval, now),
                    _ => Ok(()),
                }
            }
            (Input::Over(report), Stage::Testing(active)) => {
                active.report(&mut self.line, report, now)?;
                self.close_test(now)
            }
            (Input::Stop(reason), _) => self.stop(reason, now),
            (Input::Deadline, _) => self.expire(now),
            // Word of flows of a test that is over; what only a server is told.
            _ => Ok(()),
        }
    }
}

impl Dialogue for Client {
    type Plan = Test;
    type Interval = EndInterval;
    type Report = EndReport;
    type Error = PeerError;

    fn input(&mut self, input: Input<'_, Self>, now: Tick) {
        if self.line.has_ended() {
            return;
        }
        let is_over = matches!(input, Input::Over(_));
        if let Some(resumption) = self.resumption.take_if(|_| is_over) {
            // All flows are over, and no server is there to tell.
            return self.line.fail(resumption.into_loss());
        }
        let result = self.act(input, now);
        self.settle(result, now);
    }

    fn output(&mut self) -> Option<Output<Self>> {
        self.line.take()
    }

    fn is_away(&self) -> bool {
        self.line.is_away()
    }

    fn connection_id(token: Token, flow: FlowId) -> Option<ConnectionId> {
        Some(connection_id(token, flow))
    }

    fn peer_tells_failures(&self) -> bool {
        self.server.as_ref().is_some_and(OtherEnd::tells_failures)
    }

    fn peer_hears_ends(&self) -> bool {
        wishes(self.server.as_ref()).ends == EndsWanted::All
    }

    fn peer_consents(&self) -> bool {
        self.server.as_ref().is_some_and(OtherEnd::consents)
    }

    fn deadline(&self) -> Option<Tick> {
        if self.line.has_ended() {
            return None;
        }
        let stage = match &self.stage {
            Stage::Greeting { deadline }
            | Stage::Agreeing { deadline, .. }
            | Stage::Leaving { deadline } => Some(*deadline),
            Stage::Idle => None,
            Stage::Away => {
                let again = self.greets_again.as_ref().map(|&(_, until)| until);
                self.resumption.as_ref().map(Resumption::until).or(again)
            }
            Stage::Testing(active) => active.deadline(),
        };
        [self.line.deadline(), stage].into_iter().flatten().min()
    }
}

impl ClientDialogue for Client {
    fn propose(&mut self, test: Test, now: Tick) {
        self.tests.push_back(test);
        let said = self.go_on(now);
        self.settle(said, now);
    }

    fn finish(&mut self, now: Tick) {
        self.finishing = true;
        let said = self.go_on(now);
        self.settle(said, now);
    }

    fn start_with_others(&mut self) {
        self.starts_with_others = true;
    }

    fn await_greeting(&mut self, within: Period, now: Tick) {
        self.greeted_within = within;
        if let Stage::Greeting { deadline } = &mut self.stage {
            *deadline = now.plus_nanos(within.0).min(*deadline);
        }
    }

    fn server_identity(&self) -> Option<Token> {
        self.server.as_ref().and_then(|server| server.identity)
    }

    fn peer_facts(&self) -> Option<PeerFacts> {
        self.server.as_ref().map(|server| PeerFacts {
            name: PROTOCOL.to_owned(),
            protocol_version: Some(server.version.to_string()),
            ..PeerFacts::default()
        })
    }

    fn server_host(&self) -> Option<&Host> {
        self.server.as_ref().map(|server| &server.host)
    }

    fn renewals(&self) -> Renewals {
        self.line.renewals()
    }

    fn stopped_by_server(&self) -> Option<&str> {
        self.line.peer_reason()
    }
}
