//! Operations that are complete: each is told to its flow, if that is still there, and its buffer is free again.

use pathscope_core::Tick;
use pathscope_core::id::Lane;
use pathscope_flow::{ClockNeed, Machine, Transport};
use pathscope_os::batches::Arrived;

use super::complete::meta;
use super::submit::{Completion, Spare, Submission, Work};
use super::wire::Aside;
use super::{EventLoop, Slot, Ticket, WireState};
use crate::{SystemCalls, Trouble};

impl<M: Machine, S: SystemCalls> EventLoop<M, S> {
    /// Tells a flow what came of an operation, and then all that waited for that; at which place it is.
    pub fn arrive(&mut self, completion: Completion, spare: &mut Spare) -> usize {
        let Completion { submission, outcome, goes_on } = completion;
        let Submission { ticket, launched_as, at, work } = submission;
        let place = ticket.place as usize;
        let is_there = if goes_on {
            self.brought_some(ticket, launched_as)
        } else {
            self.landed(ticket, launched_as)
        };
        if is_there {
            self.tell_of(ticket, at, &work, outcome);
        }
        self.settle(place);
        spare.take_back(work);
        place
    }

    fn tell_of(
        &mut self,
        Ticket { place, lane, .. }: Ticket,
        at: Tick,
        work: &Work,
        outcome: Result<usize, Trouble>,
    ) {
        let place = place as usize;
        if outcome.is_err() && self.slots[place].wires[lane.index()].state == WireState::Dead {
            // Of that it is told already.
            return;
        }
        match work {
            Work::AwaitRoom => self.slots[place].wires[lane.index()].writable = true,
            Work::SendStream { offered, .. } => {
                self.sent_stream(place, lane, (*offered, at), outcome);
            }
            Work::SendDatagrams { stride, as_one: true, .. } => {
                self.sent_as_one(place, lane, (*stride, at), outcome);
            }
            Work::SendDatagrams { stride, .. } => {
                self.sent_datagrams(place, lane, (*stride, at), outcome);
            }
            Work::Receive { .. } | Work::ReceiveSeveral { .. } => {
                self.tell_of_receive(place, lane, work, outcome);
            }
        }
    }

    /// Of datagrams that were to be cut. Where the system refuses that, they are offered again.
    fn sent_as_one(
        &mut self,
        place: usize,
        lane: Lane,
        (stride, at): (usize, Tick),
        outcome: Result<usize, Trouble>,
    ) {
        let Self { slots, calls, account, .. } = self;
        let wire = &mut slots[place].wires[lane.index()];
        let used = &mut account.batches;
        if let Ok(sent) = outcome {
            used.cut += sent as u64;
        }
        if let (Err(trouble), Some(batching), Some(socket)) =
            (outcome, Aside::batching_of(&mut wire.aside), &wire.socket)
            && batching.refused_or((calls, used), socket, trouble).is_ok()
        {
            return self.number_again(place, lane);
        }
        self.sent_datagrams(place, lane, (stride, at), outcome);
    }

    fn tell_of_receive(
        &mut self,
        place: usize,
        lane: Lane,
        work: &Work,
        outcome: Result<usize, Trouble>,
    ) {
        if self.slots[place].discards() {
            self.discarded(place, lane, outcome);
            return;
        }
        if self.slots[place].wires[lane.index()].state != WireState::Open {
            return;
        }
        if M::CLOCK == ClockNeed::EveryOperation && outcome.is_ok() {
            self.tick();
        }
        match (outcome, work) {
            (Err(trouble), _) => {
                self.not_received(place, lane, trouble);
            }
            (Ok(0), Work::Receive { .. }) if self.medium.transport == Transport::Stream => {
                let wire = &self.slots[place].wires[lane.index()];
                // What came before is shown before the end is told; the next receive says again that there is no more.
                if wire.unread.is_empty() || wire.starved {
                    self.ended(place, lane);
                }
            }
            (Ok(received), Work::Receive { buffer, begin, stamp }) => {
                let stamp = stamp.flatten();
                let wire = &mut self.slots[place].wires[lane.index()];
                if let Some(aside) = &mut wire.aside {
                    let own = self.stamps.as_ref();
                    aside.stamp = stamp.zip(own).map(|(it, own)| own.wall.tick(it));
                }
                let came = &buffer[(*begin).min(buffer.len())..];
                let received = received.min(came.len());
                self.brought(place, lane, (received, came.len()));
                self.show_new(place, lane, &came[..received]);
            }
            (Ok(filled), Work::ReceiveSeveral { buffer, stride, arrived }) => {
                self.account.operations += 1;
                let strides = buffer.chunks(*stride).zip(&arrived[..filled.min(arrived.len())]);
                for (came, &arrived) in strides {
                    self.show_several(place, lane, &came[..arrived.len], arrived);
                }
            }
            (Ok(_), _) => {}
        }
    }

    /// Shows what came, as much of it as the machine takes, where nothing was left of before; the rest is kept.
    fn show_new(&mut self, place: usize, lane: Lane, bytes: &[u8]) {
        let Self { slots, shared, medium, now, .. } = self;
        let limit = slots[place].appetite();
        let Slot { machine, wires, .. } = &mut slots[place];
        let wire = &mut wires[lane.index()];
        let mut consumed = 0;
        if let Some(limit) = limit.filter(|_| wire.unread.is_empty()) {
            let shown = match medium.transport {
                Transport::Stream => &bytes[..limit.min(bytes.len())],
                Transport::Datagram => bytes,
            };
            let meta = meta(medium.transport, shown.len(), wire);
            consumed = machine.received(shared, lane, shown, meta, *now).0.min(shown.len());
            wire.starved = consumed == 0;
        } else {
            // There is more than was refused.
            wire.starved = false;
        }
        wire.unread.extend(&bytes[consumed..]);
        slots[place].presented();
    }

    fn show_several(&mut self, place: usize, lane: Lane, bytes: &[u8], arrived: Arrived) {
        self.refresh(place);
        let Self { slots, shared, now, account, .. } = self;
        account.count_joined(arrived);
        slots[place].show_stride((shared, *now), lane, bytes, arrived);
    }
}
