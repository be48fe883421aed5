//! Flows of datagrams that begin by themselves before there is a test: each is kept with its socket, and what came of it before it had that
//! is told to it. Not here: who takes those first datagrams and knows whose they are (`server/datagram_flows`).

use pathscope_core::id::FlowId;
use pathscope_flow::{Event, Input};
use pathscope_modes::groups::MAIN;
use pathscope_os::sockets::Socket;

use super::joined::Early;
use super::{Driver, End, Talk};
use crate::messages::inbox::Beginning;

/// Datagrams, and bytes of their payload.
pub(super) type Came = (u64, u64);

impl<D: Talk> Driver<D> {
    /// Something came of one.
    pub(super) fn begins(&mut self, beginning: Beginning, end: &mut impl End) {
        match beginning {
            Beginning::First { socket, bytes } => self.began(socket, bytes, end),
            Beginning::More { place, datagrams, bytes } => {
                self.came_before(place, (datagrams, bytes));
            }
        }
    }

    /// One has begun, with a datagram of so many bytes. Who comes when there is a test is too late for it.
    fn began(&mut self, socket: Socket, bytes: u64, end: &mut impl End) {
        self.entered += 1;
        self.door.hear(self.entered);
        // Whatever becomes of it: each has its place in the order in which they began.
        self.came_before.push((1, bytes));
        if self.test.is_none() && self.dialogue.counts_datagrams() {
            return self.keep(Early::Datagrams(socket), Input::Began { bytes }, end);
        }
        self.door.close(self.entered);
        if self.is_counted {
            end.leaves_out();
        }
    }

    /// Where the dialogue awaits flows, the door is open for them: before the word is said that lets them begin.
    pub(super) fn hear_datagrams(&self) {
        if self.dialogue.counts_datagrams() {
            self.door.open_for_datagrams();
        }
    }

    /// It gets the next seat.
    pub(super) fn seat_datagrams(&mut self, socket: Socket, end: &mut impl End) {
        let Some(seat) = self.next_seat() else { return };
        if end.joins().is_ok() {
            self.give(seat, Ok(socket), None, end);
        }
    }

    /// More came of one before it had its socket.
    fn came_before(&mut self, place: u32, (datagrams, bytes): Came) {
        let Some(came) = self.came_before.get_mut(place as usize) else { return };
        *came = (came.0.saturating_add(datagrams), came.1.saturating_add(bytes));
        if self.is_running() {
            self.tell_came_before();
        }
    }

    /// Each flow hears what came of it before, once.
    pub(super) fn tell_came_before(&mut self) {
        let Some(test) = &mut self.test else { return };
        for (flow, came) in (0..).map(FlowId).zip(&mut self.came_before) {
            let (datagrams, bytes) = std::mem::take(came);
            if datagrams > 0 {
                test.tell(MAIN, Some(flow), Event::CameBefore { datagrams, bytes });
            }
        }
    }
}
