//! Reports of several workers, put together interval by interval; and both ends' intervals, paired.

use std::collections::BTreeMap;

use pathscope_core::Tick;
use pathscope_core::id::Role;
use pathscope_modes::document::Interval;
use pathscope_modes::registry::{EndInterval, Tally};

/// Intervals of this end under construction. An interval is whole when every worker that still runs has
/// made all its reports of it: one, or one for each half of flows that run in halves. One that lacks a
/// report is given up on when another worker is two ahead.
#[derive(Debug, Default)]
pub(crate) struct Collector {
    start: Tick,
    /// Per worker: the reports it makes of each interval; none when it is over.
    expected: Vec<u8>,
    /// Each apart: a map makes room for several at once, and a server has very many of these.
    pending: BTreeMap<u64, Box<Pending>>,
    next: u64,
}

#[derive(Debug)]
struct Pending {
    interval: EndInterval,
    /// What is to be told of all workers together, of each mode.
    joined: Vec<Tally>,
    /// Per worker: the reports that came.
    came: Vec<u8>,
    /// When they begin and end, in time since the start of the test, added up.
    sums_ns: [u64; 2],
    parts: u64,
}

impl Pending {
    /// One that is late makes its interval longer. The interval has the mean of what its parts say, so that
    /// its rates are right where the workers' are alike.
    fn adopt(&mut self, times_ns: [u64; 2]) {
        self.parts += 1;
        self.sums_ns = [0, 1].map(|it| self.sums_ns[it].saturating_add(times_ns[it]));
        [self.interval.start_ns, self.interval.end_ns] = self.sums_ns.map(|sum| sum / self.parts);
    }

    /// What is told of it.
    fn told(mut self) -> EndInterval {
        self.joined.iter().for_each(|tally| tally.add_to(&mut self.interval));
        self.interval
    }
}

impl Collector {
    /// From the start of the test.
    pub fn new(start: Tick) -> Self {
        Self { start, ..Self::default() }
    }

    /// Further workers run, which make so many reports of each interval.
    pub fn expect(&mut self, workers: impl Iterator<Item = u8>) {
        self.expected.extend(workers);
    }

    /// Adds what a worker did in an interval. What comes after its interval was given up on is counted
    /// into the next one, so that nothing is lost from the sum.
    pub fn add(&mut self, worker: usize, index: u64, [start, end]: [Tick; 2], tally: Tally) {
        let (index, is_late) = (index.max(self.next), index < self.next);
        let workers = self.expected.len();
        let pending = self.pending.entry(index).or_insert_with(|| {
            Box::new(Pending {
                interval: EndInterval { index, ..EndInterval::default() },
                joined: Vec::new(),
                came: vec![0; workers],
                sums_ns: [0; 2],
                parts: 0,
            })
        });
        if !is_late {
            pending.adopt([start, end].map(|time| time.nanos_since(self.start)));
        }
        if !tally.joins() {
            tally.add_to(&mut pending.interval);
        } else if !pending.joined.iter_mut().any(|sum| sum.join(&tally)) {
            pending.joined.push(tally);
        }
        if let Some(came) = pending.came.get_mut(worker).filter(|_| !is_late) {
            *came = came.saturating_add(1);
        }
    }

    /// A worker has ended and will report no more.
    pub fn worker_over(&mut self, worker: usize) {
        if let Some(expected) = self.expected.get_mut(worker) {
            *expected = 0;
        }
    }

    /// The next interval that is whole.
    pub fn take(&mut self) -> Option<EndInterval> {
        let newest = *self.pending.keys().next_back()?;
        let first = self.pending.first_entry()?;
        let is_whole =
            first.get().came.iter().zip(&self.expected).all(|(came, expected)| came >= expected);
        // One that began late, or a half that has nothing more to say, does not hold the others back.
        let is_given_up = first.key() + 2 <= newest;
        (is_whole || is_given_up).then(|| {
            self.next = first.key() + 1;
            first.remove().told()
        })
    }
}

/// Intervals of both ends, paired by number. One that the other end does not report in time is shown
/// without it, and completed in the document if it still comes.
#[derive(Debug)]
pub(crate) struct Pairs {
    /// All of them so far.
    pub intervals: Vec<Interval>,
    shown: usize,
    /// Whether the other end reports any.
    is_told: bool,
    /// Whether another session adds those of its probes.
    are_probed: bool,
    /// Intervals of those that are over before they are here.
    early: Vec<EndInterval>,
}

