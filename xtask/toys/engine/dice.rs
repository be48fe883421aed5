//! Chance, another for each worker, and the same whenever as many workers have begun before it.

use std::sync::atomic::{AtomicU64, Ordering};

/// Workers that have begun.
static WORKERS: AtomicU64 = AtomicU64::new(1);

/// Numbers by chance (splitmix64).
#[derive(Debug)]
pub struct Dice(u64);

impl Dice {
    pub fn new() -> Self {
        Self(WORKERS.fetch_add(1, Ordering::Relaxed) << 32)
    }

    /// A number below `sides`, or 0.
    pub fn below(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) as usize % sides.max(1)
    }

    /// Whether something happens that happens once in so many times.
    pub fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }
}
