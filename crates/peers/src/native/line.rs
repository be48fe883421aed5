//! The control connection as both ends keep it: messages out of bytes, signs of life, and what is to be
//! done next. It knows no order of messages; `client` and `server` do.

use std::collections::VecDeque;
use std::fmt;

use pathscope_core::Tick;
use pathscope_core::id::Role;
use pathscope_core::quantity::Period;
use pathscope_flow::{Dialogue, Output};

use super::deadlines;
use super::frame::{BODY_MOST, Decoder, SHORT_BODY_MOST};
use super::message::{Beat, Message, Stop};
use crate::{Moment, PeerError};

/// The control connection of dialogue `D`.
pub(super) struct Line<D: Dialogue> {
    /// Which end this is.
    pub role: Role,
    decoder: Decoder,
    outputs: VecDeque<Output<D>>,
    life: Option<Life>,
    /// How long the other end may be silent after it was asked for a sign of life.
    patience: Period,
    pong_due: Option<Beat>,
    peer_reason: Option<String>,
    ended: bool,
}

/// Since when the other end was silent, and whether it was asked.
#[derive(Clone, Copy, Debug)]
struct Life {
    heard: Tick,
    pinged: Option<Tick>,
    pings: u64,
}

impl<D: Dialogue<Error = PeerError>> Line<D> {
    pub fn new(role: Role) -> Self {
        Self {
            role,
            decoder: Decoder::default(),
            outputs: VecDeque::new(),
            life: None,
            patience: deadlines::PONG,
            pong_due: None,
            peer_reason: None,
            ended: false,
        }
    }

    /// Another connection takes the place of one that is lost: what was said on that is no part of this talk.
    pub fn begin_anew(&mut self) {
        let outputs = std::mem::take(&mut self.outputs);
        *self = Self { outputs, ..Self::new(self.role) };
    }

    /// Something to be done.
    pub fn put(&mut self, output: Output<D>) {
        self.outputs.push_back(output);
    }

    /// What is to be done next.
    pub fn take(&mut self) -> Option<Output<D>> {
        self.outputs.pop_front()
    }

    /// Something to be said.
    pub fn say(&mut self, message: &Message) -> Result<(), PeerError> {
        let bytes = message.encode()?;
        self.outputs.push_back(Output::Send(bytes));
        Ok(())
    }

    /// Why this end stops, in a length that any message has room for.
    pub fn say_stop(&mut self, reason: &str) -> Result<(), PeerError> {
        self.say(&Message::Stop(Stop { reason: reason.chars().take(500).collect() }))
    }

    /// The last word. Nothing is heard or said after it.
    pub fn end(&mut self, outcome: Result<(), PeerError>) {
        self.ended = true;
        self.outputs.push_back(Output::End(outcome));
    }

    /// The talk has failed. The other end is told why, unless it knows or is gone.
    pub fn fail(&mut self, error: PeerError) {
        if let Some(reason) = error.farewell() {
            // A reason is cut to a length that can be sent.
            let _ = self.say_stop(&reason);
        }
        self.end(Err(error));
    }

    /// Whether the last word is said.
    pub const fn has_ended(&self) -> bool {
        self.ended
    }

    /// From now on the other end has to show that it lives.
    pub fn watch(&mut self, now: Tick) {
        self.life = Some(Life { heard: now, pinged: None, pings: 0 });
    }

    /// For how long the other end may be silent from now on, after it was asked.
    pub fn bear_silence(&mut self, patience: Period) {
        self.patience = patience;
    }

    /// Bytes came: the other end lives. A long message may take longer than the silence that is allowed.
    pub fn heard(&mut self, now: Tick) {
        if let Some(life) = &mut self.life {
            (life.heard, life.pinged) = (now, None);
        }
    }

    /// The next message that is not about the line itself.
    pub fn next(
        &mut self,
        bytes: &mut &[u8],
        moment: Moment,
    ) -> Result<Option<Message>, PeerError> {
        loop {
            let most = if moment == Moment::Running { BODY_MOST } else { SHORT_BODY_MOST };
            let frame =
                self.decoder.next(bytes, most).map_err(|error| self.breach(moment, &error))?;
            let Some(frame) = frame else { return Ok(None) };
            match Message::decode(&frame).map_err(|error| self.breach(moment, &error))? {
                // However many pings came at once, one answer says all of it.
                Some(Message::Ping(beat)) if self.life.is_some() => self.pong_due = Some(beat),
                Some(Message::Pong(_)) if self.life.is_some() => {}
                // Of a type that may be skipped.
                None => {}
                message => return Ok(message),
            }
        }
    }

    /// Answers the last ping. To be called when all that came is dealt with.
    pub fn answer(&mut self) -> Result<(), PeerError> {
        self.pong_due.take().map_or(Ok(()), |beat| self.say(&Message::Pong(beat)))
    }

    /// The deadline has come: asks for a sign of life, or finds that there was none.
    pub fn expire(&mut self, moment: Moment, now: Tick) -> Result<(), PeerError> {
        let who = self.role.peer();
        let patience = self.patience;
        let Some(life) = self.life.as_mut().filter(|life| now >= life.deadline(patience)) else {
            return Ok(());
        };
        if life.pinged.is_some() {
            let silence = Period(deadlines::KEEPALIVE.0 + patience.0);
            return Err(PeerError::Silent { who, moment, silence });
        }
        life.pinged = Some(now);
        life.pings += 1;
        let beat = Beat { id: life.pings };
        self.say(&Message::Ping(beat))
    }

    /// When to come back for a sign of life.
    pub fn deadline(&self) -> Option<Tick> {
        self.life.as_ref().map(|life| life.deadline(self.patience))
    }

    /// Whether the other end is in the middle of a message.
    pub fn is_amid_message(&self) -> bool {
        self.decoder.is_amid()
    }

    /// The other end said why it stops: told, should it vanish before its report.
    pub fn note_reason(&mut self, reason: &str) {
        self.peer_reason = Some(reason.to_owned());
    }

    /// Why the other end stopped, if it did.
    pub fn peer_reason(&self) -> Option<&str> {
        self.peer_reason.as_deref()
    }

    /// The other end closed the connection too early.
    pub fn closed(&self, moment: Moment) -> PeerError {
        PeerError::Closed { who: self.role.peer(), moment, reason: self.peer_reason.clone() }
    }

    /// The other end broke the rules.
    pub fn breach(&self, moment: Moment, what: &impl fmt::Display) -> PeerError {
        PeerError::Breach { who: self.role.peer(), moment, what: what.to_string() }
    }

    /// The other end said what has no place here.
    pub fn unexpected(&self, moment: Moment, message: &Message) -> PeerError {
        self.breach(moment, &format_args!("a message {} has no place there", message.kind()))
    }

    /// One end stopped before anything was measured.
    pub fn stopped(&self, who: Role, moment: Moment, reason: &str) -> PeerError {
        let by_this_end = who == self.role;
        PeerError::Stopped { who, by_this_end, moment, reason: reason.to_owned() }
    }
}

/// Without what is to be done: that holds the plans and reports of whole tests.
impl<D: Dialogue> fmt::Debug for Line<D> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut line = formatter.debug_struct("Line");
        line.field("role", &self.role).field("life", &self.life).field("ended", &self.ended);
        line.finish_non_exhaustive()
    }
}

impl Life {
    const fn deadline(&self, patience: Period) -> Tick {
        match self.pinged {
            None => self.heard.plus_nanos(deadlines::KEEPALIVE.0),
            Some(at) => at.plus_nanos(patience.0),
        }
    }
}
