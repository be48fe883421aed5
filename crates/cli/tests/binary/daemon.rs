//! `--daemon`: started, told why not, and ended; the files it leaves.

use std::fs;
use std::net::TcpListener;
use std::process::Command;

use pathscope_core::record::Check;
use pathscope_modes::document::{Document, OutcomeState};

use crate::common::{Server, run};

/// A process in the background that this test started. Killed when dropped.
pub struct InBackground(u32);

impl InBackground {
    /// The one that was told of: `runs in the background as process N; log: FILE`.
    pub fn told(said: &str) -> Self {
        let number = said.split("as process ").nth(1).and_then(|rest| rest.split(';').next());
        Self(number.and_then(|number| number.parse().ok()).unwrap_or_else(|| panic!("{said}")))
    }

    /// The fields of `proc_pid_stat(5)` behind the name: state, parent, group, session.
    fn stat(&self) -> Option<Vec<String>> {
        let text = fs::read_to_string(format!("/proc/{}/stat", self.0)).ok()?;
        let (_, fields) = text.rsplit_once(')')?;
        Some(fields.split_whitespace().map(str::to_owned).collect())
    }

    fn signal(&self, name: &str) {
        let _ = Command::new("kill").args([format!("-{name}"), self.0.to_string()]).status();
    }

    /// Until it has ended, be it that nobody has asked how. Not for ever. Its first thread may be gone before
    /// the others are, which hold its sockets.
    pub fn await_end(&self) {
        const THREADS: usize = 17;
        let is_gone = |fields: Vec<String>| fields[0] == "Z" && fields[THREADS] == "1";
        wait_until("it ends", || self.stat().is_none_or(is_gone));
    }
}

impl Drop for InBackground {
    fn drop(&mut self) {
        if self.stat().is_some_and(|fields| fields[0] != "Z") {
            self.signal("KILL");
        }
    }
}

/// Until something holds that nobody tells us of.
pub fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let end = pathscope_os::clock::now().plus_nanos(90_000_000_000);
    while !holds() {
        assert!(pathscope_os::clock::now() < end, "it never was so that {what}");
        std::thread::yield_now();
    }
}

#[test]
fn a_server_in_the_background_has_no_terminal_and_answers() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("server.log");
    let log_file = log.to_str().expect("plain");
    let words = ["server", "--listen", "127.0.0.1", "-p", "0", "--daemon", "--log-file", log_file];
    let ran = run(&words).exits(0);
    let server = InBackground::told(&ran.stderr);
    // The one that started it has ended only after the other had said where it listens.
    let said = fs::read_to_string(&log).expect("a log");
    let port = said.split("127.0.0.1:").nth(1).and_then(|rest| rest.split(' ').next());
    let port = port.unwrap_or_else(|| panic!("{said}")).to_owned();
    let session = server.stat().expect("it runs")[3].clone();
    assert_eq!(session, server.0.to_string(), "a session of its own");
    let root = fs::read_link(format!("/proc/{}/cwd", server.0)).expect("it is ours");
    assert_eq!(root.to_str(), Some("/"));

    run(&["latency", &format!("127.0.0.1:{port}"), "-n", "20"]).exits(0);
    let words = ["server", "--listen", "127.0.0.1", "-p", &port, "--daemon"];
    run(&words).exits(4).complains(&["in use"]);

    server.signal("TERM");
    server.await_end();
    run(&["latency", &format!("127.0.0.1:{port}"), "-n", "20"]).exits(3);
}

#[test]
fn a_log_that_takes_nothing_keeps_no_server_from_starting() {
    let words = ["server", "--listen", "127.0.0.1", "-p", "0", "--daemon"];
    for log in [&["--log-file", "/dev/full"][..], &["--quiet"]] {
        let ran = run(&[&words[..], log].concat()).exits(0);
        let server = InBackground::told(&ran.stderr);
        assert!(server.stat().is_some_and(|fields| fields[0] != "Z"), "{}", ran.stderr);
        server.signal("TERM");
        server.await_end();
    }
}

