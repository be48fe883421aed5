//! Stretches in which nothing came through: runs of datagrams in a row without an answer, their length and, of
//! those long enough to be an outage, their time.

use pathscope_core::Tick;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Outages that are told one by one.
const TOLD: usize = 100;
/// A shorter gap is a loss and no outage.
const LEAST_OUTAGE_NS: u64 = 100_000_000;

/// What the gaps of one path, or of all together, came to.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct GapReport {
    /// The most datagrams in a row without an answer.
    pub most_in_a_row: u64,
    /// The longest time from the first of such a row to the next that was answered, both as they were due.
    pub longest_ns: u64,
    /// A gap of at least this is an outage.
    pub outage_least_ns: u64,
    /// How many outages.
    pub outages: u64,
    /// Their time in all.
    pub outage_ns: u64,
    /// The first 100 of them.
    pub told: Vec<Outage>,
}

/// One outage.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct Outage {
    /// When its first datagram was due, since the first of the test.
    pub start_ns: u64,
    /// To the next that was answered, or to the end.
    pub duration_ns: u64,
    /// Datagrams in it.
    pub datagrams: u64,
}

/// Finds gaps, told of each datagram in order.
#[derive(Debug)]
pub(super) struct Gaps {
    begun: Option<Tick>,
    length: u64,
    pub report: GapReport,
}

impl Gaps {
    /// For datagrams of which groups leave at this interval: a gap within two groups is no outage.
    pub fn new(interval_ns: u64) -> Self {
        let outage_least_ns = LEAST_OUTAGE_NS.max(interval_ns.saturating_mul(2));
        // Filled without allocating.
        let told = Vec::with_capacity(TOLD);
        let report = GapReport { outage_least_ns, told, ..GapReport::default() };
        Self { begun: None, length: 0, report }
    }

    /// The next datagram, due at this time, counted from `start`.
    pub fn saw(&mut self, due: Tick, is_answered: bool, start: Tick) {
        if is_answered {
            self.end(due, start);
        } else {
            self.begun.get_or_insert(due);
            self.length += 1;
        }
    }

    /// The stretch without an answer, where there is one, ends at this time: with one that came, or with the last interval.
    pub fn end(&mut self, at: Tick, start: Tick) {
        let Some(begun) = self.begun.take() else { return };
        let (duration_ns, datagrams) = (at.nanos_since(begun), std::mem::take(&mut self.length));
        let report = &mut self.report;
        report.most_in_a_row = report.most_in_a_row.max(datagrams);
        report.longest_ns = report.longest_ns.max(duration_ns);
        if duration_ns < report.outage_least_ns {
            return;
        }
        report.outages += 1;
        report.outage_ns = report.outage_ns.saturating_add(duration_ns);
        if report.told.len() < TOLD {
            report.told.push(Outage { start_ns: begun.nanos_since(start), duration_ns, datagrams });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_gap_is_an_outage_and_a_short_one_is_not() {
        let at = |milliseconds: u64| Tick::from_nanos(milliseconds * 1_000_000);
        let mut gaps = Gaps::new(10_000_000);
        for number in 0..100 {
            // One lost, thirty lost, and the last two lost.
            let is_answered = !(number == 5 || (20..50).contains(&number) || number >= 98);
            gaps.saw(at(10 * number), is_answered, at(0));
        }
        gaps.end(at(1_000), at(0));
        let report = gaps.report;
        assert_eq!((report.most_in_a_row, report.longest_ns), (30, 300_000_000));
        assert_eq!((report.outages, report.outage_ns), (1, 300_000_000));
        let outage = Outage { start_ns: 200_000_000, duration_ns: 300_000_000, datagrams: 30 };
        assert_eq!(report.told, [outage]);
    }
}
