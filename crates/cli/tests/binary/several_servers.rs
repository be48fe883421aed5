//! One client and several servers that start at one instant: each has its own result, and all have figures together.

use std::net::TcpListener;

use pathscope_modes::document::servers::ServerResult;
use pathscope_modes::document::{Document, OutcomeState};
use serde_json::Value;

use crate::common::{Ran, Running, Server, document_in, pathscope, run};

fn goodput(hosts: &[&str], words: &str) -> Ran {
    let words: Vec<&str> = ["goodput"].into_iter().chain(words.split(' ')).collect();
    run(&[&words[..], hosts].concat())
}

/// What both directions of a server's first measurement received.
fn received(server: &ServerResult) -> u64 {
    let goodput = server.measurements[0].summary.goodput.as_ref().expect("it is goodput");
    let ways = [goodput.up, goodput.down].into_iter().flatten();
    ways.map(|way| way.received_bytes.expect("both ends have reported")).sum()
}

#[test]
fn each_server_has_a_result_of_its_own_and_all_have_one_together() {
    let servers = [Server::start(), Server::start()];
    let [one, other] = servers.each_ref().map(Server::host);
    let ran = goodput(&[&one, &other], "-c 2 -t 1s --report-every 250ms --json");
    let text = ran.stdout.clone();
    let document = ran.exits(0).document();
    assert_eq!(document.target, Some(format!("{one}, {other}")));
    assert!(document.measurements.is_empty() && document.hosts.server.is_none());
    assert!(document.hosts.peer.is_none());
    let [first, second] = &document.servers[..] else { panic!("two servers: {text}") };
    assert_eq!((&first.target, &second.target), (&one, &other));
    for server in [first, second] {
        assert_eq!(server.outcome.state, OutcomeState::Complete);
        assert!(server.host.is_some() && server.peer.is_some());
        let measurement = &server.measurements[0];
        assert!(measurement.server.is_some() && !measurement.intervals.is_empty());
        assert!(
            measurement.checks.iter().all(|check| check.passed == Some(true)),
            "{:?}",
            measurement.checks
        );
    }
    let together = document.together.as_ref().expect("both have measured");
    let up = together.summary.goodput.as_ref().and_then(|goodput| goodput.up).expect("it goes up");
    assert_eq!(up.received_bytes, Some(received(first) + received(second)));
    // Both were to run for a second from one start on: had one followed the other, they would share no time.
    let spread_ns = together.servers.start_spread_ns.expect("both have started");
    assert!(spread_ns < 1_000_000_000, "{spread_ns}");
    assert!(together.servers.shared_ns > Some(0), "{:?}", together.servers);
    let value: Value = serde_json::from_str(&text).expect("JSON");
    assert!(value["hosts"]["server"].is_null());
    // What was stored is shown again.
    assert_eq!(Document::from_json(&text).expect("its own"), document);
}

