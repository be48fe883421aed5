//! A line whose connection is lost while its session lives: another takes its place, and nothing that was said is lost.

use pathscope_core::Tick;
use pathscope_core::id::{Role, Token};
use pathscope_flow::{Dialogue, Output};

use super::{Frames, Line};
use crate::dialogue::Renewals;
use crate::native::deadlines;
use crate::native::frame::MessageType;
use crate::native::link::Link;
use crate::native::message::{Message, Returned, json};
use crate::native::numbered::Numbered;
use crate::native::opening::{Opening, Return};
use crate::native::renewal::{Absence, patience};
use crate::{Moment, PeerError, Refusal};

impl<D: Dialogue<Error = PeerError>> Line<D> {
    /// What the session is called when its connection is made anew.
    pub fn name(&mut self, session: Token) {
        self.link.iter_mut().for_each(|link| link.session = session);
    }

    /// The same, once both ends know it: nothing in version 1.
    pub fn session(&self) -> Option<Token> {
        self.link.as_ref().map(|link| link.session)
    }

    /// How often the connection was made anew.
    pub const fn renewals(&self) -> Renewals {
        self.renewals
    }

    /// Whether the other end has confirmed all that was said to it.
    pub fn is_confirmed(&self) -> bool {
        self.link.as_ref().is_none_or(Link::is_confirmed)
    }

    /// Whether the client may close the connection between tests and have said nothing of it: one of version 1 does, and
    /// one that has said no message of version 2 has not got the welcome.
    pub fn may_leave_unsaid(&self) -> bool {
        self.is_left || self.link.as_ref().is_none_or(|link| link.received() == 0)
    }

    /// Whether the connection is lost, and none has taken its place yet.
    pub const fn is_away(&self) -> bool {
        self.absence.is_some()
    }

    /// Whether what comes is of a connection that is given up.
    pub fn is_deaf(&self) -> bool {
        self.absence.as_ref().is_some_and(|absence| absence.asked.is_none())
    }

    /// The dialogue has come upon this. Where it means no more than another connection, that is asked for; if not, or if that
    /// has been in vain, what the dialogue fails with.
    pub fn lose(&mut self, error: PeerError, now: Tick) -> Result<(), PeerError> {
        if matches!(error, PeerError::Damaged { .. }) {
            self.renewals.damaged_here = self.renewals.damaged_here.saturating_add(1);
        }
        let Some(link) = self.link.as_mut().filter(|_| self.has_greeted && !self.is_left) else {
            return Err(error);
        };
        if !error.is_loss() {
            // A wish of this end is told as it is. Of all else, that the connection was lost is the cause.
            return Err(match self.absence.take() {
                Some(absence) if !matches!(error, PeerError::Stopped { .. }) => {
                    self.is_left = true;
                    absence.into_loss_by(error)
                }
                _ => error,
            });
        }
        // A client that has never said a word does not know of its session.
        let is_known = self.role == Role::Client
            || link.received() > 0
            || !matches!(error, PeerError::Closed { .. });
        if !is_known || !self.bounds.bears(link.progress()) {
            self.is_left = true;
            return Err(match self.absence.take() {
                Some(absence) => absence.into_loss_by(error),
                None => error,
            });
        }
        link.break_off();
        (self.life, self.pong_due) = (None, None);
        self.outputs.retain(|output| !matches!(output, Output::Send(_)));
        if let Some(absence) = &mut self.absence {
            absence.failed(error);
        } else {
            let until = now.plus_nanos(patience(&error, self.role == Role::Client).0);
            self.absence = Some(Absence::new(error, until));
        }
        self.put(Output::Reconnect);
        Ok(())
    }

    /// Nobody listens where the server was: its sessions are gone with it.
    pub fn unreached(&mut self) -> Result<(), PeerError> {
        let Some(absence) = self.absence.take() else { return Ok(()) };
        self.is_left = true;
        Err(absence.into_loss())
    }

    /// Client: another connection is there. Asks for the session on it.
    pub fn ask(&mut self, now: Tick) {
        let (Some(link), Some(absence)) = (&self.link, &mut self.absence) else { return };
        self.bounds.attempts += 1;
        absence.asked = Some(now.plus_nanos(deadlines::ANSWER.0));
        let (session, received) = (link.session, link.received());
        let back = Return { session, attempt: self.bounds.attempts, received };
        self.put(Output::Send(Opening::Return(back).encode()));
    }

    /// Server: somebody knows the session's name, and says how far it has come. Only its client can.
    pub fn take_back(&mut self, attempt: u32, received: u64, now: Tick) -> Result<(), PeerError> {
        let can_go_on = |link: &Link| link.can_go_on_after(received);
        let is_good = self.has_greeted
            && !self.is_left
            && self.link.as_ref().is_some_and(can_go_on)
            && self.bounds.takes(attempt);
        let Some(link) = self.link.as_mut().filter(|_| is_good) else {
            self.put(Output::TurnAway(turned_away()));
            return Ok(());
        };
        let words = link.go_on_after(received);
        self.outputs.retain(|output| !matches!(output, Output::Send(_)));
        self.put(Output::TakeOver);
        self.absence = None;
        self.say(&Message::Returned(Returned { damaged: self.renewals.damaged_here }))?;
        self.here_again(words, now);
        Ok(())
    }

    /// Client: what the server says first on another connection.
    pub(super) fn hear_answer(
        &mut self,
        message: Message,
        moment: Moment,
        now: Tick,
    ) -> Result<(), PeerError> {
        match message {
            Message::Returned(Returned { damaged }) => {
                self.renewals.damaged_there = self.renewals.damaged_there.max(damaged);
                let Some(words) = self.link.as_mut().and_then(Link::go_on) else {
                    let what = "it lacks messages that are no longer kept";
                    return Err(self.breach(moment, &what));
                };
                self.absence = None;
                self.here_again(words, now);
                Ok(())
            }
            Message::Refuse(refusal) => Err(PeerError::Refused(refusal)),
            message => Err(self.unexpected(moment, &message)),
        }
    }

    /// A connection has taken the place of one that was lost.
    pub const fn note_renewed(&mut self) {
        self.renewals.made = self.renewals.made.saturating_add(1);
    }

    fn here_again(&mut self, words: Vec<Vec<u8>>, now: Tick) {
        self.note_renewed();
        self.frames = Frames::Numbered;
        self.watch(now);
        words.into_iter().for_each(|bytes| self.put(Output::Send(bytes)));
    }

    pub(super) fn expire_absence(&mut self, moment: Moment, now: Tick) -> Result<(), PeerError> {
        let who = self.role.peer();
        match self.absence.take_if(|absence| now >= absence.until) {
            Some(absence) => {
                self.is_left = true;
                return Err(absence.into_loss());
            }
            None if self
                .absence
                .as_ref()
                .is_some_and(|it| it.asked.is_some_and(|at| now >= at)) =>
            {
                let silence = deadlines::ANSWER;
                return self.lose(PeerError::Silent { who, moment, silence }, now);
            }
            None => {}
        }
        Ok(())
    }
}

/// What a server says to a client that comes back to a session it does not know, or no longer.
pub(crate) fn turned_away() -> Vec<u8> {
    let body = json(&Refusal::new("session", "it does not know this session, or no longer"));
    let kind = MessageType::REFUSE;
    Numbered { kind, goes_on: false, number: 0, received: 0, body }.encode()
}
