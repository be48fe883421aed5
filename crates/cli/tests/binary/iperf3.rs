//! The binary at both ends of iperf3's wire. Not what tests count, which `run` tests with the original, nor what programs find in its JSON
//! (`iperf3_members`).

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::time::Duration;

use pathscope_os::sockets;

use super::common::{Server, run};
use super::daemon::InBackground;

const PATIENCE: Duration = Duration::from_secs(30);

fn server() -> Server {
    Server::start_with(&["--accept", "iperf3", "--iperf3-port", "0"])
}

fn end(server: Server) {
    server.running.signal("TERM");
    server.running.finish();
}

/// A control connection at this server on which these parameters were said, once it awaits streams (reference/iperf3.md, section 1).
pub fn asked(server: &str, name: &str, said: &str) -> TcpStream {
    let mut control = TcpStream::connect(server).expect("it listens");
    control.set_read_timeout(Some(PATIENCE)).expect("a socket");
    // Each test has a cookie of its own: whoever comes with one that is known is a stream of that test.
    let letters = name.bytes().map(|byte| char::from(b'a' + byte % 26)).collect::<String>();
    control.write_all(format!("{letters:a<36}\0").as_bytes()).expect("the cookie is taken");
    hears(&mut control, 9);
    control.write_all(&(said.len() as u32).to_be_bytes()).expect("it is taken");
    control.write_all(said.as_bytes()).expect("it is taken");
    hears(&mut control, 10);
    control
}

/// The next word on a control connection is this.
pub fn hears(control: &mut TcpStream, word: u8) {
    let mut heard = [0];
    control.read_exact(&mut heard).expect("it answers");
    assert_eq!(heard, [word]);
}

/// A socket of this address that has asked for a stream.
pub fn calling(server: &str, from: &str) -> UdpSocket {
    let stream = UdpSocket::bind((from, 0)).expect("a port");
    stream.set_read_timeout(Some(PATIENCE)).expect("a socket");
    stream.connect(server).expect("an address");
    stream.send(b"9876").expect("it leaves");
    stream
}

/// The seconds in the first datagram that a server of ours sends to a client of this version.
fn stamp_for(version: &str, port: &str) -> u64 {
    let server = format!("127.0.0.1:{port}");
    let said = format!(
        r#"{{"udp":true,"omit":0,"time":5,"parallel":1,"reverse":true,"len":1000,"bandwidth":1000000,"client_version":"{version}"}}"#
    );
    let mut control = asked(&server, version, &said);
    let stream = calling(&server, "127.0.0.1");
    let mut datagram = [0; 2_000];
    assert_eq!(stream.recv(&mut datagram).expect("it is answered"), 4);
    hears(&mut control, 1);
    hears(&mut control, 2);
    assert_eq!(stream.recv(&mut datagram).expect("datagrams come"), 1_000);
    u32::from_be_bytes(*datagram.first_chunk().expect("it is long enough")).into()
}

#[test]
fn datagrams_bear_the_time_of_the_clock_that_each_version_counts_jitter_from() {
    let server = server();
    let port = server.port.to_string();
    for version in ["3.1.3", "3.6", "3.12", "3.21"] {
        let now = pathscope_os::clock::wall_unix_ns() / 1_000_000_000;
        let stamp = stamp_for(version, &port);
        assert!(stamp.abs_diff(now) < 3_600, "{version}: {stamp} at {now}");
    }
    // These take the time since their machine began; none has run for thirty years.
    for version in ["3.7", "3.8.1"] {
        let stamp = stamp_for(version, &port);
        assert!(stamp < 1_000_000_000, "{version}: {stamp}");
    }
    end(server);
}

#[test]
fn what_is_no_server_of_probes_is_told_before_the_load_and_with_what_helps() {
    let server = server();
    let port = server.port.to_string();
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
    let silent_at = silent.local_addr().expect("it is bound").to_string();
    for (named, said) in [
        (silent_at.as_str(), "within 3 s; --probe-server names a 'pathscope server'"),
        ("127.77.21.1", "or name its port: --probe-server HOST:PORT"),
        ("nowhere.invalid", "--probe-server nowhere.invalid: "),
    ] {
        let words =
            ["goodput", "127.0.0.1", "--peer", "iperf3", "--port", &port, "--duration", "1s"];
        let ran = run(&[&words[..], &["--probe-server", named]].concat()).exits(3);
        let ran = ran.complains(&[said]);
        for elsewhere in ["simpleperf", "--peer"] {
            assert!(!ran.stderr.contains(elsewhere), "{}", ran.said());
        }
    }
    end(server);
}

