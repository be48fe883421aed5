//! Frames at both ends of a link, found again by what they say: how long each was on its way, and how much of that the link's
//! conditions explain.

use std::collections::HashMap;

use super::pcap::Captured;
use crate::cell::Conditions;
use crate::samples::Durations;
use crate::way::Way;

/// The frames of a link that came across, both ways.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Crossing {
    /// Towards the other host, and back; each in the order in which they left.
    ways: [Vec<Crossed>; 2],
}

/// A frame that left one interface and came in at the other.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Crossed {
    /// When it left, by the wall clock.
    left_ns: u64,
    /// How long it was on its way.
    took_ns: f64,
    bytes: u64,
}

impl Crossing {
    /// Of the captures at the near and at the far end, and the address of the near interface.
    pub fn of(near: &[Captured<'_>], far: &[Captured<'_>], address: [u8; 6]) -> Self {
        let of = |frames: &'_ [Captured<'_>], is_near: bool| -> Vec<usize> {
            let all = 0..frames.len();
            all.filter(|&index| frames[index].is_from(address) == is_near).collect()
        };
        let up = crossed(near, &of(near, true), far, &of(far, true));
        let down = crossed(far, &of(far, false), near, &of(near, false));
        Self { ways: [up, down] }
    }

    /// How long frames were on their way.
    pub fn took(&self, way: Way) -> Durations {
        Durations::new(self.way(way).iter().map(|it| it.took_ns).collect())
    }

    /// By how much each frame came later than the link's delay and its own transmission allow, whatever was before it.
    pub fn above_least(&self, way: Way, link: &Conditions) -> Durations {
        let above = |it: &Crossed| it.took_ns - transmission_ns(it, link) - link.delay_ns as f64;
        Durations::new(self.way(way).iter().map(above).collect())
    }

    /// By how much each frame came later than it had to, where each waits until those before it were sent.
    pub fn excess(&self, way: Way, link: &Conditions) -> Durations {
        let frames = self.way(way);
        let Some(first) = frames.first() else { return Durations::default() };
        let mut sent_ns = 0.0_f64;
        let excess = frames.iter().map(|it| {
            let left_ns = difference_ns(it.left_ns, first.left_ns);
            sent_ns = sent_ns.max(left_ns) + transmission_ns(it, link);
            left_ns + it.took_ns - sent_ns - link.delay_ns as f64
        });
        Durations::new(excess.collect())
    }

    /// Has all of them be on their way for longer.
    pub fn delay_by(&mut self, by_ns: f64) {
        for frame in self.ways.iter_mut().flatten() {
            frame.took_ns += by_ns;
        }
    }

    fn way(&self, way: Way) -> &[Crossed] {
        &self.ways[usize::from(way == Way::Down)]
    }
}

fn transmission_ns(frame: &Crossed, link: &Conditions) -> f64 {
    link.rate_bps.map_or(0.0, |rate| frame.bytes as f64 * 8e9 / rate)
}

/// Frames by what they say: the n-th of those that say the same is the n-th at the other end, since a link keeps the order. Where it
/// took some of these, nobody can tell which, and none is told.
fn crossed(
    from: &[Captured<'_>],
    leaving: &[usize],
    to: &[Captured<'_>],
    coming: &[usize],
) -> Vec<Crossed> {
    let mut by_content: HashMap<&[u8], [Vec<usize>; 2]> = HashMap::new();
    for (end, (frames, which)) in [(from, leaving), (to, coming)].into_iter().enumerate() {
        for &index in which {
            by_content.entry(frames[index].bytes).or_default()[end].push(index);
        }
    }
    let known = by_content.values().filter(|[left, came]| left.len() == came.len());
    let mut pairs: Vec<(usize, usize)> =
        known.flat_map(|[left, came]| left.iter().copied().zip(came.iter().copied())).collect();
    // A file is in the order in which frames passed.
    pairs.sort_unstable();
    let crossed = pairs.into_iter().map(|(left, came)| {
        let (left, came) = (&from[left], &to[came]);
        let took_ns = difference_ns(came.stamp_ns, left.stamp_ns);
        Crossed { left_ns: left.stamp_ns, took_ns, bytes: left.length }
    });
    crossed.collect()
}

/// From one stamp to another; below nothing where a clock was set in between.
fn difference_ns(later_ns: u64, earlier_ns: u64) -> f64 {
    let magnitude = later_ns.abs_diff(earlier_ns) as f64;
    if later_ns < earlier_ns { -magnitude } else { magnitude }
}

#[cfg(test)]
mod tests {
    use super::super::pcap::tests::file;
    use super::super::pcap::{Captured, frames};
    use super::Crossing;
    use crate::cell::Conditions;
    use crate::way::Way;

    const NEAR: u8 = 1;
    /// 125 bytes take a millisecond.
    const LINK: Conditions =
        Conditions { delay_ns: 2_000_000, rate_bps: Some(1e6), ..Conditions::plain() };

    /// A frame of 125 bytes that says this.
    fn frame(from: u8, word: u8) -> Vec<u8> {
        let mut bytes = vec![0; 6];
        bytes.extend([from; 6]);
        bytes.resize(125, word);
        bytes
    }

    fn crossing(near: &[(u64, Vec<u8>)], far: &[(u64, Vec<u8>)]) -> Crossing {
        let (near, far) = (file(near), file(far));
        let read = |file| -> Vec<Captured<'_>> { frames(file).expect("a capture") };
        Crossing::of(&read(&near), &read(&far), [NEAR; 6])
    }

    #[test]
    fn frames_are_found_again_and_wait_for_those_before_them() {
        let near = [(10_000_000, frame(NEAR, 1)), (10_000_000, frame(NEAR, 2)), (9, frame(2, 7))];
        let far = [(13_000_005, frame(NEAR, 1)), (14_000_009, frame(NEAR, 2)), (3, frame(2, 7))];
        let crossing = crossing(&near, &far);
        let excess = |name| crossing.excess(Way::Up, &LINK).statistic(name);
        assert_eq!((excess("min"), excess("max")), (Some(5.0), Some(9.0)));
        // The second waited for the first, which a bound without waiting does not know.
        let least = crossing.above_least(Way::Up, &LINK);
        assert_eq!(
            (least.statistic("min"), least.statistic("max")),
            (Some(5.0), Some(1_000_009.0))
        );
        assert_eq!(crossing.took(Way::Down).statistic("max"), Some(6.0));
    }

    #[test]
    fn of_frames_that_say_the_same_none_is_mistaken_for_another() {
        let near = [(1, frame(NEAR, 1)), (2, frame(NEAR, 1)), (3, frame(NEAR, 5))];
        let far = [(11, frame(NEAR, 1)), (22, frame(NEAR, 1)), (33, frame(NEAR, 5))];
        let took = crossing(&near, &far).took(Way::Up);
        assert_eq!((took.statistic("min"), took.statistic("max")), (Some(10.0), Some(30.0)));
        // One of the first two was lost.
        let took = crossing(&near, &far[1..]).took(Way::Up);
        assert_eq!((took.statistic("count"), took.statistic("min")), (Some(1.0), Some(30.0)));
    }
}
