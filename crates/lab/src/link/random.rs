//! Chance that repeats: the same seed, the same fate of every frame.
//!
//! Each impairment of each direction of each link draws from its own generator, so that switching
//! one on, or traffic the other way, shifts no other.

use super::Chance;

/// Which direction of which link draws, and from what it all starts.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Seed {
    /// The lab's.
    pub lab: u64,
    /// The link's number in its lab.
    pub link: u32,
    /// Which of its directions.
    pub way: Way,
}

/// The two directions of a link whose ends are named in an order.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Way {
    /// From its first end to its second.
    Forth,
    /// From its second end to its first.
    Back,
}

/// What draws. Each is a number of its own for ever: another would change every recorded run.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    Loss = 1,
    Corruption = 2,
    Duplication = 3,
    Jitter = 4,
    Reordering = 5,
}

/// xoshiro256++ of Blackman and Vigna, "Scrambled Linear Pseudorandom Number Generators", ACM TOMS
/// 47 (2021), which also says to fill its state from `SplitMix64`.
#[derive(Clone, Debug)]
pub(super) struct Generator {
    state: [u64; 4],
}

impl Generator {
    /// The generator of one impairment of one direction.
    pub fn new(seed: Seed, kind: Kind) -> Self {
        let way = match seed.way {
            Way::Forth => 0,
            Way::Back => 1,
        };
        let place = u64::from(seed.link) << 16 | way << 8 | kind as u64;
        // Mixed in between, so that seed 1 of link 2 has nothing of seed 2 of link 1.
        let mut filler = split_mix(&mut seed.lab.clone()) ^ place;
        Self { state: std::array::from_fn(|_| split_mix(&mut filler)) }
    }

    /// Sixty-four even bits.
    pub fn next(&mut self) -> u64 {
        let [a, b, c, d] = self.state;
        let drawn = a.wrapping_add(d).rotate_left(23).wrapping_add(a);
        let (c, d) = (c ^ a, d ^ b);
        self.state = [a ^ d, b ^ c, c ^ (b << 17), d.rotate_left(45)];
        drawn
    }

    /// A number below `bound`, or 0 where that is 0. By multiplication (Lemire, "Fast Random
    /// Integer Generation in an Interval", 2019) without its last step: some come up more often
    /// than others by one in 2^64 / `bound`, far below what any test can see.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }

    /// Whether it happens. Draws nothing for what never does.
    pub fn happens(&mut self, chance: Chance) -> bool {
        chance > Chance::NEVER && self.below(u64::from(Chance::ALWAYS.0)) < u64::from(chance.0)
    }
}

/// `SplitMix64` of Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA
/// 2014.
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (*state ^ *state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEED: Seed = Seed { lab: 1, link: 0, way: Way::Forth };

    #[test]
    fn the_generators_are_the_published_ones() {
        let mut state = 1_477_776_061_723_855_037;
        let drawn: Vec<u64> = (0..3).map(|_| split_mix(&mut state)).collect();
        assert_eq!(
            drawn,
            [1_985_237_415_132_408_290, 2_979_275_885_539_914_483, 13_511_426_838_097_143_398]
        );
        // The first values of the authors' reference program from the state 1, 2, 3, 4.
        let mut generator = Generator { state: [1, 2, 3, 4] };
        let drawn: Vec<u64> = (0..6).map(|_| generator.next()).collect();
        assert_eq!(
            drawn,
            [
                41_943_041,
                58_720_359,
                3_588_806_011_781_223,
                3_591_011_842_654_386,
                9_228_616_714_210_784_205,
                9_973_669_472_204_895_162
            ]
        );
    }

    #[test]
    fn every_place_and_kind_draws_its_own_numbers() {
        let places = [
            (SEED, Kind::Loss),
            (SEED, Kind::Jitter),
            (Seed { lab: 2, ..SEED }, Kind::Loss),
            (Seed { link: 1, ..SEED }, Kind::Loss),
            (Seed { way: Way::Back, ..SEED }, Kind::Loss),
        ];
        let first = |(seed, kind)| Generator::new(seed, kind).next();
        let drawn: std::collections::HashSet<u64> = places.into_iter().map(first).collect();
        assert_eq!(drawn.len(), places.len());
        assert_eq!(first(places[0]), first(places[0]));
    }

    #[test]
    fn never_and_always_hold() {
        let mut generator = Generator::new(SEED, Kind::Loss);
        assert!((0..1000).all(|_| generator.happens(Chance::ALWAYS)));
        let before = generator.state;
        assert!(!generator.happens(Chance::NEVER));
        assert_eq!(generator.state, before, "what never happens draws nothing");
        assert_eq!(generator.below(0), 0);
    }
}
