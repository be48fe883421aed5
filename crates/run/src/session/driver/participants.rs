//! Clients that take part in a session which another one has begun: each has a control connection of its own, on which it is heard and
//! answered as the first is on its. Not here: which clients may (`server/joining`), and what is said, which is the dialogue's.

use std::any::Any;
use std::net::TcpStream;

use pathscope_flow::{Input, Participant};
use pathscope_os::clock;

use super::control::{Control, Heard, INCOMING_BYTES};
use super::joined::Early;
use super::{Driver, Talk};
use crate::error::RunError;

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
    /// Its client's place at the server.
    _place: Box<dyn Any + Send>,
}

impl Participants {
    /// These bytes are to leave for one.
    pub fn say(&mut self, name: Participant, bytes: &[u8]) {
        let named = self.all.iter_mut().filter(|it| it.name == name);
        named.for_each(|it| it.control.say(bytes));
    }

    /// One is let go. What was said to it leaves before, as far as its connection takes that at once: a few bytes.
    pub fn dismiss(&mut self, name: Participant) {
        if let Some(place) = self.all.iter().position(|it| it.name == name) {
            self.all.remove(place).control.flush();
        }
    }

    /// What waits to leave, in bytes.
    pub fn waiting_bytes(&self) -> usize {
        self.all.iter().map(|it| it.control.waiting_bytes()).sum()
    }

    /// From now on a wait ends when one says something.
    pub fn watch(&mut self) -> Result<(), RunError> {
        self.all.iter_mut().try_for_each(|it| it.control.watch())
    }

    /// Nothing is heard or said any more.
    pub fn clear(&mut self) {
        self.all.clear();
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
        if self.salvage.is_some() {
            return;
        }
        // Whoever is gone by now, or cannot be waited for, takes no part.
        let Ok(control) = Control::new(stream, self.role, self.watch.clone()) else { return };
        let name = Participant(self.participants.next);
        self.participants.next += 1;
        self.participants.all.push(Taking { name, control, _place: place });
        self.dialogue.input(Input::ParticipantCame(name), clock::now());
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
