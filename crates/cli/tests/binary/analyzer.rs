//! `MultipathLatencyAnalyzer` in both roles, against small programs in Python that share no code with us.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::common::{Running, Server, pathscope};

/// A program of these tests, where there is Python.
#[expect(clippy::print_stdout, reason = "a test that cannot run says why")]
pub fn python(program: &str, words: &[&str]) -> Option<Running> {
    if Command::new("python3").arg("--version").output().is_err() {
        println!("skipped, because there is no python3");
        return None;
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(program);
    let mut command = Command::new("python3");
    command.arg(path).args(words);
    Some(Running::start(command))
}

/// A server of ours for such clients, and its port for them.
fn server() -> (Running, u16) {
    let words = ["server", "--listen", "127.0.0.1", "--port", "0"];
    let own = ["--accept", "native,mla", "--mla-port", "0"];
    let Server { mut running, .. } =
        Server::listening(Running::start(pathscope(&[&words[..], &own].concat())));
    let line = running.await_stderr("(UDP)");
    let port =
        line.split_once("127.0.0.1:").and_then(|(_, rest)| rest.split(' ').next()?.parse().ok());
    (running, port.unwrap_or_else(|| panic!("no port in '{line}'")))
}

#[test]
fn its_client_has_each_datagram_back_from_our_server_and_a_person_there_is_told_of_it() {
    for length in ["1024", "24"] {
        let (mut server, port) = server();
        let words = ["127.0.0.1", &port.to_string(), "300", length];
        let Some(client) = python("mla_client.py", &words) else { return };
        let ran = client.finish().exits(0);
        let found: Value = serde_json::from_str(&ran.stdout).expect("it prints JSON");
        assert_eq!((&found["received"], &found["corrupt"]), (&300.into(), &0.into()), "{found}");
        assert_eq!(found["is_monotonic"], true, "the server's clock goes on: {found}");
        assert!(found["shortest_us"].as_u64() > Some(0), "{found}");
        server.await_stderr("its datagrams are echoed");
        server.signal("INT");
        let ran = server.finish().exits(0);
        assert!(ran.stderr.contains(" datagrams echoed in "), "{}", ran.said());
    }
}

#[test]
fn our_client_measures_its_server_and_finds_what_that_did_not_answer() {
    let Some(mut server) = python("mla_server.py", &["10"]) else { return };
    let line = server.await_stdout("listening on");
    let host = line.rsplit(' ').next().expect("an address");
    let words = [
        "multipath",
        host,
        "--peer",
        "mla",
        "--duration",
        "500ms",
        "--rate",
        "5242880bit",
        "--json",
    ];
    let ran = Running::start(pathscope(&words)).finish();
    let document: Value =
        serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{}", ran.said()));
    let summary = &document["measurements"][0]["summary"]["multipath"];
    // The numbers 9, 19 … 319.
    assert_eq!((&summary["scheduled"], &summary["lost"]), (&320.into(), &32.into()), "{summary}");
    let path = &summary["paths"][0];
    assert_eq!((&path["corrupt"], &summary["foreign"]), (&0.into(), &0.into()), "{summary}");
    assert!(path["lost_forward"].is_null(), "nobody knows on which way: {path}");
    assert_eq!(document["hosts"]["peer"]["name"], "mla");
    let heard = server.await_stdout("number 0 of 1024 bytes");
    assert!(heard.ends_with(" 0 wrong"), "{heard}");
}
