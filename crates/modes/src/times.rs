//! When connections that follow one another began, and how long each took: a sample in which each has the same chance, of a size that
//! does not grow with a run. Those that failed are drawn apart, so that a few of them are not lost among many. And how long all of
//! them took together. Off the hot path.

use std::collections::BTreeMap;

use pathscope_core::Tick;
use pathscope_core::id::FlowId;
use pathscope_core::record::FlowErrorKind;
use pathscope_core::stats::{LatencyFigures, LatencyHistogram};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Connections that are told, of those that did not fail.
const TOLD: usize = 800;
/// The same of those that failed.
const FAILED_TOLD: usize = 200;

/// When connections that follow one another began, and how long each took.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct ConnectionTimes {
    /// Connections that did not fail and whose times were taken.
    pub ended: u64,
    /// The same of those that failed, or could not be made.
    pub failed: u64,
    /// Of both, at most 800 and 200 that are told, in the order in which they began: a uniform sample of each.
    pub told: Vec<ConnectionTime>,
    /// How long each of those took that followed another and ended well: a connection, its request and the answer. Those that were
    /// there when the test started are not among them. Absent where there are none, and where no such times are taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<LatencyFigures>,
}

/// How connections were made that a test began with.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct Ramp {
    /// How many.
    pub connections: u64,
    /// From before the SYN of the first until the last was established.
    pub took_ns: u64,
    /// How many a second that were, the first left out; absent where there is one alone.
    pub connections_per_second: Option<f64>,
}

impl Ramp {
    /// Of so many that took so long.
    pub fn new(connections: u64, took_ns: u64) -> Self {
        let is_rate = connections > 1 && took_ns > 0;
        let connections_per_second =
            is_rate.then(|| (connections - 1) as f64 * 1e9 / took_ns as f64);
        Self { connections, took_ns, connections_per_second }
    }
}

/// One connection in time.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct ConnectionTime {
    /// Its number.
    pub flow: FlowId,
    /// When it was begun, before its SYN, in time since this end started the test; 0 of those that were made before.
    pub began_ns: u64,
    /// How long it took from then to its end at this end, or until it was known that it cannot be made.
    pub took_ns: u64,
    /// What kind of failure ended it; absent where none did.
    pub failed: Option<FlowErrorKind>,
    /// Whether the end of the run stopped it.
    pub cut: bool,
}

/// A connection that is over.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Passed {
    pub flow: FlowId,
    pub began: Tick,
    pub ended: Tick,
    pub failed: Option<FlowErrorKind>,
    pub is_cut: bool,
    /// Whether another was there before it.
    pub follows: bool,
}

/// What is drawn while a run goes on.
#[derive(Debug, Default)]
pub struct TimesDrawn {
    ended: Drawn,
    failed: Drawn,
    /// How long those took that followed others and ended well. Apart: most ends have none.
    took: Option<Box<LatencyHistogram>>,
}

#[derive(Debug, Default)]
struct Drawn {
    seen: u64,
    /// Those with the smallest lots.
    kept: BTreeMap<(u64, FlowId), Passed>,
}

impl TimesDrawn {
    /// One more is over.
    pub(crate) fn record(&mut self, passed: Passed) {
        if passed.follows && passed.failed.is_none() && !passed.is_cut {
            let took_ns = passed.ended.nanos_since(passed.began);
            self.took.get_or_insert_default().record(took_ns);
        }
        match passed.failed {
            None => self.ended.draw(passed, TOLD),
            Some(_) => self.failed.draw(passed, FAILED_TOLD),
        }
    }

    /// What is told of them, by an end that started the test at this time.
    pub(crate) fn told(&self, start: Tick) -> ConnectionTimes {
        let time = |passed: &Passed| {
            let began = passed.began.max(start);
            ConnectionTime {
                flow: passed.flow,
                began_ns: began.nanos_since(start),
                took_ns: passed.ended.nanos_since(began),
                failed: passed.failed,
                cut: passed.is_cut,
            }
        };
        let kept = self.ended.kept.values().chain(self.failed.kept.values());
        let mut told: Vec<ConnectionTime> = kept.map(time).collect();
        told.sort_by_key(|time| (time.began_ns, time.flow));
        let request = self.took.as_ref().map(|took| LatencyFigures::of(took));
        ConnectionTimes { ended: self.ended.seen, failed: self.failed.seen, told, request }
    }
}

