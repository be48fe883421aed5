//! Completing: here is what came of an operation, and the machine is told.
//!
//! Whoever carried the operation out says when that was asked of the system. What a flow wants is `decide`'s.

use std::num::NonZeroUsize;

use pathscope_core::Tick;
use pathscope_core::id::Lane;
use pathscope_flow::{Event, Machine, RecvMeta, Transport};
use pathscope_os::errno::{is_answer, is_no_room, is_refusal, is_unreachable};

use super::batching::Batching;
use super::closing::lost_bytes;
use super::wire::Aside;
use super::{EventLoop, SMALL_BYTES, Slot, SlotState, Wire, WireState};
use crate::{SystemCalls, Trouble, Unheard};

/// What one step came to.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Step {
    /// Nothing can be done now.
    Idle,
    /// Something was done, and so many bytes moved.
    Done(usize),
}

/// What is sent.
impl<M: Machine, S: SystemCalls> EventLoop<M, S> {
    /// Of `offered` bytes of a stream. None offered: the machine had nothing.
    pub fn sent_stream(
        &mut self,
        place: usize,
        lane: Lane,
        (offered, at): (usize, Tick),
        outcome: Result<usize, Trouble>,
    ) -> Step {
        match outcome {
            _ if offered == 0 => self.withdraw(place),
            Ok(0) => self.refused_to_send(place, lane, at),
            Ok(sent) => {
                // A short send has filled the socket: asking again would only be told so.
                let slot = &mut self.slots[place];
                let wire = &mut slot.wires[lane.index()];
                (wire.writable, wire.keeps_end) = (sent == offered, slot.want.more_follows());
                self.took(place, lane, (sent, sent), at)
            }
            Err(trouble) => self.not_sent(place, lane, trouble, at),
        }
    }

    /// Of datagrams of `stride` bytes.
    pub fn sent_datagrams(
        &mut self,
        place: usize,
        lane: Lane,
        (stride, at): (usize, Tick),
        outcome: Result<usize, Trouble>,
    ) -> Step {
        match outcome {
            Ok(0) => self.refused_to_send(place, lane, at),
            Ok(sent) => {
                let step = self.took(place, lane, (sent, sent.saturating_mul(stride)), at);
                self.number(place, lane, sent);
                step
            }
            Err(trouble) => {
                self.number_again(place, lane);
                self.not_sent(place, lane, trouble, at)
            }
        }
    }

    /// A machine that wants to send and offers nothing is not asked again before its next event.
    pub fn withdraw(&mut self, place: usize) -> Step {
        self.slots[place].want.withdraw();
        Step::Idle
    }

    /// The kernel has no room for what this flow would send. It was asked at `at`.
    fn refused_to_send(&mut self, place: usize, lane: Lane, at: Tick) -> Step {
        let slot = &mut self.slots[place];
        slot.wires[lane.index()].writable = false;
        slot.machine.refused(&mut self.shared, lane, at);
        Step::Idle
    }

    /// The kernel took `amount` bytes of a stream, or datagrams.
    fn took(
        &mut self,
        place: usize,
        lane: Lane,
        (amount, bytes): (usize, usize),
        at: Tick,
    ) -> Step {
        self.account.operations += 1;
        let slot = &mut self.slots[place];
        slot.machine.sent(&mut self.shared, lane, amount, at);
        slot.touch();
        if bytes < SMALL_BYTES {
            // What answers it is not there yet; whoever waits for sockets will say when it is.
            slot.wires.iter_mut().for_each(|wire| wire.readable = false);
        }
        Step::Done(bytes)
    }

    fn not_sent(&mut self, place: usize, lane: Lane, trouble: Trouble, at: Tick) -> Step {
        match trouble {
            Trouble::Blocked => self.refused_to_send(place, lane, at),
            Trouble::Failed(errno) if is_no_room(errno) => self.refused_to_send(place, lane, at),
            Trouble::Failed(errno) => self.failed_with(place, lane, (errno, is_answer(errno))),
            Trouble::Interrupted => Step::Done(0),
        }
    }
}

/// What failed, whichever way.
impl<M: Machine, S: SystemCalls> EventLoop<M, S> {
    /// A socket failed, and not because of what was to be sent.
    pub fn failed(&mut self, place: usize, lane: Lane, errno: i32) -> Step {
        self.failed_with(place, lane, (errno, true))
    }

