//! Where the flows of a latency test come from, how their sockets are set, and where their workers run.

use std::net::{TcpListener, UdpSocket};

use pathscope_modes::document::Document;

use crate::common::{Ran, Server, run};

fn latency(server: &Server, words: &str) -> Ran {
    let host = server.host();
    let words = ["latency", &host, "-n", "50", "--json"].into_iter().chain(words.split(' '));
    run(&words.collect::<Vec<_>>())
}

fn answered(document: &Document) -> u64 {
    document.measurements[0].summary.latency.as_ref().expect("it is latency").received
}

#[test]
fn sockets_are_set_at_both_ends_and_read_back() {
    let server = Server::start();
    for (protocol, more) in [("tcp", "--nagle --mss 1000 --congestion reno"), ("udp", "-c 3")] {
        let words = format!(
            "--protocol {protocol} --dscp 46 --ttl 7 --send-buffer 64KiB --receive-buffer 32KiB --interface lo {more}"
        );
        let document = latency(&server, &words).exits(0).document();
        assert!(answered(&document) >= 50);
        let measurement = &document.measurements[0];
        let ends = [("client", Some(&measurement.client)), ("server", measurement.server.as_ref())];
        for (name, end) in ends {
            let facts = end.and_then(|end| end.sockets.as_ref()).expect(name);
            // Linux counts its own overhead in.
            let buffers = (facts.send_buffer_bytes, facts.receive_buffer_bytes);
            assert_eq!(buffers, (Some(128 << 10), Some(64 << 10)), "{protocol} {name}");
            assert_eq!((facts.dscp, facts.hops), (Some(46), Some(7)), "{protocol} {name}");
            let is_tcp = protocol == "tcp";
            assert_eq!(facts.nagle, is_tcp.then_some(true), "{name}");
            assert_eq!(facts.congestion_control.as_deref(), is_tcp.then_some("reno"), "{name}");
        }
    }
}

#[test]
fn the_connect_time_of_each_connection_is_told() {
    let server = Server::start();
    let connect = |document: &Document| document.measurements[0].client.connect.clone();
    let document = latency(&server, "--protocol tcp -c 3").exits(0).document();
    let figures = connect(&document).expect("three connections");
    assert_eq!(figures.count, 3);
    let (least, most) = (figures.min_ns.expect("three"), figures.max_ns.expect("three"));
    assert!(0 < least && least <= most && most < document.duration_ns, "{least} to {most}");
    let document = latency(&server, "--protocol udp -c 3").exits(0).document();
    assert_eq!(connect(&document), None);
    // Of connections that are replaced, those that came later as well.
    let words = ["goodput", &server.host(), "-c", "2", "--iterations", "5", "--transfer", "64KiB"];
    let ran = run(&[&words[..], &["--json"]].concat()).exits(0);
    assert_eq!(connect(&ran.document()).map(|figures| figures.count), Some(10));
}

#[test]
fn flows_come_from_the_address_and_port_that_were_given() {
    let server = Server::start();
    // Who cannot have the port that was asked for is refused, so who is not refused has it.
    let stream = TcpListener::bind("127.0.0.7:0").expect("loopback");
    let datagrams = UdpSocket::bind("127.0.0.7:0").expect("loopback");
    for (protocol, held) in [("tcp", stream.local_addr()), ("udp", datagrams.local_addr())] {
        let port = held.expect("bound").port();
        let words = format!("--protocol {protocol} --source-port {port} --bind");
        latency(&server, &format!("{words} 127.0.0.7"))
            .exits(4)
            .complains(&[&format!("cannot use 127.0.0.7:{port} at this end"), "in use"]);
        let document = latency(&server, &format!("{words} 127.0.0.8")).exits(0).document();
        assert_eq!(answered(&document), 50, "{protocol}");
    }
}

#[test]
fn a_worker_stays_where_it_is_kept() {
    let server = Server::start();
    let cpu = pathscope_os::cpus::allowed()[0];
    for protocol in ["tcp", "udp"] {
        let words = format!("--protocol {protocol} --cpu {cpu} --server-cpu {cpu}");
        let document = latency(&server, &words).exits(0).document();
        assert_eq!(answered(&document), 50);
        // One processor for both ends is not spun on, unless that is asked for.
        let waits = |end: &pathscope_modes::registry::EndReport| end.workers[0].wait.clone();
        let measurement = &document.measurements[0];
        assert_eq!(waits(&measurement.client), "sleep");
        assert_eq!(measurement.server.as_ref().map(waits).as_deref(), Some("sleep"));
    }
}

#[test]
fn what_an_end_cannot_do_is_named() {
    let server = Server::start();
    for protocol in ["tcp", "udp"] {
        for (words, code, parts) in [
            ("--bind ::1", 2, &["--bind", "family"][..]),
            ("--bind 192.0.2.7", 4, &["192.0.2.7", "no interface of this machine"]),
            ("--interface nosuch0", 4, &["'nosuch0'", "ip link"]),
            ("--cpu 4095", 4, &["processor 4095", "may use"]),
            ("--server-cpu 4095", 3, &["processor 4095", "may use"]),
            ("--cpu 0,1", 2, &["--cpu", "name one"]),
        ] {
            let ran = latency(&server, &format!("--protocol {protocol} {words}"));
            ran.exits(code).complains(parts);
        }
    }
    latency(&server, "--protocol udp --nagle").exits(2).complains(&["--nagle", "UDP"]);
    latency(&server, "--congestion nosuch").exits(4).complains(&["'nosuch'"]);
}
