//! Which pings are on their way, and when each left: a window of fixed size over all sequence numbers.

use pathscope_core::Tick;

/// A window over the last pings. What leaves it is too late to be told from a duplicate.
#[derive(Debug)]
pub(super) struct Window {
    slots: Box<[Slot]>,
    /// One above the highest sequence number that came back.
    next_expected: u64,
    answered: u64,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    sequence: u64,
    sent: Tick,
    answered: bool,
}

/// What the arrival of an echo means.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Arrival {
    /// The first echo of this ping, which left at `sent`.
    First {
        sent: Tick,
        reordered: bool,
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
        let empty = Slot { sequence: u64::MAX, sent: Tick::ZERO, answered: false };
        Self {
            slots: vec![empty; size.next_power_of_two()].into_boxed_slice(),
            next_expected: 0,
            answered: 0,
        }
    }

    pub fn sent(&mut self, sequence: u64, sent: Tick) {
        let index = self.index(sequence);
        self.slots[index] = Slot { sequence, sent, answered: false };
    }

    /// When this ping left, if that is still remembered.
    pub fn sent_at(&self, sequence: u64) -> Option<Tick> {
        let slot = &self.slots[self.index(sequence)];
        (slot.sequence == sequence).then_some(slot.sent)
    }

    /// How many pings were answered.
    pub fn answered(&self) -> u64 {
        self.answered
    }

    /// An echo of `sequence` came, of the pings below `next`.
    pub fn arrived(&mut self, sequence: u64, next: u64) -> Arrival {
        if sequence >= next {
            return Arrival::Unknown;
        }
        let index = self.index(sequence);
        let slot = &mut self.slots[index];
        if slot.sequence != sequence {
            return Arrival::Late;
        }
        if std::mem::replace(&mut slot.answered, true) {
            return Arrival::Duplicate;
        }
        self.answered += 1;
        let reordered = sequence < self.next_expected;
        self.next_expected = self.next_expected.max(sequence + 1);
        Arrival::First { sent: slot.sent, reordered }
    }

    fn index(&self, sequence: u64) -> usize {
        sequence as usize & (self.slots.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_arrival_is_what_it_is() {
        let mut window = Window::new(4);
        (0..6).for_each(|sequence| window.sent(sequence, Tick::from_nanos(sequence * 10)));
        let first = |sequence: u64, reordered| Arrival::First {
            sent: Tick::from_nanos(sequence * 10),
            reordered,
        };
        assert_eq!(window.arrived(3, 6), first(3, false));
        assert_eq!(window.arrived(2, 6), first(2, true));
        assert_eq!(window.arrived(3, 6), Arrival::Duplicate);
        assert_eq!(window.arrived(5, 6), first(5, false));
        assert_eq!(window.arrived(1, 6), Arrival::Late);
        assert_eq!(window.arrived(6, 6), Arrival::Unknown);
    }
}
