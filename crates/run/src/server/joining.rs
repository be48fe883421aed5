//! Connections that are a session's by being of its client: which of them begins one, and what is refused before anything is spent on
//! it. Not here: those that a session still awaits (`gathering`).

use std::net::{SocketAddr, TcpStream};

use pathscope_flow::Transport;
use pathscope_modes::groups::Test;
use pathscope_os::{clock, random};
use pathscope_peers::Refusal;
use pathscope_peers::in_band::{connections_at_once, further_connections};
use pathscope_peers::joining::Joining;
use pathscope_peers::peer::Control;
use pathscope_peers::registry::{Greeting, PeerKind};

use super::gathering::Client;
use super::latecomers::Latecomer;
use super::listening::OwnListening;
use super::parted::stopping;
use super::sessions::Sessions;
use super::{Serving, Settings};
use crate::messages::door::Door;
use crate::messages::inbox::{Inbox, SessionMessage};
use crate::session::driver::Carrier;

/// So many connections are on their way at once to a session that says on its control connection how many are to come.
const MOST_AT_ONCE: u64 = 256;

/// What a person at the server is told of a client that is one of several.
const TAKES_PART: &str = "is one of several that may take part in one test";

impl Serving<'_> {
    /// Whether clients of this kind are served.
    pub(super) fn serves(&self, kind: PeerKind) -> bool {
        let Settings { own_listeners_alone, stated, .. } = &self.sessions.settings;
        match kind {
            PeerKind::OWN => !own_listeners_alone,
            _ => stated.iter().any(|stated| stated.peer == kind),
        }
    }

    /// A connection has come to a listener that one kind has for itself.
    pub(super) fn accept_own(&mut self, own: &OwnListening, stream: TcpStream, from: SocketAddr) {
        if own.is_for_words {
            return self.hear_for_words(own.peer, stream, from);
        }
        // Where the system has none to draw, it is closed: others that are there go on.
        let Ok(entropy) = random::bytes() else { return };
        match own.peer.accepted(from, entropy) {
            Some(joining) => self.join(joining, stream, from),
            None => self.receive_guest(stream, from),
        }
    }

    /// A connection for words begins the session of its client, of which there is one at a time, or takes part in the one that there is
    /// of all clients of its kind. Connections of flows follow it to other ports.
    pub(super) fn lead(&mut self, comes: Latecomer) {
        if self.is_ending {
            let Latecomer { joining: Joining { greeting, .. }, stream, from, .. } = comes;
            return self.refuse(&stopping(), greeting, stream, from);
        }
        let client = (comes.joining.greeting.kind(), comes.joining.identity);
        let takes_all = self.takes_all(client.0);
        let leader = self.gathering.leader(client.0).filter(|_| takes_all);
        let comes = match leader {
            Some(leader) => match self.participate((client, leader), comes) {
                Some(comes) => comes,
                None => return,
            },
            None => comes,
        };
        let is_busy = leader.is_some() || self.gathering.is_led(client);
        let comes = if is_busy { self.latecomers.wait(comes, clock::now()) } else { Some(comes) };
        let Some(Latecomer { joining: Joining { greeting, .. }, stream: control, from, .. }) =
            comes
        else {
            return;
        };
        if is_busy {
            let sentence = if leader.is_some() {
                "a test of several is under way, and has begun without it"
            } else {
                "another test of its address is under way, and nothing tells which connections are whose"
            };
            return self.refuse(&Refusal::new("busy", sentence), greeting, control, from);
        }
        let admission = match Sessions::admit(&self.sessions, from) {
            Ok(admission) => admission,
            Err(refusal) => return self.refuse(&refusal, greeting, control, from),
        };
        let place = self.hosts.place();
        let inbox = Inbox::new(place.hosted.waker.clone());
        let door = Door::default();
        self.gathering.lead(client, (inbox.0.clone(), door.clone()), self.most_of_session());
        let carrier = if takes_all {
            // The first is heard as all others are, and may go as they may.
            let local = control.local_addr().ok().map(|local| local.ip());
            door.enter();
            self.log.on_stranger(from, TAKES_PART);
            let place = Box::new(());
            inbox.0.post(SessionMessage::Participates { stream: control, place });
            Carrier::Flows { local, remote: from, inbox, door }
        } else {
            Carrier::Joined { control, inbox, door }
        };
        let stated = self.stated_for(greeting.kind());
        self.begin(admission, greeting, (carrier, stated), place);
    }

    /// Whether all clients of a kind that come with words take part in one session.
    fn takes_all(&self, kind: PeerKind) -> bool {
        let mut stated = self.sessions.settings.stated.iter();
        stated.any(|stated| stated.peer == kind && stated.is_of_several)
    }

    /// A client takes part in the session of another. It comes back where it is too late for that, and is refused where it has no place.
    fn participate(
        &mut self,
        (client, leader): (Client, Client),
        comes: Latecomer,
    ) -> Option<Latecomer> {
        let Latecomer { joining, stream, from, until } = comes;
        let place = match Sessions::admit(&self.sessions, from) {
            Ok(admission) => Box::new(admission),
            Err(refusal) => {
                self.refuse(&refusal, joining.greeting, stream, from);
                return None;
            }
        };
        let too_late = self.gathering.participate((client, leader), stream, place);
        if too_late.is_none() {
            self.log.on_stranger(from, TAKES_PART);
        }
        too_late.map(|stream| Latecomer { joining, stream, from, until })
    }

    /// So many connections of one session may be on their way at once of which it takes as many as come: it may have as many.
    fn most_of_session(&self) -> u64 {
        self.sessions.settings.limits.descriptors.unwrap_or(u64::MAX)
    }

    /// Those whose session before may be over now.
    pub(super) fn lead_latecomers(&mut self) {
        self.latecomers.take().into_iter().for_each(|latecomer| self.lead(latecomer));
    }

    /// What clients of this kind run over TCP, as the operator has stated it.
    fn stated_for(&self, kind: PeerKind) -> Option<Test> {
        let stated = self.sessions.settings.stated.iter().find(|stated| stated.peer == kind);
        let mut tests = stated.into_iter().flat_map(|stated| &stated.tests);
        tests.find(|test| test.is_over(Transport::Stream)).cloned()
    }

    /// A connection becomes one of its client's session, which it begins where none awaits it.
    pub(super) fn join(&mut self, joining: Joining<Greeting>, stream: TcpStream, from: SocketAddr) {
        let Joining { greeting, identity, answer } = joining;
        let client = (greeting.kind(), identity);
        let local = stream.local_addr().ok().map(|local| local.ip());
        let Some((stream, answer)) = self.gathering.join(client, stream, answer) else { return };
        let admission = match Sessions::admit(&self.sessions, from) {
            Ok(admission) => admission,
            Err(refusal) => return self.refuse(&refusal, greeting, stream, from),
        };
        let place = self.hosts.place();
        let inbox = Inbox::new(place.hosted.waker.clone());
        let door = Door::default();
        if greeting.kind().control() == Control::Connection {
            // How many connections there are to be is said on this one.
            let others = (u64::MAX, MOST_AT_ONCE);
            self.gathering.begin(client, (inbox.0.clone(), door.clone()), others);
            let carrier = Carrier::Joined { control: stream, inbox, door };
            return self.begin(admission, greeting, (carrier, None), place);
        }
        let stated = self.stated_for(greeting.kind());
        let expected = match &stated {
            // How many there are is seen when no more come.
            Some(_) if greeting.kind().control() == Control::PortBefore => {
                (u64::MAX, self.most_of_session())
            }
            Some(test) => (further_connections(test), connections_at_once(test)),
            None => (0, 0),
        };
        door.enter();
        inbox.0.post(SessionMessage::Joined { stream, answer });
        self.gathering.begin(client, (inbox.0.clone(), door.clone()), expected);
        let carrier = Carrier::Flows { local, remote: from, inbox, door };
        self.begin(admission, greeting, (carrier, stated), place);
    }
}

/// Why clients of a kind are not served.
pub(super) fn not_served(kind: PeerKind) -> Refusal {
    let sentence = format!("{kind} clients are not served here");
    Refusal::new("unable", sentence).with_hint(format!("add {kind} to --accept"))
}