impl Drawn {
    /// Every connection has a lot that depends on its number alone, and those with the smallest are kept: whatever order they end in, the
    /// same are drawn, each set of so many as likely as any other.
    fn draw(&mut self, passed: Passed, most: usize) {
        self.seen += 1;
        let drawn = (lot(passed.flow), passed.flow);
        // Of very many nearly none has a lot so small: one that is not kept is not put among those that are.
        if self.kept.len() >= most && self.kept.keys().next_back().is_some_and(|it| *it < drawn) {
            return;
        }
        self.kept.insert(drawn, passed);
        if self.kept.len() > most {
            self.kept.pop_last();
        }
    }
}

/// The finalizer of `SplitMix64`, which gives each number another, as if by chance. Source: Steele, Lea, Flood, Fast Splittable
/// Pseudorandom Number Generators (2014), with the constants of Stafford's variant 13.
fn lot(flow: FlowId) -> u64 {
    let mut lot = (u64::from(flow.0) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    lot = (lot ^ (lot >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    lot = (lot ^ (lot >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    lot ^ (lot >> 31)
}

impl ConnectionTimes {
    /// Half of what is told one by one; counts stay exact. Every second one of a uniform sample is one.
    pub(crate) fn halve(&mut self) {
        let mut is_kept = false;
        self.told.retain(|_| {
            is_kept = !is_kept;
            is_kept
        });
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn passed(flow: u32, failed: bool) -> Passed {
        let began = Tick::from_nanos(1_000 + u64::from(flow) * 10);
        Passed {
            flow: FlowId(flow),
            began,
            ended: began.plus_nanos(7),
            failed: failed.then_some(FlowErrorKind::Network),
            is_cut: false,
            follows: flow > 0,
        }
    }

    fn told(passed: impl Iterator<Item = Passed>) -> ConnectionTimes {
        let mut drawn = TimesDrawn::default();
        passed.for_each(|passed| drawn.record(passed));
        drawn.told(Tick::from_nanos(1_005))
    }

    #[test]
    fn a_rate_needs_two_connections_and_time() {
        let rate = |connections, took_ns| Ramp::new(connections, took_ns).connections_per_second;
        assert_eq!(rate(1, 1_000_000), None);
        assert_eq!(rate(2, 0), None);
        assert_eq!(rate(1_001, 500_000_000), Some(2_000.0));
    }

    #[test]
    fn few_are_all_told_and_of_those_before_the_start_what_came_after() {
        let times = told([passed(1, true), passed(0, false)].into_iter());
        let of = |flow, began_ns, took_ns, failed| ConnectionTime {
            flow: FlowId(flow),
            began_ns,
            took_ns,
            failed,
            cut: false,
        };
        assert_eq!(times.told, [of(0, 0, 2, None), of(1, 5, 7, Some(FlowErrorKind::Network))]);
    }

    #[test]
    fn of_many_a_part_is_told_and_few_failures_stay_among_them() {
        let times = told((0..40_000).map(|flow| passed(flow, flow % 20_000 == 9)));
        assert_eq!((times.ended, times.failed, times.told.len()), (39_998, 2, TOLD + 2));
        // Of each tenth of the run about as many: 80 ± 5 deviations of a binomial.
        for tenth in 0..10_u32 {
            let of = |time: &&ConnectionTime| time.flow.0 / 4_000 == tenth;
            let number = times.told.iter().filter(of).count();
            assert!((38..=122).contains(&number), "{tenth}: {number}");
        }
        let mut half = times.clone();
        half.halve();
        assert_eq!((half.told.len(), half.ended), (TOLD / 2 + 1, 39_998));
    }

    #[test]
    fn the_time_of_a_request_is_of_those_that_followed_another_and_ended_well() {
        let cut = Passed { is_cut: true, ..passed(3, false) };
        let slow = Passed { ended: Tick::from_nanos(2_000), ..passed(4, false) };
        let all = [passed(0, false), passed(1, true), passed(2, false), cut, slow];
        let request = told(all.into_iter()).request.expect("two");
        assert_eq!((request.count, request.min_ns, request.max_ns), (2, Some(7), Some(960)));
        assert_eq!(told([passed(0, false), passed(1, true), cut].into_iter()).request, None);
    }

    proptest! {
        #[test]
        fn whatever_order_they_end_in_the_same_are_told(order in Just((0..2_000).collect::<Vec<u32>>()).prop_shuffle()) {
            let of = |flow: u32| passed(flow, flow.is_multiple_of(3));
            prop_assert_eq!(told(order.into_iter().map(of)), told((0..2_000).map(of)));
        }
    }
}
