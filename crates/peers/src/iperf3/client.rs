//! The client's end of a session, which is one test. The server drives every step but three: that the test is over, that its results are
//! read, and that this end was told to stop.
//!
//! ```text
//!  Greeting --09--> Met --propose--> Agreeing --0a--> Attaching --02, all there--> Running --all over, or time--> Ending
//!  Over <--closed-- Leaving <--0e-- Showing <--results-- Reporting <--0d, all over------------------------------------+
//! ```
//!
//! In one file: one end's dialogue, whose states are read side by side.

use std::collections::VecDeque;

use pathscope_core::Tick;
use pathscope_core::id::{FlowId, Role, Token};
use pathscope_core::quantity::count;
use pathscope_core::record::{PeerFacts, Remarks, Substitution};
use pathscope_flow::{Credentials, Event, Input, Output, Phase};
use pathscope_modes::groups::Test;
use pathscope_modes::registry::EndReport;

use super::carried::is_of_datagrams;
use super::course::{Course, tell_all};
use super::errors::{TAIL, denied, meant};
use super::framing::{Incoming, RESULTS_MOST, document};
use super::parameters::{Parameters, Way};
use super::results::Results;
use super::session::{End, Session};
use super::{NAME, deadlines, plans, reports, states};
use crate::dialogue::{ClientDialogue, STOP_TAKES};
use crate::joining::Cookie;
use crate::{Moment, PeerError};

/// What to do about a server that has said something, and nothing more.
const STANDS_STILL: &str = "see whether it still runs, and what it has printed itself";

/// The client's end.
pub type Client = Session<ClientEnd>;

/// What it alone has.
pub struct ClientEnd {
    cookie: Cookie,
    /// What this end calls itself.
    version: String,
    /// What it says of each test beside.
    remarks: Remarks,
    /// What runs otherwise than asked.
    substitutions: Vec<Substitution>,
    /// When flows that receive are to end, in a test of stated duration.
    ends_at: Tick,
    tests: VecDeque<Test>,
    is_finishing: bool,
    has_met: bool,
}

/// How far it is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Stage {
    /// The cookie is said.
    Greeting,
    /// The server awaits parameters.
    Met,
    /// They are said.
    Agreeing,
    /// Streams are made; whether the server has said that the test runs.
    Attaching {
        is_told: bool,
    },
    Running,
    /// The server knows that it is over; whether it awaits results.
    Ending {
        is_awaited: bool,
    },
    /// This end's results are said.
    Reporting,
    /// The other's have come.
    Showing,
    /// All is said; whether the server has closed.
    Leaving {
        is_closed: bool,
    },
    /// The server cannot: which stage that was in.
    Failing(Moment),
    Over,
}

impl Client {
    /// A dialogue on a connection that has just been made. Its streams are known by `cookie`.
    pub(super) fn new(
        cookie: Cookie,
        token: Token,
        (version, remarks): (String, Remarks),
        now: Tick,
    ) -> Self {
        let until = now.plus_nanos(deadlines::GREETING.0);
        let own = ClientEnd {
            cookie,
            version,
            remarks,
            substitutions: Vec::new(),
            ends_at: Tick::NEVER,
            tests: VecDeque::new(),
            is_finishing: false,
            has_met: false,
        };
        Self::beginning(own, token, Stage::Greeting, cookie.0.to_vec(), until)
    }

    /// Says what is to be measured, or takes leave, where the server awaits that.
    fn go_on(&mut self, now: Tick) {
        match self.stage {
            Stage::Met => {
                if let Some(test) = self.own.tests.pop_front() {
                    let (test, substitutions) = plans::fitted(test);
                    let parameters = plans::said(&test, &self.own.version);
                    let parameters = parameters.with(&self.own.remarks);
                    self.outputs.push_back(Output::Send(document(&parameters.write())));
                    self.course = Some(Box::new(Course::new(test, &parameters)));
                    self.own.substitutions = substitutions;
                    self.enter(Stage::Agreeing, Some(deadlines::AGREEING), now);
                } else if self.own.is_finishing {
                    self.end(Ok(()));
                }
            }
            Stage::Leaving { is_closed: true } if self.own.is_finishing => self.end(Ok(())),
            // A session is of one test.
            Stage::Leaving { is_closed: true } if !self.own.tests.is_empty() => {
                let error = self.closed();
                self.end(Err(error));
            }
            _ => {}
        }
    }

