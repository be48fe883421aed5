//! Operations that are done as they are decided, for engines that know when a socket is ready: a system call, and what
//! came of it, in one step. The machine's bytes and the worker's room are lent to that call and no longer.

use pathscope_core::id::Lane;
use pathscope_flow::{Batch, ClockNeed, Gather, Machine, Transport};

use super::complete::{Step, meta};
use super::decide::Operation;
use super::wire::Aside;
use super::{EventLoop, Slot, Wire};
use crate::{Blocking, SystemCalls, Trouble};

/// One operation.
impl<M: Machine, S: SystemCalls> EventLoop<M, S> {
    #[inline]
    pub(super) fn perform(
        &mut self,
        place: usize,
        operation: Operation,
        blocking: Blocking,
    ) -> Step {
        match operation {
            Operation::SendStream { lane, max } => self.send_stream(place, lane, max, blocking),
            Operation::SendDatagrams { lane, stride, max } => {
                self.send_datagrams(place, lane, (stride, max), blocking)
            }
            Operation::Receive { lane, limit } => self.receive_more(place, lane, limit, blocking),
            Operation::ReceiveSeveral { lane } => self.receive_batch(place, lane, blocking),
            Operation::Discard { lane } => self.discard(place, lane),
            Operation::ShowRest { lane, limit } => self.show_rest(place, lane, limit),
        }
    }
}

/// One call each.
impl<M: Machine, S: SystemCalls> EventLoop<M, S> {
    fn send_stream(&mut self, place: usize, lane: Lane, max: usize, blocking: Blocking) -> Step {
        let (offered, outcome) = self.gather_and_send(place, lane, max, blocking);
        let step = self.sent_stream(place, lane, (offered, self.now), outcome);
        if blocking == Blocking::UntilTimeout && outcome.is_err() {
            self.tick();
        }
        step
    }

    /// Has the kernel send what it keeps: what was to follow does not.
    #[cold]
    pub(super) fn push(&mut self, place: usize) {
        for wire in &mut self.slots[place].wires {
            if std::mem::take(&mut wire.keeps_end)
                && let Some(socket) = &wire.socket
            {
                self.calls.push(socket);
            }
        }
    }

    /// How many bytes the machine offered, and what became of them.
    fn gather_and_send(
        &mut self,
        place: usize,
        lane: Lane,
        max: usize,
        blocking: Blocking,
    ) -> (usize, Result<usize, Trouble>) {
        let Self { slots, shared, calls, scratch, now, account, .. } = self;
        let Slot { machine, wires, want, .. } = &slots[place];
        let Some(socket) = &wires[lane.index()].socket else { return (0, Ok(0)) };
        let mut gather = Gather::new(scratch, max);
        machine.gather(shared, lane, &mut gather);
        if gather.is_empty() {
            return (0, Ok(0));
        }
        if M::CLOCK == ClockNeed::EveryOperation {
            account.look(now, calls);
        }
        let outcome = if want.more_follows() {
            calls.send_more(socket, gather.slices(), blocking)
        } else {
            calls.send(socket, gather.slices(), blocking)
        };
        (gather.len(), outcome)
    }

    fn send_datagrams(
        &mut self,
        place: usize,
        lane: Lane,
        (stride, max): (usize, usize),
        blocking: Blocking,
    ) -> Step {
        let Self { slots, shared, calls, datagrams, now, account, .. } = self;
        let Slot { machine, wires, .. } = &mut slots[place];
        if M::CLOCK == ClockNeed::EveryOperation {
            account.look(now, calls);
        }
        let Wire { socket: Some(socket), aside, .. } = &mut wires[lane.index()] else {
            return self.withdraw(place);
        };
        let batching = Aside::batching_of(aside);
        let max = batching.as_ref().map_or(max, |batching| batching.at_once(stride, max));
        let mut batch = Batch::new(datagrams, stride, max);
        machine.fill(shared, lane, &mut batch, *now);
        if batch.count() == 0 {
            return self.withdraw(place);
        }
        let outcome = match batching {
            Some(batching) => {
                batching.send((calls, &mut account.batches), socket, &batch, blocking)
            }
            None => calls.send_datagrams(socket, batch.bytes(), stride, blocking),
        };
        self.sent_datagrams(place, lane, (stride, self.now), outcome)
    }

    /// Asks the kernel for more, behind what is left of before.
    fn receive_more(&mut self, place: usize, lane: Lane, limit: usize, blocking: Blocking) -> Step {
        let Self { slots, calls, received: room, medium, stamps, .. } = self;
        let wire = &mut slots[place].wires[lane.index()];
        let Some(socket) = &wire.socket else { return Step::Idle };
        let kept = wire.unread.len();
        let asked_for = match medium.transport {
            Transport::Stream => limit.min(room.capacity()) - kept,
            Transport::Datagram => room.capacity(),
        };
        let start = room.start(wire.position, kept);
        let room = room.at(start, asked_for);
        let outcome = match stamps {
            Some(stamps) if wire.numbers().is_some() => {
                calls.receive_stamped(socket, room, blocking).map(|(received, wall_ns)| {
                    if let Some(aside) = &mut wire.aside {
                        aside.stamp = wall_ns.map(|wall_ns| stamps.wall.tick(wall_ns));
                    }
                    received
                })
            }
            _ => calls.receive(socket, room, blocking),
        };
        self.tick_after(&outcome, blocking);
        match outcome {
            Ok(0) if self.medium.transport == Transport::Stream => self.ended(place, lane),
            Ok(received) => {
                self.brought(place, lane, (received, asked_for));
                self.show(place, lane, start, received)
            }
            Err(trouble) => self.not_received(place, lane, trouble),
        }
    }

    /// Reads the clock after a receive that may have slept, or brought what is timed: not after each vain look.
    pub(super) fn tick_after<T>(&mut self, outcome: &Result<T, Trouble>, blocking: Blocking) {
        let is_timed = M::CLOCK == ClockNeed::EveryOperation && outcome.is_ok();
        if is_timed || blocking == Blocking::UntilTimeout {
            self.tick();
        }
    }

    /// Shows what was left, and what came behind it, to `start`.
    fn show(&mut self, place: usize, lane: Lane, start: usize, received: usize) -> Step {
        let Self { slots, shared, received: room, medium, now, .. } = self;
        let Slot { machine, wires, .. } = &mut slots[place];
        let wire = &mut wires[lane.index()];
        let kept = wire.unread.len();
        let bytes = room.at(start - kept, kept + received);
        bytes[..kept].copy_from_slice(&wire.unread);
        let meta = meta(medium.transport, bytes.len(), wire);
        let consumed = machine.received(shared, lane, bytes, meta, *now).0.min(bytes.len());
        wire.unread.clear();
        wire.unread.extend(&bytes[consumed..]);
        wire.starved = consumed == 0;
        slots[place].presented();
        Step::Done(received)
    }

    /// Takes what still comes after a graceful close, for nobody.
    fn discard(&mut self, place: usize, lane: Lane) -> Step {
        let Self { slots, calls, received: room, .. } = self;
        let wire = &mut slots[place].wires[lane.index()];
        let Some(socket) = &wire.socket else { return Step::Idle };
        wire.unread.clear();
        let outcome = calls.receive(socket, room.whole(), Blocking::Never);
        self.discarded(place, lane, outcome)
    }
}
