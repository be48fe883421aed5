//! The control connection as both ends keep it: messages out of bytes, signs of life, what is to be
//! done next, and in version 2 the connection that takes the place of one that is lost. It knows no order of messages;
//! `client` and `server` do.

pub(super) mod absence;

use std::collections::VecDeque;
use std::fmt;

use pathscope_core::Tick;
use pathscope_core::id::{Role, Token};
use pathscope_core::quantity::Period;
use pathscope_flow::{Dialogue, Output};

use super::deadlines;
use super::frame::{BODY_MOST, Decoder, Frame, HEADER_BYTES, SHORT_BODY_MOST};
use super::link::{Link, Trouble};
use super::message::{Beat, Message, Stop};
use super::numbered::FRAME_MAGIC;
use super::opening::{HelloCheck, MAGIC};
use super::renewal::{Absence, Patience};
use crate::dialogue::Renewals;
use crate::{Moment, PeerError, answerers};

/// The control connection of dialogue `D`.
pub(super) struct Line<D: Dialogue> {
    /// Which end this is.
    pub role: Role,
    /// Frames of version 1.
    decoder: Decoder,
    frames: Frames,
    /// What version 2 keeps of the session.
    link: Option<Link>,
    absence: Option<Absence>,
    bounds: Patience,
    renewals: Renewals,
    outputs: VecDeque<Output<D>>,
    life: Option<Life>,
    /// Whether both ends have greeted each other, and a lost connection can be made anew.
    has_greeted: bool,
    /// How long the other end may be silent after it was asked for a sign of life.
    patience: Period,
    pong_due: Option<Beat>,
    peer_reason: Option<String>,
    /// Whether the other end has said its last word.
    is_left: bool,
    ended: bool,
}

/// In which frames the other end speaks.
#[derive(Debug)]
enum Frames {
    /// Client: its first byte tells.
    Open,
    Plain,
    /// Server: in those of version 2, after a first one of version 1 that this must hold for.
    AfterHello(HelloCheck, Vec<u8>),
    Numbered,
}

/// Since when the other end was silent, and whether it was asked.
#[derive(Clone, Copy, Debug)]
struct Life {
    heard: Tick,
    pinged: Option<Tick>,
    pings: u64,
}

impl<D: Dialogue<Error = PeerError>> Line<D> {
    /// A client's: what the server speaks is to be seen.
    pub fn new(role: Role) -> Self {
        Self {
            role,
            decoder: Decoder::default(),
            frames: if role == Role::Client { Frames::Open } else { Frames::Plain },
            link: None,
            absence: None,
            bounds: Patience::default(),
            renewals: Renewals::default(),
            outputs: VecDeque::new(),
            life: None,
            has_greeted: false,
            patience: deadlines::PONG,
            pong_due: None,
            peer_reason: None,
            is_left: false,
            ended: false,
        }
    }

    /// A server's that speaks version 2 with a client whose hello must be this.
    pub fn numbered(hello: HelloCheck, session: Token) -> Self {
        Self {
            frames: Frames::AfterHello(hello, Vec::new()),
            link: Some(Link::new(session)),
            ..Self::new(Role::Server)
        }
    }

    /// Another connection takes the place of one that is lost: what was said on that is no part of this dialogue.
    pub fn begin_anew(&mut self) {
        let (outputs, renewals) = (std::mem::take(&mut self.outputs), self.renewals);
        *self = Self { renewals, outputs, ..Self::new(self.role) };
    }

    /// Something to be done.
    pub fn put(&mut self, output: Output<D>) {
        self.outputs.push_back(output);
    }

    /// What is to be done next.
    pub fn take(&mut self) -> Option<Output<D>> {
        self.outputs.pop_front()
    }