    /// Takes what has come as far as it goes. Whether there may be more to take.
    fn take(&mut self, now: Tick) -> Result<bool, PeerError> {
        match self.stage {
            Stage::Over | Stage::Leaving { .. } => {
                self.incoming = Incoming::default();
                return Ok(false);
            }
            Stage::Failing(moment) if self.incoming.len() >= TAIL => {
                return Err(self.failed(moment));
            }
            Stage::Failing(_) => return Ok(false),
            // No document may be so long that its length begins with another byte: this is a word in its place.
            Stage::Reporting if self.incoming.begins_with(0) => {
                let said = self.incoming.document(RESULTS_MOST);
                let said = said.map_err(|wrong| self.unreadable(wrong.to_string()))?;
                let Some(said) = said else { return Ok(false) };
                self.results(&said, now)?;
                return Ok(true);
            }
            _ => {}
        }
        let Some(state) = self.incoming.state() else { return Ok(false) };
        self.hear(state, now)?;
        Ok(true)
    }

    fn hear(&mut self, state: u8, now: Tick) -> Result<(), PeerError> {
        match (state, self.stage) {
            (states::ACCESS_DENIED, _) => return Err(PeerError::Refused(denied())),
            (states::SERVER_ERROR, _) => {
                self.enter(Stage::Failing(self.moment()), Some(deadlines::TAIL), now);
            }
            (states::SERVER_TERMINATE, _) => {
                return Err(PeerError::Stopped {
                    who: Role::Server,
                    by_this_end: false,
                    moment: self.moment(),
                    reason: "its program was told to end".to_owned(),
                });
            }
            (states::PARAM_EXCHANGE, Stage::Greeting) => {
                self.own.has_met = true;
                self.enter(Stage::Met, None, now);
                self.go_on(now);
            }
            (states::CREATE_STREAMS, Stage::Agreeing) => self.open(now),
            (states::TEST_START, Stage::Attaching { is_told: false }) => {}
            (states::TEST_RUNNING, Stage::Attaching { is_told: false }) => {
                self.stage = Stage::Attaching { is_told: true };
                self.start_if_ready(now);
            }
            (states::EXCHANGE_RESULTS, Stage::Ending { is_awaited: false }) => {
                self.enter(Stage::Ending { is_awaited: true }, Some(STOP_TAKES), now);
                // What the server sends it has sent.
                tell_all(&mut self.outputs, &[Event::Stop]);
                self.report_if_ready(now);
            }
            (states::DISPLAY_RESULTS, Stage::Showing) => {
                self.say(states::IPERF_DONE);
                self.outputs.push_back(Output::TestOver);
                self.course = None;
                self.enter(Stage::Leaving { is_closed: false }, Some(deadlines::LAST), now);
            }
            _ => {
                let what = format!("{} was not expected", states::name(state));
                return Err(PeerError::Breach { who: Role::Server, moment: self.moment(), what });
            }
        }
        Ok(())
    }

    fn open(&mut self, now: Tick) {
        let Some(course) = &self.course else { return };
        let plan = Box::new(course.test.clone());
        let credentials = Credentials { token: self.token, session: None, goes_ahead: false };
        let substitutions = std::mem::take(&mut self.own.substitutions);
        self.outputs.push_back(Output::Open { credentials, plan, substitutions });
        self.enter(Stage::Attaching { is_told: false }, Some(deadlines::ATTACH), now);
    }

    fn attached(&mut self, now: Tick) {
        let (Some(course), Stage::Attaching { .. }) = (&mut self.course, self.stage) else {
            return;
        };
        course.missing = course.missing.saturating_sub(1);
        let within = if course.missing > 0 { deadlines::ATTACH } else { deadlines::START };
        self.until = now.plus_nanos(within.0);
        self.start_if_ready(now);
    }

