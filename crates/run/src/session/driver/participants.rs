//! Clients that take part in a session which another one has begun: each has a control connection of its own, on which it is heard and
//! answered as the first is on its; and what the session parts with when it is over. Not here: which clients may (`server/joining`), what is
//! said, which is the dialogue's, and what becomes of connections that are parted with (`server/parted`).

use std::any::Any;
use std::net::TcpStream;

use pathscope_flow::{Input, Participant};
use pathscope_os::clock;

use super::control::{Control, Heard, INCOMING_BYTES};
use super::joined::Early;
use super::{Driver, End, Talk};
use crate::error::RunError;
use crate::messages::inbox::SessionMessage;

/// Those of one session, in the order in which they came.
#[derive(Debug, Default)]
pub(super) struct Participants {
    all: Vec<Taking>,
    /// How the next is called.
    next: u32,
}

/// One of them.
#[derive(Debug)]
struct Taking {
    name: Participant,
    control: Control,
    /// Whether it has said anything that was heard.
    was_heard: bool,
    /// Its client's place at the server.
    place: Box<dyn Any + Send>,
}

/// A connection on which a client speaks, and that is a session's no more.
#[derive(Debug)]
pub(crate) enum Parting {
    /// It was told what there was to be said. It may have said more, which nobody hears.
    Told(TcpStream),
    /// Nothing was heard of it, whatever it has said: it may have come as the session ended.
    Unheard(TcpStream),
}

impl Taking {
    /// Its connection, where it is there, and its place is given back.
    fn part(mut self) -> Option<TcpStream> {
        drop(self.place);
        self.control.part()
    }
}

impl Participants {
    /// These bytes are to leave for one.
    pub fn say(&mut self, name: Participant, bytes: &[u8]) {
        let named = self.all.iter_mut().filter(|it| it.name == name);
        named.for_each(|it| it.control.say(bytes));
    }

    /// What waits to leave, in bytes.
    pub fn waiting_bytes(&self) -> usize {
        self.all.iter().map(|it| it.control.waiting_bytes()).sum()
    }

    /// From now on a wait ends when one says something.
    pub fn watch(&mut self) -> Result<(), RunError> {
        self.all.iter_mut().try_for_each(|it| it.control.watch())
    }

    /// Sends what each connection takes now. Those that take nothing any more, and are let go.
    fn flush(&mut self) -> Vec<Participant> {
        let gone = self.all.extract_if(.., |it| !it.control.flush());
        gone.map(|it| it.name).collect()
    }
}

impl<D: Talk> Driver<D> {
    /// One more client takes part.
    pub(super) fn participate(&mut self, stream: TcpStream, place: Box<dyn Any + Send>) {
        self.entered += 1;
        self.door.hear(self.entered);
        // Whoever is gone by now, or cannot be waited for, takes no part.
        let Ok(control) = Control::new(stream, self.role, self.watch.clone()) else { return };
        let name = Participant(self.participants.next);
        self.participants.next += 1;
        if self.salvage.is_some() {
            control.ignore();
        } else {
            self.dialogue.input(Input::ParticipantCame(name), clock::now());
        }
        self.participants.all.push(Taking { name, control, was_heard: false, place });
    }

    /// One is let go.
    pub(super) fn dismiss(&mut self, name: Participant, end: &mut impl End) {
        let Some(place) = self.participants.all.iter().position(|it| it.name == name) else {
            return;
        };
        let stream = self.participants.all.remove(place).part();
        stream.into_iter().for_each(|stream| end.parts_with(Parting::Told(stream)));
    }

    /// Nothing is heard or said any more. Those of whom nothing was heard stay until the session is over: another cannot begin before.
    pub(super) fn part_with_those_heard(&mut self, end: &mut impl End) {
        for heard in self.participants.all.extract_if(.., |it| it.was_heard) {
            heard.part().into_iter().for_each(|stream| end.parts_with(Parting::Told(stream)));
        }
        self.participants.all.iter().for_each(|it| it.control.ignore());
    }

    /// The session is over, well or not: whoever would leave word for it from now on finds that nobody reads it.
    pub fn part(&mut self, is_well: bool, end: &mut impl End) {
        let on_the_way = self.messages.close().filter_map(|word| match word {
            SessionMessage::Participates { stream, place } => {
                drop(place);
                Some(stream)
            }
            _ => None,
        });
        let unheard = std::mem::take(&mut self.participants.all).into_iter();
        let unheard = unheard.filter_map(Taking::part).chain(on_the_way);
        for stream in unheard.filter(|stream| !has_ended(stream)) {
            end.parts_with(Parting::Unheard(stream));
        }
        // Where all is well, both ends have said all.
        if !is_well && let Some(stream) = self.control.part() {
            end.parts_with(Parting::Told(stream));
        }
    }

    /// Reads what each of them says, but for those that do not take what they are told.
    pub(super) fn hear_participants(&mut self) {
        let Self { participants, dialogue, .. } = self;
        participants.all.retain_mut(|it| {
            if it.control.is_held_back() {
                return true;
            }
            match it.control.hear(&mut [0; INCOMING_BYTES]) {
                Heard::Bytes(bytes) => {
                    it.was_heard = true;
                    dialogue.input(Input::ParticipantReceived(it.name, bytes), clock::now());
                    true
                }
                Heard::Nothing => true,
                Heard::Closed => {
                    dialogue.input(Input::ParticipantClosed(it.name), clock::now());
                    false
                }
            }
        });
    }

    /// Sends them what was said. Whether all are there still; of those that are not the dialogue knows.
    pub(super) fn flush_participants(&mut self) -> bool {
        let gone = self.participants.flush();
        for &name in &gone {
            self.dialogue.input(Input::ParticipantClosed(name), clock::now());
        }
        gone.is_empty()
    }

    /// Of what is kept for a test, that is forgotten on which nothing will come any more: its client has gone.
    pub(super) fn recount(&mut self) {
        self.early.retain(|early| match early {
            Early::Connection(stream, _) => !has_ended(stream),
            Early::Datagrams(_) => true,
        });
        let left = u32::try_from(self.early.len()).unwrap_or(u32::MAX);
        self.dialogue.input(Input::Recounted(left), clock::now());
    }
}

/// Whether nothing came on a connection, and nothing will.
fn has_ended(stream: &TcpStream) -> bool {
    if stream.set_nonblocking(true).is_err() {
        return true;
    }
    match stream.peek(&mut [0]) {
        Ok(bytes) => bytes == 0,
        Err(error) => !crate::error::is_temporary(&error),
    }
}
