//! The whole of it: hosts whose frames pass through our hands, and hosts at a switch.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::time::Duration;

use pathscope_os::Waker;
use pathscope_os::packets::{Batch, MOST_AT_ONCE, PacketSocket, Scope};
use pathscope_os::readiness::{Interest, Poller};

use super::*;

/// The longest frame: a packet behind an Ethernet header.
const MOST_BYTES: usize = MTU as usize + 14;

/// A host with one interface, `eth0`, and the address of its number in two subnets.
struct Host {
    number: u8,
    network: Network,
    kernel: Kernel,
}

impl Host {
    fn new(number: u8) -> Option<Self> {
        let name = format!("h{number}");
        let (network, kernel) = network(&name)?;
        apply(&network, &name, Settings { forwards: false, ipv6: true }).expect("it is ours");
        Some(Self { number, network, kernel })
    }

    fn addresses(&self) -> [IpAddr; 2] {
        [format!("192.0.2.{}", self.number), format!("2001:db8::{}", self.number)]
            .map(|text| ip(&text))
    }

    /// Lays a cable from the host's `eth0` to an interface of the other network, which is set up.
    fn connect(&mut self, port: &str, network: &Network, kernel: &mut Kernel) {
        let here = End { name: "eth0", mac: mac(self.number), mtu: MTU };
        let there = End { name: port, mac: mac(100 + self.number), mtu: MTU };
        self.kernel.create_veth(here, there, network).expect("the names are free");
        let addresses = self.addresses();
        self.kernel.add_address("eth0", addresses[0], 24).expect("it has none yet");
        self.kernel.add_address("eth0", addresses[1], 64).expect("it has none yet");
        let left = self.network.run(|| offloads::switch_off("eth0").expect("it is ours"));
        assert_eq!(left.expect("we made it"), []);
        self.kernel.set_up("eth0", true).expect("it is there");
        kernel.set_up(port, true).expect("it is there");
    }

    fn knows(&mut self, other: &Self) {
        for address in other.addresses() {
            self.kernel.add_neighbour("eth0", address, mac(other.number)).expect("it is there");
        }
    }
}

/// A datagram there and back, by sockets of the standard library.
fn echo(from: &Host, to: &Host, server: IpAddr) {
    let bind = |host: &Host, address: IpAddr| {
        let socket = host.network.run(|| UdpSocket::bind((address, 0))).expect("we made it");
        let socket = socket.expect("the address is ready");
        socket.set_read_timeout(Some(Duration::from_secs(10))).expect("longer than zero");
        socket
    };
    let any = if server.is_ipv4() { ip("0.0.0.0") } else { ip("::") };
    let (client, server) = (bind(from, any), bind(to, server));
    let address = server.local_addr().expect("it is bound");
    let mut room = [0; 100];
    client.send_to(b"ping", address).expect("there is a route");
    let (len, client_address) = server.recv_from(&mut room).expect("it comes within ten seconds");
    assert_eq!(&room[..len], b"ping");
    server.send_to(b"pong", client_address).expect("there is a route");
    let (len, answered) = client.recv_from(&mut room).expect("it comes within ten seconds");
    assert_eq!((&room[..len], answered), (&b"pong"[..], address));
}

/// A mebibyte in one direction.
fn transfer(from: &Host, to: &Host, server: IpAddr) {
    const BYTES: usize = 1 << 20;
    let listener = to.network.run(|| TcpListener::bind((server, 0))).expect("we made it");
    let listener = listener.expect("the address is ready");
    let address = listener.local_addr().expect("it is bound");
    let patience = Duration::from_secs(10);
    let connect = |address: SocketAddr| TcpStream::connect_timeout(&address, patience);
    let client = from.network.run(|| connect(address)).expect("we made it");
    let mut client = client.expect("it answers");
    let sender = std::thread::spawn(move || client.write_all(&vec![7; BYTES]));
    let (mut stream, _) = listener.accept().expect("it was connected");
    stream.set_read_timeout(Some(patience)).expect("longer than zero");
    let mut received = Vec::new();
    stream.read_to_end(&mut received).expect("it never pauses for ten seconds");
    sender.join().expect("no panic").expect("all was taken");
    assert!(received.len() == BYTES && received.iter().all(|&byte| byte == 7));
}

