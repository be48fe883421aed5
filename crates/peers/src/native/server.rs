//! The server's side of the dialogue: it judges what strangers propose, and never closes first on success.
//! What is said is in `message`; what happens within one test in `active_test`.
//!
//! ```text
//!  Greeting --hello--> Idle --propose--> Preparing --prepared--> Testing --both reports--> Ending
//!     |                 ^  \--client closes--> End(Ok)                                     |
//!     v                 +-----------------------------end----------------------------------+
//!  Refused --client closes--> End
//! ```
//!
//! In one file: one end's dialogue, whose states are read side by side.

use pathscope_core::Tick;
use pathscope_core::id::{ConnectionId, FlowId, Role, Token};
use pathscope_core::record::{Host, Substitution};
use pathscope_flow::{Credentials, Dialogue, GroupId, Input, Output, Resumed};
use pathscope_modes::groups::Test;
use pathscope_modes::registry::{EndInterval, EndReport};

use super::active_test::ActiveTest;
use super::connection::connection_id;
use super::keyed_hash::keyed_hash;
use super::line::Line;
use super::message::{Accept, Hello, Message, Propose, Welcome};
use super::opening::Greeting;
use super::own_ends::end_of;
use super::own_totals::total_of;
use super::{
    EndsWanted, OtherEnd, SECURITY_NONE, VERSIONS, VersionRange, deadlines, server_capabilities,
    wishes,
};
use crate::dialogue::{Renewals, ServerDialogue, ServerSettings};
use crate::limits::{self, Limits};
use crate::{Moment, PeerError, Refusal};

/// Proposals that a session may have refused before one of its tests begins. A person who tries what a server grants, or
/// a program that falls back from one test to the next, needs fewer.
const REFUSED_MOST: u32 = 8;

/// The server's end of one control connection.
#[derive(Debug)]
pub struct Server {
    line: Line<Self>,
    stage: Stage,
    settings: ServerSettings,
    version: u16,
    entropy: [u8; 16],
    tests: u64,
    /// Proposals that were refused since a test began.
    refused: u32,
    stopping: Option<String>,
    client: Option<OtherEnd>,
}

#[derive(Debug)]
enum Stage {
    Greeting {
        deadline: Tick,
    },
    Refused {
        refusal: Refusal,
        deadline: Tick,
    },
    Idle {
        deadline: Tick,
    },
    Preparing {
        token: Token,
        test: Box<Test>,
        /// When the next proposal is due, should this one be refused.
        idle_until: Tick,
    },
    Testing(Box<ActiveTest>),
    Ending {
        deadline: Tick,
    },
    /// The client has said that it leaves.
    Left {
        deadline: Tick,
    },
}

impl Server {
    /// A dialogue with a client that opened it by `greeting`. `admission` is what the census said of it;
    /// `entropy` is unpredictable and drawn anew for each session: its tokens come of it.
    pub fn new(
        settings: ServerSettings,
        greeting: Greeting,
        admission: Result<(), Refusal>,
        entropy: [u8; 16],
        now: Tick,
    ) -> Self {
        let spoken = VERSIONS.common(greeting.spoken());
        let line = match (greeting.hello, spoken) {
            (Some(hello), Some(2..)) => Line::numbered(hello, session_of(&entropy)),
            _ => Line::new(Role::Server),
        };
        let mut server = Self {
            line,
            stage: Stage::Greeting { deadline: now.plus_nanos(deadlines::HELLO.0) },
            settings,
            version: VERSIONS.most,
            entropy,
            tests: 0,
            refused: 0,
            stopping: None,
            client: None,
        };
        let said = match (admission, spoken) {
            (Err(refusal), _) => server.turn_away(refusal, now),
            (_, None) => server.turn_away(version_refusal(greeting.versions), now),
            (Ok(()), Some(version)) => {
                server.version = version;
                Ok(())
            }
        };
        server.settle(said, now);
        server
    }

    /// What the process says from now on that it has drawn.
    #[cfg(test)]
    pub(super) fn name_process(&mut self, identity: Token) {
        self.settings.identity = Some(identity);
    }

    /// The client, once it has said hello.
    pub const fn client(&self) -> Option<&OtherEnd> {
        self.client.as_ref()
    }

