//! Multipath through the binary on loopback: one path, the file of stamps, a server that goes away.

use pathscope_modes::document::{Document, Measurement, OutcomeState};
use pathscope_modes::multipath::MultipathSummary;

use crate::common::{Running, Server, document_in, pathscope, run};

fn only(document: &Document) -> &Measurement {
    assert_eq!(document.measurements.len(), 1);
    &document.measurements[0]
}

fn summary(document: &Document) -> &MultipathSummary {
    only(document).summary.multipath.as_ref().expect("it is multipath")
}

#[test]
fn with_one_interface_the_run_goes_on_with_one_and_every_datagram_has_a_row() {
    let server = Server::start();
    let folder = tempfile::tempdir().expect("a folder");
    let samples = folder.path().join("stamps.csv");
    let words = ["multipath", &server.host(), "--path", "lo", "-t", "1s", "--rate", "sd", "--json"];
    let samples_words = ["--samples", samples.to_str().expect("plain")];
    let document = run(&[&words[..], &samples_words].concat()).exits(0).document();
    let figures = summary(&document);
    // 3 Mbit/s of 1,024 bytes.
    assert_eq!((figures.scheduled, figures.sent, figures.received), (366, 366, 366));
    let [path] = &figures.paths[..] else { panic!("one path: {:?}", figures.paths) };
    assert_eq!((path.interface.as_str(), path.sent, path.received, path.lost), ("lo", 366, 366, 0));
    assert_eq!((path.lost_forward, path.lost_return, path.first), (Some(0), Some(0), 366));
    assert_eq!(figures.losses.len(), 0);
    let far = only(&document).server.as_ref().and_then(|end| end.multipath.as_ref());
    assert_eq!(far.map(|far| (far.paths[0].received, far.paths[0].sent)), Some((366, 366)));

    let text = std::fs::read_to_string(&samples).expect("it was written");
    let mut lines = text.lines();
    let head = "Sequence number, Primary Send timestamp (microsec), \
        Primary Echo timestamp (microsec), Primary Receive timestamp (microsec)";
    assert_eq!(lines.next(), Some(head));
    let rows: Vec<Vec<i64>> = lines
        .map(|line| line.split(", ").map(|cell| cell.parse().expect("a number")).collect())
        .collect();
    assert_eq!(rows.len(), 366);
    for (number, row) in rows.iter().enumerate() {
        assert_eq!((row.len(), row[0]), (4, number as i64));
        assert!(row[1] >= 0 && row[3] >= row[1] && row[2] > 0, "{row:?}");
    }
}

#[test]
fn both_orders_and_the_comparison_without_a_second_path_run() {
    let server = Server::start();
    for more in [&["--order", "alternate"][..], &["--secondary", "0"]] {
        let words = ["multipath", &server.host(), "-t", "500ms", "--rate", "1Mbit", "--json"];
        let document = run(&[&words[..], more].concat()).exits(0).document();
        let figures = summary(&document);
        assert_eq!((figures.scheduled, figures.received), (61, 61), "{more:?}");
    }
}

#[test]
fn what_cannot_be_a_path_is_said_and_nothing_is_measured() {
    let server = Server::start();
    let words = ["multipath", &server.host(), "--path", "nowhere0"];
    run(&words).exits(4).complains(&["cannot use interface 'nowhere0'", "ip link"]);
    let words = ["multipath", &server.host(), "--datagram", "47"];
    run(&words).exits(2).complains(&["--datagram 47 B is out of range: 48 B to"]);
    let words = ["multipath", &server.host(), "--path", "lo", "--samples", "/nowhere/at/all.csv"];
    run(&words).exits(2).complains(&["--samples", "/nowhere", "nothing was measured"]);
}

#[test]
fn a_full_disk_costs_the_file_of_stamps_and_no_measurement() {
    if !std::path::Path::new("/dev/full").exists() {
        println!("skipped, because this system has no device that is always full");
        return;
    }
    let server = Server::start();
    let words = ["multipath", &server.host(), "--path", "lo", "-t", "500ms", "--rate", "1Mbit"];
    let ran = run(&[&words[..], &["--json", "--samples", "/dev/full"]].concat());
    let ran = ran.exits(6).complains(&["/dev/full", "No space"]);
    let document = ran.document();
    let figures = summary(&document);
    assert_eq!((figures.scheduled, figures.received, figures.lost), (61, 61, 0), "{}", ran.said());
}

#[test]
fn a_server_that_is_gone_and_not_back_costs_nothing_that_was_measured() {
    let server = Server::start();
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("run.json");
    let words = ["multipath", &server.host(), "--path", "lo", "-t", "3s", "--rate", "1Mbit"];
    let output = ["--json-stream", "--report-every", "100ms", "-o", file.to_str().expect("plain")];
    let mut client = Running::start(pathscope(&[&words[..], &output].concat()));
    (0..5).for_each(|_| drop(client.await_stdout("\"event\":\"interval\"")));
    server.running.signal("KILL");
    // It is asked for again for a minute, and the run ends before.
    let ran = client.finish().exits(3);
    let ran = ran.complains(&["the server closed the connection while the test ran"]);
    let document = document_in(&file);
    assert_eq!(document.outcome.state, OutcomeState::Failed, "{}", ran.said());
    let figures = summary(&document);
    assert_eq!(figures.scheduled, 366, "to its end: {}", ran.said());
    assert!(figures.received > 0 && figures.lost > 0, "{}", ran.said());
    // That nobody listens there is the answer to what has left, and no refusal of what is to leave.
    assert_eq!((figures.without_path, figures.paths[0].refused), (0, 0), "{}", ran.said());
    assert_eq!(figures.received + figures.lost, figures.sent);
    assert!(only(&document).server.is_none());
    let near = only(&document).client.multipath.as_ref().expect("it reported");
    let told = near.transitions.iter().filter(|it| it.path.is_none()).map(|it| it.what.as_str());
    assert_eq!(told.collect::<Vec<_>>(), ["gone"], "{}", ran.said());
}
