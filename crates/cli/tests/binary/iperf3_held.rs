//! What a server of iperf3's clients has them held to: what a test may move, and where its streams come from.

use super::common::{Running, Server, pathscope, run};
use super::iperf3::{asked, calling, hears};

/// A server under the name of the tool, of these words, at an address that no other test has.
fn server(at: &str, words: &[&str]) -> Running {
    let mut server = Running::start(pathscope(&[&["iperf3", "-s", "-B", at], words].concat()));
    server.await_stdout("Server listening on 5201");
    server
}

#[test]
fn a_test_moves_no_more_than_its_server_lets_it() {
    let at = "127.77.21.5";
    let server = server(at, &["--server-bitrate-limit", "8M/1"]);
    let client = |words: &[&str]| run(&[&["iperf3", "-c", at], words].concat());
    for words in [&["-b", "9M"][..], &["-u", "-b", "3M", "-P", "3"], &["-b", "5M", "--bidir"]] {
        client(words).exits(3).complains(&["all streams together are faster than it grants"]);
    }
    client(&["-n", "100K", "-b", "8M", "-N"]).exits(0);
    // As fast as it goes may begin; more than a megabyte goes in a second, over loopback, either way.
    for words in [&["-N"][..], &["-N", "-R"], &["-u", "-b", "0", "-R"]] {
        let ran = client(&[words, &["-t", "60"]].concat()).exits(3);
        ran.complains(&[
            "the server stopped while the test ran: all streams together are faster than it grants",
        ]);
    }
    server.signal("TERM");
    let served = server.finish();
    let told = "which is more than the server's limit of 8.000 Mbit/s; it can be raised by --server-bitrate-limit";
    assert_eq!(served.stdout.matches(told).count(), 3, "{}", served.said());
}

#[test]
fn streams_come_from_another_address_where_a_network_of_both_is_allowed() {
    const SAID: &str =
        r#"{"udp":true,"time":5,"parallel":2,"reverse":true,"len":1000,"bandwidth":1000000}"#;
    let (here, elsewhere) = ("127.0.0.1", "127.77.21.6");
    let words = ["--accept", "iperf3", "--iperf3-port", "0"];
    let mut datagram = [0; 2_000];

    let mut server = Server::start_with(&words);
    let at = server.host();
    let mut control = asked(&at, "strict", SAID);
    let strange = calling(&at, elsewhere);
    let told = server.running.await_stderr("a test is awaited from 127.0.0.1/32");
    assert!(told.starts_with("127.77.21.6:") && told.contains("--allow"), "{told}");
    let streams = [calling(&at, here), calling(&at, here)];
    hears(&mut control, 1);
    for stream in streams {
        assert_eq!(stream.recv(&mut datagram).expect("it is answered"), 4);
        assert_eq!(stream.recv(&mut datagram).expect("datagrams come"), 1_000);
    }
    strange.set_nonblocking(true).expect("a socket");
    assert!(strange.recv(&mut datagram).is_err(), "what was asked before the others has no answer");
    drop(control);
    server.running.signal("TERM");
    server.running.finish();

    let server = Server::start_with(&[&words[..], &["--allow", "127.0.0.0/8"]].concat());
    let at = server.host();
    let mut control = asked(&at, "allowed", SAID);
    let streams = [calling(&at, elsewhere), calling(&at, here)];
    hears(&mut control, 1);
    for stream in streams {
        assert_eq!(stream.recv(&mut datagram).expect("it is answered"), 4);
        assert_eq!(stream.recv(&mut datagram).expect("datagrams come"), 1_000);
    }
    drop(control);
    server.running.signal("TERM");
    server.running.finish();
}
