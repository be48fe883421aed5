//! The server's end of a session, which is one test: it drives every step but the end.
//!
//! ```text
//!  Asking --parameters--> Preparing --prepared--> Attaching --all there--> Running --04--> Ending
//!  Over <--10, closed-- Showing <--all over-- Settling <--------------------------results---+
//! ```

use pathscope_core::Tick;
use pathscope_core::id::{Role, Token};
use pathscope_core::quantity::Period;
use pathscope_flow::{Credentials, Event, Input, Output};
use pathscope_modes::groups::{MAIN, Test};
use pathscope_modes::registry::{EndInterval, EndReport};

use super::course::{Course, tell_all};
use super::errors::{self, Declined};
use super::framing::{PARAMETERS_MOST, RESULTS_MOST, document};
use super::parameters::Parameters;
use super::results::Results;
use super::session::{End, Session};
use super::{deadlines, plans, reports, states};
use crate::dialogue::{ServerDialogue, ServerSettings};
use crate::{Moment, PeerError, Refusal};

/// The server's end.
pub type Server = Session<ServerEnd>;

/// What it alone has.
pub struct ServerEnd {
    settings: ServerSettings,
}

/// How far it is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Stage {
    /// The parameters are awaited.
    Asking,
    Preparing,
    /// Streams are awaited.
    Attaching,
    Running,
    /// The client has said that it is over; its results are awaited.
    Ending,
    /// They are there: what it has sent is awaited, at last until then; or is not any more, and the flows of this end are.
    Settling {
        at_last: Tick,
        is_settled: bool,
    },
    /// All is said.
    Showing,
    Over,
}

impl Server {
    /// A dialogue with a client whose cookie has come. Its data bear `token`.
    pub(super) fn new(settings: ServerSettings, token: Token, now: Tick) -> Self {
        let until = now.plus_nanos(deadlines::PARAMETERS.0);
        let says = vec![states::PARAM_EXCHANGE];
        Self::beginning(ServerEnd { settings }, token, Stage::Asking, says, until)
    }

    fn say_error(&mut self, number: u32) {
        self.outputs.push_back(Output::Send(errors::said(number)));
    }

    /// Takes what has come as far as it goes. Whether there may be more to take.
    fn take(&mut self, now: Tick) -> Result<bool, PeerError> {
        match self.stage {
            Stage::Over => Ok(false),
            Stage::Asking => {
                let Some(said) = self.document(PARAMETERS_MOST)? else { return Ok(false) };
                let granted = Parameters::read(&said).and_then(|parameters| {
                    Ok((plans::granted(&parameters, &self.own.settings)?, parameters))
                });
                match granted {
                    Ok((test, parameters)) => self.prepare(test, &parameters, now),
                    Err(declined) => return Err(self.decline(declined)),
                }
                Ok(true)
            }
            // No document may be so long that its length begins with another byte: this is a word in its place.
            Stage::Ending if self.incoming.begins_with(0) => {
                let Some(said) = self.document(RESULTS_MOST)? else { return Ok(false) };
                self.results(&said, now)?;
                Ok(true)
            }
            _ => {
                let Some(state) = self.incoming.state() else { return Ok(false) };
                self.hear(state, now)?;
                Ok(true)
            }
        }
    }

    fn document(&mut self, most: usize) -> Result<Option<Vec<u8>>, PeerError> {
        let said = self.incoming.document(most);
        said.map_err(|wrong| {
            self.say_error(if self.stage == Stage::Asking {
                errors::PARAMETERS
            } else {
                errors::RESULTS
            });
            self.unreadable(wrong.to_string())
        })
    }

    fn decline(&mut self, declined: Declined) -> PeerError {
        self.outputs.push_back(Output::Send(declined.said()));
        PeerError::Refused(declined.refusal)
    }

    fn prepare(&mut self, test: Test, parameters: &Parameters, now: Tick) {
        let credentials = Credentials { token: self.token, session: None, goes_ahead: false };
        let plan = Box::new(test.clone());
        self.course = Some(Box::new(Course::new(test, parameters)));
        self.outputs.push_back(Output::Prepare { credentials, resumed: None, plan });
        self.enter(Stage::Preparing, None, now);
    }