    fn start_if_ready(&mut self, now: Tick) {
        let (Some(course), Stage::Attaching { is_told: true }) = (&mut self.course, self.stage)
        else {
            return;
        };
        if course.missing > 0 {
            return;
        }
        course.begins(now);
        let receives = plans::receives(&course.test, Role::Client);
        let ends_at = course.test.stated_duration().filter(|_| receives);
        self.own.ends_at = ends_at.map_or(Tick::NEVER, |duration| now.plus_nanos(duration.0));
        self.outputs.push_back(Output::Start);
        self.enter(Stage::Running, None, now);
    }

    /// The time of what this end receives is over, or it is stopped. Datagrams are received until the server has stopped, too.
    fn stop_flows(&mut self, now: Tick) {
        self.own.ends_at = Tick::NEVER;
        if self.course.as_ref().is_some_and(|course| is_of_datagrams(&course.test)) {
            return self.say_end(now);
        }
        tell_all(&mut self.outputs, &[Event::Settle, Event::Stop]);
        self.until = now.plus_nanos(STOP_TAKES.0);
        // A server that nobody reads from may read nothing either, so that what this end has sent is not waited for. But its senders are to
        // have heard of it: the server breaks connections on which they still send.
        let sends = self.course.as_ref().is_some_and(|it| plans::receives(&it.test, Role::Server));
        if sends && self.receives() {
            self.course.iter_mut().for_each(|course| course.ends_with_senders = true);
            self.end_with_senders(now);
        }
    }

    /// Both ends send, and the time is over: so is the test once this end sends no more.
    fn end_with_senders(&mut self, now: Tick) {
        if self.course.as_ref().is_some_and(|it| it.ends_with_senders && it.sending == 0) {
            self.say_end(now);
        }
    }

    fn receives(&self) -> bool {
        self.course.as_ref().is_some_and(|it| plans::receives(&it.test, Role::Client))
    }

    fn say_end(&mut self, now: Tick) {
        if self.stage == Stage::Running {
            self.say(states::TEST_END);
            self.course.iter_mut().for_each(|course| course.ends(now));
            self.enter(Stage::Ending { is_awaited: false }, Some(deadlines::EXCHANGE), now);
        }
    }

    /// A flow of this end is so far. A transfer is over when all has left that was to leave, and all has come that was to come: on which
    /// streams, and that its server stops, nobody but this end says. What still comes is taken until that has stopped: one that waits for
    /// somebody to read hears nothing.
    fn progress(&mut self, flow: FlowId, phase: Phase, now: Tick) {
        let (Some(course), Stage::Running) = (&mut self.course, self.stage) else { return };
        let sender = plans::sender(&course.test, flow);
        if sender == Role::Client && phase.is_over() {
            course.sending = course.sending.saturating_sub(1);
        }
        if course.ends_with_senders {
            return self.end_with_senders(now);
        }
        if course.num == 0 || course.is_stopped {
            return;
        }
        match sender {
            Role::Client if phase.is_over() => {}
            Role::Server if phase == Phase::Settled && !course.has_all => {
                course.has_all = true;
                tell_all(&mut self.outputs, &[Event::Settle]);
            }
            _ => return,
        }
        if course.has_all && course.sending == 0 {
            self.say_end(now);
        }
    }

    /// All flows of this end are over.
    fn over(&mut self, report: Box<EndReport>, now: Tick) -> Result<(), PeerError> {
        let receives = self.receives();
        let Some(course) = &mut self.course else { return Ok(()) };
        let came = report.goodput.as_ref().filter(|own| own.failed == 0);
        if let (Some(own), Stage::Running, false) = (came, self.stage, course.is_stopped)
            && receives
            && own.received_bytes < course.num
        {
            let (came, all) = (count(own.received_bytes), count(course.num));
            let what = format!("its streams ended after {came} of {all} bytes");
            return Err(PeerError::Breach { who: Role::Server, moment: self.moment(), what });
        }
        course.report = Some(report);
        self.say_end(now);
        self.report_if_ready(now);
        Ok(())
    }

