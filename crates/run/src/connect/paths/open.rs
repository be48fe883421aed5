//! The socket of one path: bound to its interface, seen to use it, and attached to the session.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use pathscope_modes::paths::{BY_ADDRESS, PathFacts};
use pathscope_os::OsError;
use pathscope_os::routes::{self, Asked, Disturbed};
use pathscope_os::sockets::{self, Settings, Socket};
use pathscope_peers::attach::Seat;

use crate::connect::{Orders, datagrams};
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
    pub hold: Hold,
    pub facts: PathFacts,
}

/// What a path's socket stands on.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Hold {
    /// The interface's number.
    pub index: u32,
    pub binding: Binding,
    /// Its own address.
    pub local: IpAddr,
}

/// What ties a socket to an interface.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Binding {
    Device,
    SourceAddress,
}

impl Binding {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Device => "device",
            Self::SourceAddress => BY_ADDRESS,
        }
    }
}

/// Opens a path's socket, sees that it holds to its interface, and has the server answer on it.
pub(super) fn open(orders: &Orders, candidate: &Candidate, seat: Seat) -> Result<Opened, RunError> {
    let connect = |settings: &Settings| sockets::connect_udp(orders.server, settings);
    let leaves = |local| leaves_by(candidate.index, local, orders.server.ip());
    let (socket, hold, verified) = bind(candidate, connect, leaves)?;
    let socket = datagrams::attach(socket.into_udp_socket(), (orders, seat), ATTACH_WITHIN)?;
    let facts = PathFacts {
        interface: candidate.name.clone(),
        binding: Some(hold.binding.name().to_owned()),
        local: Some(hold.local.to_string()),
        verified: Some(verified),
        ..PathFacts::default()
    };
    Ok(Opened { socket: Socket::from(socket), hold, facts })
}

/// A socket bound to the interface; where that is refused, to an address of it that routes send by it. Systems before
/// Linux 5.7 let only the privileged bind to an interface. With what was looked at to see that it holds.
fn bind(
    candidate: &Candidate,
    connect: impl Fn(&Settings) -> Result<Socket, OsError>,
    leaves: impl Fn(IpAddr) -> Result<(), String>,
) -> Result<(Socket, Hold, String), RunError> {
    let held = |socket: Socket, binding| {
        let local =
            socket.local_addr().map_err(RunError::system("cannot tell a socket's address"))?.ip();
        let hold = Hold { index: candidate.index, binding, local };
        let device = socket.interface();
        match verify(hold, device.as_deref(), candidate, &leaves) {
            Ok(verified) => Ok((socket, hold, verified)),
            Err(why) => {
                let text = format!("it would not keep to {}: {why}", candidate.name);
                Err(RunError::Unsupported(text))
            }
        }
    };
    let to_device = Settings { interface: Some(candidate.name.clone()), ..Settings::default() };
    match connect(&to_device) {
        Ok(socket) => held(socket, Binding::Device),
        Err(error) if is_refused(&error) => {
            let mut last = Err(error.into());
            for &address in &candidate.addresses {
                let local = Some(SocketAddr::new(address, 0));
                let socket = connect(&Settings { local, ..Settings::default() });
                last = socket
                    .map_err(RunError::from)
                    .and_then(|socket| held(socket, Binding::SourceAddress));
                if last.is_ok() {
                    break;
                }
            }
            last
        }
        Err(error) => Err(error.into()),
    }
}

fn is_refused(error: &OsError) -> bool {
    use std::io::ErrorKind::PermissionDenied;
    matches!(error, OsError::Interface { source, .. } if source.kind() == PermissionDenied)
}

/// Sees that a socket does use its interface, in a few words; or why it does not: what it carries would count for this
/// interface and be another one's.
fn verify(
    Hold { binding, local, .. }: Hold,
    device: Option<&str>,
    candidate: &Candidate,
    leaves: impl Fn(IpAddr) -> Result<(), String>,
) -> Result<String, String> {
    let name = &candidate.name;
    if !candidate.addresses.contains(&local) {
        return Err(format!("its address {local} is not the interface's"));
    }
    let address = format!("its address {local} is the interface's");
    match (binding, device) {
        (Binding::Device, Some(bound)) if bound == name => {
            Ok(format!("the socket is bound to {name}; {address}"))
        }
        (Binding::Device, Some(bound)) => Err(format!("it is bound to {bound}")),
        (Binding::Device, None) => {
            Ok(format!("the system does not say what it is bound to; {address}"))
        }
        (Binding::SourceAddress, _) => {
            leaves(local)?;
            Ok(format!("{address}; packets from it leave by {name}"))
        }
    }
}

/// That packets from this address leave by the interface of this number; or why not.
fn leaves_by(index: u32, local: IpAddr, server: IpAddr) -> Result<(), String> {
    match routes::route(server, Asked { source: Some(local), interface: None }) {
        Ok(Some(route)) if route.interface == index => Ok(()),
        Ok(_) => Err(format!(
            "this system lets nobody bind it to the interface, and routes send packets from {local} another way; \
             give that address a rule of its own (ip rule), or grant CAP_NET_RAW"
        )),
        Err(error) => Err(error.to_string()),
    }
}

impl Hold {
    /// Why a socket that held to its interface does not any longer, though an interface of this name could be a path.
    pub fn lost(
        self,
        candidate: &Candidate,
        server: IpAddr,
        disturbed: &Disturbed,
    ) -> Option<String> {
        if disturbed.concerns(self.index, self.local) {
            return Some("its link or its address was gone for a moment".to_owned());
        }
        if candidate.index != self.index {
            return Some("another interface has its name now".to_owned());
        }
        self.lost_by(candidate, |local| leaves_by(candidate.index, local, server))
    }

