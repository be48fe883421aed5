//! Sockets of flows beside a listener, over loopback.

use std::net::SocketAddr;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{SendFlags, send};

use super::*;
use crate::datagrams;
use crate::sockets::{bind_udp, connect_udp};

/// Strangers, and each time as many.
const STRANGERS: usize = 20;

fn await_readable(socket: &Socket) {
    let patience = Timespec { tv_sec: 10, tv_nsec: 0 };
    let ready = poll(&mut [PollFd::new(socket, PollFlags::IN)], Some(&patience));
    assert_eq!(ready, Ok(1), "nothing came within ten seconds");
}

fn listener(at: &str) -> Socket {
    bind_udp(at.parse().expect("an address")).expect("loopback")
}

/// Where clients call this listener at that address.
fn called(listener: &Socket, at: &str) -> SocketAddr {
    let port = listener.local_addr().expect("bound").port();
    SocketAddr::new(at.parse().expect("an address"), port)
}

fn client(of: SocketAddr) -> (Socket, SocketAddr) {
    let client = connect_udp(of, &Settings::default()).expect("loopback");
    let remote = client.local_addr().expect("connected");
    (client, remote)
}

fn say(client: &Socket) {
    send(client, b"hello", SendFlags::empty()).expect("sent");
}

/// A client, and the socket of its flow.
fn flow(opener: &mut FlowOpener, local: SocketAddr) -> (Socket, Socket) {
    let (client, remote) = client(local);
    let flow = opener.open((local, remote), &Settings::default()).expect("loopback");
    let ends = [flow.local_addr(), flow.peer_addr()].map(|end| end.expect("connected"));
    assert_eq!(ends, [local, remote]);
    (client, flow)
}

/// Each of these is heard at its own, and others at the listener.
fn all_are_heard(listener: &Socket, local: SocketAddr, flows: &[(Socket, Socket)]) {
    let mut buffer = [0; 16];
    for (client, flow) in flows {
        say(client);
        await_readable(flow);
        let heard = datagrams::receive(flow, &mut buffer).expect("alive");
        assert_eq!(heard.map(|it| it.len), Some(5));
    }
    for _ in 0..STRANGERS {
        let (stranger, from) = client(local);
        say(&stranger);
        await_readable(listener);
        let heard = datagrams::receive(listener, &mut buffer).expect("alive");
        assert_eq!(heard.map(|it| (it.remote, it.local)), Some((from, Some(local.ip()))));
    }
    // Who is heard at his flow's is heard nowhere else.
    assert!(datagrams::receive(listener, &mut buffer).expect("alive").is_none());
}

#[test]
fn a_flow_s_socket_is_preferred_to_the_listener() {
    let listener = listener("127.0.0.1:0");
    let local = called(&listener, "127.0.0.1");
    let (client, remote) = client(local);
    let mut buffer = [0; 16];
    say(&client);
    await_readable(&listener);
    let first = datagrams::receive(&listener, &mut buffer).expect("alive").expect("one waits");
    assert_eq!((first.len, first.remote, first.local), (5, remote, Some(local.ip())));

    let mut opener = FlowOpener::beside(&listener);
    let flow = opener.open((local, remote), &Settings::default()).expect("loopback");
    say(&client);
    await_readable(&flow);
    assert!(datagrams::receive(&listener, &mut buffer).expect("alive").is_none());
    assert_eq!(flow.receive_drops(), Some(0));
}

/// One is bound ahead meanwhile, and not connected.
#[test]
fn the_listener_hears_strangers_while_a_socket_of_a_flow_is_not_connected_yet() {
    for (at, address) in [
        ("127.0.0.1:0", "127.0.0.1"),
        ("0.0.0.0:0", "127.0.0.1"),
        ("[::1]:0", "::1"),
        ("[::]:0", "::1"),
    ] {
        let listener = listener(at);
        let local = called(&listener, address);
        let mut opener = FlowOpener::beside(&listener);
        assert_eq!(opener.guarded, listener.local_addr().ok(), "a kernel that has no such filter");
        let mut flows: Vec<_> = (0..3).map(|_| flow(&mut opener, local)).collect();
        assert!(opener.ahead.is_some(), "{at}");
        all_are_heard(&listener, local, &flows);
        // Of one that is gone the last is, too, that was bound ahead.
        let mut other = opener.another();
        flows.extend((0..2).map(|_| flow(&mut other, local)));
        drop(other);
        drop(flows.remove(0));
        flows.extend((0..2).map(|_| flow(&mut opener, local)));
        all_are_heard(&listener, local, &flows);
    }
}

/// There it is not the address from which the system would send to them.
#[test]
fn who_called_another_address_of_the_machine_is_answered_from_that() {
    let listener = listener("0.0.0.0:0");
    let [usual, other] = ["127.0.0.1", "127.77.12.1"].map(|address| called(&listener, address));
    let mut opener = FlowOpener::beside(&listener);
    let open = |opener: &mut FlowOpener, at: SocketAddr| {
        let from = connect_udp(usual, &Settings::default()).expect("loopback");
        let remote = from.local_addr().expect("connected");
        let flow = opener.open((at, remote), &Settings::default()).expect("loopback");
        let ends = [flow.local_addr(), flow.peer_addr()].map(|end| end.expect("connected"));
        assert_eq!(ends, [at, remote]);
        flow
    };
    let _others = [open(&mut opener, other), open(&mut opener, other)];
    let flows = [flow(&mut opener, usual), flow(&mut opener, usual)];
    all_are_heard(&listener, usual, &flows);
}

#[test]
fn where_the_kernel_has_no_such_filter_flows_have_sockets_all_the_same() {
    let listener = listener("127.0.0.1:0");
    let local = called(&listener, "127.0.0.1");
    let mut opener = FlowOpener { guarded: None, ahead: None };
    let flows: Vec<_> = (0..4).map(|_| flow(&mut opener, local)).collect();
    all_are_heard(&listener, local, &flows);
}

/// Such a flow's socket must not become the first of a group of its own: those that are bound after it would join that, without a
/// filter, and hear strangers instead of the listener.
#[test]
fn the_listener_hears_strangers_though_one_socket_could_not_be_opened_beside_it() {
    for (at, address) in [("127.0.0.1:0", "127.0.0.1"), ("0.0.0.0:0", "127.0.0.1")] {
        let listener = listener(at);
        let local = called(&listener, address);
        let mut opener = FlowOpener::beside(&listener);
        let mut flows = vec![flow(&mut opener, local)];
        // As where the system made no socket: the one that waited is gone with it.
        opener.ahead = None;
        let mut without = FlowOpener { guarded: None, ahead: None };
        flows.extend((0..2).map(|_| flow(&mut without, local)));
        flows.extend((0..3).map(|_| flow(&mut opener, local)));
        all_are_heard(&listener, local, &flows);
        drop(flows);
        all_are_heard(&listener, local, &[flow(&mut opener, local)]);
    }
}
