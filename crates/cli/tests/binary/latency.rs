//! Latency through the binary: load models, sizes, files of single pings, and a peer that stands still.

use std::collections::BTreeMap;
use std::path::Path;

use pathscope_modes::document::{Document, Measurement};
use pathscope_modes::latency::{Arrivals, LatencySummary, LoadModel};
use pathscope_modes::registry::Plan;

use crate::common::{Running, Server, pathscope, run};

fn only(document: &Document) -> &Measurement {
    assert_eq!(document.measurements.len(), 1);
    &document.measurements[0]
}

fn summary(document: &Document) -> &LatencySummary {
    only(document).summary.latency.as_ref().expect("it is latency")
}

/// The rows of a file of samples, by the names of its columns.
fn rows(path: &Path) -> Vec<BTreeMap<String, String>> {
    let text = std::fs::read_to_string(path).expect("it was written");
    let mut lines = text.lines().map(|line| line.split(','));
    let names: Vec<&str> = lines.next().expect("a head").collect();
    lines
        .map(|cells| {
            let row: Vec<&str> = cells.collect();
            assert_eq!(row.len(), names.len(), "{row:?}");
            names
                .iter()
                .zip(row)
                .map(|(name, cell)| ((*name).to_owned(), cell.to_owned()))
                .collect()
        })
        .collect()
}

#[test]
fn every_ping_has_a_row_and_a_place_in_the_frequencies() {
    let server = Server::start();
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let (samples, frequencies) = (path("pings.csv"), path("latencies.json"));
    for protocol in ["tcp", "udp"] {
        let words = ["latency", &server.host(), "--protocol", protocol, "--rate", "1k/s"];
        let files = ["--samples", samples.to_str().expect("plain"), "--frequency-file"];
        let rest = [frequencies.to_str().expect("plain"), "-t", "1s", "--json"];
        let document = run(&[&words[..], &files, &rest].concat()).exits(0).document();
        let report = only(&document).client.latency.as_ref().expect("it reported");
        let rtt = report.rtt.as_ref().expect("round trips");

        let rows = rows(&samples);
        assert_eq!(rows.len() as u64, report.sent, "{protocol}");
        let (rows, rest): (Vec<_>, Vec<_>) =
            rows.into_iter().partition(|row| row["outcome"] == "answered");
        assert_eq!(rest.len() as u64, report.warm_up, "{protocol}: none was lost");
        assert!(rest.iter().all(|row| row["outcome"] == "warm_up"), "{rest:?}");
        let rtts: Vec<u64> =
            rows.iter().map(|row| row["rtt_ns"].parse().expect("answered")).collect();
        let extremes = (rtts.iter().min().copied(), rtts.iter().max().copied());
        assert_eq!((extremes, rtts.len() as u64), ((rtt.min_ns, rtt.max_ns), rtt.count));
        for row in &rows {
            let time = |name: &str| row[name].parse::<u64>().expect(name);
            assert!(time("scheduled_ns") <= time("counted_from_ns"), "{row:?}");
            assert!(time("counted_from_ns") <= time("sent_ns"), "{row:?}");
            assert!(time("sent_ns") < time("received_ns"), "{row:?}");
            assert_eq!(time("received_ns") - time("counted_from_ns"), time("rtt_ns"));
            assert_eq!(row["server_residence_ns"].is_empty(), protocol == "tcp");
            assert_eq!(row["server_received_ns"].is_empty(), protocol == "tcp");
            if protocol == "udp" {
                // Both ends are on one machine, and read one clock.
                assert!(time("counted_from_ns") <= time("server_received_ns"), "{row:?}");
                let echoed = time("server_received_ns") + time("server_residence_ns");
                assert!(echoed <= time("received_ns"), "{row:?}");
            }
        }

        let text = std::fs::read_to_string(&frequencies).expect("it was written");
        let read: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
        let entries = read["latencies"].as_array().expect("an array");
        let sum: u64 = entries.iter().filter_map(|entry| entry["frequency"].as_u64()).sum();
        assert_eq!(sum, rtt.count);
        let last = entries.last().and_then(|entry| entry["latency"].as_u64());
        assert_eq!(last, rtt.max_ns.map(|most| most / 1_000));
    }
}

