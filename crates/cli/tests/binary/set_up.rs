//! The set-up of datagram flows: whichever of its datagrams is lost, in any kind of test.

use std::net::{ToSocketAddrs, UdpSocket};

use pathscope_modes::registry::Summary;

use crate::common::{Server, run};
use crate::trouble::tcp_only;

/// Passes datagrams on between a server and the one client that calls, but for the `lost`-th of them all,
/// which it drops. Listens beside the TCP port of `target`.
fn lossy_udp(target: &str, server: u16, lost: usize) {
    let socket = UdpSocket::bind(target).expect("the port is free on UDP");
    std::thread::spawn(move || {
        let there = ("127.0.0.1", server).to_socket_addrs().expect("loopback").next().expect("one");
        let (mut client, mut buffer) = (None, [0; 2_048]);
        for number in 0.. {
            let Ok((count, from)) = socket.recv_from(&mut buffer) else { return };
            let to = if from == there {
                client
            } else {
                client.replace(from).and(Some(there)).or(Some(there))
            };
            if let Some(to) = to.filter(|_| number != lost) {
                // A lost datagram more or less is what this is about.
                let _ = socket.send_to(&buffer[..count], to);
            }
        }
    });
}

/// Datagrams that were to be answered or to arrive, and those that were.
type Counted = fn(&Summary) -> (u64, u64);

#[test]
fn any_one_lost_datagram_of_it_is_made_good() {
    let server = Server::start();
    let latency: Counted = |summary| {
        let latency = summary.latency.as_ref().expect("it is latency");
        (latency.sent, latency.received)
    };
    let datagrams: Counted = |summary| {
        let datagrams = summary.datagrams.as_ref().expect("it is datagrams");
        let way = datagrams.up.as_ref().or(datagrams.down.as_ref()).expect("it went one way");
        (way.sent.expect("both reported"), way.received.expect("both reported"))
    };
    let media: Counted = |summary| {
        let way = summary.media.as_ref().and_then(|media| media.down.as_ref()).expect("one way");
        (way.sent_datagrams.expect("both reported"), way.received_datagrams.expect("both reported"))
    };
    let multipath: Counted = |summary| {
        let multipath = summary.multipath.as_ref().expect("it is multipath");
        (multipath.scheduled, multipath.received)
    };
    let udp = "--protocol udp --no-probe --rate 1Mbit -t 300ms";
    let kinds = [
        ("latency", "--protocol udp -n 20 --wait sleep".to_owned(), latency),
        ("goodput", format!("--pattern push {udp}"), datagrams),
        ("goodput", format!("--pattern pull {udp}"), datagrams),
        ("media", "--rate 1Mbit --frame-rate 50 -t 300ms".to_owned(), media),
        ("multipath", "--path lo --rate 1Mbit -t 300ms".to_owned(), multipath),
    ];
    for (mode, more, counted) in kinds {
        for lost in 0..4 {
            let target = tcp_only(server.port);
            lossy_udp(&target, server.port, lost);
            let words: Vec<&str> = more.split(' ').collect();
            let ran = run(&[&[mode, &target, "--json"], &words[..]].concat()).exits(0);
            let (sent, received) = counted(&ran.document().measurements[0].summary);
            assert!(sent > 10, "{mode} {more}: {}", ran.said());
            assert_eq!(sent, received, "{mode} {more}, lost {lost}: {}", ran.said());
        }
    }
}
