//! Which sequence numbers have come: a window over the last of them, a bit each. What leaves the window without
//! having come is lost, in runs.

use super::LossBursts;
use super::bursts::Runs;

/// The numbers of one flow that came, by sequence number from 0 on.
#[derive(Debug)]
pub struct Seen {
    /// A bit for each of the last sequence numbers up to the highest, by number modulo their count.
    came: Box<[u64]>,
    /// The same for those of which something damaged came; made with the first of them.
    spoilt: Option<Box<[u64]>>,
    /// Which word of all sequence numbers is the last in the window.
    head: u64,
    /// The highest number that came.
    highest: Option<u64>,
    /// What has left the window.
    runs: Runs,
    /// Numbers of which nothing came but something damaged.
    spoilt_only: u64,
    is_closed: bool,
}

/// What the arrival of a number means.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Sight {
    /// It had not come before.
    First,
    /// It was doubled on its way.
    Again,
    /// Whether it had come before is not known any more.
    Forgotten,
}

impl Seen {
    /// Nothing was seen yet. Remembers at least the last `window` sequence numbers: 65,536 take 16 KiB, and are
    /// 0.65 s at 100,000 a second.
    pub fn new(window: usize) -> Self {
        Self {
            came: vec![0; words_of(window)].into_boxed_slice(),
            spoilt: None,
            head: 0,
            highest: None,
            runs: Runs::new(),
            spoilt_only: 0,
            is_closed: false,
        }
    }

    /// What it takes to remember the last `window` numbers, those that came damaged included.
    pub(crate) fn memory_bytes(window: usize) -> u64 {
        (2 * words_of(window) * size_of::<u64>() + Runs::BYTES) as u64
    }

    /// Whether one of a higher number has come.
    pub fn is_behind(&self, sequence: u64) -> bool {
        self.highest.is_some_and(|highest| sequence < highest)
    }

    /// Whether a number is so close to those that came that the window holds both. One that is far ahead and stands
    /// in a damaged datagram is likely to be damaged itself.
    pub fn is_near(&self, sequence: u64) -> bool {
        sequence / 64 <= self.head.saturating_add(self.came.len() as u64 / 2)
    }

    /// The datagram of this number came.
    #[inline]
    pub fn saw(&mut self, sequence: u64) -> Sight {
        let Some((word, bit)) = self.place(sequence) else { return Sight::Forgotten };
        let seen = self.came[word] & bit != 0;
        self.came[word] |= bit;
        if seen { Sight::Again } else { Sight::First }
    }

    /// The datagram of this number came, damaged: it is not lost, and it has not come either.
    pub fn saw_spoilt(&mut self, sequence: u64) -> Sight {
        let Some((word, bit)) = self.place(sequence) else { return Sight::Forgotten };
        let words = self.came.len();
        let spoilt = self.spoilt.get_or_insert_with(|| vec![0; words].into_boxed_slice());
        let seen = (spoilt[word] | self.came[word]) & bit != 0;
        spoilt[word] |= bit;
        if seen { Sight::Again } else { Sight::First }
    }

    /// Whether of this number something damaged came, and nothing else.
    pub fn is_spoilt(&self, sequence: u64) -> bool {
        let (word, bit) = (sequence / 64, 1 << (sequence % 64));
        let is_held = word <= self.head && self.head - word < self.came.len() as u64;
        let index = self.index(word);
        let spoilt = self.spoilt.as_ref().map_or(0, |spoilt| spoilt[index]);
        is_held && spoilt & !self.came[index] & bit != 0
    }

    /// All numbers below `total` were sent, and nothing comes any more: the numbers that never came, and the
    /// number of those of which nothing came but something damaged. Said once; then there is nothing to say.
    pub fn close(&mut self, total: u64) -> (LossBursts, u64) {
        if std::mem::replace(&mut self.is_closed, true) {
            return (LossBursts::default(), 0);
        }
        // What came was sent, whatever is said.
        let total = total.max(self.highest.map_or(0, |highest| highest.saturating_add(1)));
        let (last, rest) = (total / 64, (total % 64) as u32);
        if last > self.head {
            self.advance(last);
        }
        let first = self.head.saturating_sub(self.came.len() as u64 - 1);
        for word in first..last {
            self.leave(word, u64::BITS);
        }
        self.leave(last, rest);
        (self.runs.take(), self.spoilt_only)
    }

    /// Where the bit of a number is, made the highest of the window if it is beyond it; `None` where it has
    /// left the window.
    #[inline]
    fn place(&mut self, sequence: u64) -> Option<(usize, u64)> {
        let word = sequence / 64;
        if word > self.head {
            self.advance(word);
        } else if self.head - word >= self.came.len() as u64 {
            return None;
        }
        self.highest = Some(self.highest.map_or(sequence, |highest| highest.max(sequence)));
        Some((self.index(word), 1 << (sequence % 64)))
    }

    #[inline]
    fn index(&self, word: u64) -> usize {
        word as usize & (self.came.len() - 1)
    }

