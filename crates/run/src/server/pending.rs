//! Connections that have not said yet what they are for. They cost a file and a little memory each, are
//! bounded in number and in time, and delay nobody.

use std::collections::{HashMap, VecDeque};
use std::io::{ErrorKind, Read};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use pathscope_core::Tick;
use pathscope_peers::native::{Greeting, LONG_OPENING_BYTES, Opening, Proof, Return, Seat};
use pathscope_peers::registry::identify;

/// A client says what it is for in its first packet.
const PATIENCE: Duration = Duration::from_secs(10);

/// Where all places are taken, so many are given to others in a second at the most: whoever connects has its word on the way, and
/// of very many that come at once the first must not go before it is here.
const TURNS_PER_SECOND: u64 = 8_000;

/// So many places of guests that have left may stay in the queue, however few are there.
const QUEUE_LEAST: usize = 64;

/// The connections that wait, in the order they came.
#[derive(Debug)]
pub(super) struct PendingConnections {
    guests: HashMap<u64, Guest>,
    /// When each came; may still name guests that have left.
    queue: VecDeque<(Tick, u64)>,
    next_key: u64,
    most: usize,
}

#[derive(Debug)]
struct Guest {
    stream: TcpStream,
    from: SocketAddr,
    said: [u8; LONG_OPENING_BYTES],
    count: usize,
}

/// What a connection is for.
#[derive(Debug)]
pub(super) enum Arrival {
    /// It has not said everything yet.
    Unfinished,
    /// It closed, or broke.
    Gone,
    /// It speaks something else; who it seems to be.
    Stranger(String),
    /// It begins a session.
    Control(Greeting),
    /// It goes on with a session.
    Return(Return),
    /// It is a lane of a flow.
    Data(SeatRequest),
}

/// A connection that is a lane of a flow, as it says.
#[derive(Clone, Copy, Debug)]
pub(super) struct SeatRequest {
    pub seat: Seat,
    /// That it is of its session. In version 2 alone, where its answer bears a checksum as well.
    pub proof: Option<Proof>,
    pub from: SocketAddr,
}

impl PendingConnections {
    /// Empty; keys begin at `first_key`, and at most `most` wait.
    pub fn new(first_key: u64, most: usize) -> Self {
        Self {
            guests: HashMap::new(),
            queue: VecDeque::new(),
            next_key: first_key,
            most: most.max(1),
        }
    }

    /// When there is a place for another: at once, or when the one that has waited longest may be sent away.
    pub fn next_place(&mut self) -> Option<Tick> {
        if self.guests.len() < self.most {
            return None;
        }
        let stay = self.most as u64 * 1_000_000_000 / TURNS_PER_SECOND;
        Some(self.first_came()?.plus_nanos(stay))
    }

    /// A connection comes in, which does not block. Where too many wait, the one that has waited longest goes.
    pub fn enter(&mut self, stream: TcpStream, from: SocketAddr, now: Tick) -> u64 {
        if self.guests.len() >= self.most {
            self.dismiss_oldest();
        }
        let key = self.next_key;
        self.next_key += 1;
        // Guests that leave at once do not fill the queue behind one that says nothing.
        if self.queue.len() >= 2 * self.guests.len() + QUEUE_LEAST {
            self.queue.retain(|(_, key)| self.guests.contains_key(key));
        }
        self.guests.insert(key, Guest { stream, from, said: [0; LONG_OPENING_BYTES], count: 0 });
        self.queue.push_back((now, key));
        key
    }

    /// The connection of a guest.
    pub fn stream(&self, key: u64) -> Option<&TcpStream> {
        self.guests.get(&key).map(|guest| &guest.stream)
    }

    /// A guest leaves, with its connection.
    pub fn leave(&mut self, key: u64) -> Option<(TcpStream, SocketAddr)> {
        self.guests.remove(&key).map(|guest| (guest.stream, guest.from))
    }