    fn hear(&mut self, state: u8, now: Tick) -> Result<(), PeerError> {
        match (state, self.stage) {
            (states::CLIENT_TERMINATE, _) => {
                self.say_error(errors::CLIENT_ENDED);
                let (who, moment) = (Role::Client, self.moment());
                let reason = "its program was told to end".to_owned();
                Err(PeerError::Stopped { who, by_this_end: false, moment, reason })
            }
            (states::TEST_END, Stage::Running) => {
                self.say(states::EXCHANGE_RESULTS);
                // What sends stops; what receives goes on until it is known how much was sent.
                tell_all(&mut self.outputs, &[Event::Stop]);
                self.course.iter_mut().for_each(|course| course.ends(now));
                self.enter(Stage::Ending, Some(deadlines::RESULTS), now);
                Ok(())
            }
            (states::IPERF_DONE, Stage::Showing) => {
                self.leave();
                Ok(())
            }
            // Real servers take it, and nobody says it.
            (states::TEST_START, Stage::Attaching | Stage::Running) => Ok(()),
            _ => {
                let what = format!("{} was not expected", states::name(state));
                Err(PeerError::Breach { who: Role::Client, moment: self.moment(), what })
            }
        }
    }

    fn attached(&mut self, now: Tick) {
        let (Some(course), Stage::Attaching) = (&mut self.course, self.stage) else { return };
        course.missing = course.missing.saturating_sub(1);
        self.until = now.plus_nanos(deadlines::ATTACH.0);
        if course.missing > 0 {
            return;
        }
        course.begins(now);
        let longest = course.test.stated_duration().unwrap_or(plans::longest(&self.own.settings));
        let within = Period(longest.0.saturating_add(deadlines::OVERTIME.0));
        self.outputs.push_back(Output::Send(vec![states::TEST_START, states::TEST_RUNNING]));
        self.outputs.push_back(Output::Start);
        self.enter(Stage::Running, Some(within), now);
    }

    fn results(&mut self, said: &[u8], now: Tick) -> Result<(), PeerError> {
        let results = match Results::read(said) {
            Ok(results) => results,
            Err(what) => {
                self.say_error(errors::RESULTS);
                return Err(self.unreadable(what));
            }
        };
        let Some(course) = &mut self.course else { return Ok(()) };
        let report = reports::heard(course, Role::Client, &results);
        self.outputs.push_back(Output::PeerReport(Box::new(report)));
        course.moved(now);
        // Where a warm-up is left out, nobody says how much was sent in all.
        if course.omit > 0 && !super::carried::is_of_datagrams(&course.test) {
            tell_all(&mut self.outputs, &[Event::Settle, Event::Stop]);
        } else {
            let totals = reports::totals(&course.test, Role::Client, &results);
            let told = totals.into_iter().map(|(flow, total)| {
                let event = Event::PeerTotal(total);
                Output::Tell { group: MAIN, flow: Some(flow), event }
            });
            self.outputs.extend(told);
        }
        let at_last = now.plus_nanos(deadlines::REST_IN_ALL.0);
        self.enter(Stage::Settling { at_last, is_settled: false }, Some(deadlines::REST), now);
        self.report_if_ready(now);
        Ok(())
    }

    /// What still comes is awaited for longer, as long as it comes and there is time. A test that moves more than its operator lets it is
    /// over.
    fn interval(&mut self, interval: &EndInterval, now: Tick) -> Result<(), PeerError> {
        let Some(course) = &mut self.course else { return Ok(()) };
        if let (Stage::Running, Some(limit)) = (self.stage, self.own.settings.rate)
            && let Some(reason) = course.beyond(limit, interval)
        {
            self.say_error(errors::RATE);
            let (who, moment) = (Role::Server, self.moment());
            return Err(PeerError::Stopped { who, by_this_end: true, moment, reason });
        }
        if course.interval(interval, now)
            && let Stage::Settling { at_last, is_settled: false } = self.stage
        {
            self.until = now.plus_nanos(deadlines::REST.0).min(at_last);
        }
        Ok(())
    }

    /// All flows of this end are over.
    fn over(&mut self, report: Box<EndReport>, now: Tick) {
        if let Some(course) = &mut self.course {
            course.report = Some(report);
        }
        self.report_if_ready(now);
    }

    fn report_if_ready(&mut self, now: Tick) {
        let (Some(course), Stage::Settling { .. }) = (&self.course, self.stage) else { return };
        let Some(report) = &course.report else { return };
        let results = reports::said(course, Role::Server, report);
        self.outputs.push_back(Output::Send(document(&results.write())));
        self.say(states::DISPLAY_RESULTS);
        self.enter(Stage::Showing, Some(deadlines::LAST), now);
    }

