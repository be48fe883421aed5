//! Flows that come while others run, into the slots of those that have ended.

use std::sync::mpsc::TryRecvError;

use pathscope_flow::{Event, Machine};

use super::{EventLoop, Slot, SlotState};
use crate::{Successor, SystemCalls};

impl<M: Machine, S: SystemCalls> EventLoop<M, S> {
    /// Whether flows are replaced here.
    pub fn has_succession(&self) -> bool {
        self.succession.is_some()
    }

    /// Whether the end of a flow that is patient may be heard late.
    #[cfg_attr(pathscope_other, expect(dead_code, reason = "for the epoll engine alone"))]
    pub fn may_hear_late(&self) -> bool {
        self.succession.as_ref().is_some_and(|succession| !succession.is_timed)
    }

    /// How many flows are not over.
    #[cfg_attr(pathscope_other, expect(dead_code, reason = "for the epoll engine alone"))]
    pub fn open_flows(&self) -> usize {
        self.open
    }

    /// Takes in all who wait, and finds out whether more may come.
    pub(super) fn admit_all(&mut self) {
        while let Some(succession) = &self.succession {
            match succession.successors.try_recv() {
                Ok(successor) => self.admit(successor),
                Err(TryRecvError::Empty) => return,
                Err(TryRecvError::Disconnected) => {
                    self.expects_more = false;
                    return;
                }
            }
        }
    }

    fn admit(&mut self, Successor { machine, sockets, preface }: Successor<M>) {
        let flow = machine.id();
        let mut slot = Slot::new(machine, sockets);
        let place = if let Some(place) = self.vacant.pop() {
            let place = place as usize;
            // It may stand in a list of slots to visit, which is no harm, but only once.
            slot.is_queued = self.slots[place].is_queued;
            self.slots[place] = slot;
            place
        } else {
            self.slots.push(slot);
            self.timers.grow();
            self.slots.len() - 1
        };
        self.places.insert(flow, place);
        self.open += 1;
        self.account.flows += 1;
        self.notify(place, Event::Start);
        if let Some(preface) = preface {
            self.begin_prologue(place, preface);
        }
    }

    /// Tells of a flow that is over, hands its sockets on, and keeps its slot for another. Where flows are not
    /// replaced, all stay until the end.
    pub(super) fn depart(&mut self, place: usize) {
        if self.slots[place].is_held_back() {
            return self.let_go(place);
        }
        let Some(succession) = &mut self.succession else { return };
        let slot = &mut self.slots[place];
        let sockets = slot.wires.take().into_sockets();
        let at = slot.machine.ended_at().unwrap_or(self.now);
        (succession.departed)(&slot.machine, sockets, at);
        self.places.remove(slot.machine.id());
        self.vacant.push(place as u32);
    }

    /// The worker ends: of flows that are not over it is told as well.
    pub(super) fn dismiss_all(&mut self) {
        if self.succession.is_none() {
            return;
        }
        for place in 0..self.slots.len() {
            if self.slots[place].state != SlotState::Over {
                self.dismiss(place);
            }
        }
    }
}