/// Copies frames from each of two interfaces to the other until it is called off. Returns how many it
/// copied, and the longest.
fn copy_frames(ports: &[PacketSocket; 2], stop: &Waker) -> (u64, usize) {
    let poller = Poller::new().expect("a poller");
    for (key, port) in (0..).zip(ports) {
        poller.add(port, key, Interest::INPUT).expect("it has a descriptor");
    }
    poller.add(stop, 2, Interest::INPUT).expect("it has a descriptor");
    let mut batch = Batch::new(MOST_AT_ONCE, 1 << 16);
    let (mut ready, mut copied, mut longest) = (Vec::new(), 0, 0);
    while !stop.is_raised() {
        poller.wait(&mut ready, None).expect("a wait");
        for (port, other) in [(0, 1), (1, 0)] {
            ports[port].receive(&mut batch).expect("it is there");
            let frames: Vec<&[u8]> = batch.frames().map(|frame| frame.bytes).collect();
            let mut rest = frames.as_slice();
            while !rest.is_empty() {
                let sent = ports[other].send(rest).expect("it is up and takes their length");
                rest = &rest[sent..];
            }
            copied += frames.len() as u64;
            longest = frames.iter().map(|frame| frame.len()).fold(longest, usize::max);
        }
    }
    (copied, longest)
}

/// The ends of two cables in a network where nobody but us handles frames.
fn wires(hosts: [&mut Host; 2]) -> Option<(Network, [PacketSocket; 2])> {
    let (network, mut kernel) = network("wires")?;
    apply(&network, "wires", Settings::default()).expect("it is ours");
    let ports = hosts.map(|host| {
        let name = format!("p{}", host.number);
        host.connect(&name, &network, &mut kernel);
        let index = kernel.link(&name).expect("it is there").index;
        network
            .run(|| {
                assert_eq!(offloads::switch_off(&name).expect("it is ours"), []);
                PacketSocket::open(index, Scope::Incoming, 4 << 20).expect("we may")
            })
            .expect("we made it")
    });
    Some((network, ports))
}

#[test]
fn two_hosts_talk_through_copied_frames() {
    let (Some(mut a), Some(mut b)) = (Host::new(1), Host::new(2)) else { return };
    let Some((network, ports)) = wires([&mut a, &mut b]) else { return };
    a.knows(&b);
    b.knows(&a);
    let stop = Waker::new().expect("a waker");
    let (copied, longest) = std::thread::scope(|scope| {
        let copier = scope.spawn(|| copy_frames(&ports, &stop));
        let outcome = std::panic::catch_unwind(|| {
            for server in b.addresses() {
                echo(&a, &b, server);
                transfer(&a, &b, server);
            }
        });
        stop.wake();
        let copied = copier.join().expect("no panic");
        outcome.map_or_else(|panic| std::panic::resume_unwind(panic), |()| copied)
    });
    // Cut to size by the sender: no frame is longer than the link allows, and each byte took its share.
    assert_eq!(longest, MOST_BYTES);
    assert!(copied > 2 * (1 << 20) / u64::from(MTU), "{copied}");
    let mut kernel = Kernel::of(&network, "wires").expect("we made it");
    let (near, far) = (kernel.link("p1").expect("there"), kernel.link("p2").expect("there"));
    let passed = near.statistics.received_frames + far.statistics.received_frames;
    let dropped: u64 = ports.iter().map(|port| port.dropped().expect("it counts")).sum();
    assert!(passed >= copied + dropped, "{passed} came, {copied} were copied, {dropped} dropped");
}

#[test]
fn three_hosts_talk_by_a_switch() {
    let hosts: Option<Vec<Host>> = (1..=3).map(Host::new).collect();
    let (Some(mut hosts), Some((network, mut kernel))) = (hosts, network("switch")) else { return };
    apply(&network, "switch", Settings::default()).expect("it is ours");
    kernel.create_bridge("br0").expect("the name is free");
    kernel.set_up("br0", true).expect("it is there");
    for host in &mut hosts {
        let port = format!("p{}", host.number);
        host.connect(&port, &network, &mut kernel);
        kernel.add_port("br0", &port).expect("both are there");
    }
    let setting = |name: &str| {
        let path = format!("/sys/class/net/br0/bridge/{name}");
        let read = || -> Result<String, Box<dyn std::error::Error + Send + Sync>> {
            pathscope_os::namespaces::separate_mounts()?;
            pathscope_os::namespaces::mount_sysfs()?;
            Ok(std::fs::read_to_string(&path)?.trim().to_owned())
        };
        network.run(read).expect("we made it").expect("every bridge has it")
    };
    assert_eq!(["stp_state", "forward_delay", "multicast_snooping"].map(setting), ["0", "0", "0"]);
    assert_eq!(setting("ageing_time"), "100000000");
    for (from, to) in [(0, 1), (1, 2), (2, 0)] {
        for server in hosts[to].addresses() {
            echo(&hosts[from], &hosts[to], server);
        }
    }
    assert!(kernel.link("p1").expect("it is there").statistics.received_frames >= 4);
}
