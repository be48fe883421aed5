//! When reports are due: at whole intervals from the session's start, so that workers that began at
//! different times, and both ends of a session, number them alike.

use std::time::Duration;

use pathscope_core::Tick;

/// The schedule of a worker's reports.
#[derive(Debug)]
pub(crate) struct Reports {
    start: Tick,
    every_ns: u64,
    index: u64,
}

impl Reports {
    /// For a worker that begins at `begin`: the first interval is the one that holds it.
    pub fn new(start: Tick, every: Duration, begin: Tick) -> Self {
        let every_ns = u64::try_from(every.as_nanos()).unwrap_or(u64::MAX);
        let index = begin.nanos_since(start).checked_div(every_ns).unwrap_or(0);
        Self { start, every_ns, index }
    }

    /// The number of the interval that runs.
    pub fn index(&self) -> u64 {
        self.index
    }

    /// When it began.
    pub fn begin(&self) -> Tick {
        self.start.plus_nanos(self.every_ns.saturating_mul(self.index))
    }

    /// When it ends.
    pub fn due(&self) -> Tick {
        match self.every_ns {
            0 => Tick::NEVER,
            every_ns => {
                self.start.plus_nanos(every_ns.saturating_mul(self.index.saturating_add(1)))
            }
        }
    }

    /// Goes on to the next.
    pub fn advance(&mut self) {
        self.index += 1;
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
        reports.advance();
        assert_eq!((reports.index(), reports.due()), (3, Tick::from_nanos(1_400)));
    }

    #[test]
    fn without_an_interval_there_is_only_the_end() {
        let reports = Reports::new(Tick::from_nanos(9), Duration::ZERO, Tick::from_nanos(50));
        assert_eq!((reports.begin(), reports.due()), (Tick::from_nanos(9), Tick::NEVER));
    }
}
