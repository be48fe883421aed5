//! What one end alone can know of a connection is told at the other, in every output: damage, bytes that never came, a
//! failure that no reset tells of. And what nobody has said is not told as known.

use std::path::PathBuf;
use std::time::Duration;

use pathscope_core::record::Check;
use pathscope_modes::document::Document;
use pathscope_modes::goodput::GoodputSummary;
use pathscope_os::clock;

use crate::common::{Ran, Running, Server, document_in, pathscope, run};
use crate::journal::{Row, files, number, rows, with};
use crate::relay::{Fault, What, relay};

/// A client that has ended, with all that it wrote.
struct Told {
    ran: Ran,
    document: Document,
    files: [PathBuf; 3],
    _folder: tempfile::TempDir,
}

/// A run through a relay that spoils one connection.
fn run_through(fault: Fault, words: &[&str], code: i32) -> Told {
    let server = Server::start();
    let target = relay(&server.host(), Some(fault)).to_string();
    let folder = tempfile::tempdir().expect("a folder");
    let (file_words, files) = files(folder.path(), "client");
    let result = folder.path().join("run.json");
    let before = ["goodput", &target, "-c", "3", "--report-every", "100ms", "-o"];
    let before = [&before[..], &[result.to_str().expect("plain")], words].concat();
    let ran = run(&with(&before, &file_words)).exits(code);
    Told { document: document_in(&result), ran, files, _folder: folder }
}

fn summary(document: &Document) -> &GoodputSummary {
    document.measurements[0].summary.goodput.as_ref().expect("it is goodput")
}

fn failed(rows: Vec<Row>) -> Vec<Row> {
    rows.into_iter().filter(|row| row["Result"] != "Succeeded").collect()
}

const PLACE: &str = "wrong data at byte 1,000,000, 1 byte long: 1 bit flipped";

#[test]
fn damage_that_the_server_found_is_told_at_the_client_in_every_output() {
    for words in [
        &["-n", "8MiB", "--no-probe"][..],
        &["-n", "8MiB", "--pattern", "duplex"],
        // The server's count stands on the connection.
        &["-n", "8MiB", "--iterations", "2", "--no-probe"],
    ] {
        let told = run_through(Fault::flip(1, 1_000_000), words, 5);
        let said = told.ran.said();
        let found = format!("flow 1 from the client to the server: {PLACE}");
        // On a line of their own, whatever the columns.
        let text = told.ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(&format!("wrong data on 1 connection; {found}")), "{said}");
        assert!(told.ran.stderr.contains(&found), "{said}");

        let measurement = &told.document.measurements[0];
        let check = measurement.checks.iter().find(|check| check.has_failed()).expect("one failed");
        assert_eq!(check.name, "verified", "the gravest comes first");
        let client = measurement.client.goodput.as_ref().expect("it reported");
        let row = client.flows.iter().find(|flow| flow.flow.0 == 1).expect("it is told");
        let error = row.error.as_ref().expect("it failed");
        assert!(error.text.starts_with(&format!("{PLACE} (at the server")), "{error:?}");
        let summary = summary(&told.document);
        assert_eq!((summary.failed, summary.cut, summary.unknown), (1, 0, 0));
        let failures = summary.failures;
        assert_eq!((failures.network, failures.data, failures.protocol), (0, 1, 0));
        assert_eq!(summary.completed + 1, summary.attempted);

        let connections = failed(rows(&told.files[1]));
        let errors = rows(&told.files[2]);
        for row in [&connections, &errors] {
            assert_eq!((&*row[0]["Flow"], &*row[0]["ErrorKind"]), ("1", "data"), "{row:?}");
        }
        assert_eq!(connections.len(), 1);
        assert!(connections[0]["Result"].contains(PLACE), "{connections:?}");
        assert!(errors[0]["Message"].contains(PLACE), "{errors:?}");
        let status = rows(&told.files[0]);
        let last = status.last().expect("rows");
        assert_eq!((number(last, "NetError"), number(last, "DataError")), (0, 1));
    }
}

