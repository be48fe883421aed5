//! Bytes: what a flow wants to send and receive, carried out as far as its sockets go along.
//!
//! In one file: sending and receiving, whose steps mirror each other.

use std::num::NonZeroUsize;

use pathscope_core::id::Lane;
use pathscope_flow::{Batch, ClockNeed, Event, Gather, Machine, RecvMeta, SendWant, Transport};
use pathscope_os::errno::{is_answer, is_no_room, is_refusal, is_unreachable};

use super::{EventLoop, Slot, SlotState, Wire, WireState};
use crate::{Blocking, SystemCalls, Trouble};

/// What one visit may do before it is others' turn: operations, and bytes. Some 100 µs of copying, so
/// that no flow starves others, timers, reports or commands, and so that the clock is read often.
const VISIT_OPERATIONS: u32 = 16;
const VISIT_BYTES: usize = 1 << 20;

/// Below this an operation is one of small messages: its call costs more than its copy, and what comes
/// next mostly answers what was sent.
const SMALL_BYTES: usize = 16 << 10;

/// How a visit ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Visit {
    /// Nothing moved: the flow waits for its sockets, a timer or word.
    Idle,
    /// Something moved, and now the flow waits.
    Moved,
    /// Its share is used up; there may be more to do.
    Unfinished,
}

/// What one step came to.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Step {
    /// Nothing can be done now.
    Idle,
    /// Something was done, and so many bytes moved.
    Done(usize),
}

impl<M: Machine, S: SystemCalls> EventLoop<M, S> {
    /// Moves the bytes of one flow until it has to wait or has had its share.
    pub fn visit(&mut self, place: usize) -> Visit {
        let mut moved = Visit::Idle;
        let mut bytes = 0;
        for _ in 0..VISIT_OPERATIONS {
            match self.step(place, Blocking::Never) {
                Step::Idle => {
                    self.visited(place);
                    return moved;
                }
                Step::Done(more) => bytes += more,
            }
            moved = Visit::Moved;
            if bytes >= VISIT_BYTES {
                break;
            }
        }
        Visit::Unfinished
    }

    /// Sends or receives once. Where both are possible, the way that has moved fewer bytes has its turn: a
    /// send of half a mebibyte is followed by as many receives as bring half a mebibyte.
    pub fn step(&mut self, place: usize, blocking: Blocking) -> Step {
        self.refresh(place);
        let receives_first = self.slots[place].sent_ahead > 0;
        match self.one_way(place, receives_first, blocking) {
            Step::Idle => self.one_way(place, !receives_first, blocking),
            done @ Step::Done(_) => done,
        }
    }

    fn one_way(&mut self, place: usize, receives: bool, blocking: Blocking) -> Step {
        let step =
            if receives { self.receive(place, blocking) } else { self.send(place, blocking) };
        if let Step::Done(bytes) = step {
            let moved = bytes.clamp(1, VISIT_BYTES) as i64;
            let lead = &mut self.slots[place].sent_ahead;
            *lead += if receives { -moved } else { moved };
            // A way that had nothing to move is not owed more than a visit.
            *lead = (*lead).clamp(-(VISIT_BYTES as i64), VISIT_BYTES as i64);
        }
        step
    }

    fn send(&mut self, place: usize, blocking: Blocking) -> Step {
        let slot = &self.slots[place];
        match slot.offer() {
            Some((lane, _)) if !slot.wires[lane.index()].writable => Step::Idle,
            Some((lane, SendWant::Stream { max })) => self.send_stream(place, lane, max, blocking),
            Some((lane, SendWant::Datagrams { stride, max })) => {
                self.send_datagrams(place, lane, (stride, max), blocking)
            }
            Some((_, SendWant::Nothing)) | None => Step::Idle,
        }
    }

