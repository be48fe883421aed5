//! A coarse histogram of durations: few ranges of fixed edges, two for each doubling, so that one can be kept for every
//! interval of a run and any two can be added.
//!
//! Not here: figures. Percentiles come from the histogram of three digits, of which this is a summary.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::LatencyHistogram;

/// The first edge is this power of two, in nanoseconds; the last one is 2^36, 68.7 s.
const FIRST_POWER: u32 = 4;
/// The last octave begins with this one.
const LAST_POWER: u32 = 35;
/// How many ranges there are.
pub const HALF_OCTAVES: usize = 2 * (LAST_POWER - FIRST_POWER + 1) as usize;

/// How many durations fell into each half octave, those at both ends that hold none left out.
///
/// Range `i` goes from its edge, which belongs to it, to the next one. Edges are 2^k ns and 1448/1024 · 2^k ns, rounded to whole
/// nanoseconds, for k from 4 to 36. That is √2 to 0.02 %, and where buckets of three digits meet, so that counts are exact. What is
/// below the first edge (16 ns) is in the first range, what is above the last (68.7 s) in the last.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct HalfOctaves {
    /// The number of the first range that is told, from 0.
    pub first: u8,
    /// Durations in that range and in those that follow it.
    pub counts: Vec<u64>,
}

/// A counter for each half octave.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct HalfOctaveCounts([u64; HALF_OCTAVES]);

impl Default for HalfOctaveCounts {
    fn default() -> Self {
        Self([0; HALF_OCTAVES])
    }
}

/// Where range `index` begins, in nanoseconds; of [`HALF_OCTAVES`], where the last one ends.
pub const fn half_octave_edge_ns(index: usize) -> u64 {
    let octave = 1 << (FIRST_POWER as usize + index / 2);
    if index.is_multiple_of(2) { octave } else { (octave * 1_448 + 512) / 1_024 }
}

/// Which range a duration is in.
#[inline]
fn index_of(nanoseconds: u64) -> usize {
    let power = (nanoseconds | 1 << FIRST_POWER).ilog2().min(LAST_POWER);
    let lower = 2 * (power - FIRST_POWER) as usize;
    lower + usize::from(nanoseconds >= half_octave_edge_ns(lower + 1))
}

impl HalfOctaveCounts {
    /// Counts one duration.
    #[inline]
    pub fn record(&mut self, nanoseconds: u64) {
        self.0[index_of(nanoseconds)] += 1;
    }

    /// Adds all that is told. What a file says may be any numbers: ranges that there are not are left out.
    pub fn add(&mut self, told: &HalfOctaves) {
        let ranges = self.0.iter_mut().skip(told.first.into());
        ranges.zip(&told.counts).for_each(|(sum, more)| *sum = sum.saturating_add(*more));
    }

    /// As it is told; none where nothing was counted.
    pub fn told(&self) -> Option<HalfOctaves> {
        let first = self.0.iter().position(|&count| count > 0)?;
        let last = self.0.iter().rposition(|&count| count > 0)?;
        Some(HalfOctaves { first: first as u8, counts: self.0[first..=last].to_vec() })
    }
}

impl HalfOctaves {
    /// Of all that a histogram counted; none where that is nothing.
    pub fn of(histogram: &LatencyHistogram) -> Option<Self> {
        let mut counts = HalfOctaveCounts::default();
        for (upper_ns, count) in histogram.recorded() {
            let sum = &mut counts.0[index_of(upper_ns)];
            *sum = sum.saturating_add(count);
        }
        counts.told()
    }

    /// The ranges that hold something: the number of each, and how many it holds.
    pub fn filled(&self) -> impl Iterator<Item = (usize, u64)> {
        let ranges = (usize::from(self.first)..HALF_OCTAVES).zip(self.counts.iter().copied());
        ranges.filter(|&(_, count)| count > 0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn edges_are_half_octaves_from_16_ns_to_68_s() {
        let edges: Vec<u64> = (0..=HALF_OCTAVES).map(half_octave_edge_ns).collect();
        assert_eq!(edges[..6], [16, 23, 32, 45, 64, 91]);
        assert_eq!(edges[12..16], [1_024, 1_448, 2_048, 2_896]);
        assert_eq!((edges.len(), edges[64]), (65, 1 << 36));
        for pair in edges[6..].windows(2) {
            let ratio = pair[1] as f64 / pair[0] as f64;
            assert!((ratio - std::f64::consts::SQRT_2).abs() < 0.006, "{pair:?}");
        }
    }

    #[test]
    fn each_edge_belongs_to_what_begins_there_and_what_is_beyond_the_last_is_in_it() {
        for index in 0..HALF_OCTAVES {
            assert_eq!(index_of(half_octave_edge_ns(index)), index);
            assert_eq!(index_of(half_octave_edge_ns(index + 1) - 1), index);
        }
        assert_eq!([0, 1, 15].map(index_of), [0; 3]);
        assert_eq!([1 << 36, u64::MAX].map(index_of), [HALF_OCTAVES - 1; 2]);
    }

    #[test]
    fn what_a_file_says_may_be_any_numbers() {
        let mut counts = HalfOctaveCounts::default();
        counts.add(&HalfOctaves { first: 62, counts: vec![1, u64::MAX, 7, 9] });
        counts.add(&HalfOctaves { first: 63, counts: vec![5] });
        counts.add(&HalfOctaves { first: 255, counts: vec![3] });
        let told = counts.told().expect("some");
        assert_eq!(told, HalfOctaves { first: 62, counts: vec![1, u64::MAX] });
        assert_eq!(told.filled().collect::<Vec<_>>(), [(62, 1), (63, u64::MAX)]);
        assert_eq!(HalfOctaveCounts::default().told(), None);
    }

    proptest! {
        #[test]
        fn a_histogram_and_single_durations_are_counted_alike(values in proptest::collection::vec(0_u64..1 << 37, 0..200), places in proptest::collection::vec((0_usize..=64, 0_u64..3), 0..50)) {
            // Whatever is near an edge, too.
            let near = places.into_iter().map(|(at, off)| half_octave_edge_ns(at) + off - 1);
            let mut histogram = LatencyHistogram::new();
            let mut counts = HalfOctaveCounts::default();
            for value in values.into_iter().chain(near) {
                histogram.record(value);
                counts.record(value);
            }
            prop_assert_eq!(HalfOctaves::of(&histogram), counts.told());
            let sum: u64 = counts.0.iter().sum();
            prop_assert_eq!(sum, histogram.count());
        }
    }
}
