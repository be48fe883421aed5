//! The kernel's stamps on datagrams: asked for when a worker begins, made ticks of, told to machines.
//!
//! What was handed to the device is told by a number that the kernel gives as it sends. Whether a send that failed
//! took a number is not known, so after one they begin again.

use pathscope_core::id::Lane;
use pathscope_core::record::StampFacts;
use pathscope_flow::{Event, Machine, Transport};
use pathscope_os::errno::errno_name;
use pathscope_os::stamps::WallClock;

use super::numbers::Numbers;
use super::wire::Aside;
use super::{EventLoop, Slot};
use crate::{SystemCalls, Trouble};

/// What a worker knows of its stamps.
#[derive(Debug)]
pub(crate) struct Stamps {
    pub wall: WallClock,
    refused: Option<i32>,
}

impl Stamps {
    /// Asks for stamps on every lane. Where that is refused, flows go without, and it is told.
    pub fn begin<M: Machine, S: SystemCalls>(
        slots: &mut [Slot<M>],
        transport: Transport,
        calls: &mut S,
    ) -> Option<Self> {
        if transport == Transport::Stream {
            return None;
        }
        let mut refused = None;
        for wire in slots.iter_mut().flat_map(|slot| &mut slot.wires) {
            let Some(socket) = &wire.socket else { continue };
            match calls.stamp(socket) {
                Ok(()) => wire.aside().numbers = Some(Numbers::default()),
                Err(Trouble::Failed(errno)) => refused = Some(errno),
                Err(Trouble::Blocked | Trouble::Interrupted) => refused = Some(0),
            }
        }
        Some(Self { wall: WallClock::measure(), refused })
    }

    /// What is said of them at the end.
    pub fn facts(&self) -> StampFacts {
        StampFacts {
            error_ns: self.wall.error_ns(),
            wall_clock_steps: self.wall.steps(),
            refused: self.refused.map(|errno| errno_name(errno).to_string()),
        }
    }
}

impl<M: Machine, S: SystemCalls> EventLoop<M, S> {
    /// The kernel took so many datagrams.
    pub(super) fn number(&mut self, place: usize, lane: Lane, sent: usize) {
        if let Some(numbers) = Aside::numbers_of(&mut self.slots[place].wires[lane.index()].aside) {
            numbers.sent += sent as u64;
            self.hear_handovers(place, lane);
        }
    }

    /// A send failed.
    pub(super) fn number_again(&mut self, place: usize, lane: Lane) {
        if self.slots[place].wires[lane.index()].numbers().is_none() {
            return;
        }
        self.hear_handovers(place, lane);
        let Self { slots, calls, .. } = self;
        let wire = &mut slots[place].wires[lane.index()];
        let (Some(aside), Some(socket)) = (&mut wire.aside, &wire.socket) else { return };
        // Where it fails, the numbers are of no use any more.
        let is_stamped = calls.stamp_again(socket).is_ok();
        aside.numbers = aside.numbers.filter(|_| is_stamped).map(Numbers::begun_again);
    }

    /// Tells the machine of what was handed over. No call where nothing is to be told.
    pub(super) fn hear_handovers(&mut self, place: usize, lane: Lane) {
        loop {
            let Self { slots, calls, stamps: Some(stamps), now, .. } = self else { return };
            let wire = &mut slots[place].wires[lane.index()];
            if wire.in_flight.sends {
                // It may be of a datagram that is not numbered yet.
                return;
            }
            let numbers = Aside::numbers_of(&mut wire.aside).filter(|it| it.heard < it.sent);
            let Some(numbers) = numbers else { return };
            let Some(socket) = &wire.socket else { return };
            let Ok(Some(handover)) = calls.handover(socket) else { return };
            stamps.wall.keep_up(*now);
            let (number, at) = (numbers.of(handover.number), stamps.wall.tick(handover.wall_ns));
            if number < numbers.sent {
                numbers.heard = numbers.heard.max(number + 1);
                self.deliver(place, Event::HandedOver { lane, number, at });
            }
        }
    }
}
