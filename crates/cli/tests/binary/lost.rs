//! An end that is gone in mid-run: what the other says of it counts what happened, and not the time in which it waited.

use std::path::{Path, PathBuf};

use pathscope_os::clock;

use crate::common::{Running, Server, pathscope, run};
use crate::journal::{Row, files, number, rows};

/// A client of such a test against a server that keeps files, killed once it has shown three rows, and how long it ran at
/// most. The server has heard that it is gone.
fn kill_a_client(folder: &Path, test: &[&str]) -> (Server, [PathBuf; 3], u64) {
    let (words, paths) = files(folder, "server");
    let words: Vec<&str> = words.iter().map(String::as_str).chain(["-vv"]).collect();
    let mut server = Server::start_with(&words);
    let host = server.host();
    let began = clock::now();
    let words = [&test[..1], &[&host, "--report-every", "100ms"], &test[1..]].concat();
    let mut client = Running::start(pathscope(&words));
    (0..3).for_each(|_| drop(client.await_stdout("bit/s")));
    client.signal("KILL");
    drop(client);
    server.running.await_stderr("the client is away");
    let most_ms = clock::now().since(began).as_millis();
    (server, paths, u64::try_from(most_ms).expect("a moment"))
}

/// The server ends, and with it the wait for a client that may come back: its rows of connections.
fn rows_at_the_end(server: Server, paths: &[PathBuf; 3]) -> Vec<Row> {
    server.running.signal("TERM");
    server.running.finish();
    rows(&paths[1])
}

/// Kills a client of such a stream. Its row has this result, and nothing that it never sent is lost.
fn loses_nothing_unsent(more: &[&str], result: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    // It ends by its plan before a client that is away is given up.
    let test = [&["media", "--profile", "voice", "-t", "6s"], more].concat();
    let (mut server, paths, _) = kill_a_client(folder.path(), &test);
    let told = server.running.await_stderr("LostDatagrams");
    let rows = rows_at_the_end(server, &paths);
    assert_eq!(rows.len(), 1, "{rows:?}");
    let row = &rows[0];
    assert!(row["Result"].contains(result), "{row:?}");
    assert_eq!(row["ErrorKind"], "network");
    // Nothing is lost on loopback, and the plan's 300 frames were not sent.
    assert!(told.contains("LostDatagrams[0]"), "{told}");
    let dropped = told.split_once("Dropped[").and_then(|(_, rest)| rest.split_once(']'));
    let dropped = dropped.and_then(|(count, _)| count.parse::<u64>().ok());
    assert!(dropped.is_some_and(|dropped| dropped < 50), "{told}");
}

#[test]
fn of_a_client_that_is_killed_nothing_is_lost_that_it_never_sent() {
    loses_nothing_unsent(&["--direction", "up"], "session with the other end was lost");
}

#[test]
fn of_a_killed_client_that_was_sent_to_nothing_is_lost_that_it_never_sent() {
    // Its machine refuses what goes on to be sent, which is known before its session is given up.
    loses_nothing_unsent(&[], "the client's machine refuses its datagrams");
}

#[test]
fn the_time_of_a_connection_ends_with_its_client() {
    let folder = tempfile::tempdir().expect("a folder");
    let test = ["goodput", "--pattern", "push", "-c", "2", "-t", "30s", "--rate", "1Mbit"];
    let (server, paths, most_ms) = kill_a_client(folder.path(), &test);
    let waits = clock::now();
    let rows = rows_at_the_end(server, &paths);
    assert_eq!(rows.len(), 2, "{rows:?}");
    for row in &rows {
        assert!(number(row, "TimeMs") <= most_ms, "{most_ms} ms at most: {row:?}");
        assert!(row["Result"].contains("closed the connection"), "{row:?}");
    }
    let waited = clock::now().since(waits).as_millis();
    assert!(waited < 10_000, "nobody is waited for: {waited} ms");
}

#[test]
fn the_time_of_a_connection_ends_with_its_server() {
    let folder = tempfile::tempdir().expect("a folder");
    let (words, paths) = files(folder.path(), "client");
    let server = Server::start();
    let host = server.host();
    let test = ["goodput", &host, "--pattern", "pull", "-c", "2", "-t", "30s", "--rate", "1Mbit"];
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let began = clock::now();
    let more = ["--no-probe", "--report-every", "100ms"];
    let mut client = Running::start(pathscope(&[&test[..], &more, &words].concat()));
    (0..3).for_each(|_| drop(client.await_stdout("bit/s")));
    server.running.signal("KILL");
    drop(server);
    let most_ms = u64::try_from(clock::now().since(began).as_millis()).expect("a moment");
    client.finish().exits(3);
    let rows = rows(&paths[1]);
    assert_eq!(rows.len(), 2, "{rows:?}");
    for row in &rows {
        assert!(number(row, "TimeMs") <= most_ms + 50, "{most_ms} ms at most: {row:?}");
    }
}

#[test]
fn a_client_that_is_killed_leaves_its_place_to_the_next() {
    let mut server = Server::start_with(&["--limit-sessions", "1", "-vv"]);
    let host = server.host();
    let words = ["goodput", &host, "-t", "60s", "--report-every", "100ms"];
    let mut client = Running::start(pathscope(&words));
    client.await_stdout("bit/s");
    run(&["latency", &host, "-n", "5"]).exits(3).complains(&["limit of 1 session;"]);
    client.signal("KILL");
    drop(client);
    server.running.await_stderr("its place is for others");
    run(&["latency", &host, "-n", "5"]).exits(0);
}

#[test]
fn connections_that_a_second_stop_leaves_behind_have_not_failed() {
    let folder = tempfile::tempdir().expect("a folder");
    let (words, paths) = files(folder.path(), "client");
    let file = folder.path().join("run.json");
    let server = Server::start();
    let host = server.host();
    let test = ["goodput", &host, "-c", "2", "-t", "60s", "--report-every", "100ms", "-o"];
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let file_word = [file.to_str().expect("plain")];
    let mut client = Running::start(pathscope(&[&test[..], &file_word, &words].concat()));
    client.await_stdout("bit/s");
    // It stands still, and says nothing more.
    server.running.signal("STOP");
    client.signal("INT");
    client.await_stderr("second");
    client.signal("INT");
    let ran = client.finish().exits(130);
    server.running.signal("CONT");
    let document = crate::common::document_in(&file);
    let summary = document.measurements[0].summary.goodput.as_ref().expect("it is goodput");
    assert_eq!((summary.failed, summary.unknown), (0, 2), "{}", ran.said());
    let rows = rows(&paths[1]);
    assert_eq!(rows.len(), 2, "{rows:?}");
    for row in &rows {
        assert!(row["Result"].contains("the run was stopped before"), "{row:?}");
        assert_eq!(row["ErrorKind"], "unknown", "{row:?}");
    }
    let status = crate::journal::rows(&paths[0]);
    let last = status.last().expect("rows");
    let failed = ["NetError", "DataError", "ProtocolError"].map(|column| number(last, column));
    assert_eq!(failed, [0, 0, 0], "{last:?}");
}
