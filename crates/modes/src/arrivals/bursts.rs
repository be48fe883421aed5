//! Losses in a row: how many there were, and how long.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Runs of neighbouring sequence numbers of which none came (RFC 3357 calls them loss periods).
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct LossBursts {
    /// How many runs there were.
    pub bursts: u64,
    /// Numbers in all of them.
    pub lost: u64,
    /// Numbers in the longest.
    pub longest: u64,
    /// How many runs had so many numbers: 1, 2, 3 to 4, 5 to 8, and so on, each class twice as wide as the
    /// one before it.
    pub lengths: Vec<u64>,
}

/// Classes of lengths there can be: a length has 64 bits.
const CLASSES: usize = 65;

impl LossBursts {
    /// Counts a run of `length`, which is not zero.
    fn record(&mut self, length: u64) {
        self.bursts += 1;
        self.lost = self.lost.saturating_add(length);
        self.longest = self.longest.max(length);
        let class = (u64::BITS - (length - 1).leading_zeros()) as usize;
        self.lengths.resize(self.lengths.len().max(class + 1), 0);
        self.lengths[class] += 1;
    }

    /// Adds those of another flow, or of another time.
    pub fn merge(&mut self, other: &Self) {
        self.bursts = self.bursts.saturating_add(other.bursts);
        self.lost = self.lost.saturating_add(other.lost);
        self.longest = self.longest.max(other.longest);
        // A stranger may have written the other.
        let classes = other.lengths.len().min(CLASSES);
        self.lengths.resize(self.lengths.len().max(classes), 0);
        for (sum, more) in self.lengths.iter_mut().zip(&other.lengths) {
            *sum = sum.saturating_add(*more);
        }
    }

    /// Numbers in a run on average.
    pub fn mean(&self) -> Option<f64> {
        (self.bursts > 0).then(|| self.lost as f64 / self.bursts as f64)
    }
}

/// Runs as they are found, number by number.
#[derive(Debug)]
pub(super) struct Runs {
    found: LossBursts,
    /// Length of the run that may go on.
    open: u64,
}

impl Runs {
    /// What it takes beside itself.
    pub const BYTES: usize = CLASSES * size_of::<u64>();

    pub fn new() -> Self {
        // Room for every class at once, so that nothing is allocated while datagrams come.
        let found = LossBursts { lengths: Vec::with_capacity(CLASSES), ..LossBursts::default() };
        Self { found, open: 0 }
    }

    /// The next `count` numbers were lost.
    pub fn lost(&mut self, count: u64) {
        self.open = self.open.saturating_add(count);
    }

    /// The next number came.
    pub fn came(&mut self) {
        if self.open > 0 {
            let length = std::mem::take(&mut self.open);
            self.found.record(length);
        }
    }

    /// Of the next `count` numbers those came whose bits are set, from the lowest bit on.
    pub fn word(&mut self, bits: u64, count: u32) {
        let (mut bits, mut left) = (bits, count);
        while left > 0 {
            let lost = bits.trailing_zeros().min(left);
            self.lost(lost.into());
            left -= lost;
            if left == 0 {
                return;
            }
            self.came();
            bits >>= lost;
            let came = bits.trailing_ones().min(left);
            bits = bits.checked_shr(came).unwrap_or(0);
            left -= came;
        }
    }

    /// No number follows. What was found, from which the next begins anew.
    pub fn take(&mut self) -> LossBursts {
        self.came();
        std::mem::take(&mut self.found)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(lengths: &[u64]) -> LossBursts {
        let mut bursts = LossBursts::default();
        lengths.iter().for_each(|&length| bursts.record(length));
        bursts
    }

    #[test]
    fn lengths_fall_into_classes_that_double() {
        let bursts = of(&[1, 1, 2, 3, 4, 5, 8, 9, u64::MAX]);
        assert_eq!(bursts.lengths[..5], [2, 1, 2, 2, 1]);
        assert_eq!((bursts.bursts, bursts.longest, bursts.lengths.len()), (9, u64::MAX, 65));
    }

    #[test]
    fn merged_is_as_found_together() {
        let mut merged = of(&[1, 7]);
        merged.merge(&of(&[100, 2]));
        assert_eq!(merged, of(&[1, 7, 100, 2]));
        assert_eq!(merged.mean(), Some(27.5));
    }

    proptest! {
        #[test]
        fn words_are_runs_as_single_numbers_are(words in prop::collection::vec((any::<u64>(), 0..=64_u32), 0..20)) {
            let (mut by_word, mut by_bit) = (Runs::new(), Runs::new());
            for (bits, count) in words {
                // Sparse and dense words, too.
                for bits in [bits, bits & bits >> 7 & bits >> 13, !0, 0] {
                    by_word.word(bits, count);
                    for bit in 0..count {
                        if bits >> bit & 1 == 1 { by_bit.came() } else { by_bit.lost(1) }
                    }
                }
            }
            prop_assert_eq!(by_word.take(), by_bit.take());
        }
    }
}