impl Pairs {
    /// None yet; `is_told`: the other end reports its own; `are_probed`: those of probes in another session are added.
    pub const fn new(is_told: bool, are_probed: bool) -> Self {
        Self { intervals: Vec::new(), shown: 0, is_told, are_probed, early: Vec::new() }
    }

    /// What probes in another session were in their interval of the same number: their session began when this one did.
    pub fn add_probes(&mut self, of_probes: &EndInterval) {
        let place = usize::try_from(of_probes.index).unwrap_or(usize::MAX);
        let client = self.intervals.get_mut(place).and_then(|interval| interval.client.as_mut());
        match client {
            Some(client) => client.take_probes(of_probes),
            None => self.early.push(of_probes.clone()),
        }
    }

    /// One end of an interval.
    pub fn add(&mut self, whose: Role, interval: EndInterval) {
        // They come nearly in order: a number far ahead is not believed.
        const AHEAD: usize = 1_000;
        let place = usize::try_from(interval.index).unwrap_or(usize::MAX);
        if place >= self.intervals.len() + AHEAD {
            return;
        }
        for index in self.intervals.len()..=place {
            self.intervals.push(Interval { index: index as u64, ..Interval::default() });
        }
        let slot = &mut self.intervals[place];
        match whose {
            Role::Client => {
                let client = slot.client.insert(interval);
                let early = self.early.iter().position(|probes| probes.index == client.index);
                early.into_iter().for_each(|it| client.take_probes(&self.early.swap_remove(it)));
            }
            Role::Server => slot.server = Some(interval),
        }
    }

    /// The next interval to show: both ends have reported it, this end has gone on by two, or the test is over.
    pub fn take_shown(&mut self, is_over: bool) -> Option<&Interval> {
        let newest = self.intervals.iter().rposition(|interval| interval.client.is_some());
        let is_late = newest.is_some_and(|newest| self.shown + 2 <= newest);
        let next = self.intervals.get(self.shown)?;
        let are_probes_there =
            !self.are_probed || next.client.as_ref().is_some_and(EndInterval::has_probes);
        let is_whole =
            next.client.is_some() && (next.server.is_some() || !self.is_told) && are_probes_there;
        if !is_over && !is_late && !is_whole {
            return None;
        }
        self.shown += 1;
        self.intervals.get(self.shown - 1)
    }
}

#[cfg(test)]
mod tests {
    use pathscope_modes::goodput::GoodputInterval;
    use pathscope_modes::latency::LatencyInterval;

    use super::*;

    fn part(received_bytes: u64) -> Tally {
        Tally::Goodput(Box::new(GoodputInterval { received_bytes, ..GoodputInterval::default() }))
    }

    /// For workers that make so many reports of each interval.
    fn collector(start: Tick, reports: &[u8]) -> Collector {
        let mut collector = Collector::new(start);
        collector.expect(reports.iter().copied());
        collector
    }

    fn at(seconds: u64) -> Tick {
        Tick::from_nanos(seconds * 1_000_000_000)
    }

    #[test]
    fn an_interval_is_whole_when_all_workers_have_reported_it() {
        let mut collector = collector(at(10), &[1, 1]);
        collector.add(0, 0, [at(10), at(11)], part(5));
        assert_eq!(collector.take(), None);
        collector.add(1, 0, [at(10), at(11)], part(7));
        let whole = collector.take().expect("both have reported");
        assert_eq!((whole.index, whole.start_ns, whole.end_ns), (0, 0, 1_000_000_000));
        assert_eq!(whole.goodput.map(|goodput| goodput.received_bytes), Some(12));
    }

    #[test]
    fn an_interval_is_as_long_as_its_parts_are() {
        let milliseconds = |time: u64| Tick::from_nanos(time * 1_000_000);
        let mut collector = collector(at(0), &[1, 1]);
        collector.add(0, 0, [at(0), milliseconds(1_000)], part(100));
        collector.add(1, 0, [at(0), milliseconds(1_500)], part(150));
        let whole = collector.take().expect("both have reported");
        assert_eq!((whole.start_ns, whole.end_ns), (0, 1_250_000_000));
        collector.add(0, 1, [milliseconds(1_000), milliseconds(2_000)], part(100));
        collector.add(1, 1, [milliseconds(1_500), milliseconds(2_000)], part(50));
        let next = collector.take().expect("both have reported");
        assert_eq!((next.start_ns, next.end_ns), (1_250_000_000, 2_000_000_000));
    }

