//! The client's control connection and its datagram flows, which become flows by presenting the token. TCP
//! connections of flows are `opener`'s.

use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use pathscope_core::id::{FlowId, Lane};
use pathscope_core::record::InterfaceFacts;
use pathscope_flow::{Credentials, Group, Transport};
use pathscope_modes::groups::Test;
use pathscope_os::sockets::{self, Settings, Socket};
use pathscope_os::{OsError, Waker, clock, host};
use pathscope_peers::native::Seat;

use crate::connect::datagrams;
use crate::connect::destinations::Destinations;
use crate::connect::opener::{self, Orders};
use crate::connect::origins::Origins;
use crate::connect::paths;
use crate::connect::settings::settings_of;
use crate::error::RunError;
use crate::messages::inbox::{FlowSocket, Inbox, SessionMessage};
use crate::threads;

/// Threads that open datagram flows: each waits a round trip or two for each of its own.
const OPENERS: u32 = 16;

/// The control connection to one of the server's addresses.
pub(crate) fn open_control(
    address: SocketAddr,
    within: Duration,
    cancel: &Waker,
) -> Result<TcpStream, OsError> {
    let deadline = clock::now() + within;
    let socket = sockets::connect_tcp(address, &Settings::default(), deadline, Some(cancel))?;
    Ok(socket.into_tcp_stream())
}

/// The interface that carries a connection, where it is known.
pub(crate) fn interface_of(control: &TcpStream) -> Option<InterfaceFacts> {
    host::interface_for(control.local_addr().ok()?.ip())
}

/// Opens the socket of every flow of `test`; each arrives as word, or else the first reason why not. Probes go to
/// `server`, where the session is.
pub(crate) fn open_flows(
    (server, destinations): (SocketAddr, &Destinations),
    credentials: Credentials,
    test: &Test,
    inbox: &Inbox,
) {
    for group in test.groups() {
        if let Err(error) = open_group((server, destinations), credentials, (group, test), inbox) {
            return inbox.post(SessionMessage::AttachFailed(error));
        }
    }
}

fn open_group(
    (server, destinations): (SocketAddr, &Destinations),
    credentials: Credentials,
    (group, test): (Group, &Test),
    inbox: &Inbox,
) -> Result<(), RunError> {
    let plan = test.plan_of(group.id);
    if group.roams {
        let (names, inbox_of_it) = (plan.path_names().to_vec(), inbox.clone());
        let orders = paths::Orders { server, credentials, group, names, inbox: inbox_of_it };
        inbox.post(SessionMessage::Keeps { group: group.id, paths: paths::start(orders)? });
        return Ok(());
    }
    let sockets = plan.asks().sockets.filter(|_| !test.is_probe(group.id));
    let mut origins = sockets.map(Origins::new).unwrap_or_default();
    if group.transport == Transport::Stream {
        let destinations = match sockets {
            Some(sockets) if plan.spreads() => destinations.clone().within(&sockets.bind)?,
            _ => Destinations::one(server),
        };
        let (session, test) = (server, test.clone());
        let orders = Orders { session, destinations, credentials, group, test, origins };
        let opener = opener::start(orders, inbox)?;
        inbox.post(SessionMessage::Opens { group: group.id, opener });
        return Ok(());
    }
    let local = (0..group.flows).map(|index| origins.take(index, server));
    let opener = Arc::new(Opener {
        server,
        credentials,
        group,
        settings: settings_of(test, group.id),
        origins: local.collect::<Result<_, _>>()?,
        inbox: inbox.clone(),
    });
    let openers = OPENERS.min(group.flows);
    for first in 0..openers {
        let opener = Arc::clone(&opener);
        let flows = (first..group.flows).step_by(openers as usize);
        threads::spawn("opener", move || opener.open_all(flows))?;
    }
    Ok(())
}

/// Opens datagram sockets of one group.
struct Opener {
    server: SocketAddr,
    credentials: Credentials,
    group: Group,
    settings: Settings,
    /// Where each flow comes from; `None`: where the system says.
    origins: Vec<Option<SocketAddr>>,
    inbox: Inbox,
}

impl Opener {
    /// Opens the sockets of these flows, up to the first that fails.
    fn open_all(&self, flows: impl Iterator<Item = u32>) {
        for index in flows {
            if !self.inbox.is_read() {
                return;
            }
            let (group, flow) = (self.group.id, FlowId(self.group.first.0 + index));
            let socket = match self.open(flow, self.origins[index as usize]) {
                Ok(socket) => FlowSocket::Open(Arc::new(socket)),
                Err(error) => return self.inbox.post(SessionMessage::AttachFailed(error)),
            };
            let (connect_ns, attended) = (None, None);
            self.inbox.post(SessionMessage::Attached { group, flow, socket, connect_ns, attended });
        }
    }

    fn open(&self, flow: FlowId, local: Option<SocketAddr>) -> Result<Socket, RunError> {
        let Credentials { token, session } = self.credentials;
        let seat = Seat { token, group: self.group.id, flow, lane: Lane::ONLY };
        let settings = Settings { local, ..self.settings.clone() };
        let socket = sockets::connect_udp(self.server, &settings)?.into_udp_socket();
        datagrams::attach(socket, (seat, session), Duration::MAX).map(Socket::from)
    }
}