    /// No to the client, not to one of its tests. It is to close; what it still says is not heard.
    fn turn_away(&mut self, refusal: Refusal, now: Tick) -> Result<(), PeerError> {
        self.line.say(&Message::Refuse(refusal.clone()))?;
        let deadline = now.plus_nanos(deadlines::FAREWELL.0);
        self.stage = Stage::Refused { refusal, deadline };
        Ok(())
    }

    fn settle(&mut self, result: Result<(), PeerError>, now: Tick) {
        let Err(error) = result else { return };
        if self.line.has_ended() {
            return;
        }
        let was_away = self.line.is_away();
        // A server that stops listens no more, so that nobody could come back.
        let is_ending = self.stopping.is_some() && error.is_loss();
        let lost = if is_ending { Err(error) } else { self.line.lose(error, now) };
        let Err(error) = lost else { return };
        if let Stage::Testing(active) = &self.stage {
            active.abandon(&mut self.line, was_away || !matches!(error, PeerError::Stopped { .. }));
        }
        self.line.fail(error);
    }

    const fn moment(&self) -> Moment {
        match &self.stage {
            Stage::Greeting { .. } | Stage::Refused { .. } => Moment::Greeting,
            Stage::Idle { .. } | Stage::Left { .. } => Moment::BetweenTests,
            Stage::Preparing { .. } => Moment::Agreeing,
            Stage::Testing(active) => active.moment(),
            Stage::Ending { .. } => Moment::Ending,
        }
    }

    fn received(&mut self, mut bytes: &[u8], now: Tick) -> Result<(), PeerError> {
        self.line.heard(now);
        while !matches!(self.stage, Stage::Refused { .. }) && !self.line.has_ended() {
            let Some(message) = self.line.next(&mut bytes, self.moment(), now)? else {
                return self.line.answer();
            };
            self.hear(message, now)?;
        }
        Ok(())
    }

    fn hear(&mut self, message: Message, now: Tick) -> Result<(), PeerError> {
        match (message, &mut self.stage) {
            (Message::Hello(hello), Stage::Greeting { .. }) => self.greet(*hello, now),
            (Message::Propose(propose), Stage::Idle { .. }) => self.judge(&propose),
            (Message::Start, Stage::Testing(active)) if active.moment() == Moment::Attaching => {
                active.await_start(now);
                self.start_if_complete(now)
            }
            (Message::Stop(stop), stage) if !matches!(stage, Stage::Greeting { .. }) => {
                if stop.ends {
                    self.line.note_leave();
                }
                self.peer_stopped(&stop.reason, now)
            }
            (Message::End, Stage::Ending { .. }) => self.test_over(now),
            (Message::Leave, Stage::Idle { .. }) => {
                self.stage = Stage::Left { deadline: now.plus_nanos(deadlines::FAREWELL.0) };
                self.line.confirm()
            }
            (message, Stage::Testing(active)) => {
                active.hear(&mut self.line, message, now)?;
                self.end_if_over(now);
                Ok(())
            }
            (message, _) => Err(self.line.unexpected(self.moment(), &message)),
        }
    }

    fn greet(&mut self, hello: Hello, now: Tick) -> Result<(), PeerError> {
        if !hello.security.iter().any(|offer| offer == SECURITY_NONE) {
            let sentence = format!(
                "it knows no way to secure the connection that the client offers ({})",
                hello.security.join(", ")
            );
            return self.turn_away(Refusal::new("security", sentence), now);
        }
        self.line.say(&Message::Welcome(Box::new(Welcome {
            version: self.version,
            capabilities: server_capabilities(self.settings.wants_ends),
            security: SECURITY_NONE.to_owned(),
            limits: self.settings.limits,
            host: self.settings.host.clone(),
            session: self.session(),
            server: self.settings.identity,
        })))?;
        self.client = Some(OtherEnd {
            version: self.version,
            capabilities: hello.capabilities,
            host: hello.host,
            limits: None,
            identity: None,
        });
        self.line.watch(now);
        self.rest(now);
        Ok(())
    }

    /// Waits for the next proposal.
    fn rest(&mut self, now: Tick) {
        self.stage = Stage::Idle { deadline: now.plus_nanos(deadlines::IDLE.0) };
    }