#[test]
fn a_full_disk_costs_the_samples_and_no_measurement() {
    if !Path::new("/dev/full").exists() {
        println!("skipped, because this system has no device that is always full");
        return;
    }
    let server = Server::start();
    let words = ["latency", &server.host(), "-n", "5000", "--samples", "/dev/full", "--json"];
    let ran = run(&words).exits(6).complains(&["cannot write samples to /dev/full", "No space"]);
    let document = ran.document();
    assert_eq!((summary(&document).sent, summary(&document).received), (5_000, 5_000));
    assert!(only(&document).caveats.iter().any(|caveat| caveat.name == "samples_unwritten"));
    let words = ["latency", &server.host(), "-n", "5", "--samples", "/nowhere/at/all.csv"];
    run(&words).exits(2).complains(&["--samples", "/nowhere", "nothing was measured"]);
    let words = ["latency", &server.host(), "-n", "5", "--frequency-file", "/nowhere/at/all.json"];
    run(&words).exits(2).complains(&["--frequency-file", "/nowhere", "nothing was measured"]);
}

#[test]
fn several_flows_with_several_pings_of_two_sizes_come_back_whole() {
    let server = Server::start();
    for (protocol, flows) in [("tcp", "3"), ("udp", "3"), ("tcp", "20"), ("udp", "20")] {
        let words = ["latency", &server.host(), "--protocol", protocol, "-c", flows, "-n", "100"];
        let sizes = ["--outstanding", "4", "--request-size", "100", "--reply-size", "3000"];
        let words = [&words[..], &sizes, &["--wait", "sleep", "--json"]].concat();
        let document = run(&words).exits(0).document();
        let pings = 100 * flows.parse::<u64>().expect("a number");
        let figures = summary(&document);
        let counts = (figures.sent, figures.received, figures.lost, figures.corrupt);
        assert_eq!(counts, (pings, pings, 0, 0), "{protocol} {flows}");
        assert_eq!(figures.rtt.count, pings);
        let far = only(&document).server.as_ref().and_then(|end| end.latency.as_ref());
        assert_eq!(far.map(|far| (far.received, far.sent)), Some((pings, pings)));
    }
}

#[test]
fn random_arrivals_are_recorded_and_can_be_had_again() {
    let server = Server::start();
    let ping = |more: &[&str]| {
        let words = ["latency", &server.host(), "--protocol", "udp", "--rate", "1k/s", "-t", "1s"];
        let words = [&words[..], &["--arrivals", "poisson", "--json"], more].concat();
        let document = run(&words).exits(0).document();
        let Plan::Latency(plan) = &only(&document).test.plan else { panic!("it is latency") };
        let LoadModel::Open { arrivals: Arrivals::Poisson { seed }, .. } = plan.load_model else {
            panic!("{plan:?}")
        };
        let figures = summary(&document);
        assert_eq!(figures.unsent, 0);
        (seed, figures.sent)
    };
    let (seed, sent) = ping(&[]);
    assert_eq!(ping(&["--seed", &seed.to_string()]), (seed, sent));
}

#[test]
fn ranges_and_percentiles_that_are_asked_for_are_there() {
    let server = Server::start();
    let words = ["latency", &server.host(), "-n", "2000", "--percentiles", "33,99.99"];
    let words = [&words[..], &["--histogram", "10us,1us,500"]].concat();
    let document = run(&[&words[..], &["--json"]].concat()).exits(0).document();
    let figures = summary(&document);
    assert!(figures.rtt.percentile(33.0).is_some_and(|it| it.value_ns.is_some()));
    let p9999 = figures.rtt.percentile(99.99).expect("it was asked for");
    assert_eq!((p9999.value_ns, p9999.samples_needed), (None, 100_000));
    let linear = only(&document).client.latency.as_ref().and_then(|it| it.linear.clone());
    let linear = linear.expect("it was asked for");
    assert_eq!((linear.total(), linear.counts.len()), (2_000, 500));
    let ran = run(&words).exits(0);
    for words in ["RTT p33", "RTT in equal ranges", "interarrival jitter", "mean |IPDV|"] {
        assert!(ran.stdout.contains(words), "{words}: {}", ran.said());
    }
}

