//! One-way delay, where both ends read one clock: on one machine, in one namespace of times. Elsewhere the difference of
//! the ends' times holds the offset of their clocks, which nothing here can tell from delay.

use pathscope_core::stats::{Distribution, LatencyFigures, LatencyHistogram};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// More than any delay that is told. Clocks that are no one clock mostly differ by more.
const MOST_NS: i64 = 60_000_000_000;

/// The delays of both ways, as if both ends read one clock. Whether they do is known to who knows the machines.
#[derive(Debug, Default)]
pub(super) struct OneWayTally {
    forward: Box<LatencyHistogram>,
    back: Box<LatencyHistogram>,
    impossible: u64,
}

impl OneWayTally {
    /// One ping took so long there, and its echo so long back.
    pub fn record(&mut self, (forward_ns, back_ns): (i64, i64)) {
        let may_be = 0..=MOST_NS;
        if may_be.contains(&forward_ns) && may_be.contains(&back_ns) {
            self.forward.record(forward_ns.unsigned_abs());
            self.back.record(back_ns.unsigned_abs());
        } else {
            self.impossible += 1;
        }
    }

    pub fn merge(&mut self, other: &Self) {
        self.forward.merge(&other.forward);
        self.back.merge(&other.back);
        self.impossible += other.impossible;
    }

    /// What they come to; nothing where they cannot be of one clock.
    pub fn report(&self) -> Option<OneWayReport> {
        (self.impossible == 0 && !self.forward.is_empty()).then(|| OneWayReport {
            forward: self.forward.distribution(),
            back: self.back.distribution(),
        })
    }
}

/// The delays of each way. Where both ends are on one machine, and only there.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct OneWayReport {
    /// From where the round trip counts to the server's receipt.
    pub forward: Distribution,
    /// From the server's send to the client's receipt.
    pub back: Distribution,
}

/// One-way delays.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct OneWaySummary {
    /// From where the round trip counts, the client's first attempt to send, to the server's receipt. In documents of
    /// version 1, from the send that was accepted.
    pub forward: LatencyFigures,
    /// From the server's send to the client's receipt.
    pub back: LatencyFigures,
    /// By how much each may be wrong: what a reading of the clock takes at either end. Absent where that is not known.
    pub error_bound_ns: Option<u64>,
}

impl OneWaySummary {
    pub(super) fn of(
        report: &OneWayReport,
        figures: impl Fn(&LatencyHistogram) -> LatencyFigures,
    ) -> Self {
        Self {
            forward: figures(&report.forward.histogram()),
            back: figures(&report.back.histogram()),
            error_bound_ns: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_of_one_clock_are_told_and_others_are_not() {
        let mut tally = OneWayTally::default();
        assert_eq!(tally.report(), None);
        (1..=100).for_each(|step| tally.record((step * 1_000, 250_000)));
        let report = tally.report().expect("a hundred");
        assert_eq!((report.forward.min_ns, report.forward.max_ns), (Some(1_000), Some(100_000)));
        assert_eq!((report.back.count, report.back.max_ns), (100, Some(250_000)));
        for impossible in [(-1, 9), (9, -1), (MOST_NS + 1, 5), (i64::MIN, i64::MAX)] {
            let mut tally = OneWayTally::default();
            tally.record((5, 5));
            tally.record(impossible);
            assert_eq!(tally.report(), None, "{impossible:?}");
        }
    }
}
