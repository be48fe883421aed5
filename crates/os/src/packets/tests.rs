//! Packet sockets at both ends of a virtual cable, in a network of its own.

use std::process::Command;
use std::time::Duration;

use super::*;
use crate::clock;
use crate::namespaces::Network;
use crate::readiness::{Interest, Poller};

/// Two interfaces with a cable between them, of which nothing else makes use.
struct Cable {
    network: Network,
    near: PacketSocket,
    far: PacketSocket,
}

/// None where this user may not have one.
fn cable(buffer: usize) -> Option<Cable> {
    let network =
        Network::create().map_err(|error| println!("skipped, because we {error}")).ok()?;
    let sockets = network.run(|| {
        // Or the kernel would greet the neighbours.
        let _ = std::fs::write("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1");
        ip("link add near type veth peer name far");
        ip("link set near up");
        ip("link set far up");
        ["near", "far"].map(|name| {
            PacketSocket::open(index(name), Scope::Incoming, buffer).expect("it is there")
        })
    });
    let [near, far] = sockets.expect("it was made just now");
    Some(Cable { network, near, far })
}

fn ip(words: &str) {
    let status = Command::new("ip").args(words.split(' ')).status().expect("iproute2");
    assert!(status.success(), "ip {words}");
}

fn index(name: &str) -> u32 {
    rustix::net::netdevice::name_to_index(socket(), name).expect("it is there")
}

fn socket() -> std::net::UdpSocket {
    std::net::UdpSocket::bind("0.0.0.0:0").expect("any socket will do")
}

/// A frame that no protocol is known for.
fn frame(number: u8, len: usize) -> Vec<u8> {
    let mut bytes = vec![number; len];
    bytes[..12].copy_from_slice(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0, 1]);
    bytes[12..14].copy_from_slice(&[0x88, 0xb5]);
    bytes
}

fn await_input(socket: &PacketSocket) {
    let poller = Poller::new().expect("a poller");
    poller.add(socket, 0, Interest::INPUT).expect("it has a descriptor");
    let mut ready = Vec::new();
    poller.wait(&mut ready, Some(Duration::from_secs(10))).expect("a wait");
    assert_eq!(ready.len(), 1, "no frame came within ten seconds");
}

#[test]
fn frames_arrive_as_they_were_sent() {
    let Some(Cable { near, far, .. }) = cable(1 << 20) else { return };
    let mut batch = Batch::new(MOST_AT_ONCE, 2_048);
    assert_eq!(far.receive(&mut batch).expect("nothing waits"), 0);
    let frames: Vec<_> =
        (0..100_u8).map(|number| frame(number, 60 + usize::from(number))).collect();
    let frames: Vec<&[u8]> = frames.iter().map(Vec::as_slice).collect();
    let before = clock::now();
    assert_eq!(near.send(&frames).expect("there is room"), MOST_AT_ONCE);
    assert_eq!(near.send(&frames[MOST_AT_ONCE..]).expect("there is room"), 100 - MOST_AT_ONCE);
    let mut taken = 0;
    let mut last = Tick::ZERO;
    while taken < 100 {
        await_input(&far);
        assert!(far.receive(&mut batch).expect("they wait") > 0);
        for frame in batch.frames() {
            assert_eq!((frame.bytes, frame.len), (frames[taken], frames[taken].len()));
            assert!(!frame.is_truncated());
            // The wall clock that stamps may drift against ours, a little.
            assert!(frame.arrival.plus_nanos(1_000_000) > before && frame.arrival <= clock::now());
            assert!(frame.arrival.plus_nanos(1_000_000) > last);
            last = frame.arrival;
            taken += 1;
        }
    }
    assert_eq!(far.receive(&mut batch).expect("nothing waits"), 0);
    assert_eq!(batch.frames().len(), 0);
    assert_eq!(far.dropped().expect("the kernel counts"), 0);
    assert_eq!(near.receive(&mut batch).expect("what we sent ourselves is not for us"), 0);
}

#[test]
fn a_frame_that_does_not_fit_says_how_long_it_was() {
    let Some(Cable { near, far, .. }) = cable(1 << 20) else { return };
    let mut batch = Batch::new(1, 100);
    let long = frame(7, 1_514);
    assert_eq!(near.send(&[&long, &long]).expect("there is room"), 2);
    for _ in 0..2 {
        await_input(&far);
        assert_eq!(far.receive(&mut batch).expect("it waits"), 1);
        let frame = batch.frames().next().expect("one was taken");
        assert_eq!((frame.bytes, frame.len, frame.is_truncated()), (&long[..100], 1_514, true));
    }
}

#[test]
fn what_the_kernel_drops_is_counted_through_all_readings() {
    let Some(Cable { near, far, .. }) = cable(1) else { return };
    assert!(far.buffer() > 0 && far.buffer() < 100_000, "{}", far.buffer());
    let one = frame(1, 1_000);
    let mut batch = Batch::new(MOST_AT_ONCE, 2_048);
    let (mut sent, mut taken) = (0, 0);
    for round in 1..=3 {
        for _ in 0..200 {
            sent += near.send(&[&one]).expect("veth takes all") as u64;
        }
        let dropped = far.dropped().expect("the kernel counts");
        assert!(dropped >= round, "{dropped}");
        while far.receive(&mut batch).expect("some wait") > 0 {
            taken += batch.frames().len() as u64;
        }
        assert_eq!(far.dropped().expect("the kernel counts") + taken, sent);
    }
}

#[test]
fn an_interface_that_is_down_is_an_error_to_send_and_silence_to_receive() {
    let Some(Cable { network, near, far }) = cable(1 << 20) else { return };
    let mut batch = Batch::new(1, 2_048);
    network.run(|| ip("link set near down")).expect("we made it");
    let errno = |outcome: io::Result<usize>| outcome.expect_err("it cannot").raw_os_error();
    assert_eq!(errno(near.send(&[&frame(1, 60)])), Some(libc::ENETDOWN));
    assert_eq!(near.receive(&mut batch).expect("no error"), 0);
    network.run(|| ip("link set near up")).expect("we made it");
    assert_eq!(near.send(&[&frame(2, 60)]).expect("it is up"), 1);
    await_input(&far);
    assert_eq!(far.receive(&mut batch).expect("it waits"), 1);
    assert_eq!(errno(near.send(&[&frame(3, 2_000)])), Some(libc::EMSGSIZE));
    assert_eq!(near.send(&[]).expect("nothing to do"), 0);
}

#[test]
fn an_interface_that_is_not_there_is_a_sentence() {
    let Some(Cable { network, .. }) = cable(1 << 20) else { return };
    for index in [0, 99, u32::MAX] {
        let opened = network
            .run(|| PacketSocket::open(index, Scope::Incoming, 1 << 20))
            .expect("we made it");
        let error = opened.expect_err("there is none").to_string();
        assert!(error.starts_with("cannot set up a packet socket: "), "{error}");
    }
}