    fn report_if_ready(&mut self, now: Tick) {
        let (Some(course), Stage::Ending { is_awaited: true }) = (&self.course, self.stage) else {
            return;
        };
        let Some(report) = &course.report else { return };
        let results = reports::said(course, Role::Client, report);
        self.outputs.push_back(Output::Send(document(&results.write())));
        self.enter(Stage::Reporting, Some(deadlines::RESULTS), now);
    }

    fn results(&mut self, said: &[u8], now: Tick) -> Result<(), PeerError> {
        let results = Results::read(said).map_err(|what| self.unreadable(what))?;
        let Some(course) = &self.course else { return Ok(()) };
        let report = reports::heard(course, Role::Server, &results);
        self.outputs.push_back(Output::PeerReport(Box::new(report)));
        self.enter(Stage::Showing, Some(deadlines::RESULTS), now);
        Ok(())
    }

    /// The server has said that it cannot, and as much of why as came.
    fn failed(&mut self, moment: Moment) -> PeerError {
        let refusal = meant(&self.incoming.up_to(TAIL));
        match moment {
            Moment::Running | Moment::Ending => {
                let (who, reason) = (Role::Server, refusal.to_string());
                PeerError::Stopped { who, by_this_end: false, moment, reason }
            }
            _ => PeerError::Refused(refusal),
        }
    }

    /// Somebody wants this end to stop: in order the first time, so that what the server counted is kept.
    fn stop(&mut self, reason: &str, now: Tick) -> Result<(), PeerError> {
        self.own.tests.clear();
        self.own.is_finishing = true;
        let is_first = self.course.as_ref().is_some_and(|course| !course.is_stopped);
        match self.stage {
            Stage::Over => return Ok(()),
            Stage::Leaving { .. } => {
                self.end(Ok(()));
                return Ok(());
            }
            Stage::Running | Stage::Ending { .. } | Stage::Reporting | Stage::Showing
                if is_first =>
            {
                self.course.iter_mut().for_each(|course| course.is_stopped = true);
                // Where its flows are over, words alone are still to come.
                let is_running = self.stage == Stage::Running;
                let within = if is_running { STOP_TAKES } else { deadlines::HASTE };
                if is_running {
                    self.stop_flows(now);
                }
                self.until = self.until.min(now.plus_nanos(within.0));
                return Ok(());
            }
            _ => {}
        }
        let moment = self.moment();
        self.say(states::CLIENT_TERMINATE);
        let reason = reason.to_owned();
        Err(PeerError::Stopped { who: Role::Client, by_this_end: true, moment, reason })
    }

    fn expire(&mut self, now: Tick) -> Result<(), PeerError> {
        if now >= self.own.ends_at {
            self.stop_flows(now);
        }
        if let Some(silent) = self.silence(now) {
            return Err(silent);
        }
        if now < self.until {
            return Ok(());
        }
        let late = |what, limit, advice| {
            Err(PeerError::Overdue { who: Role::Server, what, limit, advice })
        };
        match self.stage {
            Stage::Greeting => late(
                "answer the cookie of an iperf3 client",
                deadlines::GREETING,
                "see whether it is an iperf3 server that listens at this port (--port), and no other client keeps it waiting",
            ),
            Stage::Agreeing => late("answer what was asked for", deadlines::AGREEING, STANDS_STILL),
            Stage::Attaching { .. } if self.course.as_ref().is_some_and(|it| it.missing > 0) => {
                let (what, limit) = ("make the next of its streams", deadlines::ATTACH);
                Err(PeerError::Late { who: Role::Client, what, limit })
            }
            Stage::Attaching { .. } => late("start the test", deadlines::START, STANDS_STILL),
            Stage::Running | Stage::Ending { is_awaited: true } => {
                Err(PeerError::Unfinished { limit: STOP_TAKES, since: "of the end of the test" })
            }
            Stage::Ending { .. } => late(
                "ask for results after the end of the test",
                deadlines::EXCHANGE,
                self.advice_where_unasked(),
            ),
            Stage::Reporting => late("send its results", deadlines::RESULTS, STANDS_STILL),
            Stage::Showing => late("take the results", deadlines::RESULTS, STANDS_STILL),
            Stage::Failing(moment) => Err(self.failed(moment)),
            // All was said.
            Stage::Leaving { .. } => {
                self.enter(Stage::Leaving { is_closed: true }, None, now);
                self.go_on(now);
                Ok(())
            }
            Stage::Met | Stage::Over => Ok(()),
        }
    }

