//! Several datagrams with one call, or one that the system joined: received, and presented one after the other.

use std::num::NonZeroUsize;

use pathscope_core::Tick;
use pathscope_core::id::Lane;
use pathscope_flow::{Machine, RecvMeta};
use pathscope_os::batches::{Arrived, MOST};

use super::complete::Step;
use super::{Account, EventLoop, Slot, SlotState};
use crate::worker::JOINED_BYTES;
use crate::{Blocking, SystemCalls};

impl<M: Machine, S: SystemCalls> EventLoop<M, S> {
    /// Receives several, and presents them one after the other. What comes behind one that was not consumed, or when the
    /// machine wants no more, is kept.
    pub(super) fn receive_batch(&mut self, place: usize, lane: Lane, blocking: Blocking) -> Step {
        let Self { slots, calls, received: room, .. } = self;
        let wire = &mut slots[place].wires[lane.index()];
        let Some(socket) = &wire.socket else { return Step::Idle };
        let stride = wire.batching().map_or(JOINED_BYTES, |batching| batching.stride_bytes);
        let mut arrived = [Arrived::default(); MOST];
        let strides = (room.capacity() / stride).min(MOST);
        let outcome =
            calls.receive_datagrams(socket, (room.whole(), stride), &mut arrived, blocking);
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
            let Self { slots, shared, received: room, now, account, .. } = self;
            account.count_joined(arrived);
            let came = &room.whole()[index * stride..][..arrived.len];
            slots[place].show_stride((shared, *now), lane, came, arrived);
            bytes += arrived.len;
        }
        Step::Done(bytes)
    }
}

impl Account {
    /// Notes datagrams that came as one.
    pub(super) fn count_joined(&mut self, arrived: Arrived) {
        if arrived.stride < arrived.len {
            self.batches.joined += arrived.len.div_ceil(arrived.stride.max(1)) as u64;
        }
    }
}

impl<M: Machine> Slot<M> {
    /// Shows datagrams that came as one, or keeps them behind what was left.
    pub(super) fn show_stride(
        &mut self,
        (shared, now): (&mut M::Shared, Tick),
        lane: Lane,
        bytes: &[u8],
        arrived: Arrived,
    ) {
        let has_appetite = self.appetite().is_some();
        let Some(wire) = self.wires.get_mut(lane.index()) else { return };
        let Some(aside) = &mut wire.aside else { return };
        let Some(batching) = &mut aside.batching else { return };
        let mut consumed = 0;
        if has_appetite && batching.rest.is_empty() {
            let stride = NonZeroUsize::new(arrived.stride.max(1));
            let meta = RecvMeta { stride, stamp: None, drops: aside.drops };
            consumed = self.machine.received(shared, lane, bytes, meta, now).0.min(arrived.len);
            wire.starved = consumed == 0;
        } else if matches!(self.state, SlotState::Lingering | SlotState::Over) {
            return;
        }
        // An empty one that finds no taker leaves nothing to keep.
        if consumed < arrived.len {
            wire.unread.extend(&bytes[consumed..]);
            batching.rest.push_back(Arrived { len: arrived.len - consumed, ..arrived });
        }
        self.presented();
    }
}
