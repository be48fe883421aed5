//! Several datagrams at once: handed to the system as one that it cuts, or taken from it as one that it joined; several
//! with one call where it does neither. What is refused leaves in the other way: never lost, never doubled.

use std::collections::VecDeque;
use std::num::NonZeroUsize;

use pathscope_core::id::Lane;
use pathscope_core::record::BatchUse;
use pathscope_flow::{Batch, Batches, Machine, RecvMeta, Transport, datagrams_in_one};
use pathscope_os::Socket;
use pathscope_os::batches::{Arrived, MOST};
use pathscope_os::errno::is_batch_refused;

use super::transfer::Step;
use super::{EventLoop, Slot};
use crate::worker::{JOINED_BYTES, stride_bytes};
use crate::{Blocking, SystemCalls, Trouble};

/// How far batches go on one socket.
#[derive(Debug)]
pub(crate) struct Batching {
    cuts: Cuts,
    /// Bytes of the stride that each receive fills.
    stride_bytes: usize,
    /// How what was presented and not consumed is divided.
    rest: VecDeque<Arrived>,
}

/// Whether the system cuts what is sent on a socket into datagrams.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Cuts {
    /// Not asked yet.
    Untried,
    /// Into datagrams of so many bytes.
    Into(usize),
    /// It may not, or refused once: never again.
    Refused,
}

impl Batching {
    /// For a socket, as these terms have it.
    pub fn begin<S: SystemCalls>(
        batches: Batches,
        socket: &Socket,
        calls: &mut S,
    ) -> Option<Box<Self>> {
        let (cuts, joins, longest) = match batches {
            Batches::One => return None,
            Batches::Several { longest } => (Cuts::Refused, false, longest),
            Batches::Joined { longest } => (Cuts::Untried, calls.join(socket).is_ok(), longest),
        };
        let stride_bytes = if joins { JOINED_BYTES } else { stride_bytes(longest) };
        Some(Box::new(Self { cuts, stride_bytes, rest: VecDeque::new() }))
    }

    /// How many datagrams of this length may be one batch.
    pub fn at_once(&self, stride: usize, max: usize) -> usize {
        if self.cuts == Cuts::Refused { max } else { max.min(datagrams_in_one(stride)) }
    }

    /// Sends a batch; how many of it the kernel took.
    pub fn send<S: SystemCalls>(
        &mut self,
        (calls, used): (&mut S, &mut BatchUse),
        socket: &Socket,
        batch: &Batch<'_>,
        blocking: Blocking,
    ) -> Result<usize, Trouble> {
        let stride = batch.stride();
        if batch.count() > 1 && self.cuts != Cuts::Refused {
            match self.send_cut(calls, socket, batch, blocking) {
                Ok(()) => {
                    used.cut += batch.count() as u64;
                    return Ok(batch.count());
                }
                Err(Trouble::Failed(errno)) if is_batch_refused(errno) => {
                    used.refused += 1;
                    self.cuts = Cuts::Refused;
                    // Where it was never switched on, it need not be switched off.
                    let _ = calls.cut(socket, 0);
                }
                Err(trouble) => return Err(trouble),
            }
        }
        calls.send_datagrams(socket, batch.bytes(), stride, blocking)
    }

    fn send_cut<S: SystemCalls>(
        &mut self,
        calls: &mut S,
        socket: &Socket,
        batch: &Batch<'_>,
        blocking: Blocking,
    ) -> Result<(), Trouble> {
        if self.cuts != Cuts::Into(batch.stride()) {
            calls.cut(socket, batch.stride())?;
            self.cuts = Cuts::Into(batch.stride());
        }
        calls.send_cut(socket, batch.bytes(), blocking)
    }

    /// The first of what was not consumed.
    pub fn first_rest(&self) -> Option<Arrived> {
        self.rest.front().copied()
    }

    /// So many bytes of the first rest were consumed.
    pub fn consume(&mut self, consumed: usize) {
        if let Some(first) = self.rest.front_mut() {
            first.len -= consumed.min(first.len);
            if first.len == 0 {
                self.rest.pop_front();
            }
        }
    }
}

impl<M: Machine, S: SystemCalls> EventLoop<M, S> {
    /// Receives several, and presents them one after the other. What comes behind one that was not consumed, or when the
    /// machine wants no more, is kept.
    pub(super) fn receive_batch(&mut self, place: usize, lane: Lane, blocking: Blocking) -> Step {
        let Self { slots, calls, received: room, .. } = self;
        let wire = &mut slots[place].wires[lane.index()];
        let stride = wire.batching.as_ref().map_or(JOINED_BYTES, |batching| batching.stride_bytes);
        let mut arrived = [Arrived::default(); MOST];
        let strides = (room.capacity() / stride).min(MOST);
        let outcome =
            calls.receive_datagrams(&wire.socket, (room.whole(), stride), &mut arrived, blocking);
        self.tick_after(&outcome, blocking);
        let filled = match outcome {
            Ok(filled) => filled.min(strides),
            Err(trouble) => return self.not_received(place, lane, trouble),
        };
        self.slots[place].wires[lane.index()].readable = filled == strides;
        self.account.operations += 1;
        let mut bytes = 0;
        for (index, &arrived) in arrived[..filled].iter().enumerate() {
            if index > 0 {
                self.refresh(place);
            }
            self.present_stride(place, lane, index * stride, arrived);
            bytes += arrived.len;
        }
        Step::Done(bytes)
    }

    fn present_stride(&mut self, place: usize, lane: Lane, start: usize, arrived: Arrived) {
        let Self { slots, shared, received: room, now, account, .. } = self;
        let slot = &mut slots[place];
        let has_appetite = slot.appetite().is_some();
        let Slot { machine, wires, .. } = slot;
        let wire = &mut wires[lane.index()];
        let Some(batching) = &mut wire.batching else { return };
        let bytes = &room.whole()[start..start + arrived.len];
        if arrived.stride < arrived.len {
            account.batches.joined += arrived.len.div_ceil(arrived.stride.max(1)) as u64;
        }
        let mut consumed = 0;
        if has_appetite && batching.rest.is_empty() {
            let stride = NonZeroUsize::new(arrived.stride.max(1));
            let meta = RecvMeta { stride, stamp: None, drops: wire.drops };
            consumed = machine.received(shared, lane, bytes, meta, *now).0.min(arrived.len);
            wire.starved = consumed == 0;
        } else if slot.state != super::SlotState::Live {
            return;
        }
        // An empty one that finds no taker leaves nothing to keep.
        if consumed < arrived.len {
            wire.unread.extend_from_slice(&bytes[consumed..]);
            batching.rest.push_back(Arrived { len: arrived.len - consumed, ..arrived });
        }
        slots[place].presented();
    }

    /// Whether several datagrams may move at once on a lane.
    pub(super) fn batches_on(&self, place: usize, lane: Lane) -> bool {
        let wire = &self.slots[place].wires[lane.index()];
        self.medium.transport == Transport::Datagram && wire.batching.is_some()
    }
}