    /// Reads what a guest says, and no byte beyond its opening.
    pub fn hear(&mut self, key: u64) -> Arrival {
        let Some(guest) = self.guests.get_mut(&key) else { return Arrival::Gone };
        loop {
            // The kind tells how long it is, and comes well before the end of the shortest.
            let length = Opening::length(&guest.said[..guest.count]);
            match guest.stream.read(&mut guest.said[guest.count..length]) {
                Ok(0) => return Arrival::Gone,
                Ok(count) => guest.count += count,
                Err(error)
                    if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) =>
                {
                    return Arrival::Unfinished;
                }
                Err(_) => return Arrival::Gone,
            }
            match guest.judge() {
                Arrival::Unfinished => {}
                arrival => return arrival,
            }
        }
    }

    /// When the first guest has said nothing for too long.
    pub fn next_deadline(&mut self) -> Option<Tick> {
        self.first_came().map(|came| came + PATIENCE)
    }

    /// When the guest came that has waited longest.
    fn first_came(&mut self) -> Option<Tick> {
        while let Some(&(came, key)) = self.queue.front() {
            if self.guests.contains_key(&key) {
                return Some(came);
            }
            self.queue.pop_front();
        }
        None
    }

    /// Closes the connections that have said nothing for too long.
    pub fn dismiss_silent(&mut self, now: Tick) {
        while self.next_deadline().is_some_and(|deadline| deadline <= now) {
            self.dismiss_oldest();
        }
    }

    /// Closes the connection that has waited longest. Returns whether there was one.
    pub fn dismiss_oldest(&mut self) -> bool {
        self.first_came();
        self.queue.pop_front().is_some_and(|(_, key)| self.guests.remove(&key).is_some())
    }
}

impl Guest {
    const fn requests(&self, seat: Seat, proof: Option<Proof>) -> Arrival {
        Arrival::Data(SeatRequest { seat, proof, from: self.from })
    }

