//! The socket of one path: bound to its interface, seen to use it, and attached to the session.

use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::time::Duration;

use pathscope_modes::multipath::PathFacts;
use pathscope_os::routes::{self, Asked};
use pathscope_os::sockets::{self, Settings, Socket};
use pathscope_os::{OsError, clock, random};
use pathscope_peers::native::{AttachError, Attaching, Seat};

use super::Orders;
use crate::attach::receive;
use crate::error::RunError;

/// For how long the server is asked on one socket; then another is tried.
const ATTACH_WITHIN: Duration = Duration::from_secs(3);

/// An interface that could be a path.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Candidate {
    pub index: u32,
    pub name: String,
    /// Its addresses of the server's family.
    pub addresses: Vec<IpAddr>,
}

/// A path that is up.
#[derive(Debug)]
pub(super) struct Opened {
    pub socket: Socket,
    pub local: IpAddr,
    pub facts: PathFacts,
}

/// Opens a path's socket and has the server answer on it.
pub(super) fn open(orders: &Orders, candidate: &Candidate, seat: Seat) -> Result<Opened, RunError> {
    let connect = |settings: &Settings| sockets::connect_udp(orders.server, settings);
    let (socket, binding) = bind(candidate, connect)?;
    let local = socket.local_addr().map_err(system("cannot tell a socket's address"))?.ip();
    let verified = verify(&socket, binding, local, candidate, orders.server);
    let socket = attach(socket.into_udp_socket(), seat, ATTACH_WITHIN)?;
    let facts = PathFacts {
        interface: candidate.name.clone(),
        binding: Some(binding.name().to_owned()),
        local: Some(local.to_string()),
        verified: Some(verified),
        ..PathFacts::default()
    };
    Ok(Opened { socket: Socket::from(socket), local, facts })
}

/// What ties a socket to an interface.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Binding {
    Device,
    SourceAddress,
}

impl Binding {
    const fn name(self) -> &'static str {
        match self {
            Self::Device => "device",
            Self::SourceAddress => "source address",
        }
    }
}

/// A socket bound to the interface; where that is refused, to its address. Systems before Linux 5.7 let only the
/// privileged bind to an interface.
fn bind(
    candidate: &Candidate,
    connect: impl Fn(&Settings) -> Result<Socket, OsError>,
) -> Result<(Socket, Binding), OsError> {
    let to_device = Settings { interface: Some(candidate.name.clone()), ..Settings::default() };
    match connect(&to_device) {
        Ok(socket) => Ok((socket, Binding::Device)),
        Err(error) if is_refused(&error) => {
            let mut last = Err(error);
            for &address in &candidate.addresses {
                let local = Some(SocketAddr::new(address, 0));
                last = connect(&Settings { local, ..Settings::default() });
                if last.is_ok() {
                    break;
                }
            }
            Ok((last?, Binding::SourceAddress))
        }
        Err(error) => Err(error),
    }
}

fn is_refused(error: &OsError) -> bool {
    use std::io::ErrorKind::PermissionDenied;
    matches!(error, OsError::Connect { source, .. } if source.kind() == PermissionDenied)
}

/// What can be looked at to see that a socket does use its interface, in a few words.
fn verify(
    socket: &Socket,
    binding: Binding,
    local: IpAddr,
    candidate: &Candidate,
    server: SocketAddr,
) -> String {
    let name = &candidate.name;
    let address = if candidate.addresses.contains(&local) {
        format!("its address {local} is the interface's")
    } else {
        format!("its address {local} is not the interface's")
    };
    match binding {
        Binding::Device => match socket.interface() {
            Some(bound) if bound == *name => format!("the socket is bound to {name}; {address}"),
            Some(bound) => format!("the socket says it is bound to {bound}; {address}"),
            None => format!("the system does not say what it is bound to; {address}"),
        },
        Binding::SourceAddress => {
            let asked = Asked { source: Some(local), interface: None };
            match routes::route(server.ip(), asked) {
                Ok(Some(route)) if route.interface == candidate.index => {
                    format!("{address}; packets from it leave by {name}")
                }
                Ok(_) => format!("{address}; but routes send packets from it another way"),
                Err(error) => format!("{address}; {error}"),
            }
        }
    }
}

