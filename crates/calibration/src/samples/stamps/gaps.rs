//! Stretches of numbers in a row without an answer, by when the numbers were due.

use super::schedule::Schedule;
use super::{Row, Stamps};

/// One stretch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gap {
    /// When its first number was due, in nanoseconds from the first of all.
    pub from: f64,
    /// Until the next answered one was due.
    pub length: f64,
    /// How many numbers.
    pub numbers: u64,
}

/// All of one path, or of all paths together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Gaps {
    /// In order.
    gaps: Vec<Gap>,
    /// Numbers of one that the end of the test cut off at a time that the file does not tell.
    cut_off: u64,
    /// From how long on they are outages.
    least_outage: f64,
}

impl Gaps {
    /// The most numbers in a row.
    pub fn most_in_a_row(&self) -> f64 {
        let most = self.gaps.iter().map(|gap| gap.numbers).max();
        most.unwrap_or(0).max(self.cut_off) as f64
    }

    /// The longest, in nanoseconds.
    pub fn longest(&self) -> Option<f64> {
        let lengths = self.gaps.iter().map(|gap| gap.length);
        (self.cut_off == 0).then(|| lengths.fold(0.0, f64::max))
    }

    /// How many are outages.
    pub fn outages(&self) -> Option<f64> {
        (self.cut_off == 0).then(|| self.long().count() as f64)
    }

    /// The time of these in all.
    pub fn outage_time(&self) -> Option<f64> {
        (self.cut_off == 0).then(|| self.long().map(|gap| gap.length).sum())
    }

    /// One of the outages, from 0.
    pub fn outage(&self, index: usize) -> Option<Gap> {
        self.long().nth(index).copied()
    }

    fn long(&self) -> impl Iterator<Item = &Gap> {
        self.gaps.iter().filter(|gap| gap.length >= self.least_outage)
    }
}

impl Stamps {
    /// The gaps of a path, or of all together where none is named. A path that was not named itself counts from its first use
    /// on. Numbers left `least_lag` after their time at the least.
    pub fn gaps(&self, schedule: &Schedule, path: Option<usize>, least_lag: f64) -> Option<Gaps> {
        let is_answered = |row: &Row| match path {
            Some(path) => row.received(path).is_some(),
            None => row.first_received().is_some(),
        };
        let is_before_use = |row: &&Row| {
            path.is_some_and(|path| path >= schedule.named && row.sent(path).is_none())
        };
        let mut gaps = Gaps { least_outage: schedule.least_outage()?, ..Gaps::default() };
        let mut open: Option<(f64, u64)> = None;
        for row in self.rows.iter().skip_while(is_before_use) {
            let due = schedule.due(row.number)?;
            if !is_answered(row) {
                open = open.map_or(Some((due, 1)), |(from, numbers)| Some((from, numbers + 1)));
            } else if let Some((from, numbers)) = open.take() {
                gaps.gaps.push(Gap { from, length: due - from, numbers });
            }
        }
        if let Some((from, numbers)) = open {
            match self.sending(schedule, least_lag) {
                Some(end) => gaps.gaps.push(Gap { from, length: end - from, numbers }),
                None => gaps.cut_off = numbers,
            }
        }
        Some(gaps)
    }

    /// How long numbers were sent, in nanoseconds: as long as the schedule of all of them. Absent where the last left later than
    /// that: what is sent then ends with it, at a time that the file tells but roughly.
    pub fn sending(&self, schedule: &Schedule, least_lag: f64) -> Option<f64> {
        let numbers = self.rows.last()?.number.checked_add(1)?;
        let length = schedule.length(numbers)?;
        let last = self.rows.iter().filter_map(Row::last_sent).reduce(f64::max)?;
        let begun = self.lags(schedule)?.statistic("min")? - least_lag;
        // Stamps are in whole microseconds.
        (last - begun + 1_000.0 <= length).then_some(length)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{SCHEDULE, stamps};
    use super::{Gap, Gaps};
    use crate::samples::stamps::schedule::Schedule;

    /// Ten milliseconds from each number to the next.
    const SLOW: Schedule = Schedule { rate_bps: 800_000, bytes: 1_000, grouping: 1, ..SCHEDULE };

    /// Numbers ten milliseconds apart, each answered on the first path, on the second or on none.
    fn answered(on: &str) -> String {
        let row = |(number, on): (usize, char)| {
            let at = 7 + 10_000 * number;
            let stamps = |lane: char| {
                if on == lane || on == 'B' {
                    format!("{at}, 1, {}", at + 4_000)
                } else {
                    format!("{at}, -1, -1")
                }
            };
            format!("{number}, {}, {}\n", stamps('0'), stamps('1'))
        };
        on.chars().enumerate().map(row).collect()
    }

    #[test]
    fn a_gap_lasts_from_its_first_number_to_the_next_that_is_answered() {
        // Two, then eleven, then one at the end, of the first path.
        let stamps = stamps(&answered("B11B1----------01"));
        let first = stamps.gaps(&SLOW, Some(0), 0.0).expect("gaps");
        let ms = |milliseconds: f64| milliseconds * 1e6;
        let gap = |from, length, numbers| Gap { from: ms(from), length: ms(length), numbers };
        let gaps = vec![gap(10.0, 20.0, 2), gap(40.0, 110.0, 11), gap(160.0, 10.0, 1)];
        assert_eq!(first, Gaps { gaps, cut_off: 0, least_outage: ms(100.0) });
        assert_eq!((first.most_in_a_row(), first.longest()), (11.0, Some(ms(110.0))));
        assert_eq!((first.outages(), first.outage_time()), (Some(1.0), Some(ms(110.0))));
        assert_eq!((first.outage(0), first.outage(1)), (Some(gap(40.0, 110.0, 11)), None));
        let all = stamps.gaps(&SLOW, None, 0.0).expect("gaps");
        // A hundred milliseconds are an outage.
        assert_eq!((all.outages(), all.longest()), (Some(1.0), Some(ms(100.0))));
        assert_eq!(all.outage(0), Some(gap(50.0, 100.0, 10)));
    }

    #[test]
    fn what_ends_late_ends_at_no_known_time() {
        // The last left 9 ms after its time at the least, and 2 ms more are too late.
        let text = "0, 7, 1, 9, 7, 1, 9\n1, 19007, -1, -1, 19007, 1, 19009\n";
        let stamps = stamps(text);
        assert_eq!(stamps.sending(&SLOW, 0.0), Some(20e6));
        assert_eq!(stamps.sending(&SLOW, 2e6), None);
        let gaps = stamps.gaps(&SLOW, Some(0), 2e6).expect("gaps");
        assert_eq!((gaps.most_in_a_row(), gaps.longest(), gaps.outages()), (1.0, None, None));
        assert_eq!(stamps.gaps(&SLOW, None, 2e6).and_then(|it| it.longest()), Some(0.0));
    }

    #[test]
    fn a_path_that_nobody_named_counts_from_its_first_use() {
        let text = "0, 0, 1, 4, -1, -1, -1\n1, 10000, 1, 10004, 10001, -1, -1\n2, 20000, 1, 20004, 20001, 1, 20007\n";
        let found = Schedule { named: 0, ..SLOW };
        let most =
            |schedule| stamps(text).gaps(schedule, Some(1), 0.0).map(|it| it.most_in_a_row());
        assert_eq!((most(&found), most(&SLOW)), (Some(1.0), Some(2.0)));
    }
}
