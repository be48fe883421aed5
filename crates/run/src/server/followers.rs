//! Connections that came before there was room for them: each follows another, and the server may hear of the end of that
//! one a moment later than its client. They are bounded in number and in time.

use std::collections::VecDeque;
use std::net::TcpStream;
use std::time::Duration;

use pathscope_core::Tick;

use super::pending::SeatRequest;
use super::sessions::Sessions;

/// At once, of all tests; of a server with few files, fewer.
pub(super) const MOST: u64 = 64;

/// Those that they follow are gone by then, or do not go.
const PATIENCE: Duration = Duration::from_secs(1);

/// How soon it is seen that there is room.
const SOON: Duration = Duration::from_millis(2);

/// Those that wait, in the order they came.
#[derive(Debug)]
pub(super) struct Followers {
    waiting: VecDeque<Follower>,
    most: usize,
}

#[derive(Debug)]
struct Follower {
    until: Tick,
    request: SeatRequest,
    stream: TcpStream,
}

impl Followers {
    /// None, and at most so many.
    pub fn new(most: usize) -> Self {
        Self { waiting: VecDeque::new(), most }
    }

    /// A connection asks for its seat: it is told the answer, or waits until there is room.
    pub fn attach(
        &mut self,
        sessions: &Sessions,
        request: SeatRequest,
        stream: TcpStream,
        now: Tick,
    ) {
        let may_wait = self.waiting.len() < self.most;
        if let Some(stream) = sessions.attach_stream(request, stream, may_wait) {
            self.waiting.push_back(Follower { until: now + PATIENCE, request, stream });
        }
    }

    /// Those for which there is room now get in; those that have waited for too long are told that there is none.
    pub fn try_again(&mut self, sessions: &Sessions, now: Tick) {
        for _ in 0..self.waiting.len() {
            let Some(Follower { until, request, stream }) = self.waiting.pop_front() else {
                return;
            };
            if let Some(stream) = sessions.attach_stream(request, stream, now < until) {
                self.waiting.push_back(Follower { until, request, stream });
            }
        }
    }

    /// When to look again, where anybody waits.
    pub fn next_look(&self) -> Option<Duration> {
        (!self.waiting.is_empty()).then_some(SOON)
    }
}