/// Has the server give a lane its seat.
fn attach(socket: UdpSocket, seat: Seat, within: Duration) -> Result<UdpSocket, RunError> {
    let nonce = u64::from_ne_bytes(random::bytes()?);
    let give_up = clock::now() + within;
    let mut attaching = Attaching::new(seat, nonce, clock::now());
    let mut buffer = [0; 256];
    while let Some(deadline) = attaching.deadline() {
        let now = clock::now();
        if now >= give_up {
            let seconds = within.as_secs();
            let why = AttachError::Unanswered { seconds }.to_string();
            return Err(RunError::DatagramsUnanswered { flow: seat.flow.0, why });
        }
        if let Some(datagram) = attaching.datagram(now) {
            // A refusal of an earlier datagram may come up here; the exchange says when to give up.
            let _ = socket.send(&datagram);
        }
        let wait = deadline.min(give_up).since(clock::now()).max(Duration::from_millis(1));
        if let Some(count) = receive(&socket, &mut buffer, wait)? {
            attaching.received(&buffer[..count], clock::now());
        }
    }
    if let Some(Err(why)) = attaching.outcome() {
        return Err(RunError::Refused { flow: seat.flow.0, why: why.clone() });
    }
    socket.set_read_timeout(None).map_err(system("cannot set up a socket"))?;
    Ok(socket)
}

fn system(what: &'static str) -> impl FnOnce(std::io::Error) -> RunError {
    move |source| RunError::System { what, source }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    fn candidate() -> Candidate {
        let addresses = vec!["127.0.0.1".parse().expect("an address")];
        Candidate { index: 1, name: "lo".to_owned(), addresses }
    }

    #[test]
    fn a_refused_device_leaves_the_interface_by_its_address() {
        let any = SocketAddr::from(([127, 0, 0, 1], 9));
        let refuse = |settings: &Settings| match settings.interface {
            Some(_) => Err(OsError::Connect {
                protocol: "UDP",
                address: any,
                source: io::ErrorKind::PermissionDenied.into(),
            }),
            None => sockets::connect_udp(any, settings),
        };
        let (socket, binding) = bind(&candidate(), refuse).expect("by its address");
        assert_eq!(binding, Binding::SourceAddress);
        let local = socket.local_addr().expect("bound").ip();
        assert_eq!(local, candidate().addresses[0]);
        let index = routes::interfaces()
            .expect("the kernel tells")
            .into_iter()
            .find_map(|it| it.is_loopback.then_some(it.index))
            .expect("there is one");
        let candidate = Candidate { index, ..candidate() };
        let verified = verify(&socket, binding, local, &candidate, any);
        assert_eq!(
            verified,
            "its address 127.0.0.1 is the interface's; packets from it leave by lo"
        );
    }

    #[test]
    fn a_bound_socket_says_so() {
        let any = SocketAddr::from(([127, 0, 0, 1], 9));
        let (socket, binding) =
            bind(&candidate(), |settings| sockets::connect_udp(any, settings)).expect("loopback");
        if binding != Binding::Device {
            println!("skipped, because this system lets nobody bind to an interface");
            return;
        }
        let local = socket.local_addr().expect("bound").ip();
        let verified = verify(&socket, binding, local, &candidate(), any);
        assert_eq!(verified, "the socket is bound to lo; its address 127.0.0.1 is the interface's");
    }

    #[test]
    fn another_trouble_is_no_reason_to_bind_otherwise() {
        let gone = |_: &Settings| {
            Err(OsError::Connect {
                protocol: "UDP",
                address: SocketAddr::from(([127, 0, 0, 1], 9)),
                source: io::ErrorKind::NotFound.into(),
            })
        };
        assert!(bind(&candidate(), gone).is_err());
    }
}
