//! Datagrams each of which asks for a session of one stream, with nothing said before: from whom they are taken, and how many. Whoever can
//! make its source another's would have a stream sent there: only who is near or allowed is answered.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::time::Duration;

use pathscope_core::Tick;
use pathscope_core::id::FlowId;
use pathscope_core::network::Network;
use pathscope_flow::{GroupId, Transport};
use pathscope_os::datagrams::{self, Datagram};
use pathscope_os::{clock, random};
use pathscope_peers::joining::Calling;
use pathscope_peers::limits::Origin;
use pathscope_peers::registry::{Greeting, PeerKind};

use super::listening::OwnListening;
use super::near::Near;
use super::sessions::Sessions;
use super::{Serving, TURN};
use crate::connect::origins::from_link_of;
use crate::messages::attendance::Arrival;
use crate::messages::door::Door;
use crate::messages::inbox::{FlowSocket, Inbox, SessionMessage};
use crate::promised::Promised;
use crate::session::driver::Carrier;

/// More than any of them.
const BUFFER_BYTES: usize = 64;
/// A client asks again after half a second: what comes earlier is a copy, made on the way. What comes later is one of a caller whose
/// stream is not over here, too, wherever that has got to.
const SAME: Duration = Duration::from_millis(400);
/// So many streams one address (IPv6: one /64) begins in a second.
const MOST_PER_SECOND: u32 = 200;
const SECOND: Duration = Duration::from_secs(1);
/// Callers that are remembered: all that may have called within a second, from some addresses.
const MOST_REMEMBERED: usize = 4_096;

/// Who has called lately.
#[derive(Debug)]
pub(super) struct Calls {
    near: Near,
    lately: HashMap<SocketAddr, Tick>,
    /// Whose streams are not over, or have not begun yet: no more than there are sessions.
    served: HashMap<SocketAddr, Inbox>,
    of_sites: HashMap<Origin, u32>,
    /// When the second began that is counted.
    since: Tick,
    /// Whether it was told that nobody stated what they are sent.
    has_told_unstated: bool,
}

/// What becomes of a call.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Verdict {
    /// It is answered.
    Answer,
    /// It is the same once more, or one too many.
    Ignore,
}

impl Calls {
    /// Nobody yet; these networks are answered, too.
    pub fn new(allowed: &[Network]) -> Self {
        Self {
            near: Near::new(allowed),
            lately: HashMap::new(),
            served: HashMap::new(),
            of_sites: HashMap::new(),
            since: Tick::ZERO,
            has_told_unstated: false,
        }
    }

    fn judge(&mut self, from: SocketAddr, now: Tick) -> Verdict {
        if now.since(self.since) >= SECOND {
            self.since = now;
            self.of_sites.clear();
            self.lately.retain(|_, at| now.since(*at) < SAME);
            self.served.retain(|_, session| session.is_read());
        }
        // A session that is slow to begin has no socket yet that would hear a caller who asks again.
        let is_served = self.served.get(&from).is_some_and(Inbox::is_read);
        let is_same = self.lately.get(&from).is_some_and(|&at| now.since(at) < SAME);
        if is_served || is_same || self.lately.len() >= MOST_REMEMBERED {
            return Verdict::Ignore;
        }
        let of_site = self.of_sites.entry(Origin::of(from.ip())).or_default();
        if *of_site >= MOST_PER_SECOND {
            return Verdict::Ignore;
        }
        *of_site += 1;
        self.lately.insert(from, now);
        Verdict::Answer
    }

    /// The stream of this caller is that of the session which reads this.
    fn serve(&mut self, from: SocketAddr, session: Inbox) {
        self.served.insert(from, session);
    }
}

