//! Hears what the other end says on the control connection, one long message at a time. Not what others say who take part: `participants`.

use std::sync::Mutex;

use pathscope_core::id::Role;
use pathscope_flow::Input;
use pathscope_os::clock;

use super::control::{Heard, INCOMING_BYTES};
use super::{Driver, Talk};
use crate::threads::lock;

/// What a message of this length becomes when it is read is little beside the rest of a session.
const SHORT_MESSAGE_BYTES: usize = 16 << 10;

/// One longer message at a time is read by a server's sessions: a report of a megabyte may become twenty for a moment.
static READING: Mutex<()> = Mutex::new(());

impl<D: Talk> Driver<D> {
    /// Reads what the other end says. Whether it said anything.
    pub(super) fn listen(&mut self) -> bool {
        let is_long = self.dialogue.unread_bytes() > SHORT_MESSAGE_BYTES;
        if is_long && self.role == Role::Server && self.reading.is_none() {
            self.reading = Some(lock(&READING));
        }
        match self.control.hear(&mut [0; INCOMING_BYTES]) {
            Heard::Bytes(bytes) => {
                self.dialogue.input(Input::Received(bytes), clock::now());
                true
            }
            Heard::Nothing => false,
            Heard::Closed => {
                self.dialogue.input(Input::ControlClosed, clock::now());
                false
            }
        }
    }
}
