//! Datagram goodput through the binary, on loopback.

use pathscope_modes::datagrams::{DatagramsReport, DatagramsSummary};
use pathscope_modes::document::{Document, Measurement, OutcomeState};

use crate::common::{Ran, Running, Server, document_in, pathscope, run};

fn goodput(server: &Server, words: &str) -> Ran {
    let host = server.host();
    let words = ["goodput", &host, "--protocol", "udp", "--json"]
        .into_iter()
        .chain(words.split_whitespace());
    run(&words.collect::<Vec<_>>())
}

fn only(document: &Document) -> &Measurement {
    assert_eq!(document.measurements.len(), 1);
    &document.measurements[0]
}

fn ends(document: &Document) -> [&DatagramsReport; 2] {
    let measurement = only(document);
    let server = measurement.server.as_ref().expect("it reported");
    [&measurement.client, server].map(|end| end.datagrams.as_ref().expect("it counted datagrams"))
}

fn summary(document: &Document) -> &DatagramsSummary {
    only(document).summary.datagrams.as_ref().expect("it is of datagrams")
}

/// What one end sent, the other received or knows to be lost.
fn assert_accounted(sender: &DatagramsReport, receiver: &DatagramsReport, sent: u64, ran: &Ran) {
    assert_eq!((sender.sent, receiver.expected), (sent, Some(sent)), "{}", ran.said());
    let came = receiver.received + receiver.late;
    assert_eq!(came + receiver.lost, sent, "{}", ran.said());
    assert_eq!((receiver.corrupt, receiver.foreign), (0, 0), "{}", ran.said());
    assert_eq!(receiver.lost == 0, receiver.bursts.bursts == 0 || receiver.late > 0);
}

#[test]
fn every_datagram_is_accounted_for_in_either_direction_and_in_both() {
    let server = Server::start();
    for (pattern, up, down) in [("push", 749, 0), ("pull", 0, 749), ("duplex", 375, 375)] {
        for offload in ["auto", "off"] {
            let words = format!("--pattern {pattern} -n 1MiB --rate 50Mbit --offload {offload}");
            let ran = goodput(&server, &words).exits(0);
            let document = ran.document();
            let [client, server] = ends(&document);
            assert_accounted(client, server, up, &ran);
            assert_accounted(server, client, down, &ran);
            if offload == "off" {
                // Nothing can be lost on loopback but in a socket, where each is a buffer of its own.
                assert_eq!(server.socket_drops, Some(server.lost), "{}", ran.said());
                assert_eq!(client.socket_drops, Some(client.lost), "{}", ran.said());
            }
            let summary = summary(&document);
            assert_eq!((summary.completed, summary.failed), (1, 0));
            assert_eq!((summary.up.is_some(), summary.down.is_some()), (up > 0, down > 0));
        }
    }
}

#[test]
fn several_flows_as_fast_as_they_go_are_accounted_for_and_how_they_went_is_told() {
    let server = Server::start();
    let ran = goodput(&server, "-c 3 -n 20MiB --datagram 1000 --no-probe").exits(0);
    let document = ran.document();
    let [client, far] = ends(&document);
    assert_accounted(client, far, 3 * 20_972, &ran);
    assert_eq!((far.flows.len(), far.rates.flows), (3, 3), "{}", ran.said());
    let workers = &only(&document).client.workers;
    let cut: u64 = workers.iter().filter_map(|worker| worker.batches).map(|used| used.cut).sum();
    let refused: u64 =
        workers.iter().filter_map(|worker| worker.batches).map(|used| used.refused).sum();
    // One by one only where the system refused.
    assert!(cut + 3 >= client.sent || refused > 0, "{cut} {refused} of {}", client.sent);
    let ran = goodput(&server, "-c 3 -n 1MiB --offload off --no-probe").exits(0);
    let document = ran.document();
    for worker in &only(&document).client.workers {
        assert_eq!(worker.batches.map(|used| (used.cut, used.joined)), Some((0, 0)));
    }
}

#[test]
fn the_longest_and_the_shortest_go_and_what_is_beyond_them_is_refused_with_the_range() {
    let server = Server::start();
    for (size, count) in [(65_507, 17), (40, 26_215)] {
        let ran = goodput(&server, &format!("--datagram {size} -n 1MiB --rate 100Mbit")).exits(0);
        let document = ran.document();
        let [client, far] = ends(&document);
        assert_accounted(client, far, count, &ran);
    }
    // Of another tool's a datagram may be shorter.
    for (size, least) in [(39, 40), (65_508, 16)] {
        goodput(&server, &format!("--datagram {size}"))
            .exits(2)
            .complains(&[&format!("--datagram {size} B is out of range: {least} B to 65507 B")]);
    }
    goodput(&server, "--congestion cubic").exits(2).complains(&["--congestion", "exclude"]);
}

#[test]
fn a_rate_that_cannot_be_reached_is_told_with_figures() {
    let server = Server::start();
    let ran = goodput(&server, "--rate 1000Gbit -t 300ms --no-probe").exits(0);
    let document = ran.document();
    let [client, far] = ends(&document);
    assert!(client.unsent > 0, "{}", ran.said());
    assert_accounted(client, far, client.sent, &ran);
    let caveats = &only(&document).caveats;
    let told = caveats.iter().find(|caveat| caveat.name == "rate_not_reached").expect("told");
    assert!(told.text.contains("1.000 Tbit/s was asked for"), "{}", told.text);
}

#[test]
fn a_server_that_is_gone_ends_the_run_with_what_was_sent() {
    let server = Server::start();
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("run.json");
    let host = server.host();
    let words = ["goodput", &host, "--protocol", "udp", "--rate", "5Mbit", "-t", "60s"];
    let more = ["--report-every", "100ms", "-o", file.to_str().expect("plain")];
    let mut client = Running::start(pathscope(&[&words[..], &more].concat()));
    client.await_stdout("Mbit/s");
    server.running.signal("KILL");
    let ran = client.finish().exits(3);
    assert!(!ran.stderr.contains("panicked"), "{}", ran.said());
    let document = document_in(&file);
    assert_eq!(document.outcome.state, OutcomeState::Failed);
    let client = only(&document).client.datagrams.as_ref().expect("it counted");
    assert!(client.sent > 0, "{}", ran.said());
}

#[test]
fn a_result_is_shown_again_as_it_was() {
    let server = Server::start();
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("run.json");
    let file = file.to_str().expect("plain");
    let words = ["goodput", &server.host(), "--protocol", "udp", "--rate", "5Mbit", "-t", "500ms"];
    let ran = run(&[&words[..], &["--pattern", "duplex", "-o", file]].concat()).exits(0);
    let shown = run(&["show", file]).exits(0);
    for line in ["goodput up", "goodput down", "lost up", "jitter down", "send lag p99 up"] {
        let of = |said: &str| said.lines().find(|it| it.contains(line)).map(str::to_owned);
        assert!(of(&ran.stdout).is_some(), "'{line}' is missing: {}", ran.said());
        assert_eq!(of(&ran.stdout), of(&shown.stdout));
    }
}