    /// No to a test. The client has no more time for the next proposal than before, and not any number of them.
    fn refuse(&mut self, refusal: Refusal) -> Result<(), PeerError> {
        self.refused += 1;
        self.line.say(&Message::Refuse(refusal))?;
        if self.refused < REFUSED_MOST {
            return Ok(());
        }
        Err(PeerError::RefusedTooOften { most: REFUSED_MOST })
    }

    fn judge(&mut self, propose: &Propose) -> Result<(), PeerError> {
        let Stage::Idle { deadline: idle_until } = self.stage else { return Ok(()) };
        let judged = propose
            .test()
            .and_then(|test| self.settings.limits.check(&test).map(|()| test))
            .and_then(|test| self.check_withheld(&test).map(|()| test))
            .and_then(|test| check_resumed(&test, propose.resumes).map(|()| test));
        // What is told of a session that had it is of version 2.
        let session = self.session();
        let named = propose.session.filter(|_| session.is_some());
        let resumed = propose.resumes.map(|token| Resumed { token, session: named });
        let test = match judged {
            Ok(test) => test,
            Err(refusal) => return self.refuse(refusal),
        };
        let drawn = || Token(keyed_hash(&self.entropy, &self.tests.to_be_bytes()));
        let token = match (propose.resumes, session) {
            // Flows of version 1 know no token but the one that they have. It is taken where nobody has it.
            (Some(token), None) => token,
            _ => drawn(),
        };
        self.tests += 1;
        let test = Box::new(test);
        let credentials = Credentials { token, session, goes_ahead: false };
        self.line.put(Output::Prepare { credentials, resumed, plan: test.clone() });
        self.stage = Stage::Preparing { token, test, idle_until };
        Ok(())
    }

    fn check_withheld(&self, test: &Test) -> Result<(), Refusal> {
        let ServerSettings { limits, congestion_controls, .. } = &self.settings;
        limits.withheld.check(test, congestion_controls)
    }

    fn prepared(&mut self, substitutions: Vec<Substitution>, now: Tick) -> Result<(), PeerError> {
        let Stage::Preparing { token, test, .. } = &self.stage else { return Ok(()) };
        let test = Test::clone(test);
        let accept = Accept { token: *token, test: test.clone(), substitutions };
        self.line.bear_silence(deadlines::patience(&test));
        self.stage =
            Stage::Testing(Box::new(ActiveTest::new(test, wishes(self.client.as_ref()), now)));
        self.line.say(&Message::Accept(Box::new(accept)))
    }

    fn unable(&mut self, code: &str, sentence: &str) -> Result<(), PeerError> {
        let Stage::Preparing { idle_until, .. } = self.stage else { return Ok(()) };
        self.stage = Stage::Idle { deadline: idle_until };
        let sentence: String = sentence.chars().take(1_000).collect();
        self.refuse(Refusal::new(code, sentence))
    }

    fn attached(&mut self, group: GroupId, flow: FlowId, now: Tick) -> Result<(), PeerError> {
        let Stage::Testing(active) = &mut self.stage else { return Ok(()) };
        active.attach(group, flow, now);
        self.start_if_complete(now)
    }

    /// The client's start may overtake the word of this end's last flows, so both are waited for.
    fn start_if_complete(&mut self, now: Tick) -> Result<(), PeerError> {
        let Stage::Testing(active) = &mut self.stage else { return Ok(()) };
        if active.moment() != Moment::Starting || !active.is_complete() {
            return Ok(());
        }
        let limit = self.settings.limits.duration_ns;
        let reason = match limit {
            Some(limit) if active.longest_run().is_none() => limits::duration_reached(limit),
            _ => "the test has run a minute beyond its duration".to_owned(),
        };
        active.run(active.longest_run().or(limit), reason, now);
        self.refused = 0;
        self.line.put(Output::Start);
        self.line.say(&Message::Started)
    }

    fn end_if_over(&mut self, now: Tick) {
        if matches!(&self.stage, Stage::Testing(active) if active.is_over()) {
            self.stage = Stage::Ending { deadline: now.plus_nanos(deadlines::REPORT.0) };
        }
    }