    /// Something to be said. Where the connection is lost, it is kept for the next.
    pub fn say(&mut self, message: &Message) -> Result<(), PeerError> {
        let frame = message.frame()?;
        let is_here = self.absence.is_none();
        let bytes = match &mut self.link {
            None => frame.encode(),
            Some(link) if frame.kind.is_about_the_line() => link.utter(frame),
            Some(link) => link.say(&frame),
        };
        if is_here {
            self.put(Output::Send(bytes));
        }
        Ok(())
    }

    /// Why this end stops, in a length that any message has room for.
    pub fn say_stop(&mut self, reason: &str) -> Result<(), PeerError> {
        self.stop(reason, false)
    }

    /// The same, as this end's last word.
    pub fn say_last(&mut self, reason: &str) -> Result<(), PeerError> {
        self.stop(reason, true)
    }

    fn stop(&mut self, reason: &str, ends: bool) -> Result<(), PeerError> {
        let reason = reason.chars().take(500).collect();
        // Version 1 knows no last words but by the close that follows.
        self.say(&Message::Stop(Stop { reason, ends: ends && self.link.is_some() }))
    }

    /// The last word. Nothing is heard or said after it.
    pub fn end(&mut self, outcome: Result<(), PeerError>) {
        self.ended = true;
        self.outputs.push_back(Output::End(outcome));
    }

    /// The dialogue has failed. The other end is told why, unless it knows or is gone.
    pub fn fail(&mut self, error: PeerError) {
        if let Some(reason) = error.farewell() {
            // A reason is cut to a length that can be sent.
            let _ = self.say_last(&reason);
        } else if self.has_greeted && matches!(error, PeerError::Refused(_)) {
            // The client has no other wish. It has always room for this.
            let _ = self.say(&Message::Leave);
        }
        self.end(Err(error));
    }

    /// Whether the last word is said.
    pub const fn has_ended(&self) -> bool {
        self.ended
    }

    /// From now on the other end has to show that it lives.
    pub fn watch(&mut self, now: Tick) {
        self.has_greeted = true;
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
        now: Tick,
    ) -> Result<Option<Message>, PeerError> {
        loop {
            let Some(frame) = self.next_frame(bytes, moment)? else { return Ok(None) };
            let message =
                Message::decode(&frame).map_err(|error| self.misunderstood(moment, &error))?;
            match message {
                Some(message) if self.absence.is_some() => {
                    self.hear_answer(message, moment, now)?;
                }
                // However many pings came at once, one answer says all of it.
                Some(Message::Ping(beat)) if self.life.is_some() => self.pong_due = Some(beat),
                Some(Message::Pong(_)) if self.life.is_some() => {}
                Some(Message::Ack) if self.link.is_some() => {}
                // Of a type that may be skipped.
                None => {}
                message => return Ok(message),
            }
        }
    }

    fn next_frame(
        &mut self,
        bytes: &mut &[u8],
        moment: Moment,
    ) -> Result<Option<Frame>, PeerError> {
        if self.is_deaf() {
            return Ok(None);
        }
        if let (Frames::Open, Some(&first)) = (&self.frames, bytes.first()) {
            answerers::must_be_ours(&MAGIC, bytes)?;
            let is_numbered = first == FRAME_MAGIC[0];
            self.frames = if is_numbered { Frames::Numbered } else { Frames::Plain };
            // It is given its name by the welcome.
            self.link = is_numbered.then(|| Link::new(Token([0; 16])));
        }
        let most = if moment == Moment::Running { BODY_MOST } else { SHORT_BODY_MOST };
        match (&mut self.frames, &mut self.link) {
            (Frames::AfterHello(..), _) => self.hello(bytes, moment),
            (Frames::Numbered, Some(link)) => {
                link.next(bytes, most).map_err(|trouble| match trouble {
                    Trouble::Damage(damage) => self.damaged(moment, &damage),
                    Trouble::Breach(what) => self.breach(moment, &what),
                })
            }
            _ => {
                let next = self.decoder.next(bytes, most);
                next.map_err(|error| self.misunderstood(moment, &error))
            }
        }
    }

