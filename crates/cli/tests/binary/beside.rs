//! What is seen beside the flows in each interval, in the document and in the files that are made of it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use pathscope_core::id::FlowId;
use pathscope_modes::document::Interval;
use pathscope_modes::registry::EndInterval;

use crate::common::{Server, document_in, run};

/// The rows of a file, by the names of its columns.
fn rows(path: &Path) -> Vec<BTreeMap<String, String>> {
    let text = fs::read_to_string(path).expect("it was written");
    let mut lines = text.lines().map(|line| line.split(',').map(str::to_owned));
    let names: Vec<String> = lines.next().expect("a head").collect();
    lines.map(|cells| names.iter().cloned().zip(cells).collect()).collect()
}

#[cfg(target_os = "linux")]
#[test]
fn each_interval_tells_what_both_machines_did_and_a_file_has_it() {
    let server = Server::start();
    let folder = tempfile::tempdir().expect("a folder");
    let [result, counters] = ["r.json", "c.csv"].map(|name| folder.path().join(name));
    let words = ["goodput", &server.host(), "-t", "1s", "--report-every", "200ms", "-o"];
    let files = [&result, &counters].map(|path| path.to_str().expect("plain"));
    let rest = [files[0], "--counters-file", files[1], "--format", "md"];
    run(&[&words[..], &rest].concat()).exits(0);
    let document = document_in(&result);
    let measurement = &document.measurements[0];
    let rows = rows(&counters);
    for (name, report) in
        [("client", Some(&measurement.client)), ("server", measurement.server.as_ref())]
    {
        let ends = measurement.intervals.iter().filter_map(|interval| match name {
            "client" => interval.client.as_ref(),
            _ => interval.server.as_ref(),
        });
        let told: Vec<_> = ends.filter_map(|end| end.host_activity).collect();
        assert!(told.len() >= 2, "{name}: {told:?}");
        let whole = report.and_then(|report| report.host_activity).expect("of the whole");
        let sum = |count: fn(&pathscope_core::counters::HostActivity) -> u64| {
            told.iter().map(count).sum::<u64>()
        };
        assert!(sum(|it| it.received_bytes) > 0);
        assert!(sum(|it| it.retransmits) <= whole.retransmits);
        assert!(
            told.iter().all(|it| it.busiest_ratio.is_none_or(|busy| (0.0..=1.0).contains(&busy)))
        );
        let written: Vec<_> = rows.iter().filter(|row| row["End"] == name).collect();
        let received: Vec<u64> =
            written.iter().map(|row| row["RecvBytes"].parse().expect("a number")).collect();
        assert_eq!(received, told.iter().map(|it| it.received_bytes).collect::<Vec<_>>());
        assert!(written.iter().all(|row| row["Measurement"] == measurement.name));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn each_interval_tells_how_connections_stood_at_the_end_that_sends_and_a_file_has_it() {
    let server = Server::start();
    let folder = tempfile::tempdir().expect("a folder");
    let [result, senders] = ["r.json", "s.csv"].map(|name| folder.path().join(name));
    let files = [&result, &senders].map(|path| path.to_str().expect("plain"));
    let words = ["goodput", &server.host(), "--pattern", "pull", "-c", "10", "-t", "1s"];
    let rest = ["--report-every", "200ms", "-o", files[0], "--tcp-info-file", files[1]];
    run(&[&words[..], &rest, &["--format", "md"]].concat()).exits(0);
    let document = document_in(&result);
    let measurement = &document.measurements[0];
    let ends = |of: fn(&Interval) -> Option<&EndInterval>| {
        let ends = measurement.intervals.iter().filter_map(of);
        ends.map(|end| end.senders.clone()).collect::<Vec<_>>()
    };
    let told = ends(|interval| interval.server.as_ref());
    assert!(ends(|interval| interval.client.as_ref()).iter().all(Vec::is_empty));
    // The first eight, while they send.
    let flows: Vec<FlowId> = (0..8).map(FlowId).collect();
    let most = flows.len();
    assert!(told.iter().all(|looks| looks.len() <= most));
    let full: Vec<_> = told.iter().filter(|looks| looks.len() == most).collect();
    assert!(full.len() >= 2, "{told:?}");
    for look in full.iter().copied().flatten() {
        assert!(look.congestion_window_bytes > Some(0) && look.rtt_ns > Some(0), "{look:?}");
        assert!(look.retransmission_timeout_ns > look.rtt_ns && look.retransmits.is_some());
    }
    let server = measurement.server.as_ref().expect("it reported");
    assert_eq!(server.senders.iter().map(|look| look.flow).collect::<Vec<_>>(), flows);
    let rows = rows(&senders);
    let windows: Vec<Option<u64>> =
        rows.iter().map(|row| row["WindowBytes"].parse().ok()).collect();
    let expected: Vec<_> = told.iter().flatten().map(|it| it.congestion_window_bytes).collect();
    assert_eq!(windows, expected);
    assert!(rows.iter().all(|row| row["End"] == "server"));
}

#[test]
fn a_file_that_cannot_be_written_is_told_before_anything_is_measured() {
    let words = ["latency", "127.0.0.1:9", "--counters-file", "/no/such/folder/c.csv"];
    run(&words).exits(2).complains(&["--counters-file", "/no/such/folder/c.csv"]);
    let folder = tempfile::tempdir().expect("a folder");
    let same = folder.path().join("same");
    let same = same.to_str().expect("plain");
    run(&["latency", "127.0.0.1:9", "-o", same, "--counters-file", same])
        .exits(2)
        .complains(&["--counters-file"]);
}
