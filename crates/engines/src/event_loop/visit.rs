//! A visit to a flow: what is next of sending and receiving, until it has to wait or it is others' turn. Which operation that is says
//! `decide`, and `transfer` does it.

use pathscope_core::id::Lane;
use pathscope_flow::{ClockNeed, Machine};

use super::EventLoop;
use super::complete::Step;
use crate::{Blocking, SystemCalls};

/// What one visit may do each way before it is others' turn: operations, and bytes. Some 100 µs of copying, so
/// that no flow starves others, timers, reports or commands, and so that the clock is read often.
const VISIT_OPERATIONS: u32 = 16;
const VISIT_BYTES: usize = 1 << 20;
/// Of a stream what has come goes first, and twice as much is received as sent. Whatever waits to be read stays there where as much comes as is
/// taken, and has left the caches by then; where each end takes more than the other one may send meanwhile, all that waits is what came
/// last. An end that cannot keep up sends half of what it receives.
const RECEIVED_BYTES: usize = VISIT_BYTES / 2;
const SENT_BYTES: usize = RECEIVED_BYTES / 2;

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

/// Which way bytes move.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Direction {
    /// It sends.
    Out,
    /// It receives.
    In,
}

impl Direction {
    const fn other(self) -> Self {
        match self {
            Self::Out => Self::In,
            Self::In => Self::Out,
        }
    }
}

/// What a visit has moved: operations and bytes, each way.
struct Moved {
    clock: ClockNeed,
    received: (u32, usize),
    sent: (u32, usize),
}

impl Moved {
    const fn nothing(clock: ClockNeed) -> Self {
        Self { clock, received: (0, 0), sent: (0, 0) }
    }

    /// Which way is to be tried first. Where operations are what is measured, the ways take turns: none waits for many of the other.
    const fn next(&self) -> Direction {
        let receives = match self.clock {
            ClockNeed::EveryOperation => self.received.0 < self.sent.0,
            ClockNeed::EveryTurn => !self.has_received_enough(),
        };
        if receives { Direction::In } else { Direction::Out }
    }

    /// Whether the visit may go on.
    const fn add(&mut self, direction: Direction, bytes: usize) -> bool {
        let had_enough = self.has_received_enough();
        let moved = match direction {
            Direction::In => &mut self.received,
            Direction::Out => &mut self.sent,
        };
        *moved = (moved.0 + 1, moved.1.saturating_add(bytes));
        // Who has received enough may send yet; that it received again says that it has nothing to send.
        match direction {
            Direction::In => !had_enough,
            Direction::Out => !self.has_sent_enough(),
        }
    }

    const fn has_received_enough(&self) -> bool {
        Self::is_enough(self.received, Self::most(self.clock, RECEIVED_BYTES))
    }

    const fn has_sent_enough(&self) -> bool {
        Self::is_enough(self.sent, Self::most(self.clock, SENT_BYTES))
    }

    const fn most(clock: ClockNeed, of_stream: usize) -> usize {
        match clock {
            ClockNeed::EveryOperation => VISIT_BYTES,
            ClockNeed::EveryTurn => of_stream,
        }
    }

    const fn is_enough((operations, bytes): (u32, usize), most: usize) -> bool {
        operations >= VISIT_OPERATIONS || bytes >= most
    }
}

impl<M: Machine, S: SystemCalls> EventLoop<M, S> {
    /// Moves the bytes of one flow until it has to wait or has had its share.
    pub fn visit(&mut self, place: usize) -> Visit {
        let mut visit = Visit::Idle;
        let mut moved = Moved::nothing(M::CLOCK);
        loop {
            match self.step(place, moved.next(), Blocking::Never) {
                (_, Step::Idle) => {
                    self.visited(place);
                    return visit;
                }
                (direction, Step::Done(bytes)) if moved.add(direction, bytes) => {
                    visit = Visit::Moved;
                }
                _ => return Visit::Unfinished,
            }
        }
    }

    /// Sends or receives once, this way where that is possible and else the other. Which it was.
    pub fn step(
        &mut self,
        place: usize,
        first: Direction,
        blocking: Blocking,
    ) -> (Direction, Step) {
        if self.slots[place].prologue.is_some() {
            return (first, self.step_before(place));
        }
        self.refresh(place);
        let step = self.one_way(place, first, blocking);
        if step != Step::Idle {
            return (first, step);
        }
        let other = first.other();
        (other, self.one_way(place, other, blocking))
    }

    fn one_way(&mut self, place: usize, direction: Direction, blocking: Blocking) -> Step {
        match direction {
            Direction::Out => self.send(place, blocking),
            Direction::In => self.receive(place, blocking),
        }
    }

    fn send(&mut self, place: usize, blocking: Blocking) -> Step {
        match self.slots[place].next_send() {
            Some(operation) => self.perform(place, operation, blocking),
            None => Step::Idle,
        }
    }

    pub(super) fn receive(&mut self, place: usize, blocking: Blocking) -> Step {
        let lanes = self.slots[place].wires.len();
        for turn in 0..lanes {
            let index = (usize::from(self.slots[place].next_lane) + turn) % lanes;
            let next = self.slots[place].next_receive(Lane(index as u8), self.medium);
            let Some(operation) = next else { continue };
            let step = self.perform(place, operation, blocking);
            if step != Step::Idle {
                self.slots[place].next_lane = ((index + 1) % lanes) as u8;
                return step;
            }
        }
        Step::Idle
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WRITE: usize = 64 << 10;

    /// Bytes received and sent in a visit to a flow that could go on for ever, with as much at a time each way.
    fn endless(clock: ClockNeed, received: Option<usize>, sent: Option<usize>) -> (usize, usize) {
        let mut moved = Moved::nothing(clock);
        loop {
            let (direction, bytes) = match (moved.next(), received, sent) {
                (Direction::In, Some(bytes), _) | (Direction::Out, Some(bytes), None) => {
                    (Direction::In, bytes)
                }
                (_, _, Some(bytes)) => (Direction::Out, bytes),
                _ => panic!("nothing moves"),
            };
            if !moved.add(direction, bytes) {
                return (moved.received.1, moved.sent.1);
            }
        }
    }

    #[test]
    fn neither_way_of_a_stream_keeps_the_other_from_its_turn() {
        for (received, sent) in [(WRITE, WRITE), (WRITE, 4 * WRITE), (4 * WRITE, WRITE)] {
            let moved = endless(ClockNeed::EveryTurn, Some(received), Some(sent));
            assert_eq!(moved, (RECEIVED_BYTES, SENT_BYTES), "{received} {sent}");
        }
        // Of little at a time, as many operations.
        let (received, sent) = endless(ClockNeed::EveryTurn, Some(100), Some(100));
        assert_eq!((received, sent), (1_600, 1_600));
    }

    #[test]
    fn what_is_timed_is_sent_and_received_in_turns() {
        let mut moved = Moved::nothing(ClockNeed::EveryOperation);
        for direction in [Direction::Out, Direction::In, Direction::Out, Direction::In] {
            assert_eq!(moved.next(), direction);
            assert!(moved.add(direction, 100));
        }
    }

    #[test]
    fn a_visit_one_way_ends_as_well() {
        for clock in [ClockNeed::EveryTurn, ClockNeed::EveryOperation] {
            let (received, sent) = endless(clock, Some(WRITE), None);
            assert!((RECEIVED_BYTES..=VISIT_BYTES + WRITE).contains(&received) && sent == 0);
            let (received, sent) = endless(clock, None, Some(WRITE));
            assert!((SENT_BYTES..=VISIT_BYTES).contains(&sent) && received == 0);
        }
    }
}
