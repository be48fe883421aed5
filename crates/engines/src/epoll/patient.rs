//! Flows whose end may be heard late, at a worker where others follow them: their sockets are looked at when as many ends are certain, and
//! the kernel tells nothing of them. Where very many connections end, that is a wake-up less for each, which the other end would pay for
//! where both are on one machine, and two calls less. Not here: what a flow waits for, which its machine says.

use std::collections::VecDeque;
use std::time::Duration;

use pathscope_core::Tick;
use pathscope_core::id::FlowId;

/// What ends while nobody comes is heard so late.
const LATEST: Duration = Duration::from_millis(10);

/// Those of one worker, the one that has waited longest first.
#[derive(Debug, Default)]
pub(super) struct Patient {
    /// So many connections the other end has at once. Where more are open here, it has closed as many of them.
    usual: usize,
    waiting: VecDeque<Waiting>,
}

/// One that waits for its end.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Waiting {
    pub place: u32,
    /// Its slot may be another's by the time it is looked at.
    pub flow: FlowId,
    until: Tick,
}

impl Patient {
    /// None yet, at a worker whose flows are so many at once; none ever, where that is none.
    pub fn new(usual: usize) -> Self {
        Self { usual, waiting: VecDeque::new() }
    }

    /// Whether any may wait here.
    pub fn is_of_use(&self) -> bool {
        self.usual > 0
    }

    /// One waits for its end from now on.
    pub fn enter(&mut self, place: u32, flow: FlowId, now: Tick) {
        self.waiting.push_back(Waiting { place, flow, until: now + LATEST });
    }

    /// The next one that is to be looked at, where so many are open.
    pub fn next(&mut self, open: usize, now: Tick) -> Option<Waiting> {
        let first = self.waiting.front()?;
        if open > self.usual || first.until <= now { self.waiting.pop_front() } else { None }
    }

    /// When the next one is to be looked at, where nobody comes until then.
    pub fn due(&self) -> Tick {
        self.waiting.front().map_or(Tick::NEVER, |first| first.until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Tick = Tick::from_nanos(1_000);

    #[test]
    fn the_first_is_looked_at_when_more_are_open_than_the_other_end_has_or_it_is_time() {
        let mut patient = Patient::new(2);
        assert_eq!((patient.due(), patient.next(9, NOW)), (Tick::NEVER, None));
        patient.enter(5, FlowId(7), NOW);
        patient.enter(6, FlowId(8), NOW.plus_nanos(1));
        assert_eq!(patient.due(), NOW + LATEST);
        assert_eq!(patient.next(2, NOW), None);
        let first = patient.next(3, NOW).expect("one has ended");
        assert_eq!((first.place, first.flow), (5, FlowId(7)));
        assert_eq!(patient.next(2, NOW + LATEST), None);
        assert!(patient.next(2, NOW.plus_nanos(1) + LATEST).is_some());
        assert_eq!(patient.due(), Tick::NEVER);
        assert!(!Patient::default().is_of_use());
    }
}
