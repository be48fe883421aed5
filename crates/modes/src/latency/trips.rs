//! The kernel's stamps of pings that are on their way or whose last stamp is: at the client each ping's, at the
//! server what is still to be told of each echo. Rings of fixed size; what leaves one unfinished is not covered.

use std::collections::VecDeque;

use pathscope_core::Tick;

use super::datagram::Note;
use super::parts::{Passage, Trip};

/// The stamps of the last pings of a flow, at its client.
#[derive(Debug)]
pub(super) struct Trips {
    slots: Box<[(u64, Trip)]>,
}

impl Trips {
    /// Of the last `size` pings, rounded up to a power of two.
    pub fn new(size: usize) -> Self {
        Self { slots: vec![(u64::MAX, Trip::NONE); size.next_power_of_two()].into() }
    }

    /// A ping leaves.
    pub fn sent(&mut self, sequence: u64, at: Tick) {
        let index = self.index(sequence);
        let client = Passage { sent: at, ..Passage::NONE };
        self.slots[index] = (sequence, Trip { client, ..Trip::NONE });
    }

    /// The kernel handed it over. Returns its trip if that was the last that was missing.
    pub fn handed_over(&mut self, sequence: u64, at: Tick) -> Option<Trip> {
        self.set(sequence, |trip| trip.client.handed_over = at)
    }

    /// Its first echo came, by the kernel's stamp and ours, with the server's times.
    pub fn answered(
        &mut self,
        sequence: u64,
        (came, received): (Option<Tick>, Tick),
        (server_received, server_sent): (Tick, Tick),
        server_came: Option<Tick>,
    ) -> Option<Trip> {
        self.set(sequence, |Trip { client, server }| {
            (client.came, client.received) = (came.unwrap_or(Tick::NEVER), received);
            (server.received, server.sent) = (server_received, server_sent);
            server.came = server_came.unwrap_or(Tick::NEVER);
        })
    }

    /// The server says when its kernel handed the echo of this ping over.
    pub fn told(&mut self, sequence: u64, at: Tick) -> Option<Trip> {
        self.set(sequence, |trip| trip.server.handed_over = at)
    }

    fn set(&mut self, sequence: u64, set: impl FnOnce(&mut Trip)) -> Option<Trip> {
        let index = self.index(sequence);
        let (holder, trip) = &mut self.slots[index];
        if *holder != sequence || sequence == u64::MAX {
            return None;
        }
        set(trip);
        let ends = [&trip.client, &trip.server];
        let is_whole =
            ends.iter().all(|end| end.came != Tick::NEVER && end.handed_over != Tick::NEVER);
        // Each is counted once.
        is_whole.then(|| {
            *holder = u64::MAX;
            *trip
        })
    }

    fn index(&self, sequence: u64) -> usize {
        sequence as usize & (self.slots.len() - 1)
    }
}

/// What a server's kernel says of the last echoes of a flow.
#[derive(Debug)]
pub(super) struct Echoed {
    /// By the number of the echo: which ping it answered.
    pings: Box<[(u64, u64)]>,
    untold: VecDeque<(u64, Tick)>,
    /// When the ping came that is echoed next.
    came: Option<Tick>,
}

impl Echoed {
    /// What one takes of so many echoes.
    pub fn bytes(echoes: usize) -> usize {
        size_of::<Self>() + echoes * (size_of::<(u64, u64)>() + size_of::<(u64, Tick)>())
    }

    /// Of the last `echoes`, which is not zero: those whose handing over is awaited, and those that wait for an echo that
    /// tells of it.
    pub fn new(echoes: usize) -> Self {
        Self {
            pings: vec![(u64::MAX, 0); echoes].into(),
            untold: VecDeque::with_capacity(echoes),
            came: None,
        }
    }

    /// A ping came, by the kernel's stamp.
    pub fn came(&mut self, at: Option<Tick>) {
        self.came = at;
    }

    /// What the next echo says.
    pub fn note(&self) -> Note {
        Note { came: self.came, handed_over: self.untold.front().copied() }
    }

    /// That echo, number `number`, was sent, and answers this ping.
    pub fn sent(&mut self, number: u64, sequence: u64) {
        self.untold.pop_front();
        let index = self.index(number);
        self.pings[index] = (number, sequence);
    }

    /// The kernel handed an echo over.
    pub fn handed_over(&mut self, number: u64, at: Tick) {
        let (holder, sequence) = self.pings[self.index(number)];
        if holder == number {
            if self.untold.len() == self.pings.len() {
                self.untold.pop_front();
            }
            self.untold.push_back((sequence, at));
        }
    }

    fn index(&self, number: u64) -> usize {
        number as usize % self.pings.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(nanoseconds: u64) -> Tick {
        Tick::from_nanos(nanoseconds)
    }

    #[test]
    fn a_trip_is_whole_once_in_whichever_order_its_stamps_come() {
        for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2], [0, 2, 1]] {
            let mut trips = Trips::new(4);
            trips.sent(9, at(1));
            let whole = order.map(|step| match step {
                0 => trips.handed_over(9, at(2)),
                1 => trips.answered(9, (Some(at(7)), at(8)), (at(4), at(5)), Some(at(3))),
                _ => trips.told(9, at(6)),
            });
            assert_eq!(whole.map(|trip| trip.is_some()), [false, false, true], "{order:?}");
            assert!(trips.told(9, at(6)).is_none());
        }
    }

    #[test]
    fn what_has_left_the_ring_or_lacks_a_stamp_is_never_whole() {
        let mut trips = Trips::new(4);
        trips.sent(1, at(1));
        trips.sent(5, at(2));
        assert!(trips.handed_over(1, at(2)).is_none());
        assert!(trips.handed_over(5, at(3)).is_none());
        let server = (at(4), at(5));
        assert!(trips.answered(5, (None, at(8)), server, Some(at(3))).is_none());
        assert!(trips.told(5, at(6)).is_none());
        assert!(trips.told(u64::MAX, at(6)).is_none());
    }

    #[test]
    fn an_echo_tells_of_one_before_it_and_forgets_what_nobody_asks_for() {
        const ECHOES: u64 = 16;
        let mut echoed = Echoed::new(ECHOES as usize);
        echoed.came(Some(at(3)));
        assert_eq!(echoed.note(), Note { came: Some(at(3)), handed_over: None });
        echoed.sent(0, 70);
        echoed.handed_over(0, at(5));
        // One that was never sent, or too long ago.
        echoed.handed_over(ECHOES, at(6));
        assert_eq!(echoed.note().handed_over, Some((70, at(5))));
        echoed.sent(1, 71);
        assert_eq!(echoed.note().handed_over, None);
        for number in 2..2 + 2 * ECHOES {
            echoed.pings[(number % ECHOES) as usize] = (number, number);
            echoed.handed_over(number, at(number));
        }
        assert_eq!(echoed.note().handed_over, Some((2 + ECHOES, at(2 + ECHOES))));
    }
}
