//! A program that uses every interface that reaches a server: finds them, binds a socket to each, sees that it is used,
//! and follows their coming and going. What each step is for stands in docs/second-interface.md.
//!
//! `cargo run -p pathscope-os --example second_interface -- ADDRESS:PORT` for any UDP server that answers; `--echo
//! ADDRESS:PORT` is such a server. Both run until they are ended.

#![expect(clippy::print_stdout, reason = "it is a program to look at")]

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::time::Duration;

use pathscope_os::OsError;
use pathscope_os::readiness::{Interest, Poller};
use pathscope_os::routes::{self, Asked, Disturbed, Interface, Monitor};
use socket2::{Domain, SockRef, Socket, Type};

/// How long an answer may take before a path counts as not working.
const ANSWER_WITHIN: Duration = Duration::from_secs(1);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.as_slice() {
        [server] => follow(server.parse()?),
        [word, here] if word == "--echo" => Ok(echo(here.parse()?)?),
        _ => Err("give the server as ADDRESS:PORT, or --echo ADDRESS:PORT to be one".into()),
    }
}

/// Sends back whatever comes.
fn echo(here: SocketAddr) -> io::Result<()> {
    let socket = UdpSocket::bind(here)?;
    println!("echoing on {}", socket.local_addr()?);
    let mut room = [0; 1_500];
    loop {
        let (count, from) = socket.recv_from(&mut room)?;
        // One that cannot be answered is no reason not to answer others.
        let _ = socket.send_to(&room[..count], from);
    }
}

/// Uses every interface that reaches the server, for as long as it does.
fn follow(server: SocketAddr) -> Result<(), Box<dyn std::error::Error>> {
    // Changes are listened to first: what changes while we look is not missed then.
    let mut monitor = Monitor::open()?;
    let poller = Poller::new()?;
    poller.add(&monitor, 0, Interest::INPUT)?;
    let mut paths: BTreeMap<String, UdpSocket> = BTreeMap::new();
    let mut disturbed = Disturbed::default();
    loop {
        let candidates = find(server)?;
        // Gone: without a link, an address or a route. One that was gone for a moment looks as before, and its socket
        // may be dead. A route that changes may move a socket that is bound by its address.
        paths.retain(|name, socket| {
            let local = socket.local_addr().map(|local| local.ip());
            let lasts = |it: &Interface| {
                let is_there = |&ip: &IpAddr| !disturbed.concerns(it.index, ip);
                local.as_ref().is_ok_and(is_there) && see_that_it_holds(socket, it, server).is_ok()
            };
            let stays = candidates.iter().any(|it| it.name == *name && lasts(it));
            if !stays {
                println!("{name}: gone");
            }
            stays
        });
        for candidate in &candidates {
            if !paths.contains_key(&candidate.name) {
                match open(candidate, server) {
                    Ok(socket) => drop(paths.insert(candidate.name.clone(), socket)),
                    Err(error) => println!("{}: not used, since {error}", candidate.name),
                }
            }
        }
        // Nothing to do until something changes; a path that did not answer is tried again all the same.
        poller.wait(&mut Vec::new(), Some(Duration::from_secs(5)))?;
        disturbed = monitor.drain();
    }
}

/// The interfaces that could be used: up, with a link, an address of the server's family, and a route.
fn find(server: SocketAddr) -> Result<Vec<Interface>, OsError> {
    let mut found = Vec::new();
    for interface in routes::interfaces()? {
        let has_address =
            interface.addresses.iter().any(|address| address.is_ipv4() == server.is_ipv4());
        let asked = Asked { interface: Some(interface.index), source: None };
        if interface.is_up
            && interface.has_link
            && has_address
            && routes::route(server.ip(), asked)?.is_some()
        {
            found.push(interface);
        }
    }
    Ok(found)
}

/// A socket on this interface that the server has answered on.
fn open(interface: &Interface, server: SocketAddr) -> io::Result<UdpSocket> {
    let socket = Socket::new(Domain::for_address(server), Type::DGRAM, None)?;
    match socket.bind_device(Some(interface.name.as_bytes())) {
        Ok(()) => {}
        // Before Linux 5.7 this takes CAP_NET_RAW. A source address does where routes go by it.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            let alike = interface.addresses.iter().find(|it| it.is_ipv4() == server.is_ipv4());
            let address = alike.ok_or(error)?;
            socket.bind(&SocketAddr::new(*address, 0).into())?;
        }
        Err(error) => return Err(error),
    }
    socket.connect(&server.into())?;
    let socket = UdpSocket::from(socket);
    let held_by = see_that_it_holds(&socket, interface, server)?;
    // An interface that looks right may lead nowhere: only an answer on this very socket proves it.
    socket.set_read_timeout(Some(ANSWER_WITHIN))?;
    socket.send(b"is anybody there?")?;
    let mut answer = [0; 1_500];
    let count = socket.recv(&mut answer).map_err(|error| match error.kind() {
        io::ErrorKind::WouldBlock => io::Error::other("nobody answered on it within a second"),
        _ => error,
    })?;
    println!("{}: used; {held_by}, {count} bytes came back", interface.name);
    Ok(socket)
}

/// That what this socket sends leaves by this interface, with an address of it, in a few words; or why not. Without this
/// one interface would have what another one carries.
fn see_that_it_holds(
    socket: &UdpSocket,
    interface: &Interface,
    server: SocketAddr,
) -> io::Result<String> {
    let (device, local) = (SockRef::from(socket).device()?, socket.local_addr()?.ip());
    let device = device.map(|name| String::from_utf8_lossy(&name).into_owned());
    if !interface.addresses.contains(&local) {
        let why = format!("its address would be {local}, which is not the interface's");
        return Err(io::Error::other(why));
    }
    match device.as_deref() {
        Some(device) if device == interface.name => {}
        Some(device) => return Err(io::Error::other(format!("it is bound to {device}"))),
        // By its address alone, routes decide.
        None => {
            let asked = Asked { interface: None, source: Some(local) };
            let way = routes::route(server.ip(), asked).map_err(io::Error::other)?;
            if way.is_none_or(|way| way.interface != interface.index) {
                let why = format!("routes send packets from {local} another way");
                return Err(io::Error::other(why));
            }
        }
    }
    let device = device.unwrap_or_else(|| "no device".to_owned());
    Ok(format!("bound to {device}, from {local} (its own address)"))
}