    fn test_over(&mut self, now: Tick) -> Result<(), PeerError> {
        self.line.put(Output::TestOver);
        self.rest(now);
        if let Some(reason) = self.stopping.take() {
            self.line.say_last(&reason)?;
            self.line.end(Ok(()));
        }
        Ok(())
    }

    fn peer_stopped(&mut self, reason: &str, now: Tick) -> Result<(), PeerError> {
        match &mut self.stage {
            Stage::Testing(active) if active.is_running() => {
                self.line.note_reason(reason);
                active.stop(&mut self.line, now);
                Ok(())
            }
            // It is about to close; or it stopped a test that has meanwhile ended by itself.
            Stage::Idle { .. } | Stage::Ending { .. } => Ok(()),
            _ => Err(self.line.stopped(Role::Client, self.moment(), reason)),
        }
    }

    /// The server itself ends. What runs is wound up.
    fn stop(&mut self, reason: &str, now: Tick) -> Result<(), PeerError> {
        match &mut self.stage {
            Stage::Greeting { .. } => {
                self.line.say(&Message::Refuse(Refusal::new("stopping", "it is about to stop")))?;
                self.line.end(Ok(()));
            }
            Stage::Idle { .. } => {
                self.line.say_last(reason)?;
                self.line.end(Ok(()));
            }
            Stage::Refused { .. } | Stage::Left { .. } => self.line.end(Ok(())),
            Stage::Ending { .. } if self.stopping.is_some() => self.line.end(Ok(())),
            Stage::Ending { .. } => self.stopping = Some(reason.to_owned()),
            // Its client is away, and may be gone: nobody is waited for.
            Stage::Testing(active) if active.is_running() && !self.line.is_deaf() => {
                self.stopping = Some(reason.to_owned());
                return active.stop_from_here(&mut self.line, reason, now);
            }
            Stage::Preparing { .. } | Stage::Testing(_) => {
                return Err(self.line.stopped(Role::Server, self.moment(), reason));
            }
        }
        Ok(())
    }

    fn closed(&mut self) -> Result<(), PeerError> {
        match &self.stage {
            // A client of version 1 leaves without a word, and one that never said any has nothing here.
            Stage::Idle { .. } if self.line.may_leave_unsaid() && !self.line.is_amid_message() => {
                self.line.end(Ok(()));
                Ok(())
            }
            Stage::Left { .. } => {
                self.line.end(Ok(()));
                Ok(())
            }
            Stage::Refused { refusal, .. } => Err(PeerError::Refused(refusal.clone())),
            _ => Err(self.line.closed(self.moment())),
        }
    }

    fn expire(&mut self, now: Tick) -> Result<(), PeerError> {
        self.line.expire(self.moment(), now)?;
        let (what, limit) = match &mut self.stage {
            Stage::Greeting { deadline } if now >= *deadline => ("say hello", deadlines::HELLO),
            Stage::Idle { deadline } if now >= *deadline => ("propose a test", deadlines::IDLE),
            Stage::Ending { deadline } if now >= *deadline => ("end the test", deadlines::REPORT),
            Stage::Refused { refusal, deadline } if now >= *deadline => {
                return Err(PeerError::Refused(refusal.clone()));
            }
            Stage::Testing(active) => return active.expire(&mut self.line, now),
            Stage::Left { deadline } if now >= *deadline => {
                self.line.end(Ok(()));
                return Ok(());
            }
            _ => return Ok(()),
        };
        Err(PeerError::Late { who: Role::Client, what, limit })
    }

    fn act(&mut self, input: Input<'_, Self>, now: Tick) -> Result<(), PeerError> {
        match (input, &mut self.stage) {
            (Input::Received(_) | Input::ControlClosed, _) if self.line.is_deaf() => Ok(()),
            (Input::Received(bytes), _) => self.received(bytes, now),
            (Input::Returned { attempt, received }, _) => {
                self.line.take_back(attempt, received, now)
            }
            (Input::ControlClosed, _) => self.closed(),
            (Input::Prepared(substitutions), _) => self.prepared(substitutions, now),
            (Input::Unable { code, sentence }, _) => self.unable(code, sentence),
            (Input::Attached { group, flow }, _) => self.attached(group, flow, now),
            (Input::Phase { group, flow, phase, totals }, Stage::Testing(active)) => {
                active.phase(&mut self.line, total_of(group, flow, totals), phase, now)
            }
            (Input::Ended { group, flow, totals, failure }, Stage::Testing(active)) => {
                active.ended(&mut self.line, end_of((group, flow), totals, failure), now)
            }
            (Input::Interval(interval), Stage::Testing(active)) => {
                active.interval(&mut self.line, interval, now)
            }
            (Input::Over(report), Stage::Testing(active)) => {
                active.report(&mut self.line, report, now)?;
                self.end_if_over(now);
                Ok(())
            }
            (Input::Stop(reason), _) => self.stop(reason, now),
            (Input::Deadline, _) => self.expire(now),
            // Word of flows of a test that is over.
            _ => Ok(()),
        }
    }
}

