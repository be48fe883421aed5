//! Programs that are stopped while a test runs: the one that was is named, and the rows that hold what waited meanwhile.

use std::process::Command;

use pathscope_core::record::Limit;
use pathscope_modes::document::{Document, Measurement};
use pathscope_modes::registry::{EndInterval, EndReport};

use super::disturbed::is_named;
use super::{Stand, only};
use crate::common::{Running, document_in};

const PATH: &str = "hosts = [\"a\", \"b\"]\n[links]\n\
                    \"a:b\" = { rate = \"100Mbit\", delay = \"2ms\", queue = \"100p\" }\n";

/// Stopped for so long, and what of it is surely seen.
const STOPPED_S: &str = "1.2";
const SURELY_NS: u64 = 1_000_000_000;

/// Runs a test in whose midst these ends stand still for a while.
fn run(stand: &Stand, words: &[&str], stopped: &[&str]) -> Document {
    let server = stand.server("b");
    let file = stand.folder.path().join("result.json");
    let output = file.to_str().expect("plain");
    let all = [words, &["--report-every", "200ms", "--json-stream", "-o", output]].concat();
    let mut client = stand.pathscope("a", &all);
    client.await_stdout("\"interval\"");
    client.await_stdout("\"interval\"");
    let ids = [("client", &client), ("server", &server)];
    let is_stopped = |(name, _): &&(&str, &Running)| stopped.contains(name);
    let ids: Vec<String> =
        ids.iter().filter(is_stopped).map(|(_, running)| running.id().to_string()).collect();
    let ids = ids.join(" ");
    let script = format!("kill -STOP {ids} && sleep {STOPPED_S}; kill -CONT {ids}");
    let status = Command::new("sh").args(["-c", &script]).status();
    assert!(status.is_ok_and(|status| status.success()), "{script}");
    client.finish().exits(0);
    document_in(&file)
}

fn still_ns(end: Option<&EndReport>) -> u64 {
    end.map_or(0, |end| end.facts().still_ns())
}

fn marked<'run>(ends: impl Iterator<Item = Option<&'run EndInterval>>) -> usize {
    ends.flatten().filter(|end| end.stood_still_ns.is_some()).count()
}

fn has_caveat(measurement: &Measurement, end: &str) -> bool {
    let start = format!("the {end}'s program stood still for ");
    let mut caveats = measurement.caveats.iter();
    caveats.any(|it| it.name == "stood_still" && it.text.starts_with(&start))
}

#[test]
fn the_end_that_was_stopped_is_named_and_its_rows_are_marked() {
    let Some(stand) = Stand::up(PATH) else { return };
    let push = ["goodput", "b", "-c", "1", "-t", "4s", "--no-probe", "--congestion", "cubic"];
    let pull = [&push[..], &["--pattern", "pull"]].concat();
    for (words, stopped, expected) in [
        (&push[..], "server", Limit::ReceiverStopped),
        (&push, "client", Limit::SenderStopped),
        (&pull, "server", Limit::SenderStopped),
    ] {
        let document = run(&stand, words, &[stopped]);
        let measurement = only(&document);
        let by = format!("{stopped} stopped: {:#?}", measurement.verdict);
        if !is_named(measurement, &[], expected, &by) {
            continue;
        }
        let (client, server) = (Some(&measurement.client), measurement.server.as_ref());
        let (still, other) = if stopped == "server" { (server, client) } else { (client, server) };
        assert!(still_ns(still) >= SURELY_NS, "{by}: {:?}", still.map(|end| &end.stood_still));
        assert!(still_ns(other) < still_ns(still), "{by}");
        assert!(has_caveat(measurement, stopped), "{by}: {:?}", measurement.caveats);
        let rows = || measurement.intervals.iter();
        let marks = match stopped {
            "server" => marked(rows().map(|row| row.server.as_ref())),
            _ => marked(rows().map(|row| row.client.as_ref())),
        };
        assert!(marks >= 1, "{by}");
    }
}

#[test]
fn a_machine_that_stood_still_is_told_for_both_ends() {
    let Some(stand) = Stand::up(PATH) else { return };
    let words = ["goodput", "b", "-c", "1", "-t", "4s", "--no-probe", "--congestion", "cubic"];
    let document = run(&stand, &words, &["client", "server"]);
    let measurement = only(&document);
    for (name, end) in
        [("client", Some(&measurement.client)), ("server", measurement.server.as_ref())]
    {
        assert!(still_ns(end) >= SURELY_NS, "{name}: {:?}", end.map(|end| &end.stood_still));
        assert!(has_caveat(measurement, name), "{:?}", measurement.caveats);
    }
    let verdict = measurement.verdict.as_ref().expect("both ends reported");
    if verdict.limit != Limit::SenderStopped
        && !is_named(measurement, &[], Limit::ReceiverStopped, "both stopped")
    {
        return;
    }
    assert!(verdict.text.contains("the other end's program stood still for"), "{}", verdict.text);
}

#[test]
fn frames_that_a_receiver_at_rest_missed_are_not_the_network_s() {
    let Some(stand) = Stand::up(PATH) else { return };
    let words = ["media", "b", "-t", "4s", "--rate", "1Mbit", "--buffer-depth", "100ms"];
    let document = run(&stand, &words, &["client"]);
    let measurement = only(&document);
    assert!(still_ns(Some(&measurement.client)) >= SURELY_NS);
    is_named(measurement, &[], Limit::ReceiverStopped, "the client stopped");
}