#[test]
fn a_client_in_the_background_leaves_its_result() {
    let server = Server::start();
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("plain").to_owned();
    let (result, samples, log) = (path("run.json"), path("pings.csv"), path("log"));
    let words = ["latency", &server.host(), "-n", "500", "--daemon", "--output", &result];
    let ran = run(&[&words[..], &["--samples", &samples, "--log-file", &log]].concat()).exits(0);
    let client = InBackground::told(&ran.stderr);
    client.await_end();
    let text = fs::read_to_string(&result).expect("a result");
    let document = Document::from_json(&text).expect("a document");
    assert_eq!(document.outcome.state, OutcomeState::Complete);
    assert_eq!(fs::read_to_string(&samples).expect("samples").lines().count(), 501);
    assert!(fs::read_to_string(&log).expect("a log").contains("RTT p50"));
}

#[test]
fn what_would_be_lost_or_go_elsewhere_in_the_background_is_refused() {
    let words = ["latency", "127.0.0.1", "-n", "5", "--daemon"];
    run(&words).exits(2).complains(&["would lose the result", "--output"]);
    run(&["server", "--daemon", "--log-file", "here.log"]).exits(2).complains(&["whole path"]);
    let words = ["latency", "127.0.0.1", "--daemon", "--log-file", "/dev/null"];
    let words = [&words[..], &["--samples", "pings.csv"]].concat();
    run(&words).exits(2).complains(&["--samples pings.csv", "whole path"]);
    run(&["server", "--daemon", "--log-file", "/nowhere/at/all"]).exits(2).complains(&["/nowhere"]);
}

#[test]
fn in_the_foreground_a_log_holds_what_is_said_and_a_file_the_number_of_the_process() {
    let folder = tempfile::tempdir().expect("a folder");
    let [log, number] = ["log", "pid"].map(|name| folder.path().join(name));
    let [log_file, pid_file] = [&log, &number].map(|path| path.to_str().expect("plain"));
    let words = ["server", "--listen", "127.0.0.1", "-p", "0", "--time-limit", "10ms"];
    let files = ["--log-file", log_file, "--pid-file", pid_file];
    let ran = run(&[&words[..], &files].concat()).exits(0);
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("", ""));
    let said = fs::read_to_string(&log).expect("a log");
    assert!(said.contains("127.0.0.1"), "{said}");
    let number = fs::read_to_string(&number).expect("a file");
    assert!(number.trim().parse::<u32>().is_ok_and(|number| number > 0), "{number}");
}

#[test]
fn connections_that_neither_end_says_anything_of_are_counted_to_the_last() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
    let port = listener.local_addr().expect("it is bound").port().to_string();
    // It has had no connection, and leaves its port at once.
    drop(listener);
    let words = ["server", "--listen", "127.0.0.1", "-p", &port, "--daemon", "--quiet"];
    let server = InBackground::told(&run(&words).exits(0).stderr);
    let host = format!("127.0.0.1:{port}");
    let words = ["goodput", &host, "-c", "20", "--iterations", "50", "-n", "64", "--no-probe"];
    for how in ["rude", "graceful"] {
        let ran = run(&[&words[..], &["--shutdown", how, "--json", "--quiet"]].concat()).exits(0);
        assert_eq!(ran.stderr, "");
        let document = ran.document();
        let measurement = &document.measurements[0];
        let summary = measurement.summary.goodput.as_ref().expect("it is goodput");
        assert_eq!((summary.completed, summary.attempted, summary.failed), (1_000, 1_000, 0));
        assert!(measurement.checks.iter().all(Check::has_held), "{:?}", measurement.checks);
        let connects = measurement.client.connect.as_ref().map(|connects| connects.count);
        assert_eq!(connects, Some(1_000), "each took its time to be made");
        let rows = measurement.client.goodput.as_ref().map(|end| &end.flows).expect("it reports");
        assert!(rows.iter().all(|row| row.local.is_some() && row.remote.is_some()));
    }
    server.signal("TERM");
    server.await_end();
}