#[test]
fn as_many_streams_are_made_as_a_server_takes() {
    let server = server();
    let port = server.port.to_string();
    let words = ["iperf3", "-c", "127.0.0.1", "-p", &port, "-P", "128", "-n", "128K"];
    let ran = run(&words).exits(0);
    assert_eq!(ran.stdout.matches(" connected to ").count(), 128, "{}", ran.said());
    end(server);
}

#[test]
fn a_server_of_one_test_ends_where_nobody_comes() {
    // The default port of an address that no other test has.
    let words = ["iperf3", "-s", "-1", "--idle-timeout", "1", "-B", "127.77.21.4"];
    let ran = run(&words).exits(0);
    assert!(ran.stdout.contains("Server listening on 5201"), "{}", ran.said());
    assert_eq!(ran.stderr, "", "{}", ran.said());
    let ran = run(&["server", "--port", "0", "--exit-after-idle", "20ms"]).exits(0);
    ran.complains(&["no client was here for 20 ms (--exit-after-idle): ending"]);
    let ran = run(&["server", "--port", "0", "--exit-after-idle", "1ms"]).exits(2);
    ran.complains(&["--exit-after-idle 1 ms is out of range: 10 ms or more"]);
}

#[test]
fn a_server_in_the_background_serves_one_test_by_blocks_and_leaves_what_it_showed() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("server.log");
    let log_file = log.to_str().expect("plain");
    // The default port of an address that no other test has.
    let to = "127.77.21.3";
    let words = ["iperf3", "-s", "-D", "--one-off", "-B", to, "--logfile", log_file];
    let ran = run(&words).exits(0);
    assert_eq!(ran.stdout, "", "{}", ran.said());
    let server = InBackground::told(&ran.stderr);
    let words = ["iperf3", "-c", to, "-k", "8", "-l", "100K", "-P", "2", "-J"];
    let ran = run(&words).exits(0);
    let document: serde_json::Value = serde_json::from_str(&ran.stdout).expect("it is JSON");
    for sum in ["sum_sent", "sum_received"] {
        assert_eq!(document["end"][sum]["bytes"], 8 * 100 * 1_024, "{sum}: {}", ran.said());
    }
    server.await_end();
    let shown = fs::read_to_string(&log).expect("a log");
    assert_eq!(shown.matches("Server listening on 5201").count(), 1, "{shown}");
    assert_eq!(shown.matches("Accepted connection from ").count(), 1, "{shown}");
    assert_eq!(shown.matches("receiver").count(), 3, "two streams and their sum: {shown}");
}

#[test]
fn a_port_of_this_end_that_is_taken_is_told_with_what_its_option_takes() {
    let server = server();
    let port = server.port.to_string();
    let other = TcpListener::bind("127.0.0.1:0").expect("a port");
    let taken = other.local_addr().expect("it is bound").port().to_string();
    let words = ["iperf3", "-c", "127.0.0.1", "-p", &port, "-B", "127.0.0.1", "--cport", &taken];
    let ran = run(&words).exits(4).complains(&["another socket has this port: give another with"]);
    assert!(ran.stderr.contains("with --cport,"), "{}", ran.said());
    assert!(!ran.stderr.contains('['), "{}", ran.said());
    end(server);
}

#[test]
fn a_log_that_takes_no_more_is_told_by_its_name() {
    let server = server();
    let port = server.port.to_string();
    let words = ["iperf3", "-c", "127.0.0.1", "-p", &port, "-n", "128K"];
    let ran = run(&[&words[..], &["--logfile", "/dev/full"]].concat()).exits(6);
    ran.complains(&[
        "iperf3: error - cannot write to --logfile /dev/full: No space left on device",
    ]);
    end(server);
}

#[test]
fn a_server_that_does_not_answer_is_given_up_when_that_was_asked_for() {
    // What waits to be accepted here is as much as may wait: no further connection is answered.
    let full = sockets::listen_tcp("127.0.0.1:0".parse().expect("an address"), 1).expect("a port");
    let address = full.local_addr().expect("it is bound");
    let _waiting = [0; 2].map(|_| TcpStream::connect(address).expect("there is room for two"));
    let port = address.port().to_string();
    let words = ["iperf3", "-c", "127.0.0.1", "-p", &port, "--connect-timeout", "50"];
    let ran = run(&words).exits(3).complains(&["within 50 ms"]);
    assert!(!ran.stderr.contains("no effect"), "{}", ran.said());
    let ran = run(&["goodput", "127.0.0.1", "--connect-within", "0"]).exits(2);
    ran.complains(&["--connect-within 0 s is out of range: 1 ms to"]);
}
