//! Connections that came before there was room for them: each follows another, and the server may hear of the end of that
//! one a moment later than its client. They are bounded in number and in time.

use std::collections::VecDeque;
use std::time::Duration;

use pathscope_core::Tick;

use super::sessions::{SeatRequest, Sessions};

/// At once, of all tests; of a server with few files, fewer.
pub(super) const MOST: u64 = 64;

/// Those that they follow are gone by then, or do not go.
const PATIENCE: Duration = Duration::from_secs(1);

/// How soon it is seen that there is room.
const SOON: Duration = Duration::from_millis(2);

/// Those that wait, in the order they came, each for so long at most.
#[derive(Debug)]
pub(super) struct Followers {
    waiting: VecDeque<(Tick, SeatRequest)>,
    most: usize,
}

impl Followers {
    /// None, and at most so many.
    pub fn new(most: usize) -> Self {
        Self { waiting: VecDeque::new(), most }
    }

    /// A connection asks for its seat: it is told the answer, or waits until there is room.
    pub fn attach(&mut self, sessions: &Sessions, request: SeatRequest, now: Tick) {
        let may_wait = self.waiting.len() < self.most;
        let waits = sessions.attach_stream(request, may_wait);
        self.waiting.extend(waits.map(|request| (now + PATIENCE, request)));
    }

    /// Those for which there is room now get in; those that have waited for too long are told that there is none.
    pub fn try_again(&mut self, sessions: &Sessions, now: Tick) {
        for (until, request) in std::mem::take(&mut self.waiting) {
            let waits = sessions.attach_stream(request, now < until);
            self.waiting.extend(waits.map(|request| (until, request)));
        }
    }

    /// When to look again, where anybody waits.
    pub fn next_look(&self) -> Option<Duration> {
        (!self.waiting.is_empty()).then_some(SOON)
    }
}