    /// What to do where the server does not ask for results: of what this end has sent a part may be on the way before the word of the end.
    fn advice_where_unasked(&self) -> &'static str {
        let said = self.course.as_ref().map(|course| plans::said(&course.test, &self.own.version));
        match said {
            Some(Parameters { way: Way::Reverse, .. }) | None => STANDS_STILL,
            Some(Parameters { bandwidth: None, .. }) => {
                "see whether it still runs; what was sent may wait on the way before that word: a --rate that the path carries keeps \
                 the way free"
            }
            Some(_) => {
                "see whether it still runs, and whether the path carries --rate: where it carries less, what was sent waits on the \
                 way before that word"
            }
        }
    }

    fn act(&mut self, input: Input<'_, Self>, now: Tick) -> Result<(), PeerError> {
        match input {
            Input::Received(bytes) => {
                self.incoming.add(bytes);
                while self.take(now)? {}
            }
            Input::ControlClosed => match self.stage {
                Stage::Leaving { .. } => {
                    self.stage = Stage::Leaving { is_closed: true };
                    self.go_on(now);
                }
                Stage::Failing(moment) => return Err(self.failed(moment)),
                _ => return Err(self.closed()),
            },
            Input::Attached { .. } => self.attached(now),
            Input::Interval(interval) => {
                self.course.iter_mut().for_each(|course| {
                    course.interval(&interval, now);
                });
            }
            Input::Over(report) => return self.over(report, now),
            Input::Phase { flow, phase, .. } => self.progress(flow, phase, now),
            Input::Stop(reason) => return self.stop(reason, now),
            Input::Deadline => return self.expire(now),
            // Its words have nothing of these.
            Input::Reconnected
            | Input::Unreached
            | Input::Returned { .. }
            | Input::Came
            | Input::Began { .. }
            | Input::Recounted(_)
            | Input::ParticipantCame(_)
            | Input::ParticipantReceived(..)
            | Input::ParticipantClosed(_)
            | Input::Ended { .. }
            | Input::Prepared(_)
            | Input::Unable { .. }
            | Input::MayStart => {}
        }
        Ok(())
    }
}

impl End for ClientEnd {
    type Stage = Stage;

    const OTHER: Role = Role::Server;
    const RUNNING: Stage = Stage::Running;
    const OVER: Stage = Stage::Over;

    fn moment(stage: Stage) -> Moment {
        match stage {
            Stage::Greeting => Moment::Greeting,
            Stage::Met | Stage::Leaving { .. } | Stage::Over => Moment::BetweenTests,
            Stage::Agreeing => Moment::Agreeing,
            Stage::Attaching { .. } => Moment::Attaching,
            Stage::Running => Moment::Running,
            Stage::Ending { .. } | Stage::Reporting | Stage::Showing => Moment::Ending,
            Stage::Failing(moment) => moment,
        }
    }

    fn is_under_way(stage: Stage) -> bool {
        matches!(Self::moment(stage), Moment::Running | Moment::Ending)
    }

    fn is_loss(error: &PeerError) -> bool {
        !matches!(error, PeerError::Stopped { by_this_end: true, .. })
    }

    fn due(&self) -> Tick {
        self.ends_at
    }

    fn act(client: &mut Client, input: Input<'_, Client>, now: Tick) -> Result<(), PeerError> {
        client.act(input, now)
    }
}

impl ClientDialogue for Client {
    fn propose(&mut self, test: Test, now: Tick) {
        self.own.tests.push_back(test);
        self.go_on(now);
    }

    fn finish(&mut self, now: Tick) {
        self.own.is_finishing = true;
        self.go_on(now);
    }

    fn cookie(&self) -> Option<Cookie> {
        Some(self.own.cookie)
    }

    fn peer_facts(&self) -> Option<PeerFacts> {
        let name = || NAME.to_owned();
        self.own.has_met.then(|| PeerFacts { name: name(), ..PeerFacts::default() })
    }
}
