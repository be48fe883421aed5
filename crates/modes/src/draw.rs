//! Numbers drawn from a seed that both ends know: the same seed and place, the same number, on every
//! machine. Not for secrets.

/// The step of `SplitMix64` (Steele, Lea, Flood 2014): odd, and far from any pattern of our counters.
pub(crate) const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// A sequence of draws. Eight bytes, so that each half of a flow has its own.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Draws(u64);

impl Draws {
    /// The sequence of this name: sequences of different names have nothing in common.
    pub const fn new(seed: u64, name: u64) -> Self {
        Self(mix(seed ^ mix(name)))
    }

    /// The sequence of this seed alone. Seeds that are neighbours begin far from each other.
    pub const fn of(seed: u64) -> Self {
        Self(mix(seed))
    }

    /// The number that is drawn now, in `low..=high`. The same until [`advance`](Self::advance).
    #[inline]
    pub const fn within(self, low: u64, high: u64) -> u64 {
        let span = high.saturating_sub(low) as u128 + 1;
        // The high half of a product: no division, and as even as the span is short beside 2^64.
        low + ((mix(self.0) as u128 * span) >> 64) as u64
    }

    /// Goes on to the next draw.
    #[inline]
    pub const fn advance(&mut self) {
        self.0 = self.0.wrapping_add(STEP);
    }
}

/// A word in which every bit depends on every bit of `value`.
pub(crate) const fn mix(value: u64) -> u64 {
    let mut word = value.wrapping_add(STEP);
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn draws_are_even_and_repeat_with_their_seed() {
        let mut draws = Draws::new(7, 1);
        let mut again = Draws::new(7, 1);
        let mut counts = [0_u32; 10];
        for _ in 0..100_000 {
            assert_eq!(draws.within(10, 19), again.within(10, 19));
            counts[(draws.within(10, 19) - 10) as usize] += 1;
            draws.advance();
            again.advance();
        }
        // 10,000 each; ten standard deviations are 950.
        assert!(counts.iter().all(|count| count.abs_diff(10_000) < 950), "{counts:?}");
        assert_ne!(Draws::new(7, 2), Draws::new(7, 1));
    }

    proptest! {
        #[test]
        fn a_draw_is_in_its_range(seed: u64, name: u64, low in 0..u64::MAX / 2, span: u64) {
            let high = low.saturating_add(span);
            let drawn = Draws::new(seed, name).within(low, high);
            prop_assert!((low..=high).contains(&drawn));
            prop_assert_eq!(Draws::new(seed, name).within(low, low), low);
        }
    }
}
