//! What both ends of a session are alike in: what came and is not taken yet, the stage and its time, the test under way, what is asked for
//! next. What is said and heard at each stage is each end's own (`client`, `server`).

use std::collections::VecDeque;

use pathscope_core::Tick;
use pathscope_core::id::{Role, Token};
use pathscope_core::quantity::Period;
use pathscope_core::record::Remarks;
use pathscope_flow::{Dialogue, Event, Input, Output};
use pathscope_modes::groups::Test;
use pathscope_modes::registry::{EndInterval, EndReport};

use super::course::{Course, tell_all};
use super::deadlines;
use super::framing::Incoming;
use crate::{Moment, PeerError};

/// One end of a session.
pub struct Session<E: End> {
    /// What data bear: said nowhere.
    pub(super) token: Token,
    pub(super) incoming: Incoming,
    pub(super) stage: E::Stage,
    /// By when the stage is to be over.
    pub(super) until: Tick,
    pub(super) course: Option<Box<Course>>,
    pub(super) outputs: VecDeque<Output<Self>>,
    /// What this end alone has.
    pub(super) own: E,
}

/// What an end has and does of its own.
pub trait End: Sized {
    /// How far it is.
    type Stage: Copy + Eq;

    /// Who is at the other end.
    const OTHER: Role;
    /// Flows run.
    const RUNNING: Self::Stage;
    /// Nothing follows.
    const OVER: Self::Stage;

    /// What a stage is called where it went wrong.
    fn moment(stage: Self::Stage) -> Moment;

    /// Whether what flows came to is not yet said for good in this stage: they are told of an end that comes now.
    fn is_under_way(stage: Self::Stage) -> bool;

    /// Whether it ended so that the other end is lost to its flows.
    fn is_loss(error: &PeerError) -> bool;

    /// When the end itself has something to do, apart from its stage.
    fn due(&self) -> Tick {
        Tick::NEVER
    }

    /// Something happened to a session that is not over.
    fn act(
        session: &mut Session<Self>,
        input: Input<'_, Session<Self>>,
        now: Tick,
    ) -> Result<(), PeerError>;
}

impl<E: End> Session<E> {
    /// One that begins in this stage, says this, and is to have gone on by then.
    pub(super) fn beginning(
        own: E,
        token: Token,
        stage: E::Stage,
        says: Vec<u8>,
        until: Tick,
    ) -> Self {
        let (incoming, outputs) = (Incoming::default(), VecDeque::from([Output::Send(says)]));
        Self { token, incoming, stage, until, course: None, outputs, own }
    }

    pub(super) fn enter(&mut self, stage: E::Stage, within: Option<Period>, now: Tick) {
        self.stage = stage;
        self.until = within.map_or(Tick::NEVER, |within| now.plus_nanos(within.0));
    }

    pub(super) fn say(&mut self, state: u8) {
        self.outputs.push_back(Output::Send(vec![state]));
    }

    pub(super) fn moment(&self) -> Moment {
        E::moment(self.stage)
    }

    /// Nothing is said or heard any more. Flows whose counts are not yet said for good hear of it.
    pub(super) fn end(&mut self, result: Result<(), PeerError>) {
        if let Err(error) = &result
            && E::is_under_way(self.stage)
        {
            let events = [Event::PeerLost, Event::Settle, Event::Stop];
            tell_all(&mut self.outputs, if E::is_loss(error) { &events } else { &events[1..] });
        }
        (self.stage, self.until) = (E::OVER, Tick::NEVER);
        self.outputs.push_back(Output::End(result));
    }

    pub(super) fn unreadable(&self, what: String) -> PeerError {
        PeerError::Unreadable { who: E::OTHER, moment: self.moment(), what }
    }

    pub(super) fn closed(&self) -> PeerError {
        PeerError::Closed { who: E::OTHER, moment: self.moment(), reason: None }
    }

    /// When nothing has moved for too long.
    fn quiet_at(&self) -> Tick {
        let course = self.course.as_ref().filter(|_| self.stage == E::RUNNING);
        course.map_or(Tick::NEVER, |course| course.quiet_at)
    }

    /// Why it is over, where nothing has moved for too long.
    pub(super) fn silence(&self, now: Tick) -> Option<PeerError> {
        let (who, silence) = (E::OTHER, deadlines::QUIET);
        let silent = PeerError::Silent { who, moment: Moment::Running, silence };
        (now >= self.quiet_at()).then_some(silent)
    }
}

impl<E: End> Dialogue for Session<E> {
    type Plan = Test;
    type Interval = EndInterval;
    type Report = EndReport;
    type Error = PeerError;

    fn input(&mut self, input: Input<'_, Self>, now: Tick) {
        if self.stage == E::OVER {
            return;
        }
        if let Err(error) = E::act(self, input, now) {
            self.end(Err(error));
        }
    }

    fn output(&mut self) -> Option<Output<Self>> {
        self.outputs.pop_front()
    }

    fn deadline(&self) -> Option<Tick> {
        let until = self.until.min(self.own.due()).min(self.quiet_at());
        (until != Tick::NEVER).then_some(until)
    }

    fn has_wide_numbers(&self) -> bool {
        self.course.as_ref().is_none_or(|course| course.headers.is_wide)
    }

    fn stamps_time_of_day(&self) -> bool {
        self.course.as_ref().is_none_or(|course| course.headers.is_of_day)
    }

    fn remarks(&self) -> Remarks {
        self.course.as_ref().map(|course| course.remarks.clone()).unwrap_or_default()
    }

    fn unread_bytes(&self) -> usize {
        self.incoming.len()
    }
}
