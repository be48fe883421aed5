//! The client's control connection, and whoever opens the flows of a group: of TCP connections that is `opener`, of datagrams `seating`.

use std::net::{IpAddr, SocketAddr, TcpStream};
use std::time::Duration;

use pathscope_core::record::{InterfaceFacts, Substitution};
use pathscope_flow::Transport;
use pathscope_modes::groups::Test;
use pathscope_modes::registry::Plan;
use pathscope_modes::sockets::SocketPlan;
use pathscope_os::sockets::{self, Settings};
use pathscope_os::{OsError, Waker, clock, host};
use pathscope_peers::peer::{Control, KnownBy};

use crate::connect::destinations::{Destinations, Silent};
use crate::connect::origins::Origins;
use crate::connect::ports::{self, Wanted};
use crate::connect::settings::settings_of;
use crate::connect::{Orders, opener, paths, seating};
use crate::error::RunError;
use crate::messages::replacements::OpenerRemote;
use crate::paths::log::PathsRemote;
use crate::stop::Stop;

/// The control connection to one of the server's addresses, from this end's address and interface.
pub(crate) fn open_control(
    address: SocketAddr,
    from: &ControlFrom,
    within: Duration,
    cancel: &Waker,
) -> Result<TcpStream, OsError> {
    let deadline = clock::now() + within;
    let of_family = |it: &&IpAddr| it.is_ipv4() == address.is_ipv4();
    let local = from.addresses.iter().find(of_family).map(|it| SocketAddr::new(*it, 0));
    let interface = from.interface.clone();
    let settings = Settings { local, interface, ..Settings::default() };
    let made = sockets::connect_tcp(address, &settings, deadline, Some(cancel));
    // Told as it was asked for: what it took to ask is none of the server's time.
    let socket = made.map_err(|error| match error {
        OsError::ConnectTimeout { address, .. } => {
            OsError::ConnectTimeout { address, waited: within }
        }
        other => other,
    })?;
    Ok(socket.into_tcp_stream())
}

/// Where a control connection comes from; nothing: as the system has it.
#[derive(Clone, Debug, Default)]
pub(crate) struct ControlFrom {
    /// The first of the family of the server's address is taken.
    pub addresses: Vec<IpAddr>,
    pub interface: Option<String>,
}

/// The control connection to the first of the server's addresses that answers, that address, and those that did not.
pub(crate) fn first_control(
    targets: &[Vec<SocketAddr>],
    from: &ControlFrom,
    (within, stop): (Duration, &Stop),
) -> Result<(TcpStream, SocketAddr, Vec<Silent>), RunError> {
    let mut silent: Vec<Silent> = Vec::new();
    let cancel = Waker::new()?;
    let _hearing = stop.wake(&cancel);
    for &address in targets.iter().flatten() {
        if stop.reason().is_some() {
            return Err(RunError::Interrupted);
        }
        match open_control(address, from, within, &cancel) {
            Ok(control) => return Ok((control, address, silent)),
            Err(error) => silent.push((address, error)),
        }
    }
    Err(silent.pop().map_or(RunError::Interrupted, |(_, error)| error.into()))
}

/// The interface that carries a session, where this end's address is known.
pub(crate) fn interface_of(local: Option<IpAddr>) -> Option<InterfaceFacts> {
    host::interface_for(local?)
}

/// The address of this end from which the system would go there; nothing is sent for it.
pub(crate) fn local_towards(server: SocketAddr) -> Option<IpAddr> {
    let socket = sockets::connect_udp(server, &Settings::default()).ok()?;
    Some(socket.local_addr().ok()?.ip())
}

/// Whether a server is on this machine, as far as its address tells.
pub(crate) fn is_here(server: SocketAddr) -> bool {
    server.ip().is_loopback() || local_towards(server) == Some(server.ip())
}

/// How the sockets of a group are opened.
#[derive(Debug, Default)]
pub(crate) struct Opening {
    /// Who opens those that follow others.
    pub opener: Option<OpenerRemote>,
    /// Who keeps the paths of a flow that roams.
    pub paths: Option<PathsRemote>,
    /// What was chosen for them.
    pub chosen: Option<Substitution>,
}

/// Opens the socket of every flow of a group of `test`; each arrives as word, or else the first reason why not. Probes go where
/// the session is.
pub(crate) fn open_group(
    orders: Orders,
    test: &Test,
    destinations: &Destinations,
) -> Result<Opening, RunError> {
    let Orders { server, group, .. } = orders;
    let plan = test.plan_of(group.id);
    if group.roams {
        let paths = Some(paths::start(orders, plan.path_names().to_vec())?);
        return Ok(Opening { paths, ..Opening::default() });
    }
    let sockets = plan.asks().sockets.filter(|_| !test.is_probe(group.id));
    let mut origins = sockets.map(Origins::new).unwrap_or_default();
    if group.transport == Transport::Stream {
        let destinations = match sockets {
            Some(sockets) if plan.spreads() => destinations.clone().within(&sockets.bind)?,
            _ => Destinations::one(server),
        };
        let chosen = spread(&orders, &plan, (sockets, &destinations), &mut origins)?;
        let remote = opener::start(orders, destinations, test.clone(), origins)?;
        let opener = Some(remote).filter(|_| group.replaces());
        return Ok(Opening { opener, chosen, ..Opening::default() });
    }
    // Where there is a session, it is with one address.
    let destinations = match orders.peer.control() {
        Control::Connection => Destinations::one(server),
        Control::PortBefore | Control::InBand => destinations.clone(),
    };
    let chosen = spread(&orders, &plan, (sockets, &destinations), &mut origins)?;
    let ends = (0..group.flows).map(|number| {
        let server = destinations.of(number);
        Ok((number, server, origins.take(number, server)?))
    });
    let flows: Vec<seating::Ends> = ends.collect::<Result<_, RunError>>()?;
    let settings = settings_of(test, group.id);
    seating::start(orders, (settings, origins.into_spare()), flows)?;
    Ok(Opening { chosen, ..Opening::default() })
}

/// Sees that there are ports for the flows of a group; over this machine's own addresses they take turns among as many as it needs, which
/// is told.
fn spread(
    orders: &Orders,
    plan: &Plan,
    (sockets, destinations): (Option<&SocketPlan>, &Destinations),
    origins: &mut Origins,
) -> Result<Option<Substitution>, RunError> {
    let group = orders.group;
    let most = if plan.keeps_ports() { group.numbers.max(group.flows) } else { group.flows };
    let wanted = sockets.map(|sockets| Wanted {
        connections: most,
        are_open: !group.replaces(),
        transport: group.transport,
        servers: destinations.all(),
        sockets,
        may_move: orders.peer.known_by() == KnownBy::Seat && orders.credentials.session.is_some(),
        opened_fast: plan.asks().fast_open.then_some(group.flows),
    });
    let several = wanted.map(ports::check).transpose()?.flatten();
    Ok(several.map(|(addresses, chosen)| {
        origins.take_turns_among(addresses);
        chosen
    }))
}
