//! How many threads clients on other machines can make a server have.

use std::fs;

use super::{Stand, wait_until};
use crate::common::Running;

/// Two callers and a server between them.
const CALLERS: &str = "name = \"callers\"\nhosts = [\"a\", \"b\", \"c\"]\nisolated = true\n[links]\n\
                       \"a:b\" = { delay = \"1ms\" }\n\"c:b\" = { delay = \"1ms\" }\n";

/// What a server has for itself at the most, whoever calls.
const OWN: usize = 9;

fn threads(server: &Running) -> usize {
    fs::read_dir(format!("/proc/{}/task", server.id())).expect("it runs").count()
}

/// A client that pings until it is told to stop: one worker.
fn pings(stand: &Stand, node: &str) -> Running {
    let words = ["latency", "b", "--period", "100ms", "-t", "600s", "--report-every", "100ms"];
    let mut client = stand.pathscope(node, &[&words[..], &["--json-stream"]].concat());
    drop(client.await_stdout("\"interval\""));
    client
}

fn end(clients: Vec<Running>) {
    clients.iter().for_each(|client| client.signal("INT"));
    clients.into_iter().for_each(|client| drop(client.finish().exits(130)));
}

#[test]
fn no_caller_takes_every_thread_and_each_refusal_names_its_limit() {
    let Some(stand) = Stand::up(CALLERS) else { return };
    let mut server = stand.pathscope("b", &["server", "--limit-threads", "6"]);
    let limits = server.await_stderr("limits:");
    assert!(
        limits.contains("6 threads for other machines (--limit-threads), 3 from one"),
        "{limits}"
    );
    let few = ["latency", "b", "-n", "20"];
    // Three sessions with a worker each.
    let from_a: Vec<Running> = (0..3).map(|_| pings(&stand, "a")).collect();
    let said = ["1 thread for", "limit of 3 from one address", "--limit-threads-per-address"];
    stand.pathscope("a", &few).finish().exits(3).complains(&said);
    stand.pathscope("c", &few).finish().exits(0);
    let mut from_c: Vec<Running> = (0..2).map(|_| pings(&stand, "c")).collect();
    // What a load and its probe need is more than one session and its pings.
    let load = ["goodput", "b", "-c", "1", "-t", "200ms"];
    let said = ["2 threads for", "limit of 3 from one address", "--limit-threads-per-address"];
    stand.pathscope("c", &load).finish().exits(3).complains(&said);
    from_c.push(pings(&stand, "c"));
    assert!(threads(&server) <= 6 + OWN, "{}", threads(&server));
    // Callers on the server's machine have threads of their own.
    stand.pathscope("b", &["latency", "127.0.0.1", "-n", "20"]).finish().exits(0);
    end(from_c);
    stand.pathscope("c", &load).finish().exits(0);
    end(from_a);
    // All of it has come back.
    end((0..3).map(|_| pings(&stand, "a")).collect());
    wait_until("sessions have ended", || threads(&server) <= OWN);
}

#[test]
fn all_callers_together_have_no_more_threads_than_the_limit() {
    let Some(stand) = Stand::up(CALLERS) else { return };
    let limits = ["--limit-threads", "2", "--limit-threads-per-address", "0"];
    let mut server = stand.pathscope("b", &[&["server"], &limits[..]].concat());
    server.await_stderr("listening on");
    let running: Vec<Running> = ["a", "c"].map(|node| pings(&stand, node)).into();
    // There is none for its test.
    let few = ["latency", "b", "-n", "20"];
    let said = ["1 thread for", "the 0 that it has left", "limit of 2", "--limit-threads"];
    stand.pathscope("a", &few).finish().exits(3).complains(&said);
    end(running);
    stand.pathscope("a", &few).finish().exits(0);
}
