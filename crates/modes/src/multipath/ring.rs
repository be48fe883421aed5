//! The datagrams that may still be answered, and the last ones that may not: a ring of fixed size, so that memory
//! does not grow with a run.

use pathscope_core::Tick;
use pathscope_core::id::Lane;

use super::sample::Stamps;

/// What is known of a datagram whatever its paths.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head {
    /// When it was to leave.
    pub due: Tick,
    /// The path that a sender would have used that fails over.
    pub fail_over: Lane,
}

/// What an echo means.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Arrival {
    /// The first on this path, while the datagram was awaited.
    First,
    /// It had come on this path before.
    Again,
    /// It was given up before.
    Late,
    /// It left at another time than this echo says.
    Altered,
    /// No such datagram is known: it never left on this path, or long ago.
    Unknown,
}

/// The ring.
#[derive(Debug)]
pub(super) struct Ring {
    lanes: usize,
    /// What one tick is of the stamps that echoes bring back.
    pub stamp_tick_ns: u64,
    heads: Box<[Head]>,
    stamps: Box<[Stamps]>,
    /// The first that is still awaited.
    oldest: u64,
    /// The next that is to leave.
    next: u64,
}

impl Ring {
    /// An empty ring for so many datagrams, rounded up to a power of two, on so many paths.
    pub fn new(window: usize, lanes: usize) -> Self {
        let window = window.next_power_of_two();
        let head = Head { due: Tick::ZERO, fail_over: Lane::ONLY };
        Self {
            lanes,
            stamp_tick_ns: 1,
            heads: vec![head; window].into(),
            stamps: vec![Stamps::NONE; window * lanes].into(),
            oldest: 0,
            next: 0,
        }
    }

    /// The first that is still awaited, with its number.
    pub fn oldest(&self) -> Option<(u64, Head, &[Stamps])> {
        let (head, stamps) = self.get(self.oldest);
        (!self.is_empty()).then_some((self.oldest, head, stamps))
    }

    pub fn is_empty(&self) -> bool {
        self.oldest == self.next
    }

    /// Whether the oldest has to be given up before another may begin.
    pub fn is_full(&self) -> bool {
        self.next - self.oldest == self.heads.len() as u64
    }

    /// One more datagram is about to leave. There must be room.
    pub fn begin(&mut self, head: Head) {
        debug_assert!(!self.is_full(), "the oldest is given up first");
        let place = self.place(self.next);
        self.heads[place] = head;
        self.stamps[place * self.lanes..][..self.lanes].fill(Stamps::NONE);
        self.next += 1;
    }

    /// The oldest is awaited no more.
    pub fn retire(&mut self) {
        debug_assert!(!self.is_empty(), "there is one");
        self.oldest += 1;
    }

    /// A datagram that is awaited, or was not long ago.
    pub fn get(&self, number: u64) -> (Head, &[Stamps]) {
        let place = self.place(number);
        (self.heads[place], &self.stamps[place * self.lanes..][..self.lanes])
    }

    /// It left on this path.
    pub fn sent(&mut self, number: u64, lane: Lane, at: Tick) {
        let index = self.place(number) * self.lanes + lane.index();
        self.stamps[index].sent = at;
    }

    /// Its echo came on this path, which has this stamp of its sending.
    pub fn arrived(&mut self, number: u64, lane: Lane, stamps: Stamps) -> Arrival {
        let is_known = number < self.next && self.next - number <= self.heads.len() as u64;
        if !is_known || lane.index() >= self.lanes {
            return Arrival::Unknown;
        }
        let is_awaited = number >= self.oldest;
        let ticks = self.stamp_tick_ns;
        let index = self.place(number) * self.lanes + lane.index();
        let known = &mut self.stamps[index];
        if !known.is_sent() {
            return Arrival::Unknown;
        }
        if known.sent.as_nanos() / ticks != stamps.sent.as_nanos() / ticks {
            return Arrival::Altered;
        }
        if known.is_received() {
            return Arrival::Again;
        }
        // The second copy of a late one is one more of the same.
        known.received = stamps.received;
        known.echoed = stamps.echoed;
        if is_awaited { Arrival::First } else { Arrival::Late }
    }

    fn place(&self, number: u64) -> usize {
        (number % self.heads.len() as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_echo_is_judged_by_its_path_and_its_time() {
        let at = Tick::from_nanos;
        let echo =
            |sent, received| Stamps { sent: at(sent), echoed: at(7), received: at(received) };
        let mut ring = Ring::new(4, 2);
        for number in 0..4 {
            ring.begin(Head { due: at(number), fail_over: Lane(0) });
            ring.sent(number, Lane(0), at(10 + number));
        }
        assert!(ring.is_full());
        assert_eq!(ring.arrived(2, Lane(0), echo(12, 20)), Arrival::First);
        assert_eq!(ring.arrived(2, Lane(0), echo(12, 21)), Arrival::Again);
        // Never left there; never existed; carries a stamp that is not ours.
        assert_eq!(ring.arrived(2, Lane(1), echo(12, 20)), Arrival::Unknown);
        assert_eq!(ring.arrived(4, Lane(0), echo(14, 20)), Arrival::Unknown);
        assert_eq!(ring.arrived(3, Lane(0), echo(99, 20)), Arrival::Altered);
        assert_eq!(ring.get(2).1[0].latency_ns(), Some(8));
        ring.retire();
        assert_eq!(ring.arrived(0, Lane(0), echo(10, 30)), Arrival::Late);
        assert_eq!(ring.arrived(0, Lane(0), echo(10, 31)), Arrival::Again);
        // The server's kind brings back no more than ticks of 5.
        ring.stamp_tick_ns = 5;
        assert_eq!(ring.arrived(3, Lane(0), echo(15, 21)), Arrival::Altered);
        assert_eq!(ring.arrived(3, Lane(0), echo(10, 21)), Arrival::First);
        assert_eq!(ring.get(3).1[0].latency_ns(), Some(8), "its own stamp is the better one");
        ring.begin(Head { due: at(4), fail_over: Lane(0) });
        assert_eq!(ring.arrived(0, Lane(0), echo(10, 40)), Arrival::Unknown, "its place is taken");
        assert_eq!((ring.oldest, ring.next), (1, 5));
    }
}
