//! What a server sends to somebody who asks for it no more.

use std::io::ErrorKind;
use std::net::UdpSocket;
use std::time::Duration;

use pathscope_os::clock;

use crate::caller::{Caller, PATIENCE, socket};
use crate::common::Server;

/// A stream of a thousand datagrams a second that has paused for so long is over.
const OVER: Duration = Duration::from_secs(2);

/// A minute of a thousand datagrams of 200 bytes a second.
const DATAGRAMS: &str = r#"{"datagrams":{"pattern":"pull","connections":1,
    "extent":{"duration_ns":60000000000},"datagram_bytes":200,"rate_bps":1600000,"warm_up_ns":0,
    "verify":"full","engine":null,"wait":"auto"}}"#;
/// A minute of fifty frames a second, of twenty datagrams each.
const MEDIA: &str = r#"{"media":{"profile":null,"direction":"down","rate_bps":1600000,"frame_rate":50,
    "buffer_depth_ns":100000000,"duration_ns":60000000000,"streams":1,"datagram_bytes":200,
    "pacing":"spread","engine":null,"wait":"auto"}}"#;

/// Takes a stream until it pauses, or for so long. Asks for it as long as this is said. For how long it came.
fn take(socket: &UdpSocket, asks_for: Duration, caller: &mut Caller) -> Duration {
    socket.set_read_timeout(Some(OVER)).expect("a socket");
    let began = clock::now();
    let (mut buffer, mut last, mut said) = ([0; 2_048], began, 0);
    while clock::now().since(began) < PATIENCE {
        let since = clock::now().since(began);
        if since < asks_for && since >= Duration::from_millis(250) * said {
            // The stream may have ended, and its socket be closed.
            let _ = socket.send(&caller.consent(said.into()));
            said += 1;
            // Nor is the control connection to fall silent.
            caller.say(0x0c, r#"{"id":7}"#);
        }
        match socket.recv(&mut buffer) {
            Ok(_) => last = clock::now(),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                break;
            }
            Err(error) => panic!("{error}"),
        }
    }
    last.since(began)
}

#[test]
fn a_stream_ends_seconds_after_it_was_last_asked_for() {
    let server = Server::start();
    let host = server.host();
    let stream = |plan: &str, asks_for| {
        let mut caller = Caller::propose(&host, 2, plan);
        let socket = socket(&host);
        assert_eq!(caller.attach(&socket, 0), 0);
        caller.start();
        let came_for = take(&socket, asks_for, &mut caller);
        let report = caller.hear(9).to_string();
        assert!(report.contains("the client has not asked for its datagrams for 5"), "{report}");
        came_for
    };
    std::thread::scope(|scope| {
        let asked_for = Duration::from_secs(7);
        let asked = scope.spawn(move || stream(DATAGRAMS, asked_for));
        for plan in [DATAGRAMS, MEDIA] {
            scope.spawn(move || {
                let came_for = stream(plan, Duration::ZERO);
                assert!(came_for < Duration::from_secs(9), "{came_for:?}");
            });
        }
        let came_for = asked.join().expect("it was checked");
        assert!(
            (asked_for..asked_for + Duration::from_secs(9)).contains(&came_for),
            "{came_for:?}"
        );
    });
}

#[test]
fn a_stream_ends_within_a_second_where_nobody_has_the_port_open_any_more() {
    let server = Server::start();
    let host = &server.host();
    std::thread::scope(|scope| {
        for (version, plan) in [(1, DATAGRAMS), (1, MEDIA), (2, DATAGRAMS), (2, MEDIA)] {
            scope.spawn(move || {
                let mut caller = Caller::propose(host, version, plan);
                let socket = socket(host);
                assert_eq!(caller.attach(&socket, 0), 0);
                caller.start();
                for _ in 0..20 {
                    socket.recv(&mut [0; 2_048]).expect("it streams");
                }
                let closed = clock::now();
                drop(socket);
                let report = caller.hear(9).to_string();
                let took = clock::now().since(closed);
                assert!(report.contains("the client's machine refuses its datagrams"), "{report}");
                // A second, and what it takes to tell; less than it goes on where nothing is answered.
                assert!(took < Duration::from_secs(4), "{took:?}");
            });
        }
    });
}

#[test]
fn two_flows_of_one_test_do_not_come_from_one_port() {
    let server = Server::start();
    let two = DATAGRAMS.replace(r#""connections":1"#, r#""connections":2"#);
    let caller = Caller::propose(&server.host(), 2, &two);
    let [one, other] = [(); 2].map(|()| socket(&server.host()));
    assert_eq!((caller.attach(&one, 0), caller.attach(&one, 1)), (0, 6));
    // Asked again, since an answer may be lost; and from a port of its own.
    assert_eq!((caller.attach(&one, 0), caller.attach(&other, 1)), (0, 0));
}
