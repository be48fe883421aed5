//! What went wrong with tools before this one, and where nothing else shows that it does not here.
//! docs/method/latency.md has the whole list.

use std::net::TcpListener;

use pathscope_modes::document::{Document, OutcomeState};
use pathscope_os::clock;

use crate::common::{Running, Server, pathscope, run};

fn received(document: &Document) -> u64 {
    document.measurements[0].summary.latency.as_ref().expect("it is latency").received
}

#[test]
fn a_time_limit_holds_though_the_server_never_goes_on() {
    let server = Server::start();
    for protocol in ["tcp", "udp"] {
        let words = ["latency", &server.host(), "--protocol", protocol, "-t", "2s"];
        let words = [&words[..], &["--report-every", "100ms", "--json-stream"]].concat();
        let mut client = Running::start(pathscope(&words));
        client.await_stdout("\"event\":\"interval\"");
        server.running.signal("STOP");
        let stopped = clock::now();
        // By itself, and with what there was.
        let ran = client.finish().exits(3).complains(&["server"]);
        // The rest of its 2 s, a drain of 10 s at most and 10 s of silence, and as much again for a busy machine.
        let took_s = clock::now().since(stopped).as_secs();
        assert!(took_s < 45, "{protocol}: {took_s} s");
        server.running.signal("CONT");
        let document = Document::from_json(ran.stdout.lines().last().expect("it said something"));
        let document = document.expect("a document, last");
        assert_eq!(document.outcome.state, OutcomeState::Failed);
        assert!(received(&document) > 0, "{}", ran.said());
    }
}

#[test]
fn a_client_that_is_killed_costs_the_others_nothing() {
    let server = Server::start();
    let other = ["latency", &server.host(), "-t", "3s", "--wait", "sleep", "--json"];
    let other = Running::start(pathscope(&other));
    for protocol in ["tcp", "udp"] {
        let words = ["latency", &server.host(), "--protocol", protocol, "-t", "60s"];
        // Much is on its way to who is no more, and is answered by resets.
        let words = [&words[..], &["--outstanding", "64", "-c", "4", "--report-every", "100ms"]];
        let mut killed = Running::start(pathscope(&words.concat()));
        killed.await_stdout("ms");
        killed.signal("KILL");
        drop(killed);
    }
    let document = other.finish().exits(0).document();
    assert!(received(&document) > 0);
    let document = run(&["latency", &server.host(), "-n", "50", "--json"]).exits(0).document();
    assert_eq!(received(&document), 50);
}

#[test]
fn exit_codes_say_how_it_went_and_not_how_many_pings_there_were() {
    let server = Server::start();
    for pings in ["1", "100", "256"] {
        let document = run(&["latency", &server.host(), "-n", pings, "--json"]).exits(0).document();
        assert_eq!(received(&document).to_string(), pings);
    }
}

#[test]
fn an_interrupted_server_ends_though_clients_are_there() {
    let server = Server::start();
    let words = ["latency", &server.host(), "-t", "60s", "--report-every", "100ms"];
    let mut client = Running::start(pathscope(&words));
    client.await_stdout("ms");
    server.running.signal("INT");
    server.running.finish().exits(0);
    client.finish().exits(3).complains(&["interrupted"]);
}

#[test]
fn a_server_without_options_answers_names_and_both_families() {
    let mut running = Running::start(pathscope(&["server", "--port", "0"]));
    let line = running.await_stderr("listening on");
    let port: u16 = line
        .rsplit(|character: char| !character.is_ascii_digit())
        .find_map(|digits| digits.parse().ok())
        .unwrap_or_else(|| panic!("no port in '{line}'"));
    let mut targets = vec![format!("127.0.0.1:{port}"), format!("localhost:{port}")];
    if TcpListener::bind("[::1]:0").is_ok() {
        targets.push(format!("[::1]:{port}"));
    }
    for target in targets {
        for protocol in ["tcp", "udp"] {
            let words = ["latency", &target, "--protocol", protocol, "-n", "20", "--json"];
            assert_eq!(received(&run(&words).exits(0).document()), 20, "{target} {protocol}");
        }
    }
}