    fn judge(&self) -> Arrival {
        let said = &self.said[..self.count];
        if self.count == Opening::length(said) {
            return match Opening::decode(said) {
                Ok(Opening::Control(greeting)) => Arrival::Control(greeting),
                Ok(Opening::Data(seat)) => self.requests(seat, None),
                Ok(Opening::CheckedData(seat, proof)) => self.requests(seat, Some(proof)),
                Ok(Opening::Return(back)) => Arrival::Return(back),
                Err(error) => Arrival::Stranger(
                    identify(said).map_or_else(|| error.to_string(), |caller| caller.to_string()),
                ),
            };
        }
        match identify(said) {
            None | Some(pathscope_peers::registry::Caller::Native) => Arrival::Unfinished,
            Some(caller) => Arrival::Stranger(caller.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::TcpListener;

    use pathscope_core::id::Token;
    use pathscope_peers::native::{HelloCheck, VersionRange};

    use super::*;

    fn guest(pending: &mut PendingConnections, now: Tick) -> (u64, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let client = TcpStream::connect(listener.local_addr().expect("bound")).expect("it listens");
        let (server, from) = listener.accept().expect("a connection waits");
        server.set_nonblocking(true).expect("a socket");
        (pending.enter(server, from, now), client)
    }

    /// Hears until something comes of it: what was written arrives soon.
    fn heard(pending: &mut PendingConnections, key: u64) -> Arrival {
        let stream = pending.stream(key).expect("still here").try_clone().expect("a clone");
        stream.set_nonblocking(false).expect("a socket");
        stream.set_read_timeout(Some(Duration::from_secs(10))).expect("a socket");
        pending.hear(key)
    }

    #[test]
    fn an_opening_in_pieces_is_an_opening() {
        let mut pending = PendingConnections::new(0, 10);
        let (key, mut client) = guest(&mut pending, Tick::ZERO);
        let versions = VersionRange { least: 1, most: 2 };
        let greeting = Greeting { versions, hello: Some(HelloCheck::of(b"hello")) };
        let opening = Opening::Control(greeting).encode();
        client.write_all(&opening[..5]).expect("connected");
        assert!(matches!(heard(&mut pending, key), Arrival::Unfinished));
        client.write_all(&opening[5..]).expect("connected");
        client.write_all(b"not for a guest").expect("connected");
        assert!(matches!(heard(&mut pending, key), Arrival::Control(it) if it == greeting));
        let (mut stream, _) = pending.leave(key).expect("still here");
        let mut rest = [0; 15];
        stream.read_exact(&mut rest).expect("what follows the opening is left");
        assert_eq!(&rest, b"not for a guest");
    }

    #[test]
    fn a_longer_opening_is_read_whole_and_no_byte_beyond() {
        let mut pending = PendingConnections::new(0, 10);
        let (key, mut client) = guest(&mut pending, Tick::ZERO);
        let back = Return { session: Token([3; 16]), attempt: 1, received: 9 };
        let opening = Opening::Return(back).encode();
        client.write_all(&opening).expect("connected");
        client.write_all(b"rest").expect("connected");
        let mut arrival = heard(&mut pending, key);
        if matches!(arrival, Arrival::Unfinished) {
            arrival = heard(&mut pending, key);
        }
        assert!(matches!(arrival, Arrival::Return(it) if it == back), "{arrival:?}");
        let (mut stream, _) = pending.leave(key).expect("still here");
        let mut rest = [0; 4];
        stream.read_exact(&mut rest).expect("what follows the opening is left");
        assert_eq!(&rest, b"rest");
    }

    #[test]
    fn who_comes_and_goes_is_forgotten_behind_who_stays() {
        let mut pending = PendingConnections::new(0, 10);
        let (first, _client) = guest(&mut pending, Tick::ZERO);
        for _ in 0..500 {
            let (key, _gone) = guest(&mut pending, Tick::ZERO);
            pending.leave(key);
            assert!(pending.queue.len() <= 2 + QUEUE_LEAST, "{}", pending.queue.len());
        }
        assert_eq!(pending.next_deadline(), Some(Tick::ZERO + PATIENCE));
        assert!(pending.stream(first).is_some());
    }

    #[test]
    fn strangers_are_known_by_their_first_words() {
        let mut pending = PendingConnections::new(0, 10);
        let (key, mut client) = guest(&mut pending, Tick::ZERO);
        client.write_all(b"GET / HTTP/1.1\r\n\r\n").expect("connected");
        let Arrival::Stranger(who) = heard(&mut pending, key) else {
            panic!("it is no client of ours")
        };
        assert!(who.contains("web client"), "{who}");
    }

    #[test]
    fn a_place_is_given_to_another_when_its_guest_had_time_to_say_a_word() {
        let mut pending = PendingConnections::new(0, 4);
        let now = Tick::from_nanos(1_000_000_000);
        let guests: Vec<_> = (0..4).map(|_| guest(&mut pending, now)).collect();
        // Four places, 8,000 turns a second: each may stay for half a millisecond.
        assert_eq!(pending.next_place(), Some(now.plus_nanos(500_000)));
        pending.leave(guests[1].0);
        assert_eq!(pending.next_place(), None, "there is room");
    }

    #[test]
    fn who_says_nothing_goes_and_who_came_first_goes_first() {
        let mut pending = PendingConnections::new(0, 2);
        let second = Tick::from_nanos(1_000_000_000);
        let (first, _a) = guest(&mut pending, Tick::ZERO);
        let (other, _b) = guest(&mut pending, second);
        let (third, _c) = guest(&mut pending, second);
        assert!(pending.stream(first).is_none(), "there is room for two");
        assert_eq!(pending.next_deadline(), Some(second + PATIENCE));
        pending.leave(other);
        pending.dismiss_silent(second + PATIENCE);
        assert!(pending.stream(third).is_none());
        assert_eq!(pending.next_deadline(), None);
        assert!(!pending.dismiss_oldest());
    }
}
