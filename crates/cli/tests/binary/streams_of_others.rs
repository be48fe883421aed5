//! ctsTraffic's streams over UDP in both roles, against small programs in Python that share no code with us.

use std::net::TcpListener;

use serde_json::Value;

use crate::analyzer::python;
use crate::common::{Running, Server, pathscope};

/// A stream of half a megabit in frames of two datagrams.
const BITS: &str = "500000";
const RATE: &str = "500kbit";
const FRAME_RATE: &str = "25";
const SECONDS: &str = "2";
const FRAMES: u64 = 50;

/// A server of ours, and its port for such clients.
fn server(stated: &[&str]) -> (Running, u16) {
    let free =
        TcpListener::bind("127.0.0.1:0").and_then(|it| it.local_addr()).expect("a free port");
    let port = free.port().to_string();
    let own = ["--accept", "native,ctstraffic", "--ctstraffic-port", &port];
    let words = ["server", "--listen", "127.0.0.1", "--port", "0"];
    let words = [&words[..], &own, stated].concat();
    let Server { mut running, .. } = Server::listening(Running::start(pathscope(&words)));
    running.await_stderr("(TCP and UDP), for ctstraffic clients alone");
    (running, free.port())
}

#[test]
fn its_client_has_every_frame_of_our_server_whole() {
    let stated = [
        "--ctstraffic-bits-per-second",
        RATE,
        "--ctstraffic-frame-rate",
        FRAME_RATE,
        "--ctstraffic-stream-length",
        "2s",
        "--exit-after",
        "1",
    ];
    let (mut server, port) = server(&stated);
    let words = ["127.0.0.1", &port.to_string(), BITS, FRAME_RATE, SECONDS];
    let Some(client) = python("ctstraffic_stream_client.py", &words) else { return };
    let ran = client.finish().exits(0);
    let found: Value = serde_json::from_str(&ran.stdout).expect("it prints JSON");
    assert_eq!((&found["completed"], &found["wrong"]), (&FRAMES.into(), &0.into()), "{found}");
    // 2,500 bytes: one that is full, and the rest.
    assert_eq!(found["first_frame"], serde_json::json!([1_400, 1_100]), "{found}");
    assert_eq!(found["names"].as_array().map(Vec::len), Some(1), "{found}");
    assert_eq!((&found["is_monotonic"], &found["after"]), (&true.into(), &0.into()), "{found}");
    // From the first frame to the last, by our clock.
    assert!(found["lasted_s"].as_f64() >= Some(1.9), "{found}");
    // That was the one that it was to serve.
    server.await_stderr("session over");
    server.finish().exits(0);
}

#[test]
fn a_client_is_refused_over_udp_until_its_stream_is_stated() {
    let (mut server, port) = server(&[]);
    let words = ["127.0.0.1", &port.to_string(), BITS, FRAME_RATE, SECONDS];
    let Some(_client) = python("ctstraffic_stream_client.py", &words) else { return };
    server.await_stderr("nobody has stated what ctstraffic clients are sent over UDP");
}

#[test]
fn our_client_measures_its_server_which_hears_the_second_question() {
    let words = [BITS, FRAME_RATE, SECONDS, "1", "10"];
    let Some(mut server) = python("ctstraffic_stream_server.py", &words) else { return };
    let line = server.await_stdout("listening on");
    let host = line.rsplit(' ').next().expect("an address");
    let words = ["media", host, "--peer", "ctstraffic", "--rate", RATE, "--frame-rate", FRAME_RATE];
    let words = [&words[..], &["--duration", "2s", "--buffer-depth", "5s", "--json"]].concat();
    let ran = Running::start(pathscope(&words)).finish();
    let document: Value =
        serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{}", ran.said()));
    let measurement = &document["measurements"][0];
    let down = &measurement["summary"]["media"]["down"];
    // Of the frames 10, 20 … 50 the first datagram was not sent.
    assert_eq!(
        (&down["frames"]["completed"], &down["frames"]["missed"]),
        (&45.into(), &5.into()),
        "{down}"
    );
    assert_eq!(
        (&down["lost_datagrams"], &down["damaged_datagrams"]),
        (&5.into(), &0.into()),
        "{down}"
    );
    assert_eq!(down["received_datagrams"], 95, "{down}");
    // What the wire does not say is absent, and not zero.
    for unknown in
        ["duplicates", "reordered", "bursts", "late_by_sender", "frames_sent", "send_lag"]
    {
        assert!(down[unknown].is_null(), "{unknown}: {down}");
    }
    assert_eq!(document["hosts"]["peer"]["name"], "ctstraffic");
    server.await_stdout("asked 2 times, with b'START'");
    let ran = server.finish().exits(0);
    assert!(!ran.stdout.contains("asked again"), "what came ends the asking: {}", ran.said());
}
