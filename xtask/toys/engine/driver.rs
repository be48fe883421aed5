//! Carries operations out: tries each at once, parks what has to wait, and gives back by chance what is done.

use std::io::IoSlice;
use std::time::Duration;

use pathscope_flow::Transport;
use pathscope_os::{Socket, Waker};

use super::dice::Dice;
use crate::calls::{Watch, poll};
use crate::completion::{Called, Completion, Driver, Submission, Ticket, Way, Work};
use crate::{Blocking, SystemCalls, Trouble};

/// Of so many operations one is interrupted before anything moves, of so many sends one waits for room before it is tried, and one
/// is short. Of so many times that something done could be given back, once nothing is.
const INTERRUPTED: usize = 9;
const HELD: usize = 3;
const SHORT: usize = 5;
const LATE: usize = 4;

/// Of so many receives of a stream that brought something one goes on: it completes again, until it has nothing more or is recalled.
const GOING_ON: usize = 2;
/// As often in all: the worker has a room more after each, and never gives one back to this driver.
const MOST_THAT_GO_ON: usize = 256;

/// Operations of any number of lanes.
#[derive(Debug)]
pub struct Toy {
    dice: Dice,
    /// What is done, in the order in which it was.
    done: Vec<Completion>,
    /// Somebody waits for what is done.
    is_urgent: bool,
    parked: Vec<Parked>,
    /// How many more times a receive may go on.
    left_to_go_on: usize,
}

/// What waits for its socket, which it has once more: the flow may close its own meanwhile.
#[derive(Debug)]
struct Parked {
    submission: Submission,
    socket: Socket,
    is_ready: bool,
}

impl Toy {
    pub fn new(transport: Transport) -> Self {
        let left_to_go_on = if transport == Transport::Stream { MOST_THAT_GO_ON } else { 0 };
        let (done, parked) = (Vec::new(), Vec::new());
        Self { dice: Dice::new(), done, is_urgent: false, parked, left_to_go_on }
    }

    fn finish(&mut self, submission: Submission, outcome: Result<usize, Trouble>) {
        self.done.push(Completion { submission, outcome, goes_on: false });
    }

    /// What came of an operation that was tried. One that has received from a stream may go on.
    fn attempted(
        &mut self,
        (mut submission, socket): (Submission, &Socket),
        outcome: Result<usize, Trouble>,
    ) {
        if let (Ok(1..), Work::Receive { buffer, begin, stamp: None }) =
            (outcome, &mut submission.work)
            && self.left_to_go_on > 0
            && self.dice.once_in(GOING_ON)
            && let Ok(socket) = socket.try_clone()
        {
            self.left_to_go_on -= 1;
            let next = vec![0; buffer.len()].into_boxed_slice();
            let room = (std::mem::replace(buffer, next), *begin);
            let brought = submission.brings(room);
            self.done.push(Completion { submission: brought, outcome, goes_on: true });
            self.parked.push(Parked { submission, socket, is_ready: false });
            return;
        }
        self.finish(submission, outcome);
    }

    fn attempt<S: SystemCalls>(
        &mut self,
        (Submission { work, .. }, socket): (&mut Submission, &Socket),
        calls: &mut S,
    ) -> Result<usize, Trouble> {
        if self.dice.once_in(INTERRUPTED) {
            return Err(Trouble::Interrupted);
        }
        let how = Blocking::Never;
        match work {
            Work::SendStream { bytes, more_follows, .. } => {
                let slices = bytes.slices();
                let is_short = self.dice.once_in(SHORT);
                let half = slices
                    .first()
                    .filter(|_| is_short)
                    .map(|first| [IoSlice::new(&first[..first.len().div_ceil(2)])]);
                let slices = half.as_ref().map_or(&slices[..], |half| &half[..]);
                if *more_follows {
                    calls.send_more(socket, slices, how)
                } else {
                    calls.send(socket, slices, how)
                }
            }
            Work::SendDatagrams { buffer, len, stride, as_one: true } => {
                calls.send_cut(socket, &buffer[..*len], how).map(|()| len.div_ceil(*stride))
            }
            Work::SendDatagrams { buffer, len, stride, .. } => {
                let count = if self.dice.once_in(SHORT) { 1 } else { usize::MAX };
                let len = count.saturating_mul(*stride).min(*len);
                calls.send_datagrams(socket, &buffer[..len], *stride, how)
            }
            Work::Receive { buffer, stamp: None, .. } => calls.receive(socket, buffer, how),
            Work::Receive { buffer, stamp: Some(stamp), .. } => {
                let (received, came) = calls.receive_stamped(socket, buffer, how)?;
                *stamp = came;
                Ok(received)
            }
            Work::ReceiveSeveral { buffer, stride, arrived } => {
                calls.receive_datagrams(socket, (buffer, *stride), arrived, how)
            }
            Work::AwaitRoom => Ok(0),
        }
    }