    #[test]
    fn flows_in_halves_report_twice() {
        let mut collector = collector(at(0), &[2]);
        collector.add(0, 0, [at(0), at(1)], part(5));
        collector.add(0, 1, [at(1), at(2)], part(6));
        assert_eq!(collector.take(), None);
        collector.add(0, 0, [at(0), at(1)], part(7));
        let whole = collector.take().expect("both halves have reported");
        assert_eq!(whole.goodput.map(|goodput| goodput.received_bytes), Some(12));
        assert_eq!(collector.take(), None);
    }

    #[test]
    fn a_worker_that_lags_holds_nobody_back_and_loses_nothing() {
        let mut collector = collector(at(0), &[1, 1]);
        (0..4).for_each(|index| collector.add(0, index, [at(index), at(index + 1)], part(10)));
        let mut sum = 0;
        let mut seen = Vec::new();
        while let Some(interval) = collector.take() {
            seen.push(interval.index);
            sum += interval.goodput.map_or(0, |goodput| goodput.received_bytes);
        }
        assert_eq!(seen, [0, 1]);
        (0..4).for_each(|index| collector.add(1, index, [at(index), at(index + 1)], part(1)));
        collector.worker_over(0);
        collector.worker_over(1);
        while let Some(interval) = collector.take() {
            sum += interval.goodput.map_or(0, |goodput| goodput.received_bytes);
        }
        assert_eq!(sum, 44);
    }

    #[test]
    fn a_worker_that_is_over_is_not_waited_for() {
        let mut collector = collector(at(0), &[1, 1]);
        collector.add(0, 0, [at(0), at(1)], part(5));
        collector.worker_over(1);
        assert!(collector.take().is_some());
    }

    #[test]
    fn a_silent_other_end_does_not_hold_the_rows_back() {
        let of = |index| EndInterval { index, ..EndInterval::default() };
        let mut untold = Pairs::new(false, false);
        untold.add(Role::Client, of(0));
        assert!(untold.take_shown(false).is_some(), "nobody else tells of it");
        let mut pairs = Pairs::new(true, false);
        pairs.add(Role::Client, of(0));
        assert!(pairs.take_shown(false).is_none());
        pairs.add(Role::Client, of(1));
        pairs.add(Role::Client, of(2));
        assert_eq!(pairs.take_shown(false).map(|interval| interval.index), Some(0));
        assert!(pairs.take_shown(false).is_none());
        pairs.add(Role::Server, of(1));
        assert_eq!(pairs.take_shown(false).map(|interval| interval.index), Some(1));
        assert_eq!(pairs.take_shown(true).map(|interval| interval.index), Some(2));
        assert!(pairs.take_shown(true).is_none());
    }

    #[test]
    fn a_row_waits_for_the_probes_of_another_session_but_not_for_ever() {
        let of = |index| EndInterval { index, ..EndInterval::default() };
        let pings = |index| EndInterval { latency: Some(LatencyInterval::default()), ..of(index) };
        let mut pairs = Pairs::new(false, true);
        pairs.add(Role::Client, of(0));
        assert!(pairs.take_shown(false).is_none());
        pairs.add_probes(&pings(1));
        pairs.add_probes(&pings(0));
        assert!(
            pairs
                .take_shown(false)
                .is_some_and(|it| it.client.as_ref().is_some_and(EndInterval::has_probes))
        );
        pairs.add(Role::Client, of(1));
        assert!(
            pairs
                .take_shown(false)
                .is_some_and(|it| it.client.as_ref().is_some_and(EndInterval::has_probes))
        );
        (2..5).for_each(|index| pairs.add(Role::Client, of(index)));
        assert_eq!(pairs.take_shown(false).map(|interval| interval.index), Some(2));
        assert!(pairs.take_shown(false).is_none());
    }

    #[test]
    fn a_number_far_ahead_is_not_believed() {
        let mut pairs = Pairs::new(true, false);
        pairs.add(Role::Server, EndInterval { index: u64::MAX, ..EndInterval::default() });
        assert!(pairs.intervals.is_empty());
    }
}