    /// Both ends have said all.
    fn leave(&mut self) {
        self.outputs.push_back(Output::TestOver);
        self.end(Ok(()));
    }

    /// Whoever runs the server wants this end to stop.
    fn stop(&mut self, reason: &str, now: Tick) -> Result<(), PeerError> {
        let is_first = self.course.as_ref().is_some_and(|course| !course.is_stopped);
        if is_first && matches!(self.stage, Stage::Ending | Stage::Settling { .. } | Stage::Showing)
        {
            // It is over as it is.
            self.course.iter_mut().for_each(|course| course.is_stopped = true);
            self.until = self.until.min(now.plus_nanos(deadlines::LAST.0));
            return Ok(());
        }
        self.say(states::SERVER_TERMINATE);
        let (who, moment, reason) = (Role::Server, self.moment(), reason.to_owned());
        Err(PeerError::Stopped { who, by_this_end: true, moment, reason })
    }

    fn expire(&mut self, now: Tick) -> Result<(), PeerError> {
        if let Some(silent) = self.silence(now) {
            self.say_error(errors::IDLE);
            return Err(silent);
        }
        if now < self.until {
            return Ok(());
        }
        let late = |what, limit| Err(PeerError::Late { who: Role::Client, what, limit });
        match self.stage {
            Stage::Asking => late("say what it asks for", deadlines::PARAMETERS),
            Stage::Attaching => {
                self.say_error(errors::STREAM);
                late("make the next of its streams", deadlines::ATTACH)
            }
            Stage::Running => {
                self.say_error(errors::TIME_OVER);
                late("end the test after its time", deadlines::OVERTIME)
            }
            Stage::Ending => late("send its results", deadlines::RESULTS),
            Stage::Settling { at_last, is_settled: false } => {
                tell_all(&mut self.outputs, &[Event::Settle, Event::Stop]);
                let settled = Stage::Settling { at_last, is_settled: true };
                self.enter(settled, Some(deadlines::REST), now);
                Ok(())
            }
            Stage::Settling { .. } => Err(PeerError::Unfinished {
                limit: deadlines::REST_IN_ALL,
                since: "of the client's results",
            }),
            Stage::Showing => {
                self.leave();
                Ok(())
            }
            Stage::Preparing | Stage::Over => Ok(()),
        }
    }

    fn act(&mut self, input: Input<'_, Self>, now: Tick) -> Result<(), PeerError> {
        match input {
            Input::Received(bytes) => {
                self.incoming.add(bytes);
                while self.take(now)? {}
            }
            Input::ControlClosed if self.stage == Stage::Showing => self.leave(),
            Input::ControlClosed => return Err(self.closed()),
            Input::Prepared(_) if self.stage == Stage::Preparing => {
                self.say(states::CREATE_STREAMS);
                self.enter(Stage::Attaching, Some(deadlines::ATTACH), now);
            }
            Input::Unable { code, sentence } if self.stage == Stage::Preparing => {
                let refusal = Refusal::new(code, sentence);
                return Err(self.decline(Declined::of(refusal)));
            }
            Input::Attached { .. } => self.attached(now),
            Input::Interval(interval) => return self.interval(&interval, now),
            Input::Over(report) => self.over(report, now),
            Input::Stop(reason) => return self.stop(reason, now),
            Input::Deadline => return self.expire(now),
            // Its words have nothing of these.
            _ => {}
        }
        Ok(())
    }
}

impl End for ServerEnd {
    type Stage = Stage;

    const OTHER: Role = Role::Client;
    const RUNNING: Stage = Stage::Running;
    const OVER: Stage = Stage::Over;

    fn moment(stage: Stage) -> Moment {
        match stage {
            Stage::Asking | Stage::Preparing => Moment::Agreeing,
            Stage::Attaching => Moment::Attaching,
            Stage::Running => Moment::Running,
            Stage::Ending | Stage::Settling { .. } | Stage::Showing | Stage::Over => Moment::Ending,
        }
    }

    fn is_under_way(stage: Stage) -> bool {
        matches!(stage, Stage::Running | Stage::Ending | Stage::Settling { .. })
    }

    fn is_loss(error: &PeerError) -> bool {
        !matches!(error, PeerError::Stopped { .. })
    }

    fn act(server: &mut Server, input: Input<'_, Server>, now: Tick) -> Result<(), PeerError> {
        server.act(input, now)
    }
}

impl ServerDialogue for Server {}