#[test]
fn rows_and_results_name_the_server() {
    let servers = [Server::start(), Server::start()];
    let [one, other] = servers.each_ref().map(Server::host);
    let words = "-c 1 -t 1s --report-every 250ms --json-stream";
    let ran = goodput(&[&one, &other], words).exits(0);
    let lines: Vec<Value> =
        ran.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    for host in [&one, &other] {
        let is_of_it = |line: &&Value| line["event"] == "interval" && line["target"] == **host;
        assert!(lines.iter().filter(is_of_it).count() >= 3, "{}", ran.said());
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("result.json");
    let file = path.to_str().expect("plain").to_owned();
    let live = goodput(&[&one, &other], &format!("-c 1 -t 1s --no-probe --output {file}")).exits(0);
    let shown = run(&["show", &file]).exits(0);
    for text in [&live.stdout, &shown.stdout] {
        for words in ["all servers", "starts apart", &one, &other] {
            assert!(text.contains(words), "'{words}' is missing in {text}");
        }
        // A busy machine may begin one so much later that no index is made of their rates, which is said.
        let unwrapped = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let is_judged =
            ["fairness between servers", "not added up"].map(|it| unwrapped.contains(it));
        assert!(is_judged[0] != is_judged[1], "{text}");
        assert!(text.contains(&format!("goodput · {one}")), "{text}");
    }
    assert_eq!(document_in(&path).servers.len(), 2);
}

#[test]
fn names_of_one_server_beside_another_are_told_apart() {
    let (server, other) = (Server::start(), Server::start());
    let (one, stranger) = (server.host(), other.host());
    let alias = format!("localhost:{}", server.port);
    let document =
        goodput(&[&one, &stranger, &alias], "-c 2 -n 10KiB --no-probe --json").exits(0).document();
    let targets: Vec<&str> = document.servers.iter().map(|it| it.target.as_str()).collect();
    assert_eq!(targets, [format!("{one}, {alias}"), stranger]);
    assert_eq!(document.servers.iter().map(received).collect::<Vec<_>>(), [20 << 10, 20 << 10]);
}

#[test]
fn what_is_asserted_is_asserted_of_all() {
    let servers = [Server::start(), Server::start()];
    let [one, other] = servers.each_ref().map(Server::host);
    let words = "-c 1 -n 1MiB --no-probe --json --assert goodput.received.up=2MiB";
    let document = goodput(&[&one, &other], words).exits(0).document();
    let together = document.together.expect("both have measured");
    assert_eq!((together.checks.len(), together.checks[0].passed), (1, Some(true)));
    let words = "-c 1 -n 1MiB --no-probe --json --assert end.elapsed.client<3600s";
    goodput(&[&one, &other], words).exits(5).complains(&[]);
}

#[test]
fn nobody_starts_where_one_is_not_there() {
    let (server, other) = (Server::start(), Server::start_with(&["--limit-duration", "1s"]));
    let (one, short) = (server.host(), other.host());
    let closed = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let gone = closed.local_addr().expect("bound").to_string();
    drop(closed);
    goodput(&[&one, &gone], "-c 1 -t 2s --json").exits(3).complains(&[&gone, "refused"]);
    // It is there and wants no such test.
    let ran = goodput(&[&one, &short], "-c 1 -t 2s --json").exits(3);
    let document = ran.complains(&[&short, "limit"]).document();
    assert!(document.servers.iter().all(|server| server.measurements.is_empty()));
    let [first, second] = &document.servers[..] else { panic!("two servers") };
    let reason = |server: &ServerResult| server.outcome.reason.clone().unwrap_or_default();
    assert!(reason(first).contains(&short), "{}", reason(first));
    assert!(reason(second).contains("limit"), "{}", reason(second));
}

#[test]
fn a_server_that_is_lost_takes_nothing_from_the_other() {
    let (server, other) = (Server::start(), Server::start());
    let (one, lost) = (server.host(), other.host());
    let mut client = Running::start(pathscope(&[
        "goodput",
        "-c",
        "1",
        "-t",
        "3s",
        "--report-every",
        "250ms",
        "--no-probe",
        "--json-stream",
        &one,
        &lost,
    ]));
    client.await_stdout(&format!("\"target\":\"{lost}\""));
    drop(other);
    let ran = client.finish().exits(3).complains(&[&lost]);
    let last = ran.stdout.lines().last().expect("it has ended");
    let document = Document::from_json(last).expect("a document");
    let [first, second] = &document.servers[..] else { panic!("two servers") };
    assert_eq!(first.outcome.state, OutcomeState::Complete);
    assert!(received(first) > 0);
    assert_eq!(second.outcome.state, OutcomeState::Failed);
    let together = document.together.expect("one has measured");
    assert!(together.summary.goodput.is_none());
    assert!(together.caveats.iter().any(|it| it.name == "server_missing"), "{together:?}");
}

#[test]
fn what_follows_from_a_test_is_of_one_server() {
    let servers = [Server::start(), Server::start()];
    let [one, other] = servers.each_ref().map(Server::host);
    let lines = [
        "goodput -c 4 -n 1KiB --no-probe --repeat 2",
        "goodput -c 1 -t 100ms --no-probe --repeat 2",
        "goodput --protocol udp -t 100ms --no-probe --find-rate",
        "media --rate 1Mbit --duration 100ms --iterations 2",
        "media --rate 1Mbit --duration 100ms --sweep frame-rate=30,60",
    ];
    for line in lines {
        let words = line.split(' ').chain([one.as_str(), other.as_str()]);
        run(&words.collect::<Vec<_>>()).exits(2).complains(&[&other, "another server than", &one]);
    }
}
