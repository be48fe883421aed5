//! More connections than a process may have open: workers have tables of descriptors of their own.
#![cfg(target_os = "linux")]

use std::process::Command;

use pathscope_core::record::{Check, Substitution};

use crate::common::{Running, Server, pathscope};

/// What one client may have is a matter of what the operator says.
const FREE: [&str; 4] = ["--limit-descriptors", "0", "--limit-descriptors-per-address", "0"];

/// The program, with room for 1,024 descriptors in each of its tables, and more words.
pub fn limited(program: &Command, words: &[&str]) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -n 1024 && exec \"$0\" \"$@\""]);
    command.arg(program.get_program()).args(program.get_args()).args(words);
    command
}

/// A server that has such tables, and gives one client all that it has.
pub fn server() -> Server {
    Server::start_by(|program| limited(&program, &FREE))
}

/// Whether this was said since the system gives no thread a table of its own.
#[expect(clippy::print_stdout, reason = "a test that cannot run says why")]
fn has_none(said: &str) -> bool {
    let has_none = said.contains("a table of descriptors of its own");
    if has_none {
        println!("skipped, because this system gives no thread one: {said}");
    }
    has_none
}

/// Whether 1,500 connections to that server have tables at both ends.
pub fn has_some(server: &Server) -> bool {
    let short = ["goodput", &server.host(), "-c", "1500", "-n", "1KiB", "--no-probe"];
    !has_none(&Running::start(limited(&pathscope(&short), &[])).finish().said())
}

#[test]
fn three_thousand_connections_fit_where_a_table_has_room_for_a_thousand() {
    let server = server();
    let words = ["goodput", &server.host(), "-c", "3000", "-n", "64KiB", "--no-probe", "--json"];
    let ran = Running::start(limited(&pathscope(&words), &[])).finish();
    let said = ran.said();
    if has_none(&said) {
        return;
    }
    let document = ran.exits(0).document();
    let measurement = &document.measurements[0];
    let failed = |check: &&Check| check.passed != Some(true);
    assert_eq!(measurement.checks.iter().find(failed), None, "{said}");
    let goodput = measurement.client.goodput.as_ref().expect("it is a test of goodput");
    assert_eq!((goodput.completed, goodput.failed), (3_000, 0));
    assert_eq!(goodput.sent_bytes, 3_000 << 16);
    let end = measurement.server.as_ref().expect("the server has reported");
    let server = end.goodput.as_ref().expect("it is a test of goodput");
    assert_eq!((server.completed, server.received_bytes), (3_000, 3_000 << 16));
}

#[test]
fn those_who_are_gone_leave_nothing_open() {
    let server = server();
    let words = ["goodput", &server.host(), "-c", "1500", "-t", "60s", "--no-probe"];
    let running = || {
        let mut client = Running::start(limited(&pathscope(&words), &["--report-every", "100ms"]));
        client.await_stdout("ms");
        client
    };
    if !has_some(&server) {
        return;
    }
    // One that is stopped tells what there was until then.
    let client = running();
    client.signal("INT");
    let ran = client.finish();
    assert!(ran.stdout.contains("ended early"), "{}", ran.said());
    // One that dies says nothing.
    drop(running());
    // Whoever comes next finds all as it was, and needs no more than one table.
    let words = ["goodput", &server.host(), "-c", "100", "-n", "64KiB", "--no-probe", "--json"];
    let ran = Running::start(limited(&pathscope(&words), &[])).finish().exits(0);
    let substitutions = &ran.document().measurements[0].substitutions;
    let spread = |it: &&Substitution| it.why.contains("a table of descriptors");
    assert_eq!(substitutions.iter().find(spread), None, "{}", ran.said());
}