impl Serving<'_> {
    /// Takes datagrams that ask for streams.
    pub(super) fn hear_callers(&mut self, own: &OwnListening) {
        let Some(socket) = &own.datagrams else { return };
        let mut buffer = [0; BUFFER_BYTES];
        for _ in 0..TURN {
            let Ok(Some(datagram)) = datagrams::receive(socket, &mut buffer) else { return };
            let said = buffer.get(..datagram.len).filter(|_| !datagram.truncated);
            let (Some(said), now) = (said, clock::now()) else { continue };
            if !self.calls.near.holds(datagram.remote.ip(), now) {
                self.calls.near.tell_how(datagram.remote, now, self.log);
                continue;
            }
            let Ok(entropy) = random::bytes() else { return };
            let Some(calling) = own.peer.called(said, entropy) else { continue };
            if self.calls.judge(datagram.remote, now) == Verdict::Answer {
                self.begin_stream(own, &datagram, calling);
            }
        }
    }

    /// Begins a session of one stream, which goes to where its datagram came from.
    fn begin_stream(
        &mut self,
        own: &OwnListening,
        Datagram { remote, local, .. }: &Datagram,
        Calling { greeting, answer }: Calling<Greeting>,
    ) {
        let (Some(socket), Some(local)) = (&own.datagrams, *local) else { return };
        let Some(beside) = own.beside.clone() else { return };
        let from = *remote;
        let stated = &self.sessions.settings.stated;
        let of_kind = stated.iter().filter(|stated| stated.peer == own.peer);
        let test = of_kind.flat_map(|stated| &stated.tests);
        let mut test = test.into_iter().filter(|test| test.is_over(Transport::Datagram));
        let Some(test) = test.next().cloned() else {
            return self.tell_unstated(own.peer, from);
        };
        let admission = match Sessions::admit(&self.sessions, from) {
            Ok(admission) => admission,
            Err(refusal) => return self.tell_refused(&refusal, from),
        };
        if let Err(refusal) = self.sessions.serve_one() {
            return self.tell_refused(&refusal, from);
        }
        // A client that misses it does without.
        let _ = datagrams::send(socket, &answer, from, Some(local));
        let place = self.hosts.place();
        let inbox = Inbox::new(place.hosted.waker.clone());
        // Nobody else ever comes to it.
        let door = Door::default();
        door.enter();
        self.calls.serve(from, inbox.0.clone());
        let here = from_link_of(from, SocketAddr::new(local, own.address.port()));
        inbox.0.post(SessionMessage::Attached {
            group: GroupId(0),
            flow: FlowId(0),
            socket: FlowSocket::Promised(Promised { local: here, remote: from, beside }),
            arrival: Arrival::default(),
        });
        let carrier = Carrier::Flows { local: Some(local), remote: from, inbox, door };
        self.begin(admission, greeting, (carrier, Some(test)), place);
    }

    /// The first who asks for what nobody has stated is told of.
    fn tell_unstated(&mut self, peer: PeerKind, from: SocketAddr) {
        if !std::mem::replace(&mut self.calls.has_told_unstated, true) {
            let line = format!(
                "refused, since nobody has stated what {peer} clients are sent over UDP: see the options of {peer} in pathscope server \
                 --help. Others like it are told of no more"
            );
            self.log.on_stranger(from, &line);
            self.sessions.settings.journal.trouble(Some(from.to_string()), line);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use pathscope_os::Waker;

    use super::*;

    fn at(milliseconds: u64) -> Tick {
        Tick::from_nanos(9_000_000_000 + milliseconds * 1_000_000)
    }

    #[test]
    fn a_copy_is_no_second_call_and_a_repetition_is_one() {
        let mut calls = Calls::new(&[]);
        let from = "192.0.2.1:5000".parse().expect("an address");
        let verdicts: Vec<Verdict> =
            [0, 1, 399, 516, 600].map(|ms| calls.judge(from, at(ms))).to_vec();
        let (yes, no) = (Verdict::Answer, Verdict::Ignore);
        assert_eq!(verdicts, [yes, no, no, yes, no]);
    }

    #[test]
    fn who_asks_again_gets_no_second_stream_however_late_the_first_begins() {
        let mut calls = Calls::new(&[]);
        let from = "192.0.2.1:5000".parse().expect("an address");
        assert_eq!(calls.judge(from, at(0)), Verdict::Answer);
        let (inbox, reader) = Inbox::new(Waker::new().expect("a waker"));
        calls.serve(from, inbox);
        let again = [516, 1_032, 9_000].map(|ms| calls.judge(from, at(ms)));
        assert_eq!(again, [Verdict::Ignore; 3]);
        let other = "192.0.2.1:5001".parse().expect("an address");
        assert_eq!(calls.judge(other, at(9_000)), Verdict::Answer);
        drop(reader);
        assert_eq!(calls.judge(from, at(9_001)), Verdict::Answer, "that stream is over");
        calls.judge(other, at(10_000));
        assert!(calls.served.is_empty(), "and forgotten");
    }

    #[test]
    fn one_address_begins_so_many_in_a_second_and_no_more_are_remembered_than_that() {
        let mut calls = Calls::new(&[]);
        let mut answered = 0;
        for port in 1..=60_000 {
            let from = SocketAddr::new(IpAddr::from([192, 0, 2, 1]), port);
            answered += u32::from(calls.judge(from, at(0)) == Verdict::Answer);
        }
        assert_eq!((answered, calls.lately.len()), (MOST_PER_SECOND, MOST_PER_SECOND as usize));
        let another = "192.0.2.2:5000".parse().expect("an address");
        assert_eq!(calls.judge(another, at(1)), Verdict::Answer);
        // Neighbours on one link are no site.
        for port in 1..=MOST_PER_SECOND as u16 {
            calls.judge(SocketAddr::new(IpAddr::from([0xfe80, 0, 0, 0, 0, 0, 0, 1]), port), at(2));
        }
        let neighbour = "[fe80::2]:5000".parse().expect("an address");
        assert_eq!(calls.judge(neighbour, at(2)), Verdict::Answer);
        let first = SocketAddr::new(IpAddr::from([192, 0, 2, 1]), 1);
        assert_eq!(calls.judge(first, at(1_000)), Verdict::Answer);
        assert_eq!(calls.lately.len(), 1, "who called a second ago is forgotten");
    }
}