impl Dialogue for Server {
    type Plan = Test;
    type Interval = EndInterval;
    type Report = EndReport;
    type Error = PeerError;

    fn input(&mut self, input: Input<'_, Self>, now: Tick) {
        if !self.line.has_ended() {
            let result = self.act(input, now);
            self.settle(result, now);
        }
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
        self.client.as_ref().is_some_and(OtherEnd::tells_failures)
    }

    fn peer_hears_ends(&self) -> bool {
        wishes(self.client.as_ref()).ends == EndsWanted::All
    }

    fn peer_consents(&self) -> bool {
        self.client.as_ref().is_some_and(OtherEnd::consents)
    }

    fn unread_bytes(&self) -> usize {
        self.line.unread_bytes()
    }

    fn kept_bytes(&self) -> usize {
        self.line.kept_bytes()
    }

    fn deadline(&self) -> Option<Tick> {
        if self.line.has_ended() {
            return None;
        }
        let stage = match &self.stage {
            Stage::Greeting { deadline }
            | Stage::Refused { deadline, .. }
            | Stage::Idle { deadline }
            | Stage::Ending { deadline }
            | Stage::Left { deadline } => Some(*deadline),
            Stage::Preparing { .. } => None,
            Stage::Testing(active) => active.deadline(),
        };
        [self.line.deadline(), stage].into_iter().flatten().min()
    }
}

impl ServerDialogue for Server {
    fn session(&self) -> Option<Token> {
        self.line.is_numbered().then(|| session_of(&self.entropy))
    }

    fn renewals(&self) -> Renewals {
        self.line.renewals()
    }
}

/// What is said to a client that gets no session.
pub(super) fn refused(greeting: Greeting, refusal: &Refusal) -> Vec<u8> {
    let settings = ServerSettings {
        identity: None,
        host: Host::default(),
        limits: Limits::NONE,
        congestion_controls: Vec::new(),
        wants_ends: false,
        stated: None,
        rate: None,
        is_of_several: false,
    };
    // It is given no name, and no token comes of it.
    let mut server = Server::new(settings, greeting, Err(refusal.clone()), [0; 16], Tick::ZERO);
    let mut said = Vec::new();
    while let Some(output) = server.output() {
        if let Output::Send(bytes) = output {
            said.extend_from_slice(&bytes);
        }
    }
    said
}

/// Flows that run already can only come in anew where lanes come and go.
fn check_resumed(test: &Test, resumes: Option<Token>) -> Result<(), Refusal> {
    match resumes {
        Some(_) if !test.roams() => {
            let sentence = "only a multipath test outlives its server, and this is another one";
            Err(Refusal::new("invalid", sentence))
        }
        Some(Token(bytes)) if bytes == [0; 16] => {
            let sentence = "the token of the test that is to be resumed is all zeros, and no server has drawn that";
            let hint = "name the token that the server gave the test when it began";
            Err(Refusal::new("invalid", sentence).with_hint(hint))
        }
        _ => Ok(()),
    }
}

/// What a session is called, apart from the tokens of its tests, which more people see.
fn session_of(entropy: &[u8; 16]) -> Token {
    Token(keyed_hash(entropy, b"pathscope:session"))
}

fn version_refusal(client: VersionRange) -> Refusal {
    let older = if client.most < VERSIONS.least { "client" } else { "server" };
    let sentence = format!(
        "the client speaks protocol version {client}, the server {VERSIONS}: none in common"
    );
    Refusal::new("version", sentence).with_hint(format!("upgrade the {older}"))
}
