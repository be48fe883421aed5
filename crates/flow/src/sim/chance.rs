//! Repeatable chance: the same seed, the same sequence, on every machine.

use super::Chunks;

/// A sequence of numbers without visible pattern (`SplitMix64`: Steele, Lea and Flood, OOPSLA 2014).
#[derive(Clone, Debug)]
pub(super) struct Dice(u64);

impl Dice {
    pub(super) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number in `0..bound`, 0 where `bound` is 0. The bias of the remainder is far below what a test
    /// can see.
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.next().checked_rem(bound).unwrap_or(0)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

/// Says how much each operation moves.
#[derive(Clone, Debug)]
pub(super) struct Portions {
    chunks: Chunks,
    dice: Dice,
}

impl Portions {
    pub(super) const fn new(chunks: Chunks) -> Self {
        let seed = match chunks {
            Chunks::Random { seed, .. } => seed,
            Chunks::All | Chunks::Fixed(_) => 0,
        };
        Self { chunks, dice: Dice::new(seed) }
    }

    /// The most that the next operation moves; at least 1.
    pub(super) fn next(&mut self) -> usize {
        match self.chunks {
            Chunks::All => usize::MAX,
            Chunks::Fixed(amount) => amount.max(1),
            Chunks::Random { max, .. } => 1 + self.dice.below(max as u64) as usize,
        }
    }
}
