//! Connections that are a session's by being of its client: which of them begins one, and what is refused before anything is spent on
//! it. Not here: those that a session still awaits (`gathering`).

use std::net::{SocketAddr, TcpStream};

use pathscope_flow::Transport;
use pathscope_peers::Refusal;
use pathscope_peers::in_band::{connections_at_once, further_connections};
use pathscope_peers::joining::Joining;
use pathscope_peers::peer::Control;
use pathscope_peers::registry::{Greeting, PeerKind};

use super::sessions::Sessions;
use super::{Serving, Settings};
use crate::messages::door::Door;
use crate::messages::inbox::{Inbox, SessionMessage};
use crate::session::driver::Carrier;

/// So many connections are on their way at once to a session that says on its control connection how many are to come.
const MOST_AT_ONCE: u64 = 256;

impl Serving<'_> {
    /// Whether clients of this kind are served.
    pub(super) fn serves(&self, kind: PeerKind) -> bool {
        let Settings { own_listeners_alone, stated, .. } = &self.sessions.settings;
        match kind {
            PeerKind::OWN => !own_listeners_alone,
            _ => stated.iter().any(|stated| stated.peer == kind),
        }
    }

    /// A connection becomes one of its client's session, which it begins where none awaits it.
    pub(super) fn join(&mut self, joining: Joining<Greeting>, stream: TcpStream, from: SocketAddr) {
        let Joining { greeting, identity, answer } = joining;
        let client = (greeting.kind(), identity);
        let local = stream.local_addr().ok().map(|local| local.ip());
        let joined = SessionMessage::Joined { stream, answer };
        let Some(joined) = self.gathering.join(client, joined) else { return };
        let admission = match Sessions::admit(&self.sessions, from) {
            Ok(admission) => admission,
            Err(refusal) => match joined {
                SessionMessage::Joined { stream, .. } => {
                    return self.refuse(&refusal, greeting, stream, from);
                }
                _ => return self.tell_refused(&refusal, from),
            },
        };
        let place = self.hosts.place();
        let inbox = Inbox::new(place.hosted.waker.clone());
        let has_control = greeting.kind().control() == Control::Connection;
        let joined = match joined {
            SessionMessage::Joined { stream: control, .. } if has_control => {
                let door = Door::default();
                // How many connections there are to be is said on this one.
                let others = (u64::MAX, MOST_AT_ONCE);
                self.gathering.begin(client, (inbox.0.clone(), door.clone()), others);
                let carrier = Carrier::Joined { control, inbox, door };
                return self.begin(admission, greeting, (carrier, None), place);
            }
            joined => joined,
        };
        let stated = &self.sessions.settings.stated;
        let stated = stated.iter().find(|stated| stated.peer == greeting.kind());
        let mut stated = stated.into_iter().flat_map(|stated| &stated.tests);
        let stated = stated.find(|test| test.is_over(Transport::Stream)).cloned();
        let further = stated.as_ref().map_or(0, further_connections);
        let door = Door::default();
        door.enter();
        inbox.0.post(joined);
        let at_once = stated.as_ref().map_or(0, connections_at_once);
        self.gathering.begin(client, (inbox.0.clone(), door.clone()), (further, at_once));
        let carrier = Carrier::Flows { local, remote: from, inbox, door };
        self.begin(admission, greeting, (carrier, stated), place);
    }
}

/// Why clients of a kind are not served.
pub(super) fn not_served(kind: PeerKind) -> Refusal {
    let sentence = format!("{kind} clients are not served here");
    Refusal::new("unable", sentence).with_hint(format!("add {kind} to --accept"))
}
