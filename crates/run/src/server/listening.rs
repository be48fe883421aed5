//! Where a server listens: each address on TCP and on the UDP port of the same number, and where a kind of client has a listener of its
//! own, on what such clients use.

use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use pathscope_os::datagrams::Datagram;
use pathscope_os::sockets::{self, Socket};
use pathscope_os::{OsError, address, fast_open};
use pathscope_peers::peer::{Control, OwnDatagrams, Peer};
use pathscope_peers::registry::{PeerKind, PeerVisitor};

use crate::connect::origins::from_link_of;
use crate::error::RunError;
use crate::promised::{Beside, Promised};

/// Connections that wait to be accepted: those in the making of two clients as they are by default. More would not have
/// more of them served: where strangers keep the queue full, everybody else waits for all that stand in it.
const BACKLOG: i32 = 2_048;

/// Connections at a listener at the most that came with what they say and whose clients have not confirmed yet that they are there: as
/// many as a client has in the making at once, unless told otherwise.
const FAST_OPEN_MOST: i32 = 1_024;

/// Room for datagrams that ask for seats, in one socket: some 10,000 of them, as the kernel charges for each. Those of very many clients
/// that come at once wait there, where fewer would be lost and asked for again.
const ROOM_FOR_SEATS: usize = 4 << 20;

/// A port that the system chose for TCP may be taken on UDP: another one is tried so often.
const PORT_ATTEMPTS: usize = 32;

/// One address that is listened on.
#[derive(Debug)]
pub(super) struct Listening {
    pub address: SocketAddr,
    pub connections: Socket,
    pub datagrams: Socket,
    /// Who opens the sockets of flows at the same port.
    pub beside: Beside,
}

impl Listening {
    /// The socket of a flow that has sent this.
    pub fn promised(&self, &Datagram { local, remote, .. }: &Datagram) -> Option<Promised> {
        let (ip, own) = local.zip(self.datagrams.local_addr().ok())?;
        let local = from_link_of(remote, SocketAddr::new(ip, own.port()));
        Some(Promised { local, remote, beside: self.beside.clone() })
    }
}

/// One address at which one kind of client has a listener of its own.
#[derive(Debug)]
pub(super) struct OwnListening {
    pub peer: PeerKind,
    pub address: SocketAddr,
    pub connections: Option<Socket>,
    pub datagrams: Option<Socket>,
    /// Who opens the sockets of flows at the port of its datagrams, where they have any.
    pub beside: Option<Beside>,
    /// Whether it is the port before those of flows, where what is said is heard.
    pub is_for_words: bool,
}

impl OwnListening {
    /// Whether both are of the same clients' flows at the same address, whatever their ports.
    fn is_beside(&self, other: &Self) -> bool {
        let of = |own: &Self| (own.peer, own.address.ip(), own.is_for_words);
        of(self) == of(other)
    }

    /// Whether each datagram that comes there asks for a session.
    pub fn is_called(&self) -> bool {
        self.peer.visit(MadeOf) == OwnDatagrams::Begin
    }

    /// Whether each is of a flow of its client's session.
    pub fn is_of_flows(&self) -> bool {
        self.peer.visit(MadeOf) == OwnDatagrams::Flows
    }

    /// The transports, as people are told of them.
    const fn transports(&self) -> &'static str {
        match (&self.connections, &self.datagrams) {
            (Some(_), Some(_)) => "TCP and UDP",
            (None, _) => "UDP",
            (Some(_), None) => "TCP",
        }
    }
}

/// What is made of datagrams of clients of a kind.
struct MadeOf;

impl PeerVisitor for MadeOf {
    type Output = OwnDatagrams;

    fn visit<P: Peer>(self) -> OwnDatagrams {
        P::DATAGRAMS
    }
}

/// What clients of a kind use that has a listener of its own: whether TCP, and whether UDP.
struct Uses;

impl PeerVisitor for Uses {
    type Output = (bool, bool);

    fn visit<P: Peer>(self) -> (bool, bool) {
        (P::CONNECTS, P::DATAGRAMS != OwnDatagrams::None)
    }
}

/// The same addresses, for clients of this kind alone: at so many ports from this one on, and at the port before where words are heard
/// there. Port 0: some that are free, one after the other.
pub(super) fn bind_all_own(
    (names, port, ports): (&[String], u16, u16),
    peer: PeerKind,
) -> Result<Vec<OwnListening>, RunError> {
    let mut further_attempts = 1..PORT_ATTEMPTS;
    loop {
        match bind_in_turn((names, port, ports), peer) {
            Err(_) if port == 0 && further_attempts.next().is_some() => {}
            bound => return bound,
        }
    }
}

