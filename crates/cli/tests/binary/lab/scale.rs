//! More connections than a process may have open, and more than an address has ports, between two processes of one machine; each has its
//! row in a file at both ends.

use std::fs;
use std::path::Path;

use super::{BINARY, PORT, Stand, only};
use crate::common::Ran;

const NODES: &str = "name = \"scale\"\nhosts = [\"a\", \"b\"]\n[links]\n\"a:b\" = {}\n";

/// Of which each end holds as many in each of its tables of descriptors as it may.
const CONNECTIONS: u64 = 50_001;
const DESCRIPTORS: u64 = 5_000;

/// The ports that a node takes by itself for connections to one address and port.
const RANGE: &str = "echo 30000 37999 > /proc/sys/net/ipv4/ip_local_port_range";

/// The program on a node, with that much room in each of its tables.
fn limited(words: &str) -> String {
    format!("ulimit -n {DESCRIPTORS} && exec {BINARY} {words}")
}

/// Of a file of connections: its rows, and how many of them are of one that ended well.
fn rows(file: &Path) -> (u64, u64) {
    let text = fs::read_to_string(file).expect("UTF-8");
    let rows = || text.lines().skip(1);
    (rows().count() as u64, rows().filter(|row| row.contains(",Succeeded,")).count() as u64)
}

#[test]
fn more_connections_than_descriptors_and_ports_are_all_held_and_each_carries_its_requests() {
    let Some(stand) = Stand::up(NODES) else { return };
    stand.start("a", &["sh", "-c", RANGE]).finish().exits(0);
    let limits = "--limit-descriptors 0 --limit-descriptors-per-address 0 --limit-memory 0";
    let files = ["client.csv", "server.csv"].map(|name| stand.folder.path().join(name));
    let [at_client, at_server] =
        files.each_ref().map(|file| format!("--connection-file {}", file.display()));
    let server = limited(&format!("server --listen 127.0.0.1 {limits} {at_server}"));
    let mut server = stand.start("a", &["sh", "-c", &server]);
    server.await_stderr("listening on");
    let run = |words: &str| -> Ran {
        let words = limited(&format!("goodput 127.0.0.1:{PORT} --no-probe --json {words}"));
        stand.start("a", &["sh", "-c", &words]).finish()
    };
    let requests = "--pattern pushpull --push-bytes 64 --pull-bytes 64 --transfer 1280";
    let ran = run(&format!("--connections {CONNECTIONS} {requests} {at_client}"));
    if ran.said().contains("a table of descriptors of its own") {
        return println!("skipped, because this system gives no thread a table: {}", ran.said());
    }
    let ran = ran.exits(0);
    let document = ran.document();
    let measurement = only(&document);
    let failed = measurement.checks.iter().find(|check| check.passed != Some(true));
    assert_eq!(failed, None, "{}", ran.stderr);
    let summary = measurement.summary.goodput.as_ref().expect("it is goodput");
    assert_eq!((summary.completed, summary.failed), (CONNECTIONS, 0));
    let received = |way: &Option<pathscope_modes::goodput::DirectionSummary>| {
        way.as_ref().and_then(|way| way.received_bytes)
    };
    let ramp = measurement.client.ramp.as_ref().expect("connections were made");
    assert!(ramp.connections == CONNECTIONS && ramp.connections_per_second > Some(0.0), "{ramp:?}");
    // Ten requests and ten replies of each.
    let each_way = Some(CONNECTIONS * 640);
    assert_eq!((received(&summary.up), received(&summary.down)), (each_way, each_way));
    let chosen = |what: &str| {
        let mut all = measurement.substitutions.iter();
        all.find(|it| it.what.starts_with(what)).map(|it| it.ran.clone())
    };
    // 8,000 ports, of which 2,666 are found at once.
    assert_eq!(chosen("bind").as_deref(), Some("127.0.0.1 to 127.0.0.19"));
    assert!(chosen("workers").is_some(), "{:?}", measurement.substitutions);
    assert!(ran.stdout.len() < 5_000_000, "{} bytes of document", ran.stdout.len());

    // With one address there are not as many ports, which is said before any is opened.
    let words = format!("--connections {CONNECTIONS} --bind 127.0.0.1 {requests}");
    run(&words).exits(4).complains(&["there are 8,000", "--bind 7 addresses", "at most 8,000"]);

    // Nothing waits any more once both ends are over.
    server.signal("TERM");
    server.finish().exits(0);
    assert_eq!(files.each_ref().map(|file| rows(file)), [(CONNECTIONS, CONNECTIONS); 2]);
}
