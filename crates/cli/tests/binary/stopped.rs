//! Programs that are stopped for a while in tests of single pings and datagrams, on loopback: the end that was is named, and
//! nobody takes its rest for a delay of the path.

use std::fs;
use std::process::Command;

use pathscope_modes::document::{Document, Measurement};

use crate::common::{Running, Server, document_in, pathscope, run};
use crate::daemon::wait_until;

/// Stopped for so long, and what of it is surely seen.
const STOPPED_S: &str = "1.2";
const SURELY_NS: u64 = 1_000_000_000;

/// Whether a process is stopped, as the system has it.
fn is_stopped(process: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).expect("it runs");
    stat.rsplit(") ").next().is_some_and(|state| state.starts_with('T'))
}

/// Runs a test in whose midst this end rests. Its document, what was said meanwhile, and how its page reads.
fn run_with_rest(words: &[&str], stopped: &str) -> (Document, String, String) {
    let server = Server::start();
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("result.json");
    let output = file.to_str().expect("plain");
    let rest = ["--report-every", "200ms", "--json-stream", "-o", output];
    let host = server.host();
    let all = [&[words[0], &host], &words[1..], &rest].concat();
    let mut client = Running::start(pathscope(&all));
    (0..2).for_each(|_| drop(client.await_stdout("\"event\":\"interval\"")));
    let resting = if stopped == "client" { &client } else { &server.running };
    resting.signal("STOP");
    wait_until("it is stopped", || is_stopped(resting.id()));
    let rested = Command::new("sleep").arg(STOPPED_S).status();
    assert!(rested.is_ok_and(|status| status.success()), "sleep {STOPPED_S}");
    resting.signal("CONT");
    let ran = client.finish().exits(0);
    let page = run(&["show", output]).exits(0).stdout;
    (document_in(&file), ran.stdout, page)
}

/// In the first measurement of this test each end's rest is told as that end's, in every output.
fn tells_who_rested(words: &[&str]) {
    for stopped in ["client", "server"] {
        let (document, said, page) = run_with_rest(words, stopped);
        let measurement: &Measurement = &document.measurements[0];
        let by = format!("{words:?}, {stopped} stopped: {:#?}", measurement.caveats);
        let end = if stopped == "client" {
            Some(&measurement.client)
        } else {
            measurement.server.as_ref()
        };
        assert!(end.map_or(0, |end| end.facts().still_ns()) >= SURELY_NS, "{by}");
        let told = format!("the {stopped}'s program stood still for 1.");
        let is_told =
            |text: &str| text.starts_with(&told) && text.ends_with("times are not the path's");
        let mut caveats = measurement.caveats.iter();
        assert!(caveats.any(|it| it.name == "stood_still" && is_told(&it.text)), "{by}");
        let rows = measurement.intervals.iter().filter_map(|row| match stopped {
            "client" => row.client.as_ref(),
            _ => row.server.as_ref(),
        });
        assert!(rows.filter(|row| row.stood_still_ns >= Some(SURELY_NS)).count() >= 1, "{by}");
        assert!(said.contains(&format!("the {stopped}'s program had stood still for 1.")), "{by}");
        let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(page.contains(&told), "{page}");
    }
}

#[test]
fn a_rest_amid_pings_one_after_the_other_is_no_delay_of_the_path() {
    tells_who_rested(&["latency", "--closed", "--wait", "sleep", "-t", "3s"]);
}

#[test]
fn a_rest_amid_pings_by_the_clock_is_no_delay_of_the_path() {
    tells_who_rested(&["latency", "--period", "10ms", "--protocol", "tcp", "-t", "3s"]);
    tells_who_rested(&["latency", "--period", "10ms", "--protocol", "udp", "-t", "3s"]);
}

#[test]
fn a_rest_amid_datagrams_of_paths_is_no_delay_of_the_path() {
    tells_who_rested(&["multipath", "--path", "lo", "--rate", "1Mbit", "-t", "3s"]);
}

#[test]
fn a_rest_in_the_idle_step_of_a_survey_is_no_delay_of_the_path() {
    tells_who_rested(&["survey", "-t", "3s", "-c", "1"]);
}
