//! Which pings of a flow are on their way, and when each left: a window of fixed size over all sequence
//! numbers.

use pathscope_core::Tick;

use crate::arrivals::Order;

/// A window over the last pings. What leaves it is too late to be told from a duplicate.
#[derive(Debug)]
pub(super) struct Window {
    slots: Box<[Slot]>,
    /// In which order they came back.
    order: Order,
    /// Pings that an answer is awaited of.
    awaited: u64,
    /// Of the pings below it none is awaited.
    oldest: u64,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    sequence: u64,
    due: Tick,
    sent: Tick,
    state: State,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum State {
    Outstanding,
    /// Nobody waits for it any more; it may still be answered.
    GivenUp,
    Answered,
}

/// When a ping was to leave, and when it did.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Departure {
    pub sequence: u64,
    pub due: Tick,
    pub sent: Tick,
}

/// What the arrival of an echo means.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Arrival {
    /// The first echo of this ping. Where it came after one of a later ping: the number of arrivals since
    /// the first such one, itself included (RFC 4737, section 4.2.1: the reordering extent).
    First {
        departure: Departure,
        extent: Option<u64>,
    },
    Duplicate,
    /// Its ping has left the window.
    Late,
    /// No such ping was sent.
    Unknown,
}

impl Window {
    /// A window over the last `size` pings, rounded up to a power of two.
    pub fn new(size: usize) -> Self {
        let empty =
            Slot { sequence: u64::MAX, due: Tick::ZERO, sent: Tick::ZERO, state: State::GivenUp };
        Self {
            slots: vec![empty; size.next_power_of_two()].into_boxed_slice(),
            order: Order::new(),
            awaited: 0,
            oldest: 0,
        }
    }

    /// A ping left. Returns the one that leaves the window for it without an answer, if there is one.
    pub fn sent(&mut self, departure: Departure) -> Option<Departure> {
        let Departure { sequence, due, sent } = departure;
        let index = self.index(sequence);
        let slot = Slot { sequence, due, sent, state: State::Outstanding };
        let before = std::mem::replace(&mut self.slots[index], slot);
        self.awaited += 1;
        self.awaited -= u64::from(before.state == State::Outstanding);
        unanswered(&before)
    }

    /// When this ping left, if that is still remembered.
    pub fn sent_at(&self, sequence: u64) -> Option<Tick> {
        let slot = &self.slots[self.index(sequence)];
        (slot.sequence == sequence).then_some(slot.sent)
    }

    /// How many pings were answered.
    pub fn answered(&self) -> u64 {
        self.order.arrived()
    }

    /// How many pings an answer is awaited of.
    pub fn awaited(&self) -> u64 {
        self.awaited
    }

    /// Gives up, of the pings below `next`, those that left before `before`. Returns when the oldest one
    /// left that is still awaited.
    pub fn give_up(&mut self, next: u64, before: Tick) -> Option<Tick> {
        self.oldest = self.oldest.max(next.saturating_sub(self.slots.len() as u64));
        while self.oldest < next {
            let index = self.index(self.oldest);
            let slot = &self.slots[index];
            if slot.state == State::Outstanding && slot.sent >= before {
                return Some(slot.sent);
            }
            self.abandon(self.oldest);
            self.oldest += 1;
        }
        None
    }

    /// Nobody waits for this ping any more.
    pub fn abandon(&mut self, sequence: u64) {
        let index = self.index(sequence);
        let slot = &mut self.slots[index];
        if slot.sequence == sequence && slot.state == State::Outstanding {
            slot.state = State::GivenUp;
            self.awaited -= 1;
        }
    }

    /// An echo of `sequence` came, of the pings below `next`.
    pub fn arrived(&mut self, sequence: u64, next: u64) -> Arrival {
        if sequence >= next {
            return Arrival::Unknown;
        }
        let index = self.index(sequence);
        let slot = self.slots[index];
        if slot.sequence != sequence {
            return Arrival::Late;
        }
        if slot.state == State::Answered {
            return Arrival::Duplicate;
        }
        self.awaited -= u64::from(slot.state == State::Outstanding);
        self.slots[index] = Slot { state: State::Answered, ..slot };
        let departure = Departure { sequence, due: slot.due, sent: slot.sent };
        Arrival::First { departure, extent: self.order.saw(sequence) }
    }

