//! The kernel's stamps on datagrams: asked for when a worker begins, made ticks of, told to machines.
//!
//! What was handed to the device is told by a number that the kernel gives as it sends. Whether a send that failed
//! took a number is not known, so after one they begin again.

use pathscope_core::id::Lane;
use pathscope_core::record::StampFacts;
use pathscope_flow::{Event, Machine, Transport};
use pathscope_os::errno::errno_name;
use pathscope_os::stamps::WallClock;

use super::{EventLoop, Slot};
use crate::{SystemCalls, Trouble};

/// What a worker knows of its stamps.
#[derive(Debug)]
pub(crate) struct Stamps {
    pub wall: WallClock,
    refused: Option<i32>,
}

/// The numbers of what left one lane.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Numbers {
    /// Datagrams that were sent.
    sent: u64,
    /// Of those, how many before the kernel began to count.
    base: u64,
    /// One above the last that was told of.
    heard: u64,
}

impl Numbers {
    /// Which datagram a number of the kernel's is: it counts in 32 bits.
    fn of(self, number: u32) -> u64 {
        let expected = self.heard.wrapping_sub(self.base) as u32;
        let ahead = number.wrapping_sub(expected) as i32;
        self.heard.wrapping_add_signed(ahead.into())
    }
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
            match calls.stamp(&wire.socket) {
                Ok(()) => wire.numbers = Some(Numbers::default()),
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
        if let Some(numbers) = &mut self.slots[place].wires[lane.index()].numbers {
            numbers.sent += sent as u64;
            self.hear_handovers(place, lane);
        }
    }

    /// A send failed.
    pub(super) fn number_again(&mut self, place: usize, lane: Lane) {
        if self.slots[place].wires[lane.index()].numbers.is_none() {
            return;
        }
        self.hear_handovers(place, lane);
        let Self { slots, calls, .. } = self;
        let wire = &mut slots[place].wires[lane.index()];
        let Some(numbers) = &mut wire.numbers else { return };
        // Where it fails, the numbers are of no use any more.
        match calls.stamp_again(&wire.socket) {
            Ok(()) => (numbers.base, numbers.heard) = (numbers.sent, numbers.sent),
            Err(_) => wire.numbers = None,
        }
    }

    /// Tells the machine of what was handed over. No call where nothing is to be told.
    pub(super) fn hear_handovers(&mut self, place: usize, lane: Lane) {
        loop {
            let Self { slots, calls, stamps: Some(stamps), now, .. } = self else { return };
            let wire = &mut slots[place].wires[lane.index()];
            let Some(numbers) = wire.numbers.as_mut().filter(|it| it.heard < it.sent) else {
                return;
            };
            let Ok(Some(handover)) = calls.handover(&wire.socket) else { return };
            stamps.wall.keep_up(*now);
            let (number, at) = (numbers.of(handover.number), stamps.wall.tick(handover.wall_ns));
            if number < numbers.sent {
                numbers.heard = numbers.heard.max(number + 1);
                self.deliver(place, Event::HandedOver { lane, number, at });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_s_numbers_go_on_beyond_32_bits() {
        let numbers = |heard, base| Numbers { sent: u64::MAX, base, heard };
        assert_eq!(numbers(0, 0).of(0), 0);
        assert_eq!(numbers(7, 5).of(2), 7);
        assert_eq!(numbers(7, 5).of(0), 5);
        let many = 3 << 32;
        assert_eq!(numbers(many, 0).of(0), many);
        assert_eq!(numbers(many, 0).of(u32::MAX), many - 1);
        assert_eq!(numbers(many - 1, 0).of(4), many + 4);
    }
}
