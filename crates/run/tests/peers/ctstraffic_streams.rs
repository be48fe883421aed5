//! ctsTraffic's streams over UDP, over real sockets: our client and our server with each other, and what a server makes of datagrams.

use std::net::UdpSocket;
use std::time::Duration;

use pathscope_core::quantity::{BitRate, Bytes, Period};
use pathscope_modes::conventions::frames::{self, Header, Sight};
use pathscope_modes::document::Document;
use pathscope_modes::groups::Test;
use pathscope_modes::media::MediaArgs;
use pathscope_modes::registry::Plan;
use pathscope_peers::registry::PeerKind;
use pathscope_run::server::Settings;
use serde_json::Value;

use crate::common;

/// Half a second of 50 frames a second of 2,500 bytes, on so many streams.
fn test(streams: u32) -> Test {
    let words = MediaArgs {
        rate: Some(BitRate(1_000_000)),
        frame_rate: Some(50),
        duration: Period::from_millis(500),
        // Longer than a slow machine stands still.
        buffer_depth: Some(Period::from_secs(5)),
        streams,
        datagram: Bytes(1_400),
        pacing: "back-to-back".to_owned(),
        receive_buffer: Bytes(1 << 20),
        ..MediaArgs::default()
    };
    let plan = words.into_plan().expect("it is one");
    Test::new(Plan::Media(plan), None, Period::from_millis(100))
}

const FRAMES: u64 = 25;

/// What comes of it to do something at the port of a server that was told this, and what a person there was told.
fn served<R>(tests: Vec<Test>, clients: impl FnOnce(u16) -> R) -> (R, Vec<String>) {
    common::served((PeerKind::CtsTraffic, tests), Settings::default(), clients)
}

/// What comes of a client's run, and what went wrong.
fn run(port: u16, test: Test) -> (Document, Option<String>) {
    common::run(PeerKind::CtsTraffic, port, vec![test])
}

fn socket(port: u16) -> UdpSocket {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a free port");
    socket.connect(("127.0.0.1", port)).expect("an address");
    // Longer than anything takes: what is awaited comes, and what is not is never awaited.
    socket.set_read_timeout(Some(Duration::from_secs(60))).expect("a socket");
    socket
}

/// What comes next.
fn received(socket: &UdpSocket) -> Vec<u8> {
    let mut buffer = [0; 2_048];
    let count = socket.recv(&mut buffer).expect("it comes");
    buffer[..count].to_vec()
}

#[test]
fn our_client_plays_every_frame_of_our_server_and_what_nobody_says_is_absent() {
    for streams in [1, 3] {
        let ((document, failure), lines) = served(vec![test(1)], |port| run(port, test(streams)));
        assert_eq!(failure, None, "{lines:?}");
        let document = serde_json::to_value(&document).expect("a document is JSON");
        assert_eq!(document["hosts"]["peer"]["name"], "ctstraffic");
        let measurement = &document["measurements"][0];
        let down = &measurement["summary"]["media"]["down"];
        let planned = FRAMES * u64::from(streams);
        assert_eq!(down["frames"]["completed"], planned, "{measurement}");
        assert_eq!(down["received_datagrams"], 2 * planned, "{down}");
        for none in ["lost_datagrams", "damaged_datagrams"] {
            assert_eq!(down[none], 0, "{none}: {down}");
        }
        for unknown in ["duplicates", "reordered", "bursts", "frames_sent", "send_lag"] {
            assert!(down[unknown].is_null(), "{unknown}: {down}");
        }
        let checks = measurement["checks"].as_array().expect("there are some");
        let verified = checks.iter().find(|check| check["name"] == "verified");
        assert_eq!(verified.map(|check| &check["passed"]), Some(&Value::from(true)), "{checks:?}");
    }
}

#[test]
fn nothing_but_the_question_begins_a_stream_and_a_copy_of_it_begins_no_second() {
    let ((), _) = served(vec![test(1)], |port| {
        let socket = socket(port);
        for other in [&b""[..], b"STAR", b"START\0", b"start", &[0xff; 1_400], &[0; 39]] {
            socket.send(other).expect("it leaves");
        }
        socket.send(frames::START).expect("it leaves");
        socket.send(frames::START).expect("it leaves");
        let name = received(&socket);
        assert_eq!((name.len(), frames::read(&name)), (39, Sight::Name));
        let mut came = Vec::new();
        while came.len() < 2 * FRAMES as usize {
            let datagram = received(&socket);
            let Sight::Data(Header { frame, .. }) = frames::read(&datagram) else {
                panic!("it is data: {datagram:?}")
            };
            came.push((frame, datagram.len()));
        }
        let expected = (0..FRAMES).flat_map(|frame| [(frame, 1_400), (frame, 1_100)]);
        assert_eq!(came, expected.collect::<Vec<_>>());
    });
}

#[test]
fn a_stream_that_nobody_stated_is_refused_and_a_person_is_told_once() {
    let ((), lines) = served(Vec::new(), |port| {
        let (one, other) = (socket(port), socket(port));
        for socket in [&one, &other] {
            socket.send(frames::START).expect("it leaves");
        }
        // What is answered behind them shows that they were heard.
        let (document, failure) = run(port, test(1));
        let failure = failure.unwrap_or_default();
        assert!(failure.contains("nothing came within 5 s of the stream"), "{failure}");
        assert_eq!(document.measurements.len(), 1);
        one.set_nonblocking(true).expect("a socket");
        one.recv(&mut [0; 9]).expect_err("there was no answer");
    });
    let told = lines.iter().filter(|line| line.contains("nobody has stated what ctstraffic"));
    assert_eq!(told.count(), 1, "{lines:?}");
}
