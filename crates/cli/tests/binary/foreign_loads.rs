//! The binary against small programs that speak ctsTraffic's and simpleperf's wires, in both roles: written from the references, in
//! another language, and sharing nothing with it.

use std::process::{Command, Stdio};

use serde_json::Value;

use super::common::{Ran, Running, pathscope, run};

const TRANSFER: &str = "300001";
const PATTERNS: [&str; 4] = ["push", "pull", "pushpull", "duplex"];

/// One of the programs, with these words; none where this machine has no Python.
#[expect(clippy::print_stdout, reason = "a test that cannot run says why")]
fn program(name: &str, words: &[&str]) -> Option<Command> {
    let has = Command::new("python3").arg("--version").stdout(Stdio::null()).status();
    if !has.is_ok_and(|status| status.success()) {
        println!("skipped, because there is no python3");
        return None;
    }
    let path = format!("{}/tests/programs/{name}.py", env!("CARGO_MANIFEST_DIR"));
    let mut command = Command::new("python3");
    command.args(["-B", &path]).args(words).stdin(Stdio::null());
    Some(command)
}

/// A server of one of the programs, and its port.
fn their_server(name: &str, words: &[&str]) -> Option<(Running, String)> {
    let words = [&["server"], words].concat();
    let mut running = Running::start(program(name, &words)?);
    let line = running.await_stdout("port ");
    Some((running, line.trim_start_matches("port ").to_owned()))
}

/// A server of ours for clients of this kind, and its port.
fn our_server(kind: &str, words: &[&str]) -> (Running, String) {
    let port = format!("--{kind}-port");
    let fixed = ["server", "--listen", "127.0.0.1", "--accept", kind, &port, "0"];
    let mut running = Running::start(pathscope(&[&fixed, words].concat()));
    let line = running.await_stderr("clients alone");
    let address = line.split_whitespace().find_map(|word| word.strip_prefix("127.0.0.1:"));
    let port = address.unwrap_or_else(|| panic!("no address: {line}")).to_owned();
    (running, port)
}

/// A server of ours that is done.
fn end(server: Running) -> Ran {
    server.signal("TERM");
    server.finish()
}

fn all_is_well(program: Running) -> Ran {
    let ran = program.finish().exits(0);
    assert!(ran.stdout.ends_with("all is well\n"), "{}", ran.said());
    ran
}

#[test]
fn our_client_is_right_for_a_server_of_ctstraffic_in_every_pattern() {
    for pattern in PATTERNS {
        let Some((server, port)) = their_server("ctstraffic", &[pattern, TRANSFER, "6"]) else {
            return;
        };
        let words = [
            "goodput",
            "127.0.0.1",
            "--peer",
            "ctstraffic",
            "--port",
            &port,
            "--pattern",
            pattern,
            "--no-probe",
            "-c",
            "1",
            "--iterations",
            "6",
            "--transfer",
            TRANSFER,
            "--shutdown",
            "random",
            "--json",
        ];
        let turns = ["--push-bytes", "7000", "--pull-bytes", "9999"];
        let turns = if pattern == "pushpull" { &turns[..] } else { &[] };
        let ran = run(&[&words[..], turns].concat()).exits(0);
        all_is_well(server);
        let document: Value = serde_json::from_str(&ran.stdout).expect("it is JSON");
        let goodput = &document["measurements"][0]["client"]["goodput"];
        let moved = |what: &str| goodput[what].as_u64().unwrap_or_default();
        let each = if pattern == "duplex" { 300_002 } else { 300_001 };
        assert_eq!(moved("sent_bytes") + moved("received_bytes"), 6 * each, "{pattern}");
        assert_eq!(moved("completed"), 6, "{}", ran.said());
    }
}

#[test]
fn our_server_is_right_for_a_client_of_ctstraffic_in_every_pattern() {
    for pattern in PATTERNS {
        let words = [
            "--ctstraffic-pattern",
            pattern,
            "--ctstraffic-transfer",
            TRANSFER,
            "--ctstraffic-push-bytes",
            "7000",
            "--ctstraffic-pull-bytes",
            "9999",
        ];
        let (server, port) = our_server("ctstraffic", &words);
        for shutdown in ["graceful", "rude"] {
            let asked = ["client", &port, pattern, TRANSFER, "4", shutdown];
            let Some(client) = program("ctstraffic", &asked) else { return };
            all_is_well(Running::start(client));
        }
        end(server).exits(0);
    }
}

#[test]
fn a_client_of_ctstraffic_that_was_told_otherwise_is_told_of_at_our_server() {
    let (mut server, port) = our_server("ctstraffic", &["--ctstraffic-transfer", "1000", "-v"]);
    let Some(client) = program("ctstraffic", &["client", &port, "push", "200000", "1", "graceful"])
    else {
        return;
    };
    let ran = Running::start(client).finish();
    assert_ne!(ran.code, Some(0), "{}", ran.said());
    let line = server.await_stderr("sent more than the 1,000 bytes");
    assert!(line.contains("whether both were told the same pattern, transfer"), "{line}");
    end(server);
}

#[test]
fn our_client_is_right_for_a_server_of_simpleperf_also_one_that_sends_all_back() {
    for answers in ["silent", "echo"] {
        for extent in [["--transfer", "250000"], ["--duration", "300ms"]] {
            let Some((server, port)) = their_server("simpleperf", &["1", answers]) else { return };
            let words = [
                "goodput",
                "127.0.0.1",
                "--peer",
                "simpleperf",
                "--port",
                &port,
                "--no-probe",
                "-c",
                "1",
                "--json",
            ];
            let ran = run(&[&words[..], &extent].concat()).exits(0);
            let theirs = all_is_well(server);
            let received = theirs.stdout.lines().find_map(|line| line.strip_prefix("received "));
            let document: Value = serde_json::from_str(&ran.stdout).expect("it is JSON");
            let sent = &document["measurements"][0]["client"]["goodput"]["sent_bytes"];
            assert_eq!(received, Some(sent.to_string().as_str()), "{answers}: {}", ran.said());
        }
    }
}

#[test]
fn our_server_is_right_for_a_client_of_simpleperf() {
    let (server, port) = our_server("simpleperf", &[]);
    for messages in ["1", "300", "0"] {
        let Some(client) = program("simpleperf", &["client", &port, messages, "3"]) else { return };
        all_is_well(Running::start(client));
    }
    end(server).exits(0);
}
