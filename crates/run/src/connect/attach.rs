//! The client's control connection and its datagram flows, which become flows by presenting the token. TCP
//! connections of flows are `opener`'s.

use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use pathscope_core::id::{FlowId, Lane};
use pathscope_core::quantity::Period;
use pathscope_core::record::InterfaceFacts;
use pathscope_flow::{Credentials, Group, Transport};
use pathscope_modes::registry::Test;
use pathscope_os::sockets::{self, Settings, Socket};
use pathscope_os::{OsError, Waker, clock, host};
use pathscope_peers::native::Seat;

use crate::connect::datagrams;
use crate::connect::destinations::Destinations;
use crate::connect::opener::{self, Orders};
use crate::connect::origins::Origins;
use crate::connect::paths;
use crate::connect::settings::{is_probe, settings_of};
use crate::error::RunError;
use crate::messages::inbox::{FlowSocket, Inbox, SessionMessage};

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
        if group.roams {
            let (names, inbox_of_it) = (test.plan.path_names().to_vec(), inbox.clone());
            let orders = paths::Orders { server, credentials, group, names, inbox: inbox_of_it };
            match paths::start(orders) {
                Ok(paths) => inbox.post(SessionMessage::Keeps { group: group.id, paths }),
                Err(error) => return inbox.post(SessionMessage::AttachFailed(error)),
            }
            continue;
        }
        if group.transport == Transport::Stream {
            let destinations = match destinations_of(test, group, (server, destinations)) {
                Ok(destinations) => destinations,
                Err(error) => return inbox.post(SessionMessage::AttachFailed(error)),
            };
            let orders = Orders {
                session: server,
                destinations,
                credentials,
                group,
                settings: settings_of(group, test),
                paced: (!is_probe(group)).then(|| test.clone()),
                origins: origins_of(group, test),
                limit: test.plan.connect_limit(),
                time_limit: test.duration_ns().map(Period::duration),
                is_endless: test.plan.is_endless(),
            };
            match opener::start(orders, inbox) {
                Ok(opener) => inbox.post(SessionMessage::Opens { group: group.id, opener }),
                Err(error) => return inbox.post(SessionMessage::AttachFailed(error)),
            }
            continue;
        }
        let openers = OPENERS.min(group.flows);
        let mut origins = origins_of(group, test);
        let local = (0..group.flows).map(|index| origins.take(index, server));
        let local: Arc<[Option<SocketAddr>]> = match local.collect() {
            Ok(local) => local,
            Err(error) => return inbox.post(SessionMessage::AttachFailed(error)),
        };
        for first in 0..openers {
            let opener = Opener {
                server,
                credentials,
                group,
                settings: settings_of(group, test),
                origins: local.clone(),
                inbox: inbox.clone(),
            };
            let flows = (first..group.flows).step_by(openers as usize);
            let thread = std::thread::Builder::new().name("opener".to_owned());
            if let Err(source) = thread.spawn(move || opener.open_all(flows)) {
                let error = RunError::System { what: "cannot start a thread", source };
                return inbox.post(SessionMessage::AttachFailed(error));
            }
        }
    }
}

fn destinations_of(
    test: &Test,
    group: Group,
    (server, all): (SocketAddr, &Destinations),
) -> Result<Destinations, RunError> {
    match test.plan.asks().sockets {
        Some(sockets) if test.plan.spreads() && !is_probe(group) => {
            all.clone().within(&sockets.bind)
        }
        _ => Ok(Destinations::one(server)),
    }
}

/// Where the client's connections come from.
fn origins_of(group: Group, test: &Test) -> Origins {
    let sockets = test.plan.asks().sockets.filter(|_| !is_probe(group));
    sockets.map(Origins::new).unwrap_or_default()
}

/// Opens datagram sockets of one group.
struct Opener {
    server: SocketAddr,
    credentials: Credentials,
    group: Group,
    settings: Settings,
    /// Where each flow comes from; `None`: where the system says.
    origins: Arc<[Option<SocketAddr>]>,
    inbox: Inbox,
}

impl Opener {
    /// Opens the sockets of these flows, up to the first that fails.
    fn open_all(&self, flows: impl Iterator<Item = u32>) {
        for flow in flows.map(|index| FlowId(self.group.first.0 + index)) {
            if !self.inbox.is_read() {
                return;
            }
            let group = self.group.id;
            match self.open(flow) {
                Ok(socket) => {
                    self.inbox.post(SessionMessage::Attached {
                        group,
                        flow,
                        socket: FlowSocket::Open(Arc::new(socket)),
                        connect_ns: None,
                        attended: None,
                    });
                }
                Err(error) => return self.inbox.post(SessionMessage::AttachFailed(error)),
            }
        }
    }

    fn open(&self, flow: FlowId) -> Result<Socket, RunError> {
        let seat =
            Seat { token: self.credentials.token, group: self.group.id, flow, lane: Lane::ONLY };
        self.open_datagrams(seat)
    }

    fn open_datagrams(&self, seat: Seat) -> Result<Socket, RunError> {
        let index = (seat.flow.0 - self.group.first.0) as usize;
        let local = self.origins.get(index).copied().flatten();
        let settings = Settings { local, ..self.settings.clone() };
        let socket = sockets::connect_udp(self.server, &settings)?.into_udp_socket();
        datagrams::attach(socket, (seat, self.credentials.session), None).map(Socket::from)
    }
}