/// Pings for 5 s, and a server that is stopped for 20 of the intervals of 100 ms.
fn frozen(words: &[&str]) -> Document {
    let server = Server::start();
    let target = server.host();
    let common = ["latency", &target, "-t", "5s", "--report-every", "100ms", "--json-stream"];
    let mut client = Running::start(pathscope(&[&common[..], words].concat()));
    let mut pass = |intervals: usize| {
        (0..intervals).for_each(|_| drop(client.await_stdout("\"event\":\"interval\"")));
    };
    pass(10);
    server.running.signal("STOP");
    pass(20);
    server.running.signal("CONT");
    let ran = client.finish().exits(0);
    let finished = ran.stdout.lines().last().expect("it said something");
    Document::from_json(finished).unwrap_or_else(|error| panic!("{error}: {}", ran.said()))
}

/// An interval in which nothing came back.
fn silent(document: &Document) -> usize {
    let received = |interval: &&pathscope_modes::document::Interval| {
        let client = interval.client.as_ref().and_then(|end| end.latency.as_ref());
        client.is_none_or(|latency| latency.received == 0)
    };
    only(document).intervals.iter().filter(received).count()
}

const SECOND: u64 = 1_000_000_000;

#[test]
fn a_server_that_stands_still_is_an_outage_of_as_long_in_an_open_loop() {
    let document = frozen(&["--protocol", "udp", "--rate", "1k/s"]);
    let figures = summary(&document);
    assert_eq!(figures.sent + figures.unsent, 5_000);
    // What was lost, a socket dropped: the path is this machine's loopback.
    let drops = figures.socket_drops;
    let dropped = drops.server.expect("Linux tells") + drops.client.expect("Linux tells");
    assert_eq!(figures.lost, dropped);
    assert!(silent(&document) >= 15, "{}", silent(&document));
    // Two fifths of all pings waited for up to two seconds, where none of them was dropped.
    assert!(figures.rtt.max_ns > Some(SECOND * 3 / 2), "{:?}", figures.rtt.max_ns);
    if dropped == 0 {
        let p90 = figures.rtt.percentile(90.0).and_then(|it| it.value_ns);
        assert!(p90 > Some(SECOND), "{p90:?}");
    }
}

#[test]
fn a_server_that_stands_still_is_one_slow_ping_in_a_closed_loop_and_corrected() {
    let document = frozen(&["--rate", "100/s", "--closed"]);
    let figures = summary(&document);
    assert_eq!(figures.lost, 0);
    assert!(figures.rtt.max_ns > Some(SECOND * 3 / 2), "{:?}", figures.rtt.max_ns);
    let p90 = |of: &pathscope_core::stats::LatencyFigures| of.percentile(90.0)?.value_ns;
    let corrected = figures.corrected.as_ref().expect("it has a rate");
    assert!(p90(&figures.rtt) < Some(SECOND), "{:?}", figures.rtt);
    assert!(p90(corrected) > Some(SECOND), "{corrected:?}");
    assert!(corrected.count > figures.rtt.count + 100);
}

#[test]
fn ctrl_c_prints_what_was_measured_while_the_server_stands_still() {
    let server = Server::start();
    for protocol in ["tcp", "udp"] {
        let words = ["latency", &server.host(), "--protocol", protocol, "-t", "60s"];
        let words = [&words[..], &["--report-every", "100ms", "--json-stream"]].concat();
        let mut client = Running::start(pathscope(&words));
        (0..5).for_each(|_| drop(client.await_stdout("\"event\":\"interval\"")));
        server.running.signal("STOP");
        (0..3).for_each(|_| drop(client.await_stdout("\"event\":\"interval\"")));
        client.signal("INT");
        client.signal("INT");
        let ran = client.finish().exits(130);
        server.running.signal("CONT");
        let finished = ran.stdout.lines().last().expect("it said something");
        let document = Document::from_json(finished).expect("a document, last");
        assert!(summary(&document).received > 0, "{}", ran.said());
    }
}

#[test]
fn a_sleeping_worker_hears_a_timer_that_an_answer_has_set() {
    let server = Server::start();
    let words = ["latency", &server.host(), "--rate", "100/s", "--closed", "-t", "2s", "--json"];
    let words = [&words[..], &["--wait", "sleep", "--engine", "plain"]].concat();
    let document = run(&words).exits(0).document();
    // 200 on a free machine. Asleep in a call until its timeout, it were 48.
    assert!(summary(&document).sent > 100, "{}", summary(&document).sent);
}