    /// The first frame, whose length and checksum are known.
    fn hello(&mut self, bytes: &mut &[u8], moment: Moment) -> Result<Option<Frame>, PeerError> {
        let Frames::AfterHello(check, said) = &mut self.frames else { return Ok(None) };
        let missing = check.bytes().saturating_sub(said.len()).min(bytes.len());
        let (taken, rest) = bytes.split_at(missing);
        said.extend_from_slice(taken);
        *bytes = rest;
        if check.bytes() > HEADER_BYTES + SHORT_BODY_MOST {
            let what = format!("a greeting of {} bytes", check.bytes());
            return Err(self.breach(moment, &what));
        }
        if said.len() < check.bytes() {
            return Ok(None);
        }
        if !check.holds(said) {
            return Err(self.damaged(moment, &"the checksum of the greeting does not hold"));
        }
        let frame = Decoder::default().next(&mut said.as_slice(), SHORT_BODY_MOST);
        self.frames = Frames::Numbered;
        match frame {
            Ok(Some(frame)) => Ok(Some(frame)),
            Ok(None) => Err(self.breach(moment, &"its greeting is no message")),
            Err(error) => Err(self.breach(moment, &error)),
        }
    }

    /// Answers the last ping. To be called when all that came is dealt with.
    pub fn answer(&mut self) -> Result<(), PeerError> {
        if let Some(beat) = self.pong_due.take() {
            return self.say(&Message::Pong(beat));
        }
        if self.link.as_ref().is_some_and(Link::owes_word) { self.confirm() } else { Ok(()) }
    }

    /// Tells the other end how far its words have come, where there is a way to.
    pub fn confirm(&mut self) -> Result<(), PeerError> {
        if self.link.is_some() { self.say(&Message::Ack) } else { Ok(()) }
    }

    /// The deadline has come: asks for a sign of life, or finds that there was none.
    pub fn expire(&mut self, moment: Moment, now: Tick) -> Result<(), PeerError> {
        if self.absence.is_some() {
            return self.expire_absence(moment, now);
        }
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

    /// When to come back for a sign of life, or for another connection.
    pub fn deadline(&self) -> Option<Tick> {
        let life = self.life.as_ref().map(|life| life.deadline(self.patience));
        self.absence.as_ref().map_or(life, |absence| Some(absence.deadline()))
    }

    /// Whether the other end is in the middle of a message.
    pub fn is_amid_message(&self) -> bool {
        self.decoder.is_amid() || self.link.as_ref().is_some_and(Link::is_amid_message)
    }

    /// What came of messages that are not whole yet.
    pub fn unread_bytes(&self) -> usize {
        let hello = match &self.frames {
            Frames::AfterHello(_, said) => said.len(),
            Frames::Open | Frames::Plain | Frames::Numbered => 0,
        };
        hello + self.decoder.held() + self.link.as_ref().map_or(0, Link::unread_bytes)
    }

    /// What is kept of messages that the other end has not confirmed.
    pub fn kept_bytes(&self) -> usize {
        self.link.as_ref().map_or(0, Link::kept_bytes)
    }

    /// Whether version 2 is spoken.
    pub const fn is_numbered(&self) -> bool {
        self.link.is_some()
    }

    /// The other end said why it stops: told, should it vanish before its report.
    pub fn note_reason(&mut self, reason: &str) {
        self.peer_reason = Some(reason.to_owned());
    }

    /// The other end has said its last word.
    pub const fn note_leave(&mut self) {
        self.is_left = true;
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

    /// What the other end said is not what came.
    fn damaged(&self, moment: Moment, what: &impl fmt::Display) -> PeerError {
        PeerError::Damaged { who: self.role.peer(), moment, what: what.to_string() }
    }

    /// What came makes no sense. Only where it had a checksum is the other end to blame.
    fn misunderstood(&self, moment: Moment, what: &impl fmt::Display) -> PeerError {
        if self.link.is_some() {
            return self.breach(moment, what);
        }
        PeerError::Unreadable { who: self.role.peer(), moment, what: what.to_string() }
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
