//! Sockets over loopback.

use std::io::{self, Read};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::*;
use crate::{clock, datagrams, tcp_facts};

const LOOPBACK: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

fn in_ten_seconds() -> Tick {
    clock::now().plus_nanos(10_000_000_000)
}

fn await_readable(socket: &Socket) {
    let patience = Timespec { tv_sec: 10, tv_nsec: 0 };
    let ready = poll(&mut [PollFd::new(socket, PollFlags::IN)], Some(&patience));
    assert_eq!(ready, Ok(1), "nothing came within ten seconds");
}

fn pair() -> (Socket, Socket) {
    let listener = listen_tcp(LOOPBACK, 8).expect("loopback");
    assert!(accept_tcp(&listener).expect("nothing waits").is_none());
    let address = listener.local_addr().expect("bound");
    let client = connect_tcp(address, &Settings::default(), in_ten_seconds(), None);
    let client = client.expect("listening");
    await_readable(&listener);
    let (server, remote) = accept_tcp(&listener).expect("alive").expect("one waits");
    assert_eq!(remote, client.local_addr().expect("connected"));
    (client, server)
}

#[test]
fn an_accepted_connection_neither_blocks_nor_waits_for_more_to_send() {
    let (_client, server) = pair();
    let server = server.into_tcp_stream();
    assert!(server.nodelay().expect("a socket"));
    let error = (&server).read(&mut [0; 1]).expect_err("nothing was said");
    assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
}

#[test]
fn a_connection_knows_both_its_ends() {
    let (client, server) = pair();
    assert_eq!(client.peer_addr().expect("connected"), server.local_addr().expect("connected"));
    assert!(client.send_buffer_bytes() > Some(0) && client.receive_buffer_bytes() > Some(0));
    let facts = tcp_facts::tcp_facts(&client).expect("a TCP socket");
    assert!(facts.segment_bytes > Some(0) && facts.congestion_window_bytes > Some(0), "{facts:?}");
}

#[test]
fn a_refused_connection_is_a_sentence_with_a_remedy() {
    let unused = listen_tcp(LOOPBACK, 1).expect("loopback").local_addr().expect("bound");
    let error = connect_tcp(unused, &Settings::default(), in_ten_seconds(), None);
    let error = error.expect_err("nobody listens");
    assert!(error.to_string().starts_with(&format!("cannot connect to TCP {unused}: ")), "{error}");
    assert!(error.remedy().is_some_and(|remedy| remedy.contains("pathscope server")));
}

#[test]
fn what_helps_with_an_interface_depends_on_why_it_cannot_be_used() {
    let remedy = |errno| {
        let source = io::Error::from_raw_os_error(errno);
        OsError::Interface { name: "eth1".to_owned(), source }.remedy().unwrap_or("none")
    };
    for (errno, words) in [
        (libc::ENODEV, "'ip link' lists"),
        // It is there: a list of interfaces would not help.
        (libc::EPERM, "--bind"),
        (libc::EACCES, "--bind"),
        (libc::EINVAL, "none"),
    ] {
        assert!(remedy(errno).contains(words), "{errno}: {}", remedy(errno));
    }
}

#[test]
fn a_connection_that_is_not_answered_ends_at_its_deadline_or_when_called_off() {
    // A full backlog: the kernel does not answer the next connection at all.
    let listener = listen_tcp(LOOPBACK, 0).expect("loopback");
    let address = listener.local_addr().expect("bound");
    let _first = connect_tcp(address, &Settings::default(), in_ten_seconds(), None);
    let soon = clock::now().plus_nanos(50_000_000);
    let late = connect_tcp(address, &Settings::default(), soon, None).expect_err("not answered");
    assert!(matches!(late, OsError::ConnectTimeout { .. }), "{late}");
    assert!(clock::now() >= soon);

    let cancel = Waker::new().expect("a waker");
    let caller = cancel.clone();
    let thread = std::thread::spawn(move || caller.wake());
    let error = connect_tcp(address, &Settings::default(), in_ten_seconds(), Some(&cancel));
    assert!(matches!(error, Err(OsError::Cancelled { .. })), "{error:?}");
    thread.join().expect("no panic");
}

#[test]
fn an_unknown_congestion_control_is_refused_with_the_list() {
    let (client, _server) = pair();
    let error = client.set_congestion_control("nonesuch").expect_err("no such thing").to_string();
    let current = client.congestion_control().expect("some");
    assert!(error.contains("nonesuch") && error.contains(&current), "{error}");
    client.set_congestion_control(&current).expect("what is in use is available");
}