    fn lost_by(
        self,
        candidate: &Candidate,
        leaves: impl Fn(IpAddr) -> Result<(), String>,
    ) -> Option<String> {
        if !candidate.addresses.contains(&self.local) {
            return Some(format!("its address {} was removed", self.local));
        }
        match self.binding {
            Binding::Device => None,
            Binding::SourceAddress => leaves(self.local).err(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    fn candidate() -> Candidate {
        let addresses = vec!["127.0.0.1".parse().expect("an address")];
        Candidate { index: 1, name: "lo".to_owned(), addresses }
    }

    fn anywhere() -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], 9))
    }

    /// A system that lets nobody bind to an interface.
    fn refusing(settings: &Settings) -> Result<Socket, OsError> {
        match settings.interface {
            Some(ref name) => {
                let source = io::ErrorKind::PermissionDenied.into();
                Err(OsError::Interface { name: name.clone(), source })
            }
            None => sockets::connect_udp(anywhere(), settings),
        }
    }

    #[test]
    fn a_refused_device_leaves_the_interface_by_its_address() {
        let index = routes::interfaces()
            .expect("the kernel tells")
            .into_iter()
            .find_map(|it| it.is_loopback.then_some(it.index))
            .expect("there is one");
        let candidate = Candidate { index, ..candidate() };
        let leaves = |local| leaves_by(index, local, anywhere().ip());
        let (_, hold, verified) = bind(&candidate, refusing, leaves).expect("by its address");
        let local = candidate.addresses[0];
        assert_eq!(hold, Hold { index, binding: Binding::SourceAddress, local });
        assert_eq!(
            verified,
            "its address 127.0.0.1 is the interface's; packets from it leave by lo"
        );
        assert_eq!(hold.lost(&candidate, anywhere().ip(), &Disturbed::default()), None);
    }

    #[test]
    fn an_address_that_routes_send_another_way_is_no_path() {
        // The kernel sends what has this address by loopback, and that is not this one.
        let other = Candidate { index: u32::MAX / 2, ..candidate() };
        let leaves = |local| leaves_by(other.index, local, anywhere().ip());
        let error = bind(&other, refusing, leaves).expect_err("it is another's").to_string();
        let said = "it would not keep to lo: this system lets nobody bind it to the interface, and routes send packets \
                    from 127.0.0.1 another way";
        assert!(error.starts_with(said), "{error}");
    }

    #[test]
    fn of_several_addresses_the_one_that_leaves_by_the_interface_is_taken() {
        let addresses = ["127.0.0.1", "127.0.0.2"].map(|it| it.parse().expect("an address"));
        let candidate = Candidate { addresses: addresses.to_vec(), ..candidate() };
        let leaves = |local| {
            (local == addresses[1]).then_some(()).ok_or_else(|| "by another one".to_owned())
        };
        let (_, hold, _) = bind(&candidate, refusing, leaves).expect("by the second");
        assert_eq!(hold.local, addresses[1]);
        // A route that moves takes it, and so does its address that goes.
        assert_eq!(hold.lost_by(&candidate, leaves), None);
        let moved = |_| Err("by another one".to_owned());
        assert_eq!(hold.lost_by(&candidate, moved).as_deref(), Some("by another one"));
        let without = Candidate { addresses: vec![addresses[0]], ..candidate };
        let why = hold.lost_by(&without, leaves);
        assert_eq!(why.as_deref(), Some("its address 127.0.0.2 was removed"));
        // One that is bound to the interface stays there, whatever routes say.
        assert_eq!(
            Hold { index: 1, binding: Binding::Device, local: addresses[0] }
                .lost_by(&without, moved),
            None
        );
    }

    #[test]
    fn a_bound_socket_says_so() {
        let connect = |settings: &Settings| sockets::connect_udp(anywhere(), settings);
        let leaves = |local| leaves_by(1, local, anywhere().ip());
        let (_, hold, verified) = bind(&candidate(), connect, leaves).expect("loopback");
        if hold.binding != Binding::Device {
            println!("skipped, because this system lets nobody bind to an interface");
            return;
        }
        assert_eq!(verified, "the socket is bound to lo; its address 127.0.0.1 is the interface's");
    }

    #[test]
    fn a_socket_of_another_interface_or_address_does_not_hold() {
        let local = candidate().addresses[0];
        let hold = Hold { index: 1, binding: Binding::Device, local };
        let leaves = |_| Ok(());
        assert!(verify(hold, Some("lo"), &candidate(), leaves).is_ok());
        let why = verify(hold, Some("eth0"), &candidate(), leaves);
        assert_eq!(why, Err("it is bound to eth0".to_owned()));
        let hold = Hold { local: "127.0.0.9".parse().expect("an address"), ..hold };
        let why = verify(hold, Some("lo"), &candidate(), leaves);
        assert_eq!(why, Err("its address 127.0.0.9 is not the interface's".to_owned()));
    }

    #[test]
    fn another_trouble_is_no_reason_to_bind_otherwise() {
        let gone = |_: &Settings| {
            let source = io::ErrorKind::NotFound.into();
            Err(OsError::Interface { name: "lo".to_owned(), source })
        };
        assert!(bind(&candidate(), gone, |_| Ok(())).is_err());
    }
}
