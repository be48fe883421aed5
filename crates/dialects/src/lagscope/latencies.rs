//! Latencies as lagscope counts them, in whole microseconds, and its own rules for percentiles and histograms. Memory grows with the
//! number of different latencies, not with that of pings or their height.

use std::collections::BTreeMap;

use super::words::Ranges;

/// The percentiles that are printed, with their names.
pub(super) const PERCENTILES: [(&str, f64); 8] = [
    ("50", 50.0),
    ("75", 75.0),
    ("90", 90.0),
    ("95", 95.0),
    ("99", 99.0),
    ("99.9", 99.9),
    ("99.99", 99.99),
    ("99.999", 99.999),
];

/// What was counted.
#[derive(Clone, Debug, Default)]
pub(super) struct Latencies {
    by_us: BTreeMap<u64, u64>,
    pings: u64,
    sum_ns: u128,
    /// The least and the most.
    bounds_ns: Option<(u64, u64)>,
}

impl Latencies {
    /// One more.
    pub fn count(&mut self, latency_ns: u64) {
        *self.by_us.entry(latency_ns / 1_000).or_default() += 1;
        self.pings += 1;
        self.sum_ns += u128::from(latency_ns);
        let (least, most) = self.bounds_ns.unwrap_or((latency_ns, latency_ns));
        self.bounds_ns = Some((least.min(latency_ns), most.max(latency_ns)));
    }

    pub fn pings(&self) -> u64 {
        self.pings
    }

    /// How often each whole microsecond was counted, the least first.
    pub fn by_us(&self) -> &BTreeMap<u64, u64> {
        &self.by_us
    }

    /// Minimum, maximum and mean in microseconds, where there is anything.
    pub fn summary_us(&self) -> Option<[f64; 3]> {
        let (least, most) = self.bounds_ns?;
        let mean_ns = self.sum_ns as f64 / self.pings as f64;
        Some([least as f64, most as f64, mean_ns].map(|it| it / 1_000.0))
    }

    /// lagscope's percentile: the value of a rank that is cut to a whole number, in whole microseconds.
    pub fn percentile_us(&self, percentile: f64) -> Option<u64> {
        let rank = (percentile * (self.pings as f64 + 1.0) / 100.0 - 1.0).max(0.0) as u64;
        let mut below = 0;
        let holds = |(&latency, &count): (&u64, &u64)| {
            below += count;
            (below > rank).then_some(latency)
        };
        self.by_us.iter().find_map(holds)
    }

    /// The lines of lagscope's histogram: where a bucket begins, and how many are in it. What is below the first has a line where that does not
    /// begin at 0, and what is above the last where there is anything or where nothing reaches the last.
    pub fn histogram(&self, Ranges { start_us, width_us, count }: Ranges) -> Vec<(u64, u64)> {
        let Some((_, most_ns)) = self.bounds_ns else { return Vec::new() };
        let most = most_ns / 1_000;
        let counted = |from: u64, to: u64| {
            if from < to { self.by_us.range(from..to).map(|(_, count)| count).sum() } else { 0 }
        };
        let begin = |place: u32| start_us.saturating_add(width_us.saturating_mul(place.into()));
        let end = begin(count);
        let mut lines = Vec::new();
        if start_us > 0 {
            lines.push((0, counted(0, start_us)));
        }
        lines.extend(
            (0..count).map(|place| (begin(place), counted(begin(place), begin(place + 1)))),
        );
        let above: u64 = self.by_us.range(end..).map(|(_, count)| count).sum();
        let is_last_reached = count > 0 && begin(count - 1) <= most;
        if above > 0 || !is_last_reached {
            lines.push((end, above));
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(latencies_us: &[u64]) -> Latencies {
        let mut all = Latencies::default();
        latencies_us.iter().for_each(|&us| all.count(us * 1_000 + 999));
        all
    }

    #[test]
    fn percentiles_are_of_a_rank_that_is_cut() {
        // The example of the reference, section 4.1.
        let five = of(&[30, 12, 6, 20, 12]);
        let all = PERCENTILES.map(|(_, percentile)| five.percentile_us(percentile));
        assert_eq!(all, [12, 20, 30, 30, 30, 30, 30, 30].map(Some));
        assert_eq!(of(&[7]).percentile_us(50.0), Some(7));
        let thousand = of(&(1..=1_000).collect::<Vec<_>>());
        // Ranks 499.5 and 989.99 and 998.999, from 0: what is behind the point does not count.
        let some = [50.0, 99.0, 99.9].map(|it| thousand.percentile_us(it));
        assert_eq!(some, [Some(500), Some(990), Some(999)]);
        assert_eq!(of(&[]).percentile_us(50.0), None);
    }

    #[test]
    fn a_histogram_has_the_lines_that_lagscope_prints() {
        let ranges = |start_us, width_us, count| Ranges { start_us, width_us, count };
        let lines = |latencies: &[u64], of_ranges| of(latencies).histogram(of_ranges);
        // Something is above: the last line.
        assert_eq!(lines(&[5, 12, 45], ranges(0, 10, 2)), [(0, 1), (10, 1), (20, 1)]);
        // The most falls into the last bucket: no line above it.
        assert_eq!(lines(&[5, 12], ranges(0, 10, 2)), [(0, 1), (10, 1)]);
        // Nothing reaches the last bucket: a line above it, which is empty.
        assert_eq!(lines(&[5], ranges(0, 10, 2)), [(0, 1), (10, 0), (20, 0)]);
        // It begins above 0.
        assert_eq!(lines(&[5, 31], ranges(30, 15, 1)), [(0, 1), (30, 1)]);
        // The most is where the last bucket ends: lagscope counts it nowhere, and here it is counted.
        assert_eq!(lines(&[5, 20, 20], ranges(0, 10, 2)), [(0, 1), (10, 0), (20, 2)]);
        let lisa = of(&[12, 31, 44, 800]).histogram(ranges(30, 15, 30));
        assert_eq!((lisa.len(), lisa[0], lisa[1], lisa[31]), (32, (0, 1), (30, 2), (480, 1)));
        assert_eq!(of(&[]).histogram(ranges(0, 100, 10)), []);
    }

    #[test]
    fn what_was_counted_is_kept_to_the_nanosecond_where_it_is_said() {
        let mut latencies = Latencies::default();
        [12_250, 13_499].into_iter().for_each(|it| latencies.count(it));
        assert_eq!(latencies.summary_us(), Some([12.25, 13.499, 12.8745]));
        assert_eq!(latencies.by_us(), &BTreeMap::from([(12, 1), (13, 1)]));
        assert_eq!((latencies.pings(), of(&[]).summary_us()), (2, None));
    }
}
