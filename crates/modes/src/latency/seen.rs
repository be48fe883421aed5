//! Which pings have come: a window over the last sequence numbers, a bit each.

/// The pings that came to a server, by their sequence numbers.
#[derive(Debug)]
pub(super) struct Seen {
    /// A bit for each of the last sequence numbers up to `highest`.
    bits: Box<[u64]>,
    /// The highest sequence number that came.
    highest: u64,
}

/// What the arrival of a ping means.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Sight {
    /// It had not come before.
    First,
    /// It was doubled on its way.
    Again,
    /// Whether it had come before is not known any more.
    Forgotten,
}

impl Seen {
    /// Nothing was seen yet. Remembers the last `window` sequence numbers, rounded up to a power of two; 65,536 take
    /// 8 KiB, and are 0.65 s at 100,000 pings a second.
    pub fn new(window: usize) -> Self {
        Self {
            bits: vec![0; window.max(64).next_power_of_two() / 64].into_boxed_slice(),
            highest: 0,
        }
    }

    /// Whether one of a higher number has come.
    pub fn is_behind(&self, sequence: u64) -> bool {
        sequence < self.highest
    }

    fn window(&self) -> u64 {
        self.bits.len() as u64 * 64
    }

    /// The ping of this number came.
    pub fn saw(&mut self, sequence: u64) -> Sight {
        if sequence > self.highest {
            self.forget_up_to(sequence);
        } else if self.highest - sequence >= self.window() {
            return Sight::Forgotten;
        }
        let (word, bit) = self.place(sequence);
        let seen = self.bits[word] & bit != 0;
        self.bits[word] |= bit;
        if seen { Sight::Again } else { Sight::First }
    }

    /// Makes `sequence` the highest number of the window.
    fn forget_up_to(&mut self, sequence: u64) {
        if sequence - self.highest >= self.window() {
            self.bits.fill(0);
        } else {
            for forgotten in self.highest + 1..=sequence {
                let (word, bit) = self.place(forgotten);
                self.bits[word] &= !bit;
            }
        }
        self.highest = sequence;
    }

    fn place(&self, sequence: u64) -> (usize, u64) {
        ((sequence % self.window() / 64) as usize, 1 << (sequence % 64))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    const WINDOW: u64 = 1 << 16;

    #[test]
    fn each_sight_is_what_it_is() {
        let mut seen = Seen::new(WINDOW as usize);
        assert_eq!([0, 2, 1, 2].map(|it| seen.saw(it)), {
            use Sight::{Again, First};
            [First, First, First, Again]
        });
        assert_eq!(seen.saw(WINDOW + 1), Sight::First);
        // The window ends where it says: 1 has left it, 2 has not.
        assert_eq!((seen.saw(1), seen.saw(2)), (Sight::Forgotten, Sight::Again));
        assert_eq!((seen.saw(u64::MAX), seen.saw(u64::MAX)), (Sight::First, Sight::Again));
        assert_eq!(seen.saw(WINDOW + 1), Sight::Forgotten);
    }

    proptest! {
        #[test]
        fn within_the_window_it_is_a_set(steps in prop::collection::vec(0..5_000_u64, 1..400)) {
            let (mut seen, mut set, mut highest) = (Seen::new(WINDOW as usize), HashSet::new(), 0_u64);
            for (index, step) in (0..).zip(steps) {
                // Forwards by up to 200, and now and then back.
                let sequence = if index % 3 == 0 {
                    highest.saturating_sub(step)
                } else {
                    highest + step % 200
                };
                highest = highest.max(sequence);
                let expected = if set.insert(sequence) { Sight::First } else { Sight::Again };
                prop_assert_eq!(seen.saw(sequence), expected);
            }
        }
    }
}