    /// Tries again what waits no longer.
    fn resume<S: SystemCalls>(&mut self, calls: &mut S) {
        while let Some(ready) = self.parked.iter().position(|parked| parked.is_ready) {
            let Parked { mut submission, socket, .. } = self.parked.swap_remove(ready);
            submission.at = calls.now();
            let outcome = self.attempt((&mut submission, &socket), calls);
            self.attempted((submission, &socket), outcome);
        }
    }
}

impl<S: SystemCalls> Driver<S> for Toy {
    fn submit(&mut self, mut submission: Submission, socket: &Socket, calls: &mut S) {
        let sends = submission.ticket.way == Way::Send;
        let waits = submission.ticket.way == Way::Neither || sends && self.dice.once_in(HELD);
        let outcome = if waits {
            Err(Trouble::Blocked)
        } else {
            self.attempt((&mut submission, socket), calls)
        };
        match outcome {
            // That there is no room is told, and its machine with it.
            Err(Trouble::Blocked) if waits || !sends => match socket.try_clone() {
                Ok(socket) => self.parked.push(Parked { submission, socket, is_ready: false }),
                Err(error) => self.finish(submission, Err(error.into())),
            },
            outcome => self.attempted((submission, socket), outcome),
        }
    }

    fn recall(&mut self, ticket: Ticket) {
        self.is_urgent = true;
        let recalled = |parked: &Parked| parked.submission.ticket == ticket;
        while let Some(place) = self.parked.iter().position(recalled) {
            let Parked { submission, .. } = self.parked.swap_remove(place);
            self.finish(submission, Err(Trouble::Blocked));
        }
    }

    fn next(&mut self, calls: &mut S) -> Option<Completion> {
        self.resume(calls);
        self.is_urgent &= !self.done.is_empty();
        if self.done.is_empty() || !self.is_urgent && self.dice.once_in(LATE) {
            return None;
        }
        let any = &self.done[self.dice.below(self.done.len())];
        let Ticket { place, lane, .. } = any.submission.ticket;
        let of_lane = |it: &Completion| {
            let other = it.submission.ticket;
            (other.place, other.lane) == (place, lane)
        };
        let first = self.done.iter().position(of_lane)?;
        Some(self.done.remove(first))
    }

    fn keeps_back(&self) -> bool {
        !self.done.is_empty()
    }

    fn wait(&mut self, waker: &Waker, timeout: Option<Duration>) -> Result<Called, Trouble> {
        let mut watches: Vec<Watch<'_>> = self.parked.iter().map(watch).collect();
        let called = poll(&mut watches, waker, timeout)?;
        let ready: Vec<bool> = watches.iter().map(|it| it.readable || it.writable).collect();
        for (parked, is_ready) in self.parked.iter_mut().zip(ready) {
            parked.is_ready = is_ready;
        }
        Ok(called)
    }
}

fn watch(Parked { submission, socket, .. }: &Parked) -> Watch<'_> {
    let readable = submission.ticket.way == Way::Receive;
    Watch { socket, readable, writable: !readable }
}
