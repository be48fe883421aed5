//! When reports are due: at whole intervals from the session's start, so that workers that began at
//! different times, and both ends of a session, number them alike. One that is made late says so, since it
//! holds what happened until then.

use std::time::Duration;

use pathscope_core::Tick;

/// The schedule of a worker's reports.
#[derive(Debug)]
pub(crate) struct Reports {
    start: Tick,
    every_ns: u64,
    index: u64,
    /// When the interval that runs began: when the last one was cut.
    begin: Tick,
}

impl Reports {
    /// For a worker that begins at `begin`: the first interval is the one that holds it.
    pub fn new(start: Tick, every: Duration, begin: Tick) -> Self {
        let every_ns = u64::try_from(every.as_nanos()).unwrap_or(u64::MAX);
        let index = begin.nanos_since(start).checked_div(every_ns).unwrap_or(0);
        let begin = start.plus_nanos(every_ns.saturating_mul(index));
        Self { start, every_ns, index, begin }
    }

    /// The number of the interval that runs.
    pub fn index(&self) -> u64 {
        self.index
    }

    /// When it began.
    pub fn begin(&self) -> Tick {
        self.begin
    }

    /// When it is to end.
    pub fn due(&self) -> Tick {
        match self.every_ns {
            0 => Tick::NEVER,
            every_ns => {
                self.start.plus_nanos(every_ns.saturating_mul(self.index.saturating_add(1)))
            }
        }
    }

    /// When an interval ends that is cut now. What is late by a thousandth of the interval or less counts as
    /// in time: the figures change by no more, and the times stay round.
    pub fn cut_at(&self, now: Tick) -> Tick {
        let due = self.due();
        let is_in_time = now >= due && now.nanos_since(due) <= self.every_ns / 1_000;
        if is_in_time { due } else { now }
    }

    /// Goes on to the next.
    pub fn advance(&mut self, cut: Tick) {
        self.index += 1;
        self.begin = cut;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_counted_from_the_session_s_start() {
        let begin = Tick::from_nanos(1_250);
        let mut reports = Reports::new(Tick::from_nanos(1_000), Duration::from_nanos(100), begin);
        assert_eq!((reports.index(), reports.begin().as_nanos()), (2, 1_200));
        assert_eq!(reports.due(), Tick::from_nanos(1_300));
        reports.advance(reports.due());
        assert_eq!((reports.index(), reports.due()), (3, Tick::from_nanos(1_400)));
        assert_eq!(reports.begin(), Tick::from_nanos(1_300));
    }

    #[test]
    fn what_is_cut_late_is_longer_and_the_next_one_shorter() {
        let tick = Tick::from_nanos;
        let mut reports = Reports::new(tick(0), Duration::from_micros(1), tick(0));
        assert_eq!([999, 1_000, 1_001, 1_002].map(|now| reports.cut_at(tick(now))), {
            [999, 1_000, 1_000, 1_002].map(tick)
        });
        reports.advance(reports.cut_at(tick(2_500)));
        assert_eq!(
            (reports.index(), reports.begin(), reports.due()),
            (1, tick(2_500), tick(2_000))
        );
        // It is overdue, and empty.
        reports.advance(reports.cut_at(tick(2_500)));
        assert_eq!(
            (reports.index(), reports.begin(), reports.due()),
            (2, tick(2_500), tick(3_000))
        );
    }

    #[test]
    fn without_an_interval_there_is_only_the_end() {
        let reports = Reports::new(Tick::from_nanos(9), Duration::ZERO, Tick::from_nanos(50));
        assert_eq!((reports.begin(), reports.due()), (Tick::from_nanos(9), Tick::NEVER));
    }
}