    /// A socket failed: the lane is dead, unless it carries datagrams and only one of them was lost.
    fn failed_with(&mut self, place: usize, lane: Lane, (errno, is_answer): (i32, bool)) -> Step {
        if self.slots[place].is_held_back() {
            return self.turn_away(place, Unheard::Failed(errno));
        }
        if self.medium.transport == Transport::Datagram && is_unreachable(errno) {
            let is_refusal = is_refusal(errno);
            self.deliver(place, Event::Unreachable { lane, errno, is_answer, is_refusal });
        } else {
            let wire = &mut self.slots[place].wires[lane.index()];
            if self.medium.transport == Transport::Stream {
                // The kernel still knows, until the socket is closed, what lay there when the other end broke the connection.
                wire.lost_bytes = wire.socket.as_ref().map_or(0, |it| lost_bytes(it, self.medium));
            }
            wire.state = WireState::Dead;
            self.deliver(place, Event::Reset { lane, errno });
        }
        Step::Done(0)
    }
}

/// What is received.
impl<M: Machine, S: SystemCalls> EventLoop<M, S> {
    /// So many bytes of a stream, or of a datagram, where there was room for so many. They are not shown yet.
    pub fn brought(&mut self, place: usize, lane: Lane, (received, asked_for): (usize, usize)) {
        let transport = self.medium.transport;
        let is_small = transport == Transport::Stream && received < SMALL_BYTES;
        // A receive that did not fill its room has emptied the socket. One that filled a small
        // room got its message: whoever waits for sockets will say when the next is there.
        let wire = &mut self.slots[place].wires[lane.index()];
        wire.readable = received == asked_for && !is_small || transport == Transport::Datagram;
        wire.position = wire.position.wrapping_add(received as u64);
        self.account.operations += 1;
        self.hear_handovers(place, lane);
    }

    pub fn not_received(&mut self, place: usize, lane: Lane, trouble: Trouble) -> Step {
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

    /// The other end will send no more.
    pub fn ended(&mut self, place: usize, lane: Lane) -> Step {
        self.slots[place].wires[lane.index()].state = WireState::Ended;
        self.deliver(place, Event::PeerClosed(lane));
        Step::Done(0)
    }

    /// Shows what was left, alone.
    pub fn show_rest(&mut self, place: usize, lane: Lane, limit: usize) -> Step {
        let Self { slots, shared, medium, now, .. } = self;
        let Slot { machine, wires, .. } = &mut slots[place];
        let wire = &mut wires[lane.index()];
        let first = wire.batching().and_then(Batching::first_rest);
        let (shown, stride) = match (medium.transport, first) {
            (Transport::Stream, _) => (limit.min(wire.unread.len()), 0),
            (Transport::Datagram, Some(first)) => (first.len, first.stride),
            (Transport::Datagram, None) => (wire.unread.len(), wire.unread.len()),
        };
        let meta = meta(medium.transport, stride, wire);
        let bytes = &wire.unread[..shown];
        let consumed = machine.received(shared, lane, bytes, meta, *now).0.min(shown);
        wire.unread.consume(consumed);
        if let Some(batching) = Aside::batching_of(&mut wire.aside) {
            batching.consume(consumed);
        }
        wire.starved = consumed == 0;
        slots[place].presented();
        Step::Done(consumed)
    }

    /// Of what was received for nobody.
    pub fn discarded(&mut self, place: usize, lane: Lane, outcome: Result<usize, Trouble>) -> Step {
        match outcome {
            Ok(received) if received > 0 => Step::Done(received),
            Err(Trouble::Interrupted) => Step::Done(0),
            Err(Trouble::Blocked) => {
                self.slots[place].wires[lane.index()].readable = false;
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

/// What is told with received bytes.
#[inline]
pub(super) fn meta(transport: Transport, len: usize, wire: &Wire) -> RecvMeta {
    let stride = match transport {
        Transport::Stream => None,
        // An empty datagram is a batch of none, which is more than nothing.
        Transport::Datagram => NonZeroUsize::new(len.max(1)),
    };
    let (stamp, drops) = wire.aside.as_ref().map_or((None, 0), |aside| (aside.stamp, aside.drops));
    RecvMeta { stride, stamp, drops }
}