fn bind_in_turn(
    (names, port, ports): (&[String], u16, u16),
    peer: PeerKind,
) -> Result<Vec<OwnListening>, RunError> {
    let uses = peer.visit(Uses);
    let mut all = bind_own((names, port), peer, uses)?;
    let first = all.first().map_or(port, |own| own.address.port());
    if peer.control() == Control::PortBefore {
        // Words come on connections.
        let before = bind_own((names, first.saturating_sub(1)), peer, (true, false))?;
        all.extend(before.into_iter().map(|own| OwnListening { is_for_words: true, ..own }));
    }
    for after in 1..ports {
        all.extend(bind_own((names, first.saturating_add(after)), peer, uses)?);
    }
    Ok(all)
}

/// Those that follow one another, as people are told of them, each with whose they are.
pub(super) fn in_words(all: &[OwnListening]) -> Vec<(String, PeerKind)> {
    let mut words = Vec::new();
    let firsts = all.iter().filter(|own| {
        !own.is_for_words
            && all.iter().all(|it| !own.is_beside(it) || it.address.port() >= own.address.port())
    });
    for own in firsts {
        let OwnListening { peer, address, .. } = own;
        let ports = all.iter().filter(|it| own.is_beside(it)).map(|it| it.address.port());
        let last = ports.max().filter(|last| *last > address.port());
        let to = last.map_or_else(String::new, |last| format!(" to {last}"));
        let is_said = |it: &&OwnListening| {
            it.is_for_words && (it.peer, it.address.ip()) == (*peer, address.ip())
        };
        let before = all.iter().find(is_said).map(|it| it.address.port());
        let before = before.map_or_else(String::new, |port| format!("; words: {port}"));
        words.push((format!("{address}{to} ({}{before})", own.transports()), *peer));
    }
    words
}

/// The same addresses, for clients of this kind alone, at this port: whether on TCP, and whether on UDP.
fn bind_own(
    (names, port): (&[String], u16),
    peer: PeerKind,
    uses: (bool, bool),
) -> Result<Vec<OwnListening>, RunError> {
    let mut addresses = Vec::new();
    for name in names {
        addresses.extend(address::resolve(name, port)?);
    }
    if names.is_empty() {
        let everywhere = [IpAddr::V4(Ipv4Addr::UNSPECIFIED), IpAddr::V6(Ipv6Addr::UNSPECIFIED)];
        addresses.extend(everywhere.map(|address| SocketAddr::new(address, port)));
    }
    let mut own: Vec<OwnListening> = Vec::new();
    for mut address in addresses {
        // A port of the system's choice is the same everywhere.
        address.set_port(own.first().map_or(port, |first| first.address.port()));
        match bind_for(peer, uses, address) {
            Ok(bound) => own.push(bound),
            Err(error) if names.is_empty() && !own.is_empty() && is_missing_family(&error) => {}
            Err(error) => return Err(RunError::from(error).at_port_of(peer)),
        }
    }
    Ok(own)
}

/// One address, on what clients of this kind use.
fn bind_for(
    peer: PeerKind,
    uses: (bool, bool),
    address: SocketAddr,
) -> Result<OwnListening, OsError> {
    let bound = |socket: &Socket, protocol| {
        socket.local_addr().map_err(|source| OsError::Listen { protocol, address, source })
    };
    let (connections, datagrams, beside) = (None, None, None);
    let none = OwnListening { peer, address, connections, datagrams, beside, is_for_words: false };
    match uses {
        (true, true) => {
            let Listening { address, connections, datagrams, beside } = bind(address)?;
            let (connections, datagrams) = (Some(connections), Some(datagrams));
            Ok(OwnListening { address, connections, datagrams, beside: Some(beside), ..none })
        }
        (true, false) => {
            let connections = sockets::listen_tcp(address, BACKLOG)?;
            let address = bound(&connections, "TCP")?;
            Ok(OwnListening { address, connections: Some(connections), ..none })
        }
        // Two programs with one port would share their callers, and neither would know.
        (false, _) => {
            let datagrams = sockets::bind_udp_alone(address)?;
            let address = bound(&datagrams, "UDP")?;
            Ok(OwnListening { address, datagrams: Some(datagrams), ..none })
        }
    }
}

