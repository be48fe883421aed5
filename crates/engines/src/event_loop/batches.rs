//! Several datagrams with one call, or one that the system joined: received, and presented one after the other.

use std::num::NonZeroUsize;

use pathscope_core::id::Lane;
use pathscope_flow::{Machine, RecvMeta};
use pathscope_os::batches::{Arrived, MOST};

use super::complete::Step;
use super::{EventLoop, Slot};
use crate::worker::JOINED_BYTES;
use crate::{Blocking, SystemCalls};

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
}
