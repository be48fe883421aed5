//! `MultipathLatencyAnalyzer` over real sockets: our client and our server with each other, and each datagram that a server may be sent.

use std::io::ErrorKind;
use std::net::UdpSocket;
use std::time::Duration;

use pathscope_core::quantity::{BitRate, Bytes, Period};
use pathscope_modes::conventions::bare::{Bare, PING};
use pathscope_modes::document::Document;
use pathscope_modes::groups::Test;
use pathscope_modes::multipath::{MultipathPlan, SendOrder};
use pathscope_modes::registry::Plan;
use pathscope_peers::registry::PeerKind;
use pathscope_run::server::Settings;
use serde_json::Value;

use crate::common;

/// Datagrams of the test below.
const DATAGRAMS: u64 = 320;

/// Half a second of the analyzer's own shape.
fn test() -> Test {
    let plan = MultipathPlan {
        rate_bps: BitRate(5_242_880),
        grouping: 30,
        datagram_bytes: Bytes(1_024),
        duration_ns: Period::from_millis(500),
        paths: Vec::new(),
        lanes: 2,
        order: SendOrder::PrimaryFirst,
        late_by_ns: Period::from_millis(50),
    };
    assert_eq!(plan.datagrams(), DATAGRAMS);
    Test::new(Plan::Multipath(plan), None, Period::from_millis(100))
}

/// What comes of it to do something at the port of a server, and what a person there was told.
fn served<R>(clients: impl FnOnce(u16) -> R) -> (R, Vec<String>) {
    common::served((PeerKind::Mla, Vec::new()), Settings::default(), clients)
}

/// What comes of a client's run, and what went wrong.
fn run(port: u16, test: Test) -> (Document, Option<String>) {
    common::run(PeerKind::Mla, port, vec![test])
}

fn socket(port: u16) -> UdpSocket {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a free port");
    socket.connect(("127.0.0.1", port)).expect("an address");
    // Longer than anything takes: what is awaited comes, and what is not is never awaited.
    socket.set_read_timeout(Some(Duration::from_secs(60))).expect("a socket");
    socket
}

/// A datagram of this number and length, without a stamp of a server.
fn datagram(sequence: i64, bytes: usize) -> Vec<u8> {
    let mut datagram = vec![0; bytes];
    Bare { sequence, sent_us: 77, echoed_us: 0 }.write(&mut datagram);
    datagram
}

/// What comes next.
fn received(socket: &UdpSocket) -> Vec<u8> {
    let mut buffer = [0; 2_048];
    let count = socket.recv(&mut buffer).expect("it is answered");
    buffer[..count].to_vec()
}

#[test]
fn our_client_measures_our_server_and_nobody_says_what_it_counts() {
    let ((document, failure), lines) = served(|port| run(port, test()));
    assert_eq!(failure, None);
    let document = serde_json::to_value(&document).expect("a document is JSON");
    assert_eq!(document["hosts"]["peer"]["name"], "mla");
    assert!(document["hosts"]["server"].is_null(), "nobody says what host it is");
    let measurement = &document["measurements"][0];
    let summary = &measurement["summary"]["multipath"];
    assert_eq!(summary["scheduled"], DATAGRAMS, "{measurement}");
    assert_eq!(summary["received"], DATAGRAMS, "{measurement}");
    let path = &summary["paths"][0];
    assert!(path["latency"]["min_ns"].as_u64() > Some(0), "{path}");
    assert_eq!((&path["corrupt"], &summary["foreign"]), (&Value::from(0), &Value::from(0)));
    assert!(path["lost_forward"].is_null(), "absent, and not zero: {path}");
    assert!(measurement["server"].is_null());
    let echoed = format!("{} datagrams echoed in", DATAGRAMS + 1);
    assert!(lines.iter().any(|line| line.ends_with("its datagrams are echoed")), "{lines:?}");
    assert!(lines.iter().any(|line| line.contains(&echoed)), "and its ping: {lines:?}");
}

#[test]
fn a_server_answers_what_a_client_may_say_and_nothing_else() {
    let ((), lines) = served(|port| {
        let socket = socket(port);
        let mut echoed = datagram(5, 1_024);
        echoed[16] = 1;
        let unanswered = [
            Vec::new(),
            datagram(1, 23),
            datagram(2, 1_025),
            datagram(3, 9_000),
            vec![0xff; 1_024],
            echoed,
            b"START".to_vec(),
        ];
        for (number, bytes) in (0_i64..).zip([24, 25, 100, 1_023, 1_024]) {
            for other in &unanswered {
                socket.send(other).expect("it leaves");
            }
            let sent = datagram(if bytes == 24 { PING } else { number }, bytes);
            socket.send(&sent).expect("it leaves");
            // What comes first answers what was sent last: nothing before had an answer.
            let echo = received(&socket);
            assert_eq!(echo.len(), bytes);
            assert_eq!((&echo[..16], &echo[24..]), (&sent[..16], &sent[24..]));
            assert!(Bare::read(&echo).expect("it is whole").echoed_us >= 1);
        }
    });
    assert!(lines.iter().any(|line| line.contains("5 datagrams echoed in")), "{lines:?}");
}

/// What the one has echoed is sent to the other by a third, as if the one had sent it there.
#[test]
fn two_servers_that_are_set_upon_each_other_fall_silent() {
    served(|one| {
        served(|other| {
            let (one, other) = (socket(one), socket(other));
            one.send(&datagram(1, 1_024)).expect("it leaves");
            other.send(&received(&one)).expect("it leaves");
            other.send(&datagram(2, 100)).expect("it leaves");
            assert_eq!(received(&other).len(), 100, "the echo was not echoed");
            other.set_nonblocking(true).expect("a socket");
            let nothing = other.recv(&mut [0; 9]).expect_err("there was one answer");
            assert_eq!(nothing.kind(), ErrorKind::WouldBlock);
        });
    });
}

#[test]
fn where_nobody_answers_the_client_says_so() {
    let silent = UdpSocket::bind("127.0.0.1:0").expect("a free port");
    let port = silent.local_addr().expect("it is bound").port();
    let (document, failure) = run(port, test());
    let failure = failure.expect("nobody is there");
    assert!(failure.contains("there is no path to 127.0.0.1"), "{failure}");
    assert!(failure.contains("no answer from the server's UDP port"), "{failure}");
    assert!(document.measurements.is_empty());
    // All that came is pings.
    let mut buffer = [0; 2_048];
    let count = silent.recv(&mut buffer).expect("it was asked");
    assert_eq!((count, Bare::read(&buffer).map(|it| it.sequence)), (1_024, Some(PING)));
}

#[test]
fn what_it_cannot_carry_is_refused_by_name_before_anything_is_opened() {
    let mut long = test();
    let Plan::Multipath(plan) = &mut long.plan else { panic!("it is of paths") };
    plan.datagram_bytes = Bytes(1_025);
    // Nobody listens there, and nobody is asked.
    let (document, failure) = run(1, long);
    let failure = failure.expect("it is refused");
    assert!(failure.contains("has room for datagrams of 1024 bytes"), "{failure}");
    assert!(document.measurements.is_empty());
}