    /// Makes `head` the last word of the window.
    fn advance(&mut self, head: u64) {
        let words = self.came.len() as u64;
        let leaving = self.head.saturating_sub(words - 1)..head.saturating_sub(words - 1);
        // Beyond what the window held, nothing came.
        let held = leaving.start..leaving.end.min(self.head + 1);
        let never = leaving.end.saturating_sub(held.end.max(leaving.start));
        held.for_each(|word| self.leave(word, u64::BITS));
        if never > 0 {
            self.runs.lost(never.saturating_mul(64));
        }
        for word in (self.head + 1..=head).take(self.came.len()) {
            let index = self.index(word);
            self.came[index] = 0;
            self.spoilt.iter_mut().for_each(|spoilt| spoilt[index] = 0);
        }
        self.head = head;
    }

    /// The first `count` numbers of a word leave the window for good.
    fn leave(&mut self, word: u64, count: u32) {
        let index = self.index(word);
        let came = self.came[index];
        let spoilt = self.spoilt.as_ref().map_or(0, |spoilt| spoilt[index]);
        self.spoilt_only += u64::from((spoilt & !came).count_ones());
        self.runs.word(came | spoilt, count);
    }
}

/// Words for a window. Whole ones are forgotten at once, so one more than the window has is enough; twice as many are a
/// power of two.
fn words_of(window: usize) -> usize {
    window.max(64).next_power_of_two() / 64 * 2
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
        assert!(seen.is_near(0) && seen.is_near(2 * WINDOW) && !seen.is_near(4 * WINDOW));
        assert!(seen.is_behind(WINDOW) && !seen.is_behind(WINDOW + 1));
        // A window back is remembered, and two are not.
        assert_eq!((seen.saw(1), seen.saw(2)), (Sight::Again, Sight::Again));
        assert_eq!(seen.saw(2 * WINDOW + 64), Sight::First);
        assert_eq!((seen.saw(2), seen.saw(WINDOW + 1)), (Sight::Forgotten, Sight::Again));
        assert_eq!((seen.saw(u64::MAX), seen.saw(u64::MAX)), (Sight::First, Sight::Again));
        assert_eq!(seen.saw(WINDOW + 1), Sight::Forgotten);
    }

    #[test]
    fn what_never_came_is_lost_in_runs() {
        let mut seen = Seen::new(64);
        // 3 is lost, 5 to 7, all from 1,000 to 4,999, and the last two.
        (0..1_000).filter(|it| ![3, 5, 6, 7].contains(it)).for_each(|it| _ = seen.saw(it));
        assert_eq!(seen.saw_spoilt(998), Sight::Again);
        assert_eq!(seen.saw(5_000), Sight::First);
        let (bursts, spoilt) = seen.close(5_003);
        assert_eq!((bursts.bursts, bursts.lost, bursts.longest), (4, 1 + 3 + 4_000 + 2, 4_000));
        assert_eq!(spoilt, 0);
        assert_eq!(seen.close(5_003), (LossBursts::default(), 0));
    }

    #[test]
    fn what_came_damaged_is_not_lost_and_may_still_come() {
        let mut seen = Seen::new(64);
        assert_eq!((seen.saw_spoilt(4), seen.saw_spoilt(4)), (Sight::First, Sight::Again));
        assert!(seen.is_spoilt(4) && !seen.is_spoilt(5) && !seen.is_spoilt(1 << 40));
        assert_eq!((seen.saw_spoilt(5), seen.saw(5)), (Sight::First, Sight::First));
        assert!(!seen.is_spoilt(5));
        let (bursts, spoilt) = seen.close(8);
        assert_eq!((bursts.bursts, bursts.lost, spoilt), (2, 6, 1));
    }

    #[test]
    fn a_number_far_ahead_loses_all_between_in_no_time() {
        let mut seen = Seen::new(64);
        assert_eq!(seen.saw(0), Sight::First);
        assert_eq!(seen.saw(u64::MAX - 1), Sight::First);
        let (bursts, _) = seen.close(0);
        assert_eq!((bursts.bursts, bursts.lost), (1, u64::MAX - 2));
    }

    proptest! {
        #[test]
        fn within_the_window_it_is_a_set(steps in prop::collection::vec(0..5_000_u64, 1..400)) {
            let (mut seen, mut all) = (Seen::new(WINDOW as usize), HashSet::new());
            for sequence in steps {
                let expected = if all.insert(sequence) { Sight::First } else { Sight::Again };
                prop_assert_eq!(seen.saw(sequence), expected);
            }
        }

        #[test]
        fn the_lost_are_those_that_never_came(
            came in prop::collection::vec(prop::bool::weighted(0.8), 1..3_000), more in 0..200_u64,
        ) {
            let mut seen = Seen::new(64);
            let numbers = (0_u64..).zip(&came).filter(|(_, came)| **came);
            numbers.for_each(|(number, _)| _ = seen.saw(number));
            let total = came.len() as u64 + more;
            let lost = total - came.iter().filter(|came| **came).count() as u64;
            let runs = came.iter().copied().chain(vec![false; more as usize]).collect::<Vec<_>>();
            let runs = runs.split(|came| *came).filter(|run| !run.is_empty());
            let lengths: Vec<u64> = runs.map(|run| run.len() as u64).collect();
            let (bursts, _) = seen.close(total);
            prop_assert_eq!((bursts.lost, bursts.bursts), (lost, lengths.len() as u64));
            prop_assert_eq!(bursts.longest, lengths.iter().copied().max().unwrap_or(0));
        }
    }
}
