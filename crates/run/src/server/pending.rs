//! Connections that have not said yet what they are for. They cost a file and a little memory each, are
//! bounded in number and in time, and delay nobody.

use std::io::Read;
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use pathscope_core::Tick;
use pathscope_peers::registry::{FIRST_BYTES, Purpose, Reception, receive};

use crate::error::is_temporary;
use crate::queue::Queue;

/// A client says what it is for in its first packet.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

/// Where all places are taken, so many are given to others in a second at the most: whoever connects has its word on the way, and
/// of very many that come at once the first must not go before it is here.
const TURNS_PER_SECOND: u64 = 8_000;

/// A connection that waits.
#[derive(Debug)]
pub(super) struct Guest {
    pub stream: TcpStream,
    from: SocketAddr,
    said: [u8; FIRST_BYTES],
    count: usize,
}

/// A connection that has said what it is for, and is no guest any more.
#[derive(Debug)]
pub(super) struct Arrival {
    pub stream: TcpStream,
    pub from: SocketAddr,
    /// What it is for; of one that speaks something else, who it seems to be.
    pub said: Result<Purpose, String>,
    /// So many bytes of that are still to be received. For one that asks for its seat: whoever gets it receives them with what follows
    /// them, a call less for each of very many.
    pub unread: usize,
}

/// What came of hearing a guest.
enum Heard {
    /// It has more to say.
    Part,
    /// It has closed, or its connection is broken.
    End,
    /// What it is for, or who it seems to be; and how much of that is still to be received.
    All(Result<Purpose, String>, usize),
}

impl Queue<Guest> {
    /// When there is a place for another: at once, or when the one that has waited longest may be sent away.
    pub fn next_place(&mut self) -> Option<Tick> {
        if self.len() < self.most {
            return None;
        }
        let stay = self.most as u64 * 1_000_000_000 / TURNS_PER_SECOND;
        Some(self.first_came()?.plus_nanos(stay))
    }

    /// Hears a guest. It leaves when it has said what it is for, and when its connection is closed or broken.
    pub fn hear(&mut self, key: u64) -> Option<Arrival> {
        let heard = self.get_mut(key)?.hear();
        if matches!(heard, Heard::Part) {
            return None;
        }
        self.leave(key)?.arrive(heard)
    }
}

impl Guest {
    /// A connection that has just come in, and does not block.
    pub fn new(stream: TcpStream, from: SocketAddr) -> Self {
        Self { stream, from, said: [0; FIRST_BYTES], count: 0 }
    }

    /// Hears one that has just come in, and does not block: what it is for, nothing where it is gone, or itself where it has more to say.
    pub fn receive(stream: TcpStream, from: SocketAddr) -> Result<Option<Arrival>, Self> {
        let mut guest = Self::new(stream, from);
        match guest.hear() {
            Heard::Part => Err(guest),
            heard => Ok(guest.arrive(heard)),
        }
    }

    /// Reads what it says, and no byte beyond what tells what it is for. Where it asks for its seat with all that it says, nothing is taken
    /// of that.
    fn hear(&mut self) -> Heard {
        if let Some((purpose, length)) = self.look_for_seat() {
            return Heard::All(Ok(purpose), length);
        }
        loop {
            let needed = match receive(&self.said[..self.count]) {
                Reception::More(needed) => needed.min(FIRST_BYTES),
                Reception::Known(purpose) => return Heard::All(Ok(purpose), 0),
                Reception::Stranger(who) => return Heard::All(Err(who), 0),
            };
            match self.stream.read(&mut self.said[self.count..needed]) {
                Ok(0) => return Heard::End,
                Ok(count) => self.count += count,
                Err(error) if is_temporary(&error) => return Heard::Part,
                Err(_) => return Heard::End,
            }
        }
    }

    /// Whether it asks for its seat in what has come, with how many bytes.
    fn look_for_seat(&self) -> Option<(Purpose, usize)> {
        let mut said = [0; FIRST_BYTES];
        let there = if self.count == 0 { self.stream.peek(&mut said).ok()? } else { 0 };
        let mut length = 0;
        loop {
            match receive(&said[..length]) {
                Reception::More(needed) if length < needed && needed <= there => length = needed,
                Reception::Known(purpose @ Purpose::Seat(_)) => return Some((purpose, length)),
                _ => return None,
            }
        }
    }

