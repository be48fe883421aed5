//! Numbers that look drawn and come again with their seed: `SplitMix64` (Steele, Lea, Flood 2014).

/// A generator.
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    /// The next output.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// One of that many numbers from 0; 0 of none.
    pub fn below(&mut self, count: usize) -> usize {
        let count = (count as u64).max(1);
        (self.next() % count) as usize
    }

    /// Whether something of that chance, in percent, happens.
    pub fn happens(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// That many bytes.
    pub fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| (self.next() >> 32) as u8).collect()
    }

    /// One of them.
    pub fn of<'all, T>(&mut self, all: &'all [T]) -> Option<&'all T> {
        let index = self.below(all.len());
        all.get(index)
    }
}
