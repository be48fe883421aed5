//! Clients that are told why they have no session, and those that were in one and have been told why they are none of it any more: told at once
//! by the thread that listens, which waits for none of them.
//!
//! A client closes when it has heard why. Who does not is let go after a while, and so is who has waited longest where too
//! many do: it has been told. None costs a thread, and all together a bounded number of descriptors.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use pathscope_core::Tick;

use crate::error::is_temporary;
use crate::queue::Queue;

/// A client closes within this time. Closed from here, what it still says would have the system reset the connection, and
/// the word could be lost.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);

/// What is heard of one at a time, and in all: its greeting, and no more than a client says before it listens.
const HEARD_BYTES: usize = 4 << 10;
const HEARD_MOST: usize = 128 << 10;

/// Somebody whose words cannot be read is let go at once, without a word. What has come of them is read: a client whose opening the
/// path has damaged sees the end of its connection then, and asks again, where a reset would tell of another trouble.
pub(super) fn turn_away(mut stream: TcpStream) {
    // What fails has failed with the connection, which is closed.
    let _ = stream.shutdown(Shutdown::Write).and_then(|()| stream.read(&mut [0; HEARD_BYTES]));
}

/// One that has been told and has not closed.
#[derive(Debug)]
pub(super) struct Leaving {
    pub stream: TcpStream,
    heard: usize,
}

impl Queue<Leaving> {
    /// A client is told this, on a connection that does not block. Its key and it, where it has not gone already.
    pub fn tell(
        &mut self,
        mut stream: TcpStream,
        word: &[u8],
        now: Tick,
    ) -> Option<(u64, &Leaving)> {
        // A few hundred bytes on a connection on which nothing was said yet always fit.
        stream.write_all(word).ok()?;
        self.wait_for(stream, now)
    }

    /// One has been told all that there is, and sees so: nothing more is said from here.
    pub fn let_go(&mut self, stream: TcpStream, now: Tick) -> Option<(u64, &Leaving)> {
        stream.shutdown(Shutdown::Write).ok()?;
        self.wait_for(stream, now)
    }

    fn wait_for(&mut self, stream: TcpStream, now: Tick) -> Option<(u64, &Leaving)> {
        let key = self.admit(Leaving { stream, heard: 0 }, now);
        // Its greeting, and whether it has closed behind it: such a one need not be waited for.
        self.hear(key);
        self.hear(key);
        self.get(key).map(|leaving| (key, leaving))
    }

    /// One says something, which nobody hears, or has closed.
    pub fn hear(&mut self, key: u64) {
        let Some(leaving) = self.get_mut(key) else { return };
        let mut bytes = [0; HEARD_BYTES];
        let has_gone = match leaving.stream.read(&mut bytes) {
            Ok(0) => true,
            Ok(count) => {
                leaving.heard += count;
                leaving.heard > HEARD_MOST
            }
            Err(error) => !is_temporary(&error),
        };
        if has_gone {
            self.leave(key);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    fn connection() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let client = TcpStream::connect(listener.local_addr().expect("bound")).expect("it listens");
        let (server, _) = listener.accept().expect("a connection waits");
        server.set_nonblocking(true).expect("a socket");
        (server, client)
    }

    fn told(client: &mut TcpStream) -> [u8; 2] {
        let mut word = [0; 2];
        client.read_exact(&mut word).expect("it is told");
        word
    }

    #[test]
    fn everybody_is_told_and_few_stay() {
        let mut farewells = Queue::new(PATIENCE).numbered(7, 2);
        let mut clients = Vec::new();
        for number in 0..5_u64 {
            let (server, mut client) = connection();
            client.write_all(b"a greeting").expect("connected");
            let (key, _) =
                farewells.tell(server, b"no", Tick::from_nanos(number)).expect("it has not closed");
            assert_eq!(key, 7 + number);
            clients.push(client);
        }
        assert_eq!((farewells.len(), farewells.next_deadline().is_some()), (2, true));
        for client in &mut clients {
            assert_eq!(&told(client), b"no");
        }
        farewells.dismiss_late(Tick::from_nanos(3) + PATIENCE);
        assert_eq!(farewells.len(), 1);
        assert!(farewells.leave_first().is_some());
        assert!(farewells.leave_first().is_none());
    }

    #[test]
    fn who_is_turned_away_sees_an_end_though_more_was_said() {
        let (server, mut client) = connection();
        client.write_all(&[7; 1_072]).expect("connected");
        server.set_nonblocking(false).expect("a socket");
        server.peek(&mut [0]).expect("it has come");
        turn_away(server);
        assert_eq!(client.read(&mut [0; 8]).expect("an end, and no reset"), 0);
    }

    #[test]
    fn who_is_let_go_is_not_cut_off_though_more_is_said_and_is_heard_until_it_closes() {
        let mut farewells = Queue::new(PATIENCE).numbered(0, 8);
        let (mut server, mut client) = connection();
        server.write_all(b"no").expect("connected");
        client.write_all(&[7; 3 * HEARD_BYTES]).expect("connected");
        let (key, leaving) = farewells.let_go(server, Tick::ZERO).expect("it has not closed");
        let stream = leaving.stream.try_clone().expect("a clone");
        stream.set_nonblocking(false).expect("a socket");
        assert_eq!(&told(&mut client), b"no");
        assert_eq!(client.read(&mut [0; 8]).expect("an end, and no reset"), 0);
        client.write_all(b"more").expect("it is taken still");
        drop(client);
        let most = 3 * HEARD_BYTES + 5;
        let heard = (0..most).take_while(|_| {
            farewells.hear(key);
            farewells.get(key).is_some()
        });
        assert!(heard.count() < most);
    }

    #[test]
    fn who_closes_leaves_nothing_behind() {
        let mut farewells = Queue::new(PATIENCE).numbered(0, 8);
        for _ in 0..100 {
            let (server, mut client) = connection();
            let (key, leaving) =
                farewells.tell(server, b"no", Tick::ZERO).expect("it has not closed");
            let stream = leaving.stream.try_clone().expect("a clone");
            assert_eq!(&told(&mut client), b"no");
            drop(client);
            stream.set_nonblocking(false).expect("a socket");
            farewells.hear(key);
            assert!(farewells.get(key).is_none());
            assert!(farewells.places() <= 2 * 8 + 64);
        }
        assert_eq!(farewells.next_deadline(), None);
    }

    #[test]
    fn who_talks_on_and_on_is_let_go() {
        let mut farewells = Queue::new(PATIENCE).numbered(0, 8);
        let (server, mut client) = connection();
        let (key, leaving) = farewells.tell(server, b"no", Tick::ZERO).expect("it has not closed");
        let stream = leaving.stream.try_clone().expect("a clone");
        stream.set_nonblocking(false).expect("a socket");
        client.write_all(&vec![7; HEARD_MOST + 1]).expect("there is room");
        let most = 2 * HEARD_MOST;
        let heard = (0..most).take_while(|_| {
            farewells.hear(key);
            farewells.get(key).is_some()
        });
        assert!(heard.count() < most);
    }
}