    fn send_stream(&mut self, place: usize, lane: Lane, max: usize, blocking: Blocking) -> Step {
        let (offered, outcome) = self.gather_and_send(place, lane, max, blocking);
        match outcome {
            _ if offered == 0 => self.withdraw(place),
            Ok(0) => self.refused_to_send(place, lane),
            Ok(sent) => {
                // A short send has filled the socket: asking again would only be told so.
                self.slots[place].wires[lane.index()].writable = sent == offered;
                self.took(place, lane, sent, sent)
            }
            Err(trouble) => {
                let step = self.not_sent(place, lane, trouble);
                if blocking == Blocking::UntilTimeout {
                    self.tick();
                }
                step
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
        let Slot { machine, wires, .. } = &slots[place];
        let mut gather = Gather::new(scratch, max);
        machine.gather(shared, lane, &mut gather);
        if gather.is_empty() {
            return (0, Ok(0));
        }
        if M::CLOCK == ClockNeed::EveryOperation {
            account.look(now, calls);
        }
        let outcome = calls.send(&wires[lane.index()].socket, gather.slices(), blocking);
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
        let Wire { socket, batching, .. } = &mut wires[lane.index()];
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
        match outcome {
            Ok(0) => self.refused_to_send(place, lane),
            Ok(sent) => {
                let step = self.took(place, lane, sent, sent.saturating_mul(stride));
                self.number(place, lane, sent);
                step
            }
            Err(trouble) => {
                self.number_again(place, lane);
                self.not_sent(place, lane, trouble)
            }
        }
    }

    /// A machine that wants to send and offers nothing is not asked again before its next event.
    fn withdraw(&mut self, place: usize) -> Step {
        self.slots[place].want.send = SendWant::Nothing;
        Step::Idle
    }

    /// The kernel has no room for what this flow would send. The clock was read before that call.
    fn refused_to_send(&mut self, place: usize, lane: Lane) -> Step {
        let slot = &mut self.slots[place];
        slot.wires[lane.index()].writable = false;
        slot.machine.refused(&mut self.shared, lane, self.now);
        Step::Idle
    }

    /// The kernel took `amount` bytes of a stream, or datagrams.
    fn took(&mut self, place: usize, lane: Lane, amount: usize, bytes: usize) -> Step {
        self.account.operations += 1;
        let slot = &mut self.slots[place];
        slot.machine.sent(&mut self.shared, lane, amount, self.now);
        slot.touch();
        if bytes < SMALL_BYTES {
            // What answers it is not there yet; whoever waits for sockets will say when it is.
            slot.wires.iter_mut().for_each(|wire| wire.readable = false);
        }
        Step::Done(bytes)
    }

    fn not_sent(&mut self, place: usize, lane: Lane, trouble: Trouble) -> Step {
        match trouble {
            Trouble::Blocked => self.refused_to_send(place, lane),
            Trouble::Failed(errno) if is_no_room(errno) => self.refused_to_send(place, lane),
            Trouble::Failed(errno) => self.failed_with(place, lane, (errno, is_answer(errno))),
            Trouble::Interrupted => Step::Done(0),
        }
    }

    /// A socket failed, and not because of what was to be sent.
    pub fn failed(&mut self, place: usize, lane: Lane, errno: i32) -> Step {
        self.failed_with(place, lane, (errno, true))
    }

    /// A socket failed: the lane is dead, unless it carries datagrams and only one of them was lost.
    fn failed_with(&mut self, place: usize, lane: Lane, (errno, is_answer): (i32, bool)) -> Step {
        if self.medium.transport == Transport::Datagram && is_unreachable(errno) {
            let is_refusal = is_refusal(errno);
            self.deliver(place, Event::Unreachable { lane, errno, is_answer, is_refusal });
        } else {
            self.slots[place].wires[lane.index()].state = WireState::Dead;
            self.deliver(place, Event::Reset { lane, errno });
        }
        Step::Done(0)
    }

    fn receive(&mut self, place: usize, blocking: Blocking) -> Step {
        let lanes = self.slots[place].wires.len();
        for turn in 0..lanes {
            let index = (usize::from(self.slots[place].next_lane) + turn) % lanes;
            let step = self.receive_on(place, Lane(index as u8), blocking);
            if step != Step::Idle {
                self.slots[place].next_lane = ((index + 1) % lanes) as u8;
                return step;
            }
        }
        Step::Idle
    }

    fn receive_on(&mut self, place: usize, lane: Lane, blocking: Blocking) -> Step {
        let slot = &self.slots[place];
        let wire = &slot.wires[lane.index()];
        let has_more = wire.readable && wire.is_open_to_receive();
        let has_rest = !wire.unread.is_empty();
        match slot.appetite() {
            None if has_more && slot.discards() => self.discard(place, lane),
            Some(limit) if has_rest && !wire.starved => self.present_rest(place, lane, limit),
            // Datagrams are not joined: the next has to wait until this one is consumed.
            Some(_) if has_rest && self.medium.transport == Transport::Datagram => Step::Idle,
            Some(_) if has_more && self.batches_on(place, lane) => {
                self.receive_batch(place, lane, blocking)
            }
            Some(limit) if has_more => self.receive_more(place, lane, limit, blocking),
            _ => Step::Idle,
        }
    }

    /// Asks the kernel for more, behind what is left of before.
    fn receive_more(&mut self, place: usize, lane: Lane, limit: usize, blocking: Blocking) -> Step {
        let Self { slots, calls, received: room, medium, stamps, .. } = self;
        let wire = &mut slots[place].wires[lane.index()];
        let kept = wire.unread.len();
        let end = match medium.transport {
            Transport::Stream => limit.min(room.capacity()),
            Transport::Datagram => room.capacity(),
        };
        if end <= kept {
            return Step::Idle;
        }
        let start = room.start(wire.position, kept);
        let room = room.at(start, end - kept);
        let outcome = match stamps {
            Some(stamps) if wire.numbers.is_some() => {
                calls.receive_stamped(&wire.socket, room, blocking).map(|(received, wall_ns)| {
                    wire.stamp = wall_ns.map(|wall_ns| stamps.wall.tick(wall_ns));
                    received
                })
            }
            _ => calls.receive(&wire.socket, room, blocking),
        };
        self.tick_after(&outcome, blocking);
        match outcome {
            Ok(0) if self.medium.transport == Transport::Stream => self.ended(place, lane),
            Ok(received) => {
                let transport = self.medium.transport;
                let is_small = transport == Transport::Stream && received < SMALL_BYTES;
                // A receive that did not fill its room has emptied the socket. One that filled a small
                // room got its message: whoever waits for sockets will say when the next is there.
                let wire = &mut self.slots[place].wires[lane.index()];
                wire.readable =
                    received == end - kept && !is_small || transport == Transport::Datagram;
                self.account.operations += 1;
                self.hear_handovers(place, lane);
                self.present(place, lane, start, received)
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

    pub(super) fn not_received(&mut self, place: usize, lane: Lane, trouble: Trouble) -> Step {
        match trouble {
            Trouble::Failed(errno) if !is_no_room(errno) => self.failed(place, lane, errno),
            Trouble::Interrupted => Step::Done(0),
            Trouble::Blocked | Trouble::Failed(_) => {
                // Word of what left makes a socket that sleeps look readable.
                self.hear_handovers(place, lane);
                self.slots[place].wires[lane.index()].readable = false;
                Step::Idle
            }
        }
    }

    fn ended(&mut self, place: usize, lane: Lane) -> Step {
        self.slots[place].wires[lane.index()].state = WireState::Ended;
        self.deliver(place, Event::PeerClosed(lane));
        Step::Done(0)
    }

    /// Presents what was left, and what came behind it, to `start`.
    fn present(&mut self, place: usize, lane: Lane, start: usize, received: usize) -> Step {
        let Self { slots, shared, received: room, medium, now, .. } = self;
        let Slot { machine, wires, .. } = &mut slots[place];
        let wire = &mut wires[lane.index()];
        let kept = wire.unread.len();
        let bytes = room.at(start - kept, kept + received);
        bytes[..kept].copy_from_slice(&wire.unread);
        wire.position = wire.position.wrapping_add(received as u64);
        let meta = meta(medium.transport, bytes.len(), wire);
        let consumed = machine.received(shared, lane, bytes, meta, *now).0.min(bytes.len());
        wire.unread.clear();
        wire.unread.extend_from_slice(&bytes[consumed..]);
        wire.starved = consumed == 0;
        slots[place].presented();
        Step::Done(received)
    }

    /// Presents what was left, alone.
    fn present_rest(&mut self, place: usize, lane: Lane, limit: usize) -> Step {
        let Self { slots, shared, medium, now, .. } = self;
        let Slot { machine, wires, .. } = &mut slots[place];
        let wire = &mut wires[lane.index()];
        let first = wire.batching.as_ref().and_then(|batching| batching.first_rest());
        let (shown, stride) = match (medium.transport, first) {
            (Transport::Stream, _) => (limit.min(wire.unread.len()), 0),
            (Transport::Datagram, Some(first)) => (first.len, first.stride),
            (Transport::Datagram, None) => (wire.unread.len(), wire.unread.len()),
        };
        let meta = meta(medium.transport, stride, wire);
        let bytes = &wire.unread[..shown];
        let consumed = machine.received(shared, lane, bytes, meta, *now).0.min(shown);
        wire.unread.drain(..consumed);
        wire.batching.iter_mut().for_each(|batching| batching.consume(consumed));
        wire.starved = consumed == 0;
        slots[place].presented();
        Step::Done(consumed)
    }

    /// Takes what still comes after a graceful close, for nobody.
    fn discard(&mut self, place: usize, lane: Lane) -> Step {
        let Self { slots, calls, received: room, .. } = self;
        let wire = &mut slots[place].wires[lane.index()];
        wire.unread.clear();
        match calls.receive(&wire.socket, room.whole(), Blocking::Never) {
            Ok(received) if received > 0 => Step::Done(received),
            Err(Trouble::Interrupted) => Step::Done(0),
            Err(Trouble::Blocked) => {
                wire.readable = false;
                Step::Idle
            }
            // The end, or an error, which ends it as well.
            _ => {
                let step = self.ended(place, lane);
                let slot = &self.slots[place];
                if slot.state == SlotState::Lingering && !slot.may_linger() {
                    self.dismiss(place);
                }
                step
            }
        }
    }
}

fn meta(transport: Transport, len: usize, wire: &Wire) -> RecvMeta {
    let stride = match transport {
        Transport::Stream => None,
        // An empty datagram is a batch of none, which is more than nothing.
        Transport::Datagram => NonZeroUsize::new(len.max(1)),
    };
    RecvMeta { stride, stamp: wire.stamp, drops: wire.drops }
}
