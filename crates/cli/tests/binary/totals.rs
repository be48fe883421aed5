//! What a server says of all that it served, and its exit code where that did not go well.

use std::fs::read_to_string;
use std::net::{TcpListener, TcpStream};

use tempfile::TempDir;

use crate::common::{Running, Server, pathscope};

#[test]
fn a_server_tells_what_it_has_served_whenever_it_is_asked() {
    let mut server = Server::start();
    server.running.signal("USR1");
    server.running.await_stderr("0 sessions, 0 refused");
    let _client = Running::start(pathscope(&["goodput", &server.host(), "-t", "1m", "-c", "1"]));
    server.running.await_stderr("1 TCP connection");
    server.running.signal("USR1");
    server.running.await_stderr("1 session (1 is there), 0 refused");
    server.running.await_stderr("served native goodput: 0 tests, 1 more runs; in ");
}

#[test]
fn a_server_that_ends_by_itself_after_a_failure_says_so() {
    let free =
        TcpListener::bind("127.0.0.1:0").and_then(|it| it.local_addr()).expect("a free port");
    let port = free.port().to_string();
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("totals.csv");
    let own = ["--accept", "native,ctstraffic", "--ctstraffic-port", &port, "--exit-after", "1"];
    let of_all = ["--totals-file", file.to_str().expect("text"), "--report-every", "500ms"];
    let mut server = Server::start_with(&[&own[..], &of_all].concat());
    // It connects, and is gone before anything was sent.
    drop(TcpStream::connect(free).expect("it listens"));
    let totals = server.running.await_stderr("served ctstraffic goodput");
    assert!(totals.contains("1 test; in nothing, out ") && totals.contains("1 failed"), "{totals}");
    server.running.finish().exits(5).complains(&["of those that were served failed"]);
    let rows = read_to_string(&file).expect("it was written");
    let rows: Vec<Vec<&str>> = rows.lines().map(|row| row.split(',').collect()).collect();
    assert_eq!(rows[0][3..8], ["In-Flight", "Completed", "NetError", "DataError", "ProtocolError"]);
    let last = rows.last().expect("a row");
    assert_eq!(last[3..5], ["0", "0"], "{rows:?}");
    let failed: Vec<u64> = last[5..7].iter().map(|cell| cell.parse().expect("a number")).collect();
    assert_eq!(failed.iter().sum::<u64>(), 1, "{rows:?}");
}
