//! Flows that come while others run, into the seats of those that have ended.

use std::sync::Arc;
use std::sync::mpsc::TryRecvError;

use pathscope_flow::{Event, Machine};
use pathscope_os::Socket;

use super::{Seat, Shift, Standing};
use crate::SystemCalls;

impl<M: Machine, S: SystemCalls> Shift<M, S> {
    /// Whether flows are replaced here.
    pub fn has_succession(&self) -> bool {
        self.succession.is_some()
    }

    /// Takes in all who wait, and finds out whether more may come.
    pub(super) fn admit_all(&mut self) {
        while let Some(succession) = &self.succession {
            match succession.successors.try_recv() {
                Ok((machine, sockets)) => self.admit(machine, sockets),
                Err(TryRecvError::Empty) => return,
                Err(TryRecvError::Disconnected) => {
                    self.expects_more = false;
                    return;
                }
            }
        }
    }

    fn admit(&mut self, machine: M, sockets: Vec<Arc<Socket>>) {
        let flow = machine.id();
        let mut seat = Seat::new(machine, sockets);
        let place = if let Some(place) = self.vacant.pop() {
            let place = place as usize;
            // It may stand in a list of seats to visit, which is no harm, but only once.
            seat.is_queued = self.seats[place].is_queued;
            self.seats[place] = seat;
            place
        } else {
            self.seats.push(seat);
            self.timers.grow();
            self.seats.len() - 1
        };
        self.places.insert(flow, place);
        self.open += 1;
        self.account.flows += 1;
        self.notify(place, Event::Start);
    }

    /// Tells of a flow that is over, hands its sockets on, and keeps its seat for another. Where flows are not
    /// replaced, all stay until the end.
    pub(super) fn depart(&mut self, place: usize) {
        let Some(succession) = &mut self.succession else { return };
        let seat = &mut self.seats[place];
        let sockets: Vec<Arc<Socket>> = seat.wires.drain(..).map(|wire| wire.socket).collect();
        let at = seat.machine.ended_at().unwrap_or(self.now);
        (succession.departed)(&seat.machine, sockets, at);
        self.places.remove(&seat.machine.id());
        self.vacant.push(place as u32);
    }

    /// The worker ends: of flows that are not over it is told as well.
    pub(super) fn dismiss_all(&mut self) {
        if self.succession.is_none() {
            return;
        }
        for place in 0..self.seats.len() {
            if self.seats[place].standing != Standing::Over {
                self.dismiss(place);
            }
        }
    }
}
