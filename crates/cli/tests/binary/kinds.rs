//! Which kind of server a client speaks to: named, found out, or met by mistake.

use std::process::{Command, Stdio};

use crate::common::{Running, pathscope, run};

/// Kinds are asked at the ports that they have by themselves: each test has an address of loopback for itself.
fn serve(address: &str, words: &[&str]) -> Running {
    let words = [&["server", "--listen", address], words].concat();
    let mut server = Running::start(pathscope(&words));
    server.await_stderr("limits:");
    server
}

/// iperf3's own server at the port that it has by itself, where this machine has it.
#[expect(clippy::print_stdout, reason = "a test that cannot run says why")]
fn serve_by_iperf3(address: &str) -> Option<Running> {
    let version = Command::new("iperf3").arg("--version").stdout(Stdio::null()).status();
    if !version.is_ok_and(|status| status.success()) {
        println!("skipped, because there is no iperf3 (cargo xtask check --only machine)");
        return None;
    }
    let mut command = Command::new("iperf3");
    command.args(["-s", "--forceflush", "-B", address]).stdin(Stdio::null());
    let mut server = Running::start(command);
    server.await_stdout("listening");
    Some(server)
}

fn peer_of(document: &str) -> String {
    let document: serde_json::Value = serde_json::from_str(document).expect("it is JSON");
    document["hosts"]["peer"]["name"].as_str().expect("it is known").to_owned()
}

#[test]
fn the_first_kind_that_answers_at_its_own_port_is_spoken_to() {
    let _both = serve("127.77.1.1", &["--accept", "native,lagscope"]);
    let ran = run(&["latency", "127.77.1.1", "--peer", "auto", "-n", "50", "--json"]).exits(0);
    assert_eq!(peer_of(&ran.stdout), "pathscope", "{}", ran.said());
    assert!(ran.stderr.contains("a native server answers"), "{}", ran.said());

    let _one = serve("127.77.1.2", &["--accept", "lagscope"]);
    let words = ["latency", "127.77.1.2", "--peer", "auto", "--closed", "-n", "50", "--json"];
    let ran = run(&words).exits(0);
    assert_eq!(peer_of(&ran.stdout), "lagscope", "{}", ran.said());
    for line in ["TCP port 5210, asked with the begin of a session: ", "a lagscope server answers"]
    {
        assert!(ran.stderr.contains(line), "{line}: {}", ran.said());
    }
}

#[test]
fn a_kind_that_cannot_do_it_is_not_asked() {
    let _paths = serve("127.77.1.3", &["--accept", "mla"]);
    let words = ["multipath", "127.77.1.3", "--peer", "auto", "--duration", "1s", "--json"];
    let ran = run(&words).exits(0);
    assert_eq!(peer_of(&ran.stdout), "mla", "{}", ran.said());
    assert!(!ran.stderr.contains("6001"), "{}", ran.said());
    let words = ["latency", "127.77.1.3", "--peer", "auto"];
    run(&words).exits(3).complains(&["no server that 'latency'", "native at TCP port 5210"]);
}

#[test]
fn words_that_go_with_no_kind_are_refused() {
    for (words, why) in [
        ("survey --peer lagscope", "name the server"),
        ("latency 127.0.0.1 --peer auto --port 99", "no port"),
        ("latency 127.0.0.1:99 --peer auto", "no port"),
        ("latency 127.0.0.1 --peer auto --dry-run", "nobody is asked"),
        ("latency 127.0.0.1 --peer logscape", "'logscape' is none of native"),
        ("server --lagscope-port 99", "add lagscope to --accept"),
        ("server --accept logscape", "'logscape' is none of native"),
    ] {
        let words: Vec<&str> = words.split(' ').collect();
        run(&words).exits(2).complains(&[why]);
    }
}

#[test]
fn a_load_has_no_probes_where_nobody_could_tell_them() {
    let _server = serve("127.77.1.4", &["--accept", "simpleperf"]);
    let words = ["goodput", "127.77.1.4", "--peer", "simpleperf", "-n", "100kB", "-c", "1"];
    let ran = run(&words).exits(0);
    assert!(ran.stderr.contains("no latency probes"), "{}", ran.said());
    let ran = run(&[&words[..], &["--probe-rate", "9/s"]].concat()).exits(2);
    assert!(ran.stderr.contains("cannot tell probes"), "{}", ran.said());
}

#[test]
fn a_native_client_names_what_it_meets() {
    let _server = serve("127.77.1.5", &["--accept", "lagscope,ctstraffic"]);
    for (port, kind) in [("6001", "lagscope"), ("4444", "ctstraffic")] {
        let ran = run(&["latency", "127.77.1.5", "--port", port, "-n", "9"]).exits(3);
        let hint = format!("--peer {kind} speaks to one");
        assert!(ran.stderr.contains(&hint), "{}", ran.said());
    }
}

#[test]
fn a_native_client_names_iperf3_s_server_and_its_peer_is_found() {
    let Some(_server) = serve_by_iperf3("127.77.1.6") else { return };
    let ran = run(&["latency", "127.77.1.6", "--port", "5201", "-n", "9"]).exits(3);
    let ran = ran.complains(&["it answers as an iperf3 server does"]);
    assert!(ran.stderr.contains("--peer iperf3 speaks to one"), "{}", ran.said());

    let words = ["goodput", "127.77.1.6", "--peer", "auto", "--transfer", "1MiB", "-c", "2"];
    let ran = run(&[&words[..], &["--json"]].concat()).exits(0);
    assert_eq!(peer_of(&ran.stdout), "iperf3", "{}", ran.said());
    for line in ["TCP port 5201, asked with a cookie of 37 bytes", "an iperf3 server answers"] {
        assert!(ran.stderr.contains(line), "{line}: {}", ran.said());
    }
    let end = ran.document().measurements[0].client.goodput.clone().expect("it is goodput");
    assert_eq!(end.sent_bytes, 2 << 20, "of each connection so much");
}