/// Every address that was named, or every address of this machine.
pub(super) fn bind_all(names: &[String], port: u16) -> Result<Vec<Listening>, RunError> {
    if names.is_empty() {
        return bind_everywhere(port);
    }
    let mut listening = Vec::new();
    for name in names {
        for address in address::resolve(name, port)? {
            listening.push(bind(address)?);
        }
    }
    Ok(listening)
}

/// On every address of both families, or of IPv4 where there is no IPv6.
fn bind_everywhere(port: u16) -> Result<Vec<Listening>, RunError> {
    let four = bind(SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), port))?;
    let port = four.address.port();
    match bind(SocketAddr::new(IpAddr::V6(Ipv6Addr::UNSPECIFIED), port)) {
        Ok(six) => Ok(vec![four, six]),
        Err(error) if is_missing_family(&error) => Ok(vec![four]),
        Err(error) => Err(error.into()),
    }
}

/// One address, on TCP and UDP. Port 0: one that is free on both.
pub(super) fn bind(address: SocketAddr) -> Result<Listening, OsError> {
    let mut further_attempts = 1..PORT_ATTEMPTS;
    loop {
        let connections = sockets::listen_tcp(address, BACKLOG)?;
        // Of clients that ask for it what they say may come with their SYN, where this machine's owner allows that.
        let _ = fast_open::serve(&connections, FAST_OPEN_MOST);
        let call = |source| OsError::Listen { protocol: "TCP", address, source };
        let bound = connections.local_addr().map_err(call)?;
        match sockets::bind_udp(bound) {
            Ok(datagrams) => {
                // What the system does not grant is asked for again.
                let _ = datagrams.enlarge_receive_buffer(ROOM_FOR_SEATS);
                let beside = Beside::listener(&datagrams);
                return Ok(Listening { address: bound, connections, datagrams, beside });
            }
            Err(_) if address.port() == 0 && further_attempts.next().is_some() => {}
            Err(error) => return Err(error),
        }
    }
}

/// Whether an error says that a family of addresses is not there.
fn is_missing_family(error: &OsError) -> bool {
    // EAFNOSUPPORT has no kind of its own.
    const NO_SUCH_FAMILY: i32 = 97;
    let OsError::Listen { source, .. } = error else { return false };
    source.kind() == ErrorKind::AddrNotAvailable || source.raw_os_error() == Some(NO_SUCH_FAMILY)
}

#[cfg(test)]
mod tests {
    use super::super::{Server, Settings, Stated};
    use super::*;

    #[test]
    fn a_port_of_the_system_s_choice_is_the_same_on_both() {
        let listening =
            bind("127.0.0.1:0".parse().expect("an address")).expect("some port is free");
        let datagrams = listening.datagrams.local_addr().expect("a bound socket");
        assert_eq!(listening.address, datagrams);
        assert_ne!(datagrams.port(), 0);
    }

    #[test]
    fn of_a_port_that_is_taken_the_option_is_named_that_chooses_it() {
        let taken = bind("127.0.0.1:0".parse().expect("an address")).expect("some port is free");
        let port = Some(taken.address.port());
        let stated = vec![Stated {
            peer: PeerKind::Iperf3,
            tests: Vec::new(),
            port,
            ports: 1,
            rate: None,
            is_of_several: false,
        }];
        let listen = vec!["127.0.0.1".to_owned()];
        let settings =
            Settings { own_listeners_alone: true, listen, stated, ..Settings::default() };
        let Err(error) = Server::bind(settings) else { panic!("another has it") };
        let told = error.to_string();
        assert!(told.ends_with("end it, or choose another with --iperf3-port"), "{told}");
    }

    #[test]
    fn ports_of_a_kind_follow_one_another_behind_that_for_words_and_are_told_in_one_line() {
        let names = ["127.0.0.1".to_owned()];
        let own = bind_all_own((&names, 0, 3), PeerKind::Ntttcp).expect("some are free");
        let first = own[0].address.port();
        let mut ports: Vec<_> = own
            .iter()
            .map(|own| (own.address.port() - first.wrapping_sub(1), own.is_for_words))
            .collect();
        ports.sort_unstable();
        assert_eq!(ports, [(0, true), (1, false), (2, false), (3, false)]);
        let (last, words) = (first + 2, first - 1);
        let told = format!("127.0.0.1:{first} to {last} (TCP and UDP; words: {words})");
        assert_eq!(in_words(&own), [(told, PeerKind::Ntttcp)]);
        let taken = bind_all_own((&names, first, 1), PeerKind::Ntttcp);
        let told = taken.expect_err("others have them").to_string();
        assert!(told.ends_with("end it, or choose another with --ntttcp-port"), "{told}");
    }
}