    /// What was heard of it.
    fn arrive(self, heard: Heard) -> Option<Arrival> {
        let Heard::All(said, unread) = heard else { return None };
        let Self { stream, from, .. } = self;
        Some(Arrival { stream, from, said, unread })
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::TcpListener;

    use pathscope_core::id::{FlowId, Lane, Token};
    use pathscope_flow::GroupId;
    use pathscope_peers::attach::{ClaimSeat, Seat};
    use pathscope_peers::dialogue::Returning;
    use pathscope_peers::native::{
        Greeting, HelloCheck, OPENING_BYTES, Opening, Return, VersionRange, proof_of, turned_away,
    };
    use pathscope_peers::registry;

    use super::*;

    fn guest(pending: &mut Queue<Guest>, now: Tick) -> (u64, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let client = TcpStream::connect(listener.local_addr().expect("bound")).expect("it listens");
        let (server, from) = listener.accept().expect("a connection waits");
        server.set_nonblocking(true).expect("a socket");
        (pending.admit(Guest::new(server, from), now), client)
    }

    /// Hears until something comes of it: what was written arrives soon.
    fn heard(pending: &mut Queue<Guest>, key: u64) -> Option<Arrival> {
        let stream = pending.get(key).expect("still here").stream.try_clone().expect("a clone");
        stream.set_nonblocking(false).expect("a socket");
        stream.set_read_timeout(Some(Duration::from_secs(10))).expect("a socket");
        pending.hear(key)
    }

    /// The same, of what was written at once and is there already.
    fn heard_all(pending: &mut Queue<Guest>, key: u64) -> Option<Arrival> {
        let guest = pending.get(key).expect("still here");
        guest.stream.set_nonblocking(false).expect("a socket");
        guest.stream.peek(&mut [0]).expect("something was written");
        guest.stream.set_nonblocking(true).expect("a socket");
        pending.hear(key)
    }

    #[test]
    fn an_opening_in_pieces_is_an_opening() {
        let mut pending = Queue::new(PATIENCE).numbered(0, 10);
        let (key, mut client) = guest(&mut pending, Tick::ZERO);
        let versions = VersionRange { least: 1, most: 2 };
        let greeting = Greeting { versions, hello: Some(HelloCheck::of(b"hello")) };
        let opening = Opening::Control(greeting).encode();
        client.write_all(&opening[..5]).expect("connected");
        assert!(heard(&mut pending, key).is_none() && pending.get(key).is_some());
        client.write_all(&opening[5..]).expect("connected");
        client.write_all(b"not for a guest").expect("connected");
        let Arrival { mut stream, said, .. } = heard(&mut pending, key).expect("it is whole");
        let Ok(Purpose::Session(registry::Greeting::Native(heard))) = said else {
            panic!("{said:?}")
        };
        assert_eq!(heard, greeting);
        let mut rest = [0; 15];
        stream.read_exact(&mut rest).expect("what follows the opening is left");
        assert_eq!(&rest, b"not for a guest");
    }

    #[test]
    fn a_longer_opening_is_read_whole_and_no_byte_beyond() {
        let mut pending = Queue::new(PATIENCE).numbered(0, 10);
        let (key, mut client) = guest(&mut pending, Tick::ZERO);
        let back = Return { session: Token([3; 16]), attempt: 1, received: 9 };
        let opening = Opening::Return(back).encode();
        client.write_all(&opening).expect("connected");
        client.write_all(b"rest").expect("connected");
        let mut arrival = heard(&mut pending, key);
        if arrival.is_none() {
            arrival = heard(&mut pending, key);
        }
        let Arrival { mut stream, said, .. } = arrival.expect("it is whole");
        let Ok(Purpose::Return(heard)) = said else { panic!("{said:?}") };
        let Return { session, attempt, received } = back;
        assert_eq!(heard, Returning { session, attempt, received, unknown: turned_away() });
        let mut rest = [0; 4];
        stream.read_exact(&mut rest).expect("what follows the opening is left");
        assert_eq!(&rest, b"rest");
    }

    #[test]
    fn what_asks_for_a_seat_is_left_for_whoever_gets_it_unless_it_comes_in_pieces() {
        let seat =
            Seat { token: Token([5; 16]), group: GroupId(0), flow: FlowId(7), lane: Lane::ONLY };
        let opening = Opening::CheckedData(seat, proof_of(seat, Token([6; 16]))).encode();
        for cut in [0, 20, OPENING_BYTES] {
            let mut pending = Queue::new(PATIENCE).numbered(0, 10);
            let (key, mut client) = guest(&mut pending, Tick::ZERO);
            if cut > 0 {
                client.write_all(&opening[..cut]).expect("connected");
                assert!(heard_all(&mut pending, key).is_none() && pending.get(key).is_some());
            }
            client.write_all(&[&opening[cut..], b"rest"].concat()).expect("connected");
            let Arrival { mut stream, said, unread, .. } =
                heard_all(&mut pending, key).expect("it is whole");
            assert!(matches!(said, Ok(Purpose::Seat(claim)) if claim.seat() == seat), "{cut}");
            let left = if cut > 0 { &b"rest"[..] } else { &[&opening[..], b"rest"].concat() };
            assert_eq!(unread, left.len() - 4);
            let mut rest = vec![0; left.len()];
            stream.read_exact(&mut rest).expect("it was left");
            assert_eq!(rest, left);
        }
    }

    #[test]
    fn who_comes_and_goes_is_forgotten_behind_who_stays() {
        let mut pending = Queue::new(PATIENCE).numbered(0, 10);
        let (first, _client) = guest(&mut pending, Tick::ZERO);
        for _ in 0..500 {
            let (key, _gone) = guest(&mut pending, Tick::ZERO);
            pending.leave(key);
            assert!(pending.places() <= 2 + 64, "{}", pending.places());
        }
        assert_eq!(pending.next_deadline(), Some(Tick::ZERO + PATIENCE));
        assert!(pending.get(first).is_some());
    }

    #[test]
    fn strangers_are_known_by_their_first_words() {
        let mut pending = Queue::new(PATIENCE).numbered(0, 10);
        let (key, mut client) = guest(&mut pending, Tick::ZERO);
        client.write_all(b"GET / HTTP/1.1\r\n\r\n").expect("connected");
        let arrival = heard(&mut pending, key).expect("it has said enough");
        let who = arrival.said.expect_err("it is no client of ours");
        assert!(who.contains("web client"), "{who}");
    }

    #[test]
    fn who_says_more_than_an_opening_before_it_is_known_is_heard_to_the_end() {
        let cookie = b"abcdefghijklmnopqrstuvwxyz234567abcd\0";
        // At once, and cut where an opening would end, before, and behind.
        for cut in [0, 20, OPENING_BYTES - 1, OPENING_BYTES, OPENING_BYTES + 1, 36] {
            let mut pending = Queue::new(PATIENCE).numbered(0, 10);
            let (key, mut client) = guest(&mut pending, Tick::ZERO);
            let (first, rest) = cookie.split_at(cut);
            for piece in [first, rest].into_iter().filter(|piece| !piece.is_empty()) {
                assert!(pending.get(key).is_some(), "cut at {cut}");
                client.write_all(piece).expect("connected");
                let Some(arrival) = heard_all(&mut pending, key) else { continue };
                let is_whole = matches!(arrival.said, Ok(Purpose::Join(_)));
                assert!(is_whole && piece == rest, "cut at {cut}: {:?}", arrival.said);
            }
            assert!(pending.get(key).is_none(), "cut at {cut}");
        }
    }

    #[test]
    fn an_opening_that_was_damaged_is_told_as_a_client_s() {
        let mut pending = Queue::new(PATIENCE).numbered(0, 10);
        let (key, mut client) = guest(&mut pending, Tick::ZERO);
        let back = Return { session: Token([3; 16]), attempt: 1, received: 9 };
        let mut opening = Opening::Return(back).encode();
        opening[20] ^= 1;
        client.write_all(&opening).expect("connected");
        let who = heard_all(&mut pending, key).expect("it is whole").said.expect_err("damaged");
        assert!(who.starts_with("a pathscope client; its opening was damaged"), "{who}");
    }

    #[test]
    fn a_place_is_given_to_another_when_its_guest_had_time_to_say_a_word() {
        let mut pending = Queue::new(PATIENCE).numbered(0, 4);
        let now = Tick::from_nanos(1_000_000_000);
        let guests: Vec<_> = (0..4).map(|_| guest(&mut pending, now)).collect();
        // Four places, 8,000 turns a second: each may stay for half a millisecond.
        assert_eq!(pending.next_place(), Some(now.plus_nanos(500_000)));
        pending.leave(guests[1].0);
        assert_eq!(pending.next_place(), None, "there is room");
    }

    #[test]
    fn who_says_nothing_goes_and_who_came_first_goes_first() {
        let mut pending = Queue::new(PATIENCE).numbered(0, 2);
        let second = Tick::from_nanos(1_000_000_000);
        let (first, _a) = guest(&mut pending, Tick::ZERO);
        let (other, _b) = guest(&mut pending, second);
        let (third, _c) = guest(&mut pending, second);
        assert!(pending.get(first).is_none(), "there is room for two");
        assert_eq!(pending.next_deadline(), Some(second + PATIENCE));
        pending.leave(other);
        pending.dismiss_late(second + PATIENCE);
        assert!(pending.get(third).is_none());
        assert_eq!(pending.next_deadline(), None);
        assert!(pending.leave_first().is_none());
    }
}
