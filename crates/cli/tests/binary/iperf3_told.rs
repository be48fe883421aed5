//! What one end of iperf3's wire tells the other beside counts: what the server prints of a test, and what its client calls it. With ours at
//! both ends, and with the original at either.

use std::net::Ipv4Addr;
use std::process::Command;
use std::thread;

use super::common::{Running, Server, pathscope, run};
use super::iperf3_members::{document, original, serves};

/// A megabyte on two streams, or some datagrams.
const STREAMS: &[&str] = &["-P", "2", "-n", "1M"];
const DATAGRAMS: &[&str] = &["-u", "-n", "20K", "-l", "1000", "-b", "8M"];
const ASKS: [&str; 5] = ["--get-server-output", "-T", "a title", "--extra-data", "{\"a\": 1}"];

/// An address of this file's own, at the port of who says none.
fn host(last: u8) -> Ipv4Addr {
    Ipv4Addr::new(127, 77, 24, last)
}

#[test]
fn a_client_is_told_what_its_server_prints_line_by_line_or_as_a_document() {
    // Of streams that the server sends, what leaves again behind their end is in its own rows alone.
    let cases: [(&[&str], &[&str]); 3] = [(STREAMS, &[]), (DATAGRAMS, &[]), (DATAGRAMS, &["-R"])];
    thread::scope(|scope| {
        for (number, (words, way)) in (10..).step_by(2).zip(cases) {
            let client = move |to: &str, form: &[&str]| {
                let words = [&["iperf3", "-c", to], words, way, &ASKS[..], form].concat();
                run(&words).exits(0)
            };
            scope.spawn(move || {
                let to = host(number).to_string();
                let server = pathscope(&["iperf3", "-s", "-1", "-B", &to]);
                let mut server = Running::start(server);
                server.await_stdout("Server listening on 5201");
                let ran = client(&to, &[]);
                let there = server.finish().exits(0).stdout;
                let (_, rest) = ran.stdout.split_once("Server output:\n").expect("it is told");
                let (told, end) = rest.split_once("\n\n").expect("it ends");
                assert_eq!(end, "a title:  \na title:  iperf Done.\n", "{}", ran.said());
                assert!(told.starts_with("Accepted connection from 127.0.0.1, port "), "{told}");
                assert!(told.contains("receiver") || told.contains("sender"), "{told}");
                assert!(there.ends_with(&format!("\n{told}\n")), "{there}\n{told}");
            });
            scope.spawn(move || {
                let of = host(number + 1);
                let to = of.to_string();
                let server = serves(pathscope(&["iperf3", "-s", "-1", "-J", "-B", &to]), of);
                let mut here = document(&client(&to, &["-J"]));
                let mut there = document(&server.finish().exits(0));
                // The wall clock is read once for each.
                for document in [&mut there, &mut here["server_output_json"]] {
                    let start = document["start"].as_object_mut().expect("it has a start");
                    assert!(start.remove("timestamp").is_some());
                }
                assert_eq!(here["server_output_json"], there, "{here}");
                assert_eq!(there["title"], "a title");
                assert_eq!(there["extra_data"], "{\"a\": 1}");
            });
        }
    });
}

#[test]
fn a_result_of_ours_has_what_an_iperf3_server_prints_where_that_was_asked_for() {
    let server = Server::start_with(&["--accept", "iperf3", "--iperf3-port", "0"]);
    let port = server.port.to_string();
    let words = ["goodput", "127.0.0.1", "--peer", "iperf3", "--port", &port, "--no-probe"];
    let words = [&words[..], &["--transfer", "64KiB", "--connections", "1", "--json"]].concat();
    let output = |more: &[&str]| {
        let ran = run(&[&words[..], more].concat()).exits(0);
        let report = ran.document().measurements[0].server.clone().expect("the server's report");
        report.output.map(|output| output.for_people())
    };
    assert_eq!(output(&[]), None);
    let told = output(&["--server-output", "--title", "t"]).expect("it was asked for");
    assert!(
        told.starts_with("Accepted connection from ") && told.ends_with("receiver\n"),
        "{told}"
    );
    server.running.signal("TERM");
    let ran = server.running.finish().exits(0);
    // What is told a client is nothing that this server would say by itself.
    assert!(!ran.stdout.contains("Accepted") && !ran.stderr.contains("[ ID]"), "{}", ran.said());
}

#[test]
fn what_no_server_of_a_kind_is_told_is_refused_by_name_and_what_is_too_long_as_well() {
    let ran = run(&["goodput", "127.0.0.1", "--title", "t"]).exits(2);
    ran.complains(&["--title has no effect with a server of the kind native", "--peer iperf3"]);
    let long = "x".repeat(6_001);
    let ran = run(&["iperf3", "-c", "127.0.0.1", "--extra-data", &long]).exits(1);
    ran.complains(&[
        "iperf3: error - --extra-data takes 6003 bytes as JSON, and there is room for",
    ]);
    let server = Server::start_with(&["--accept", "iperf3"]);
    let port = server.port.to_string();
    let ran = run(&["iperf3", "-c", "127.0.0.1", "-p", &port, "-L", "5"]).exits(4);
    ran.complains(&["it takes an IPv6 address of the server", "or leave the label out"]);
    server.running.signal("TERM");
    server.running.finish();
}

#[test]
fn the_original_at_either_end_asks_and_is_asked() {
    if let Err(error) = Command::new("iperf3").arg("-v").output() {
        return println!("skipped, because iperf3 does not start: {error}");
    }
    thread::scope(|scope| {
        for (number, form) in (50..).step_by(2).zip([&[][..], &["-J"]]) {
            scope.spawn(move || {
                let (of, key) = (host(number), if form.is_empty() { "text" } else { "json" });
                let to = of.to_string();
                let all = [&["-c", &to, "-J"], STREAMS, &ASKS[..]].concat();
                let member = format!("server_output_{key}");
                let server = [&["iperf3", "-s", "-1", "-B", &to], form].concat();
                let server = serves(pathscope(&server), of);
                let theirs = document(&Running::start(original(&all)).finish().exits(0));
                server.finish().exits(0);
                let said = &theirs[&member];
                if let Some(text) = said.as_str() {
                    assert_eq!(text.matches("receiver").count(), 3, "two streams, a sum: {text}");
                } else {
                    assert_eq!(said["end"]["sum_received"]["bytes"], 1 << 20, "{said}");
                    assert_eq!(
                        (&said["title"], &said["extra_data"]),
                        (&"a title".into(), &"{\"a\": 1}".into())
                    );
                }
            });
            scope.spawn(move || {
                let (of, key) = (host(number + 1), if form.is_empty() { "text" } else { "json" });
                let to = of.to_string();
                let server = [&["-s", "-1", "-B", &to], form].concat();
                let server = serves(original(&server), of);
                let words = [&["iperf3", "-c", &to, "-J"], STREAMS, &ASKS[..]].concat();
                let ours = document(&run(&words).exits(0));
                let there = server.finish();
                let said = &ours[format!("server_output_{key}")];
                if let Some(text) = said.as_str() {
                    assert!(text.contains("Accepted connection from "), "{text}");
                } else {
                    assert_eq!(said["start"]["test_start"]["num_streams"], 2, "{said}");
                    // It says its document before it has all of it.
                    let there = document(&there);
                    assert_eq!(
                        (&there["title"], &there["extra_data"]),
                        (&"a title".into(), &"{\"a\": 1}".into())
                    );
                }
            });
        }
    });
}
