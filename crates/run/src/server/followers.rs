//! Connections that came before there was room for them: each follows another, and the server may hear of the end of that
//! one a moment later than its client. They are bounded in number and in time.

use std::collections::VecDeque;
use std::net::TcpStream;
use std::time::Duration;

use pathscope_core::Tick;

use super::sessions::{Attached, SeatRequest, Sessions};
use crate::workers::entrances::WayIn;

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
    /// Where flows came in whose workers are still to be woken.
    to_wake: Vec<WayIn>,
}

impl Followers {
    /// None, and at most so many.
    pub fn new(most: usize) -> Self {
        Self { waiting: VecDeque::new(), most, to_wake: Vec::new() }
    }

    /// A connection asks for its seat: it is told the answer, or waits until there is room. One that has none is given back
    /// with what it is to be told.
    pub fn attach(
        &mut self,
        sessions: &Sessions,
        request: SeatRequest,
        now: Tick,
    ) -> Option<(TcpStream, Vec<u8>)> {
        let may_wait = self.waiting.len() < self.most;
        let until = now + PATIENCE;
        self.take(sessions.attach_stream(request, may_wait), until)
    }

    /// Those for which there is room now get in; those that have waited for too long are given back, to be told that there is
    /// none.
    pub fn try_again(&mut self, sessions: &Sessions, now: Tick) -> Vec<(TcpStream, Vec<u8>)> {
        let waiting = std::mem::take(&mut self.waiting);
        let again = waiting.into_iter().filter_map(|(until, request)| {
            self.take(sessions.attach_stream(request, now < until), until)
        });
        again.collect()
    }

    fn take(&mut self, attached: Attached, until: Tick) -> Option<(TcpStream, Vec<u8>)> {
        match attached {
            Attached::Over(way_in) => {
                // Those of one test come together.
                let is_new = |way_in: &WayIn| !self.to_wake.iter().any(|other| other.is(way_in));
                self.to_wake.extend(way_in.filter(is_new));
                None
            }
            Attached::Waits(request) => {
                self.waiting.push_back((until, request));
                None
            }
            Attached::Refused { stream, word } => Some((stream, word)),
        }
    }

    /// Wakes the workers of those that got in.
    pub fn wake(&mut self) {
        self.to_wake.drain(..).for_each(|way_in| way_in.wake());
    }

    /// When to look again, where anybody waits.
    pub fn next_look(&self) -> Option<Duration> {
        (!self.waiting.is_empty()).then_some(SOON)
    }
}
