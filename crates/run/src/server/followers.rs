//! Connections that came before there was room for them: each follows another, and the server may hear of the end of that
//! one a moment later than its client. They are bounded in number and in time.

use std::collections::VecDeque;
use std::net::TcpStream;
use std::time::Duration;

use pathscope_core::Tick;

use super::sessions::{Attached, OnItsWay, SeatRequest, Sessions};

/// Those that they follow are gone by then, or do not go.
const PATIENCE: Duration = Duration::from_secs(1);

/// For how long those are gathered that go to one who holds them: where very many come, one comes in every few microseconds, and each
/// that goes alone wakes two threads.
const GATHERING: Duration = Duration::from_millis(1);

/// How soon it is seen that there is room.
const SOON: Duration = Duration::from_millis(2);

/// Those that wait, in the order they came, each for so long at most.
#[derive(Debug)]
pub(super) struct Followers {
    waiting: VecDeque<(Tick, SeatRequest)>,
    most: usize,
    /// Where those were left that got in.
    on_their_way: Vec<OnItsWay>,
    /// Until when those stay there that need not go at once.
    gathering_until: Option<Tick>,
}

impl Followers {
    /// None, and at most so many.
    pub fn new(most: usize) -> Self {
        Self { waiting: VecDeque::new(), most, on_their_way: Vec::new(), gathering_until: None }
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
            Attached::Over(way) => {
                // Those of one test come together.
                let is_new = |way: &OnItsWay| !self.on_their_way.iter().any(|other| other.is(way));
                self.on_their_way.extend(way.filter(is_new));
                None
            }
            Attached::Waits(request) => {
                self.waiting.push_back((until, request));
                None
            }
            Attached::Refused { stream, word } => Some((stream, word)),
        }
    }

    /// Those that got in go on; those for which others may be waited for, a moment after the first of them came.
    pub fn go_on(&mut self, now: Tick) {
        let may_stay = self.gathering_until.is_none_or(|until| until > now);
        for way in std::mem::take(&mut self.on_their_way) {
            if may_stay && way.gathers() { self.on_their_way.push(way) } else { way.go() }
        }
        let gathers = !self.on_their_way.is_empty();
        let until = self.gathering_until.filter(|_| may_stay).unwrap_or(now + GATHERING);
        self.gathering_until = gathers.then_some(until);
    }

    /// When to look again, where anybody waits or is gathered.
    pub fn next_look(&self, now: Tick) -> Option<Duration> {
        let waits = (!self.waiting.is_empty()).then_some(SOON);
        let gathers = self.gathering_until.map(|until| until.since(now));
        [waits, gathers].into_iter().flatten().min()
    }
}

#[cfg(test)]
#[cfg(not(pathscope_other))]
mod tests {
    use std::net::TcpListener;
    use std::sync::{Arc, Mutex};

    use pathscope_core::id::FlowId;
    use pathscope_flow::GroupId;
    use pathscope_os::Waker;

    use super::*;
    use crate::holders::Holders;
    use crate::messages::attendance::Arrival;
    use crate::messages::handing::Handing;
    use crate::messages::inbox::Inbox;
    use crate::threads::lock;

    #[test]
    fn those_that_go_to_holders_are_gathered_for_a_moment_from_the_first_on() {
        let waker = Waker::new().expect("a waker");
        let holders = Holders::start(&[], None, &waker).expect("there are none");
        let (inbox, reader) = Inbox::new(waker);
        let handing = Arc::new(Mutex::new(Handing::new(GroupId(0), holders, inbox)));
        let mut followers = Followers::new(1);
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
        let address = listener.local_addr().expect("it is bound");
        let come = |followers: &mut Followers| {
            let socket = TcpStream::connect(address).expect("it listens");
            lock(&handing).add(FlowId(7), socket.into(), [None; 2], Arrival::default());
            let way = OnItsWay::ToHolders(Arc::clone(&handing));
            assert!(followers.take(Attached::Over(Some(way)), Tick::ZERO).is_none());
        };
        let now = Tick::from_nanos(5_000_000);
        assert_eq!(followers.next_look(now), None);
        come(&mut followers);
        followers.go_on(now);
        come(&mut followers);
        followers.go_on(now.plus_nanos(999_999));
        assert!(reader.take().is_none(), "they are gathered");
        assert_eq!(followers.next_look(now.plus_nanos(400_000)), Some(Duration::from_micros(600)));
        followers.go_on(now + GATHERING);
        assert!(reader.take().is_some(), "both went");
        assert_eq!((reader.take().is_none(), followers.next_look(now)), (true, None));
        // The next are gathered anew.
        come(&mut followers);
        followers.go_on(now + GATHERING);
        assert!(reader.take().is_none());
    }
}
