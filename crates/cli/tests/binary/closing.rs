//! Who closes first: the end that does keeps the connection's ports in `TIME_WAIT` for a minute. It is never the
//! server, which would run out of them for everybody.

use std::collections::HashSet;
use std::time::Duration;

use pathscope_os::clock;

use crate::common::{Running, Server, pathscope, run};

/// `TIME_WAIT` in `/proc/net/tcp`.
const TIME_WAIT: &str = "06";

/// Nothing that is awaited takes longer on a slow machine; less than connections stay in `TIME_WAIT`.
const PATIENCE: Duration = Duration::from_secs(50);

/// Connections in `TIME_WAIT` by both their addresses, as hexadecimal numbers.
fn waiting() -> HashSet<(String, String)> {
    let table = std::fs::read_to_string("/proc/net/tcp").expect("Linux has it");
    let line = |line: &str| {
        let mut words = line.split_whitespace().skip(1);
        let (local, remote, state) = (words.next()?, words.next()?, words.next()?);
        (state == TIME_WAIT).then(|| (local.to_owned(), remote.to_owned()))
    };
    table.lines().filter_map(line).collect()
}

/// Of those that were not there before, how many the server keeps, once its clients keep all `connections`:
/// until the server has closed as well, they wait for that.
fn kept_by_server(before: &HashSet<(String, String)>, port: u16, connections: usize) -> usize {
    let port = format!(":{port:04X}");
    let deadline = clock::now() + PATIENCE;
    loop {
        let now = waiting();
        let new: Vec<_> = now.difference(before).collect();
        let at_server = new.iter().filter(|(local, _)| local.ends_with(&port)).count();
        let at_clients = new.iter().filter(|(_, remote)| remote.ends_with(&port)).count();
        if at_server > 0 || at_clients >= connections {
            return at_server;
        }
        assert!(clock::now() < deadline, "{at_clients} of {connections} were ever closed");
        std::thread::yield_now();
    }
}

#[test]
#[cfg(target_os = "linux")]
fn the_server_never_closes_first() {
    for pattern in ["push", "pull", "pushpull", "duplex"] {
        for extent in [["-n", "1MiB"], ["-t", "200ms"]] {
            for engine in ["epoll", "plain"] {
                // A port of its own: on loopback a pair of ports that waits may be used again.
                let server = Server::start();
                let host = server.host();
                let words = ["goodput", &host, "-c", "3", "--pattern", pattern, "--no-probe"];
                let how = ["--engine", engine, "--json"];
                let before = waiting();
                run(&[&words[..], &extent, &how].concat()).exits(0);
                // Three that carry data, and the one that controls.
                let at_server = kept_by_server(&before, server.port, 4);
                assert_eq!(at_server, 0, "{pattern} {extent:?} {engine}");
            }
        }
    }
}

#[test]
#[cfg(target_os = "linux")]
fn nor_where_connections_follow_one_another() {
    for pattern in ["push", "pull", "pushpull", "duplex"] {
        for more in [&[][..], &["--quiet"]] {
            let server = Server::start();
            let host = server.host();
            let words = ["goodput", &host, "-c", "3", "--pattern", pattern, "--no-probe", "--json"];
            let before = waiting();
            run(&[&words[..], &["--iterations", "4", "-n", "3000"], more].concat()).exits(0);
            // Twelve that carry data, and the one that controls.
            assert_eq!(kept_by_server(&before, server.port, 13), 0, "{pattern} {more:?}");
        }
    }
}

#[test]
#[cfg(target_os = "linux")]
fn nor_where_the_client_is_interrupted() {
    let server = Server::start();
    let before = waiting();
    let words = ["goodput", &server.host(), "-c", "3", "-t", "60s", "--report-every", "50ms"];
    let mut client = Running::start(pathscope(&words));
    client.await_stdout("ms");
    client.signal("INT");
    client.finish().exits(130);
    assert_eq!(kept_by_server(&before, server.port, 4), 0);
}