    /// The pings below `next` that are in the window and have no answer.
    pub fn unanswered(&self, next: u64) -> impl Iterator<Item = Departure> {
        let first = next.saturating_sub(self.slots.len() as u64);
        (first..next).filter_map(|sequence| {
            let slot = &self.slots[self.index(sequence)];
            unanswered(slot).filter(|_| slot.sequence == sequence)
        })
    }

    fn index(&self, sequence: u64) -> usize {
        sequence as usize & (self.slots.len() - 1)
    }
}

fn unanswered(slot: &Slot) -> Option<Departure> {
    let is_open = matches!(slot.state, State::Outstanding | State::GivenUp);
    (slot.sequence != u64::MAX && is_open).then_some(Departure {
        sequence: slot.sequence,
        due: slot.due,
        sent: slot.sent,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn departure(sequence: u64) -> Departure {
        let sent = Tick::from_nanos(sequence * 10);
        Departure { sequence, due: sent, sent }
    }

    fn first(sequence: u64, extent: Option<u64>) -> Arrival {
        Arrival::First { departure: departure(sequence), extent }
    }

    #[test]
    fn each_arrival_is_what_it_is() {
        let mut window = Window::new(4);
        let left: Vec<_> = (0..6).filter_map(|it| window.sent(departure(it))).collect();
        assert_eq!(left, [departure(0), departure(1)]);
        assert_eq!(window.arrived(3, 6), first(3, None));
        assert_eq!(window.arrived(2, 6), first(2, Some(1)));
        assert_eq!(window.arrived(3, 6), Arrival::Duplicate);
        assert_eq!(window.arrived(5, 6), first(5, None));
        assert_eq!(window.arrived(1, 6), Arrival::Late);
        assert_eq!(window.arrived(6, 6), Arrival::Unknown);
        assert_eq!(window.unanswered(6).collect::<Vec<_>>(), [departure(4)]);
    }

    #[test]
    fn the_extent_of_reordering_counts_from_the_first_that_overtook() {
        let mut window = Window::new(16);
        (0..10).for_each(|it| assert_eq!(window.sent(departure(it)), None));
        // Three pings are overtaken by four: 3 by 6 to 9, and each after it by one more arrival.
        let arrivals = [0, 1, 2, 6, 7, 8, 9, 3, 4, 5].map(|it| window.arrived(it, 10));
        let extents = arrivals.map(|arrival| match arrival {
            Arrival::First { extent, .. } => extent,
            _ => None,
        });
        assert_eq!(extents[..7], [None; 7]);
        assert_eq!(extents[7..], [Some(4), Some(5), Some(6)]);
    }

    #[test]
    fn who_is_given_up_may_still_be_answered() {
        let mut window = Window::new(8);
        (0..4).for_each(|it| assert_eq!(window.sent(departure(it)), None));
        assert_eq!(window.arrived(1, 4), first(1, None));
        assert_eq!(window.awaited(), 3);
        assert_eq!(window.give_up(4, Tick::from_nanos(25)), Some(Tick::from_nanos(30)));
        assert_eq!(window.awaited(), 1);
        assert_eq!(window.arrived(2, 4), first(2, None));
        window.abandon(3);
        assert_eq!((window.awaited(), window.give_up(4, Tick::ZERO)), (0, None));
        assert_eq!(window.arrived(0, 4), first(0, Some(2)));
    }

    proptest! {
        #[test]
        fn extents_are_those_of_the_definition(order in Just((0..60_u64).collect::<Vec<_>>()).prop_shuffle()) {
            let mut window = Window::new(64);
            (0..60).for_each(|it| assert_eq!(window.sent(departure(it)), None));
            for (place, &sequence) in order.iter().enumerate() {
                let first = order[..place].iter().position(|&earlier| earlier > sequence);
                let expected = first.map(|first| (place - first) as u64);
                let Arrival::First { extent, .. } = window.arrived(sequence, 60) else {
                    panic!("each comes once");
                };
                prop_assert_eq!(extent, expected);
            }
            prop_assert_eq!((window.awaited(), window.answered()), (0, 60));
        }
    }
}
