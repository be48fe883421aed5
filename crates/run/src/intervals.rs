//! Reports of several workers, put together interval by interval; and both ends' intervals, paired.

use std::collections::BTreeMap;

use pathscope_core::Tick;
use pathscope_modes::document::Interval;
use pathscope_modes::goodput::GoodputInterval;
use pathscope_modes::registry::EndInterval;

use crate::mail::Part;

/// Intervals of this end under construction. A worker reports in order; an interval is whole when
/// every worker that still runs has reported a later one or this one.
#[derive(Debug)]
pub(crate) struct Collector {
    start: Tick,
    /// Per worker: the number of intervals it has reported; `None`: it is over.
    reported: Vec<Option<u64>>,
    pending: BTreeMap<u64, EndInterval>,
    next: u64,
}

impl Collector {
    /// For so many workers, from the start of the test.
    pub fn new(start: Tick, workers: usize) -> Self {
        Self { start, reported: vec![Some(0); workers], pending: BTreeMap::new(), next: 0 }
    }

    /// Adds what a worker did in an interval.
    pub fn add(&mut self, worker: usize, index: u64, start: Tick, end: Tick, part: &Part) {
        if index < self.next {
            return;
        }
        let interval = self.pending.entry(index).or_default();
        interval.index = index;
        interval.start_ns = start.nanos_since(self.start);
        interval.end_ns = interval.end_ns.max(end.nanos_since(self.start));
        match part {
            Part::Goodput(part) => {
                let sum = interval.goodput.get_or_insert_with(GoodputInterval::default);
                sum.sent_bytes += part.sent_bytes;
                sum.received_bytes += part.received_bytes;
            }
            // One worker carries the pings of a test.
            Part::Latency(tally) => interval.latency = Some(tally.interval()),
        }
        if let Some(Some(reported)) = self.reported.get_mut(worker) {
            *reported = (*reported).max(index + 1);
        }
    }

    /// A worker has ended and will report no more.
    pub fn worker_over(&mut self, worker: usize) {
        if let Some(reported) = self.reported.get_mut(worker) {
            *reported = None;
        }
    }

    /// The next interval that is whole.
    pub fn take(&mut self) -> Option<EndInterval> {
        let whole = self.reported.iter().flatten().min().copied().unwrap_or(u64::MAX);
        let (&index, _) = self.pending.first_key_value().filter(|&(&index, _)| index < whole)?;
        self.next = index + 1;
        self.pending.remove(&index)
    }
}

/// Intervals of both ends, paired by number. One that the other end does not report in time is shown
/// without it, and completed in the document if it still comes.
#[derive(Debug, Default)]
pub(crate) struct Pairs {
    intervals: Vec<Interval>,
    shown: usize,
}

impl Pairs {
    /// The client's end of an interval.
    pub fn client(&mut self, interval: EndInterval) {
        if let Some(slot) = self.slot(interval.index) {
            slot.client = Some(interval);
        }
    }

    /// The server's end of an interval.
    pub fn server(&mut self, interval: EndInterval) {
        if let Some(slot) = self.slot(interval.index) {
            slot.server = Some(interval);
        }
    }

    /// The next interval to show: both ends have reported it, or this end has gone on by two.
    pub fn take_shown(&mut self) -> Option<&Interval> {
        let newest = self.intervals.iter().rposition(|interval| interval.client.is_some())?;
        let next = self.intervals.get(self.shown)?;
        let is_due = next.client.is_some() && next.server.is_some() || self.shown + 2 <= newest;
        if !is_due {
            return None;
        }
        self.shown += 1;
        self.intervals.get(self.shown - 1)
    }

    /// Those that were not shown.
    pub fn rest(&self) -> &[Interval] {
        self.intervals.get(self.shown..).unwrap_or_default()
    }

    /// All of them so far.
    pub fn intervals(&self) -> &[Interval] {
        &self.intervals
    }

    /// All of them.
    pub fn into_intervals(self) -> Vec<Interval> {
        self.intervals
    }

    /// Intervals come nearly in order: a number far ahead is not believed.
    fn slot(&mut self, index: u64) -> Option<&mut Interval> {
        const AHEAD: usize = 1_000;
        let place =
            usize::try_from(index).ok().filter(|&place| place < self.intervals.len() + AHEAD)?;
        while self.intervals.len() <= place {
            self.intervals
                .push(Interval { index: self.intervals.len() as u64, ..Interval::default() });
        }
        self.intervals.get_mut(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(received_bytes: u64) -> Part {
        Part::Goodput(GoodputInterval { sent_bytes: 0, received_bytes })
    }

    fn at(seconds: u64) -> Tick {
        Tick::from_nanos(seconds * 1_000_000_000)
    }

    #[test]
    fn an_interval_is_whole_when_all_workers_have_reported_it() {
        let mut collector = Collector::new(at(10), 2);
        collector.add(0, 0, at(10), at(11), &part(5));
        assert_eq!(collector.take(), None);
        collector.add(1, 0, at(10), at(11), &part(7));
        let whole = collector.take().expect("both have reported");
        assert_eq!((whole.index, whole.start_ns, whole.end_ns), (0, 0, 1_000_000_000));
        assert_eq!(whole.goodput.map(|goodput| goodput.received_bytes), Some(12));
    }

    #[test]
    fn a_worker_that_is_over_is_not_waited_for() {
        let mut collector = Collector::new(at(0), 2);
        collector.add(0, 0, at(0), at(1), &part(5));
        collector.worker_over(1);
        assert!(collector.take().is_some());
    }

    #[test]
    fn a_silent_other_end_does_not_hold_the_rows_back() {
        let of = |index| EndInterval { index, ..EndInterval::default() };
        let mut pairs = Pairs::default();
        pairs.client(of(0));
        assert!(pairs.take_shown().is_none());
        pairs.client(of(1));
        pairs.client(of(2));
        assert_eq!(pairs.take_shown().map(|interval| interval.index), Some(0));
        assert!(pairs.take_shown().is_none());
        pairs.server(of(1));
        assert_eq!(pairs.take_shown().map(|interval| interval.index), Some(1));
        assert_eq!(pairs.rest().len(), 1);
    }

    #[test]
    fn a_number_far_ahead_is_not_believed() {
        let mut pairs = Pairs::default();
        pairs.server(EndInterval { index: u64::MAX, ..EndInterval::default() });
        assert!(pairs.into_intervals().is_empty());
    }
}
