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

    /// Reads what a guest says, and no byte beyond what tells what it is for. It leaves when it has said that, and when its
    /// connection is closed or broken.
    pub fn hear(&mut self, key: u64) -> Option<Arrival> {
        let guest = self.get_mut(key)?;
        let said = loop {
            let needed = match receive(&guest.said[..guest.count]) {
                Reception::More(needed) => needed.min(FIRST_BYTES),
                Reception::Known(purpose) => break Some(Ok(purpose)),
                Reception::Stranger(who) => break Some(Err(who)),
            };
            match guest.stream.read(&mut guest.said[guest.count..needed]) {
                Ok(0) => break None,
                Ok(count) => guest.count += count,
                Err(error) if is_temporary(&error) => return None,
                Err(_) => break None,
            }
        };
        let Guest { stream, from, .. } = self.leave(key)?;
        Some(Arrival { stream, from, said: said? })
    }
}

impl Guest {
    /// A connection that has just come in, and does not block.
    pub fn new(stream: TcpStream, from: SocketAddr) -> Self {
        Self { stream, from, said: [0; FIRST_BYTES], count: 0 }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::TcpListener;

    use pathscope_core::id::Token;
    use pathscope_peers::dialogue::Returning;
    use pathscope_peers::native::{
        Greeting, HelloCheck, OPENING_BYTES, Opening, Return, VersionRange, turned_away,
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