#[test]
fn a_reset_reaches_the_other_end_at_once() {
    let (client, server) = pair();
    client.reset().expect("connected");
    let mut stream = TcpStream::from(server.0);
    stream.set_read_timeout(Some(Duration::from_secs(10))).expect("a timeout");
    let error = stream.read(&mut [0; 8]).expect_err("reset");
    assert_eq!(error.raw_os_error(), Some(libc::ECONNRESET));
    drop(client);
}

#[test]
fn what_waits_to_be_received_is_known_to_the_byte() {
    let (client, server) = pair();
    assert_eq!(server.held_bytes(), Some(0));
    let sent = rustix::net::send(&client, &[7; 1_000], rustix::net::SendFlags::empty());
    assert_eq!(sent.expect("connected"), 1_000);
    await_readable(&server);
    assert_eq!(server.held_bytes(), Some(1_000));
    let mut some = [0; 400];
    let flags = rustix::net::RecvFlags::empty();
    rustix::net::recv(&server, &mut some, flags).expect("they wait");
    assert_eq!((server.held_bytes(), server.ready_bytes()), (Some(600), Some(600)));
}

#[test]
fn a_shutdown_is_seen_as_the_end_of_the_stream() {
    let (client, server) = pair();
    client.shutdown_send().expect("connected");
    let mut stream = TcpStream::from(server.0);
    stream.set_read_timeout(Some(Duration::from_secs(10))).expect("a timeout");
    assert_eq!(stream.read(&mut [0; 8]).expect("the end"), 0);
}

#[test]
fn the_listener_answers_from_the_address_it_was_called_by() {
    let any: SocketAddr = "0.0.0.0:0".parse().expect("an address");
    let listener = bind_udp(any).expect("a port");
    let port = listener.local_addr().expect("bound").port();
    let called: SocketAddr = format!("127.0.0.2:{port}").parse().expect("an address");
    let client = connect_udp(called, &Settings::default()).expect("loopback");
    rustix::net::send(&client, b"hello", rustix::net::SendFlags::empty()).expect("sent");
    await_readable(&listener);
    let mut buffer = [0; 3];
    let datagram = datagrams::receive(&listener, &mut buffer).expect("alive").expect("one waits");
    assert_eq!((datagram.local, datagram.truncated), (Some(called.ip()), true));

    // The client is connected to 127.0.0.2: an answer from any other address would not reach it.
    datagrams::send(&listener, b"you", datagram.remote, datagram.local).expect("sent");
    await_readable(&client);
}

#[test]
fn two_listeners_on_one_port_are_a_sentence_with_a_remedy() {
    let first = listen_tcp(LOOPBACK, 1).expect("loopback");
    let error = listen_tcp(first.local_addr().expect("bound"), 1).expect_err("in use");
    assert!(error.remedy().is_some_and(|remedy| remedy.contains("--port")), "{error}");
}

#[test]
fn a_flow_label_is_that_of_the_connection_and_of_ipv6_alone() {
    let labelled = |label| Settings { flow_label: Some(label), ..Settings::default() };
    let connected = |address, label| connect_tcp(address, &labelled(label), in_ten_seconds(), None);
    let four = listen_tcp(LOOPBACK, 1).expect("loopback").local_addr().expect("bound");
    let error = connected(four, 1).expect_err("it is IPv4's");
    assert!(error.to_string().contains("it takes an IPv6 address"), "{error}");
    let listener = match listen_tcp("[::1]:0".parse().expect("an address"), 8) {
        Ok(listener) => listener,
        Err(error) => return println!("skipped, because {error}"),
    };
    let six = listener.local_addr().expect("bound");
    let label_of = |socket: &Socket| match socket.peer_addr().expect("connected") {
        SocketAddr::V6(six) => six.flowinfo(),
        SocketAddr::V4(_) => 0,
    };
    // Several connections may have one.
    let of_tcp: Vec<Socket> =
        (0..2).map(|_| connected(six, 0x7_1234).expect("it listens")).collect();
    assert!(of_tcp.iter().all(|socket| label_of(socket) == 0x7_1234));
    let datagrams = connect_udp(six, &labelled(77)).expect("an address");
    assert_eq!(label_of(&datagrams), 77);
    let plain = connect_tcp(six, &Settings::default(), in_ten_seconds(), None);
    assert_eq!(label_of(&plain.expect("it listens")), 0);
}

#[test]
fn what_is_not_acknowledged_for_so_long_ends_a_connection_where_that_is_asked_for() {
    let listener = listen_tcp(LOOPBACK, 8).expect("loopback");
    let address = listener.local_addr().expect("bound");
    let user_timeout = Some(Duration::from_millis(1_234));
    let settings = Settings { user_timeout, ..Settings::default() };
    let client = connect_tcp(address, &settings, in_ten_seconds(), None).expect("it listens");
    assert_eq!(socket2::SockRef::from(&client).tcp_user_timeout().expect("a socket"), user_timeout);
}
