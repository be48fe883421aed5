//! Ctrl-C while the other end stands still: what is awaited is said at once, and a second one waits for nobody.

use std::io::Read;
use std::net::TcpListener;
use std::time::Duration;

use pathscope_os::clock;

use crate::common::{Running, Server, pathscope};

/// Less than the wait for an end that stands still.
const SOON: Duration = Duration::from_secs(8);

const MODES: [&[&str]; 4] = [
    &["goodput", "-t", "60s", "-c", "2"],
    &["latency", "-t", "60s"],
    &["media", "--rate", "1Mbit", "-t", "60s"],
    &["multipath", "-t", "60s", "--path", "lo"],
];

/// A client of this mode that runs.
fn running(server: &Server, mode: &[&str]) -> Running {
    let host = server.host();
    let words = [mode, &[&host, "--report-every", "100ms"]].concat();
    let mut client = Running::start(pathscope(&words));
    client.await_stdout("ms");
    client
}

#[test]
fn a_client_says_at_once_what_it_waits_for_and_a_second_ctrl_c_waits_for_nobody() {
    for mode in MODES {
        let server = Server::start();
        let mut client = running(&server, mode);
        server.running.signal("STOP");
        client.signal("INT");
        let said = client.await_stderr("the server's report is awaited, for");
        assert!(said.contains("at most; a second Ctrl-C"), "{mode:?}: {said}");
        let again = clock::now();
        client.signal("INT");
        client.await_stderr("again: the server is not waited for");
        let ran = client.finish().exits(130);
        let took = clock::now().since(again);
        assert!(took < SOON, "{mode:?}: {took:?}: {}", ran.said());
        assert!(ran.stdout.contains("ended early"), "{}", ran.said());
    }
}

#[test]
fn a_client_that_has_measured_nothing_yet_waits_for_nothing() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let target = listener.local_addr().expect("bound").to_string();
    let mut client = Running::start(pathscope(&["goodput", &target]));
    let (mut stream, _) = listener.accept().expect("it comes");
    // It has said hello, and nobody answers. One that still connects has nothing to say, and ends.
    stream.read_exact(&mut [0; 4]).expect("it greets");
    client.signal("INT");
    client.await_stderr("no flow runs, so nothing is waited for");
    client.finish().exits(130);
}

#[test]
fn a_server_says_at_once_whom_it_waits_for_and_a_second_ctrl_c_waits_for_nobody() {
    let mut server = Server::start();
    let client = running(&server, MODES[0]);
    client.signal("STOP");
    server.running.signal("INT");
    let said = server.running.await_stderr("ending 1 session");
    assert!(said.contains("at most; a second Ctrl-C"), "{said}");
    let again = clock::now();
    server.running.signal("INT");
    server.running.await_stderr("again: no client is waited for");
    let ran = server.running.finish().exits(0);
    let took = clock::now().since(again);
    assert!(took < SOON, "{took:?}: {}", ran.said());
}
