//! Numbers that are taken in about their order: of those far behind the highest nothing is remembered, and
//! they count as taken. A window of bits, as it protects against replay elsewhere (RFC 4303, 3.4.3).

use pathscope_core::id::FlowId;

/// Numbers that are remembered: more than twice the connects that may be in progress.
const REMEMBERED: u32 = 1 << 18;

/// Which of the flows that replace others have come.
#[derive(Debug, Default)]
pub(crate) struct Later {
    /// A bit for each number modulo [`REMEMBERED`]; allocated with the first.
    bits: Vec<u64>,
    /// Above every number that has come.
    next: u32,
}

impl Later {
    /// Takes a number. Returns whether it was free.
    pub fn take(&mut self, FlowId(number): FlowId) -> bool {
        if self.bits.is_empty() {
            self.bits = vec![0; REMEMBERED as usize / 64];
        }
        if number >= self.next {
            self.forget(self.next, number);
            self.next = number.saturating_add(1);
        } else if self.next - number > REMEMBERED {
            return false;
        }
        let (word, bit) = place(number);
        let is_free = self.bits[word] & bit == 0;
        self.bits[word] |= bit;
        is_free
    }

    /// The window moves on: these numbers have not come.
    fn forget(&mut self, from: u32, to: u32) {
        if to - from >= REMEMBERED {
            self.bits.fill(0);
            return;
        }
        for number in from..=to {
            let (word, bit) = place(number);
            self.bits[word] &= !bit;
        }
    }
}

const fn place(number: u32) -> (usize, u64) {
    let index = number % REMEMBERED;
    ((index / 64) as usize, 1 << (index % 64))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn each_number_is_taken_once(steps in prop::collection::vec((0_u32..3_000, any::<bool>()), 1..300)) {
            let mut later = Later::default();
            let mut taken = HashSet::new();
            let mut high: u32 = 10;
            for (step, ahead) in steps {
                let number = if ahead { high + step } else { high.saturating_sub(step) };
                high = high.max(number);
                prop_assert_eq!(later.take(FlowId(number)), taken.insert(number));
            }
        }
    }

    #[test]
    fn the_window_moves_on_and_never_back() {
        let mut later = Later::default();
        assert!(later.take(FlowId(5)) && later.take(FlowId(REMEMBERED + 5)));
        assert!(!later.take(FlowId(5)), "too long ago");
        assert!(later.take(FlowId(6)));
        let last = FlowId((1 << 31) - 1);
        assert!(later.take(last) && !later.take(last));
        assert!(!later.take(FlowId(REMEMBERED + 6)));
    }
}
