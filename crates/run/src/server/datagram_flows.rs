//! Flows of datagrams that begin by themselves, once their client has said on its control connection that they do: the first datagram of each
//! comes to the listener, which opens the flow's socket at once, so that all others come to that. What came to the listener meanwhile is
//! counted here, and told to the flow. Nobody is answered.

use std::collections::HashMap;
use std::net::SocketAddr;

use pathscope_core::quantity::{counted, were};
use pathscope_os::datagrams::{self, Datagram};
use pathscope_os::sockets::{Settings, Socket};
use pathscope_peers::joining::Identity;
use pathscope_peers::peer::Peer;
use pathscope_peers::registry::{PeerKind, PeerVisitor};

use super::gathering::Caller;
use super::listening::OwnListening;
use super::{Serving, TURN};
use crate::connect::origins::from_link_of;
use crate::error::RunError;
use crate::messages::inbox::{Beginning, Inbox, SessionMessage};
use crate::promised::Promised;

/// More than any datagram.
const BUFFER_BYTES: usize = 1 << 16;
/// Room in the sockets of one session's flows until its test begins, together, and of each at least so much: what comes meanwhile is a tenth
/// of a second of what its sender sends.
const ROOM_BYTES: usize = 32 << 20;
const LEAST_ROOM_BYTES: usize = 256 << 10;

/// What is needed to hear of them.
#[derive(Debug, Default)]
pub(super) struct Beginnings {
    /// Made with the first that comes.
    buffer: Vec<u8>,
    /// What each listener has dropped so far, by its address.
    dropped: HashMap<SocketAddr, u32>,
}

/// What came of one flow to a listener, and was not told yet.
struct Untold {
    inbox: Inbox,
    place: u32,
    datagrams: u64,
    bytes: u64,
}

/// Who a client of a kind is that sends from there.
struct Sender(SocketAddr);

impl PeerVisitor for Sender {
    type Output = Option<Identity>;

    fn visit<P: Peer>(self) -> Option<Identity> {
        P::accepted(self.0).map(|joining| joining.identity)
    }
}

impl Serving<'_> {
    /// Takes datagrams that begin flows, and those of flows that came before these had their sockets.
    pub(super) fn hear_flows(&mut self, own: &OwnListening) {
        let Some(socket) = &own.datagrams else { return };
        let mut buffer = std::mem::take(&mut self.beginnings.buffer);
        buffer.resize(BUFFER_BYTES, 0);
        let (mut untold, mut heard): (Option<Untold>, _) = (None, None);
        for _ in 0..TURN {
            let Ok(Some(datagram)) = datagrams::receive(socket, &mut buffer) else { break };
            let Datagram { remote, local: Some(local), len, .. } = datagram else { continue };
            let Some(identity) = own.peer.visit(Sender(remote)) else { continue };
            let local = from_link_of(remote, SocketAddr::new(local, own.address.port()));
            match self.gathering.call((own.peer, identity), (remote, local)) {
                Caller::Begins(inbox, place) => {
                    begin(own, (local, remote), (&inbox, place), len as u64);
                    heard = Some(remote);
                }
                Caller::Known(inbox, place) => {
                    heard = Some(remote);
                    let same = untold.take_if(|it| it.place == place && it.inbox.is_same(&inbox));
                    let (datagrams, bytes) = same.map_or((0, 0), |it| (it.datagrams, it.bytes));
                    let (datagrams, bytes) = (datagrams + 1, bytes + len as u64);
                    untold.replace(Untold { inbox, place, datagrams, bytes }).iter().for_each(tell);
                }
                Caller::LeftOut(true) => self.tell_left_out(own.peer, remote),
                Caller::LeftOut(false) | Caller::Stranger => {}
            }
        }
        untold.iter().for_each(tell);
        self.beginnings.buffer = buffer;
        self.tell_dropped(own, socket, heard);
    }

    /// Datagrams come that are in no count, since there are more flows than there were when the test began, or than there may be.
    fn tell_left_out(&self, kind: PeerKind, from: SocketAddr) {
        let line = format!(
            "what this {kind} client sends from port {} is not counted: it began later than the flows of its test, or is one more than \
             may be (--limit-descriptors). Others like it are told of no more",
            from.port()
        );
        self.tell_uncounted(from, line);
    }

    /// Where the system has dropped some at the listener since the last look, those of a flow were among them that was heard there.
    fn tell_dropped(&mut self, own: &OwnListening, socket: &Socket, heard: Option<SocketAddr>) {
        let Some(dropped) = socket.receive_drops() else { return };
        let before = self.beginnings.dropped.insert(own.address, dropped).unwrap_or(0);
        let more = dropped.wrapping_sub(before);
        if let Some(from) = heard.filter(|_| more > 0) {
            let line = format!(
                "{} at port {} {} dropped before their flows had sockets of their own, and {} in no count: they came faster than \
                 they were taken",
                counted(more.into(), "datagram"),
                own.address.port(),
                were(more.into()),
                if more == 1 { "is" } else { "are" },
            );
            self.tell_uncounted(from, line);
        }
    }

    fn tell_uncounted(&self, from: SocketAddr, line: String) {
        self.log.on_stranger(from, &line);
        self.sessions.settings.journal.trouble(Some(from.to_string()), line);
    }
}

/// A flow begins, as the so many-th of its session: it has a socket from now on.
fn begin(
    own: &OwnListening,
    (local, remote): (SocketAddr, SocketAddr),
    (inbox, place): (&Inbox, u32),
    bytes: u64,
) {
    let Some(beside) = own.beside.clone() else { return };
    let promised = Promised { local, remote, beside };
    inbox.post(match promised.open(&Settings::default()) {
        Ok(socket) => {
            let room = ROOM_BYTES / (place as usize).saturating_add(1);
            // What the system does not grant the flow asks for again.
            let _ = socket.enlarge_receive_buffer(room.max(LEAST_ROOM_BYTES));
            SessionMessage::Begins(Beginning::First { socket, bytes })
        }
        Err(error) => SessionMessage::AttachFailed(RunError::from(error)),
    });
}

fn tell(Untold { inbox, place, datagrams, bytes }: &Untold) {
    let (&place, &datagrams, &bytes) = (place, datagrams, bytes);
    inbox.post(SessionMessage::Begins(Beginning::More { place, datagrams, bytes }));
}
