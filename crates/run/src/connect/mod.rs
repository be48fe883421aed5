//! How flows get their sockets: where connections come from and go to, how each is opened with its token and answered, and
//! when the next is begun.

pub(crate) mod ahead;
pub(crate) mod attach;
mod datagrams;
pub(crate) mod destinations;
pub(crate) mod handshake;
pub(crate) mod opener;
pub(crate) mod origins;
pub(crate) mod paths;
mod ports;
pub(crate) mod room;
mod seating;
pub(crate) mod settings;

use std::net::SocketAddr;

use pathscope_core::id::{FlowId, Lane};
use pathscope_flow::{Credentials, Group};
use pathscope_os::sockets::Socket;
use pathscope_peers::attach::Seat;
use pathscope_peers::joining::Cookie;
use pathscope_peers::peer::{Control, Peer};
use pathscope_peers::registry::{PeerKind, PeerVisitor, StreamAttaching};

use crate::error::RunError;
use crate::holders::Holders;
use crate::messages::attendance::Arrival;
use crate::messages::inbox::{FlowSocket, Inbox, SessionMessage};
use crate::workers::entrances::WayIn;

/// Flows of a group that are to get their sockets at the client.
#[derive(Clone, Debug)]
pub(crate) struct Orders {
    /// Who is at the other end.
    pub peer: PeerKind,
    /// Where the session's control connection goes.
    pub server: SocketAddr,
    /// What each socket presents.
    pub credentials: Credentials,
    /// What each says, where they are known by that.
    pub cookie: Option<Cookie>,
    pub group: Group,
    /// Where those come in that follow others.
    pub way_in: WayIn,
    /// Who holds their sockets, where not every table has room for them.
    pub holders: Option<Holders>,
    /// Where each socket arrives as word, or else why not.
    pub inbox: Inbox,
}

impl Orders {
    /// The seat of the flow of this number in the group.
    fn seat(&self, number: u32) -> Seat {
        let flow = FlowId(self.group.first.0 + number);
        Seat { token: self.credentials.token, group: self.group.id, flow, lane: Lane::ONLY }
    }

    /// A connection for this seat is about to be made.
    fn attach_stream(&self, seat: Seat) -> StreamAttaching {
        self.peer.attach_stream(seat, self.credentials.session, self.cookie)
    }

    /// Why a connection to `address` was not made, where others may have been: the first of them went to `made`. Where words have a port
    /// of their own, that one takes connections, too.
    fn explained(
        &self,
        error: RunError,
        address: SocketAddr,
        made: Option<SocketAddr>,
    ) -> RunError {
        let words = (self.peer.control() == Control::PortBefore)
            .then(|| SocketAddr::new(self.server.ip(), self.server.port().saturating_sub(1)));
        let answers = made.or(words).filter(|answers| answers.ip() == address.ip());
        error.beside(answers, self.peer.visit(FewerPorts))
    }

    /// A flow has its socket.
    fn attached(&self, flow: FlowId, socket: Socket, arrival: Arrival) {
        let group = self.group.id;
        let (socket, arrival) = match self.way_in.admit(flow, socket, arrival) {
            Ok(()) => return,
            Err(left) => left,
        };
        self.inbox.post(match FlowSocket::of(flow, socket, self.holders.as_ref()) {
            Ok(socket) => SessionMessage::Attached { group, flow, socket, arrival },
            Err(error) => SessionMessage::AttachFailed(error),
        });
    }
}

/// What it means that a server takes connections at one port and refuses them at another, where its kind of peer knows.
struct FewerPorts;

impl PeerVisitor for FewerPorts {
    type Output = Option<&'static str>;

    fn visit<P: Peer>(self) -> Option<&'static str> {
        P::FEWER_PORTS
    }
}