#[test]
fn damage_that_the_client_found_is_told_at_the_server() {
    let folder = tempfile::tempdir().expect("a folder");
    let (words, files) = files(folder.path(), "server");
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let server = Server::start_with(&words);
    let fault = Fault { down: true, ..Fault::flip(1, 1_000_000) };
    let target = relay(&server.host(), Some(fault)).to_string();
    let words = ["goodput", &target, "-c", "3", "-n", "8MiB", "--pattern", "pull", "--no-probe"];
    run(&words).exits(5).complains(&["flow 1 from the server to the client", PLACE]);
    server.running.signal("TERM");
    server.running.finish().exits(0);
    let connections = failed(rows(&files[1]));
    assert_eq!((connections.len(), &*connections[0]["ErrorKind"]), (1, "data"), "{connections:?}");
    assert!(connections[0]["Result"].contains(&format!("{PLACE} (at the client")));
}

#[test]
fn bytes_that_a_path_swallows_are_missing_and_no_lost_peer() {
    for (pattern, down) in [("push", false), ("pull", true)] {
        let fault = Fault { down, what: What::Swallow, ..Fault::flip(1, 2_000_000) };
        // Probes come and go meanwhile: they say nothing of the load.
        let told = run_through(fault, &["-n", "3MB", "--pattern", pattern], 5);
        // At the client the server's finding names the client, and its own the other end.
        let sender = if down { "the other end" } else { "the client" };
        let missing = format!("1,000,000 of 3,000,000 bytes that {sender} sent never came");
        told.ran.complains(&["1 of 3 connections failed; flow 1: ", &missing]);
        let summary = summary(&told.document);
        let Ended { completed, failed, cut, unknown } = Ended::of(summary);
        assert_eq!((completed, failed, cut, unknown), (2, 1, 0, 0), "{pattern}");
        assert!(told.document.measurements[0].server.is_some(), "both ends reported");
        let connections = self::failed(rows(&told.files[1]));
        assert_eq!(connections.len(), 1, "{connections:?}");
        assert!(connections[0]["Result"].contains(&missing), "{connections:?}");
    }
}

#[derive(Debug)]
struct Ended {
    completed: u64,
    failed: u64,
    cut: u64,
    unknown: u64,
}

impl Ended {
    fn of(summary: &GoodputSummary) -> Self {
        let GoodputSummary { completed, failed, cut, unknown, .. } = *summary;
        Self { completed, failed, cut, unknown }
    }
}

#[test]
fn a_flow_that_failed_at_the_other_end_is_not_waited_for_though_no_reset_comes() {
    for (pattern, down) in [("push", false), ("pull", true)] {
        let fault = Fault { down, half_open: true, ..Fault::flip(1, 1_000_000) };
        let began = clock::now();
        let told = run_through(fault, &["-n", "64MiB", "--pattern", pattern, "--no-probe"], 5);
        // It is given up a second after it was told, and nothing else waits for it.
        let took = clock::now().since(began);
        assert!(took < Duration::from_secs(9), "{took:?}: {}", told.ran.said());
        told.ran.complains(&["wrong data on 1 connection", PLACE]);
        let Ended { completed, failed, cut, unknown } = Ended::of(summary(&told.document));
        assert_eq!((completed, failed, cut, unknown), (2, 1, 0, 0), "{pattern}");
    }
}

#[test]
fn of_connections_to_a_server_that_was_killed_nothing_is_known() {
    for words in [&["-t", "60s"][..], &["-n", "1GiB", "--rate", "8Mbit"]] {
        let server = Server::start();
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("run.json");
        let host = server.host();
        let before = ["goodput", &host, "-c", "2", "--report-every", "100ms", "-o"];
        let before = [&before[..], &[file.to_str().expect("plain")], words].concat();
        let mut client = Running::start(pathscope(&before));
        client.await_stdout("ms");
        server.running.signal("KILL");
        let ran = client.finish().exits(3);
        let document = document_in(&file);
        let summary = summary(&document);
        assert_eq!((summary.completed, summary.attempted), (0, 2), "{}", ran.said());
        let others = summary.failed + summary.cut + summary.unknown;
        assert_eq!(others, 2, "each is one of these: {summary:?}");
        let checks = &document.measurements[0].checks;
        assert!(checks.iter().all(Check::has_failed), "{checks:?}");
        assert!(!ran.stdout.contains('✓'), "{}", ran.said());
    }
}
