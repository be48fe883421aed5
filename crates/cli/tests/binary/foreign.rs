//! Files of other tools: what `show` and `report` make of them, and what is refused.

use std::fmt::Write as _;
use std::fs;

use serde_json::Value;
use tempfile::TempDir;

use crate::common::{Ran, Server, pathscope, run};

/// As lagscope lays it out: twenty pings of 1, 2, … 20 µs.
fn frequencies() -> String {
    let entries = (1..=20).map(|latency| {
        format!("\t\t{{\n\t\t\t\"latency\": {latency},\n\t\t\t\"frequency\": 1\n\t\t}}")
    });
    format!("{{\n\t\"latencies\":[\n{}\n\t]\n}}", entries.collect::<Vec<_>>().join(",\n"))
}

/// The same pings one by one, the slowest first.
fn latencies() -> String {
    let mut text = "Index, Latency(us)\n".to_owned();
    (0..20).for_each(|index| writeln!(text, "{index}, {}", 20 - index).expect("memory"));
    text
}

fn show(text: &str, words: &[&str]) -> Ran {
    let folder = TempDir::new().expect("a folder");
    // What it is called says nothing.
    let file = folder.path().join("anything.txt");
    fs::write(&file, text).expect("a folder of ours");
    run(&[&["show", file.to_str().expect("plain")], words].concat())
}

fn json(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {}", ran.said()))
}

#[test]
fn both_files_of_lagscope_have_figures_of_ours_and_say_what_they_lack() {
    for (text, has_order) in [(frequencies(), false), (latencies(), true)] {
        let shown = show(&text, &[]).exits(0);
        for line in ["latency as lagscope has it", "RTT minimum", "20 pings over TCP"] {
            assert!(shown.stdout.contains(line), "{line}: {}", shown.said());
        }
        assert!(shown.stdout.contains("whole microseconds"), "{}", shown.said());
        assert_eq!(shown.stdout.contains("interarrival jitter"), has_order, "{}", shown.said());
        let result = json(&show(&text, &["--json"]).exits(0));
        assert_eq!(result["file"]["tool"], "lagscope");
        let rtt = &result["measurements"][0]["summary"]["latency"]["rtt"];
        assert_eq!((&rtt["min_ns"], &rtt["max_ns"]), (&1_000.into(), &20_000.into()));
        assert_eq!(rtt["mean_ns"], 10_500.0);
    }
}

#[test]
fn a_file_that_we_wrote_for_readers_of_lagscopes_is_read_again() {
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("table.json");
    let file = file.to_str().expect("plain");
    let server = Server::start();
    let words = ["latency", &server.host(), "-n", "200", "--frequency-file", file, "--json"];
    let document = run(&words).exits(0).document();
    let ours = document.measurements[0].summary.latency.as_ref().expect("it was measured");
    let theirs = json(&run(&["show", file, "--json"]).exits(0));
    let theirs = &theirs["measurements"][0]["summary"]["latency"]["rtt"];
    assert_eq!(theirs["count"], ours.rtt.count);
    // What the table keeps is whole microseconds.
    let least = ours.rtt.min_ns.expect("pings") / 1_000 * 1_000;
    assert_eq!(theirs["min_ns"], least);
}

#[test]
fn samples_of_a_test_over_paths_are_read_as_the_file_that_they_resemble() {
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("stamps.csv");
    let file = file.to_str().expect("plain");
    let server = Server::start();
    let words = ["--path", "lo", "-t", "500ms", "--rate", "1Mbit", "--samples", file, "--json"];
    let document = run(&[&["multipath", &server.host()], &words[..]].concat()).document();
    let ours = document.measurements[0].summary.multipath.as_ref().expect("it was measured");
    let theirs = json(&run(&["show", file, "--json"]).exits(0));
    assert_eq!(theirs["file"]["tool"], "MultipathLatencyAnalyzer");
    let theirs = &theirs["measurements"][0]["summary"]["multipath"];
    for (place, count) in [("sent", ours.sent), ("received", ours.received), ("lost", ours.lost)] {
        assert_eq!(theirs[place], count, "{place}");
    }
    let shown = run(&["show", file]).exits(0);
    assert!(shown.stdout.contains("effective"), "{}", shown.said());
}

#[test]
fn a_report_has_a_file_of_lagscope_beside_a_result_of_ours() {
    let folder = TempDir::new().expect("a folder");
    let theirs = folder.path().join("theirs.csv");
    fs::write(&theirs, latencies()).expect("a folder of ours");
    let ours = format!("{}/tests/fixtures/2/latency-tcp.json", env!("CARGO_MANIFEST_DIR"));
    let words = ["report", theirs.to_str().expect("plain"), &ours, "--format", "md"];
    let report = run(&words).exits(0);
    assert!(report.stdout.contains("latency, side by side"), "{}", report.said());
    let row = report.stdout.lines().find(|line| line.starts_with("| RTT maximum"));
    assert!(row.is_some_and(|row| row.contains("20 µs") || row.contains("20.00 µs")), "{row:?}");
}

#[test]
fn what_is_damaged_is_refused_with_its_place_and_nothing_is_shown() {
    let table = frequencies();
    let rows = latencies();
    for (text, words) in [
        (&table[..table.len() / 2], &["not a whole file of lagscope", "EOF", "line"][..]),
        (&rows[..rows.len() - 1], &["not a whole file of lagscope: line 21", "cut off"]),
        ("Index, Latency(us)\n0, =cmd|' /C calc'!A0\n", &["line 2", "=cmd", "no latency"]),
        ("Index, Latency(us)\n0, \u{1b}[31m5\n", &["line 2", "no latency"]),
        (r#"{"schema":{"name":"\u001b[31m\u0007","version":1}}"#, &["its schema is", "u{1b}"]),
    ] {
        let shown = show(text, &[]).exits(2).complains(words);
        assert_eq!(shown.stdout, "");
        assert!(!shown.stderr.contains('\u{1b}'), "{}", shown.said());
    }
}

#[test]
fn standard_input_is_read_as_a_file_is() {
    use std::io::Write as _;
    use std::process::Stdio;
    let mut command = pathscope(&["show", "-"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut shown = command.spawn().expect("the binary");
    let mut input = shown.stdin.take().expect("a pipe");
    input.write_all(latencies().as_bytes()).expect("it reads all");
    drop(input);
    let output = shown.wait_with_output().expect("it ends");
    assert!(output.status.success());
    assert!(String::from_utf8_lossy(&output.stdout).contains("RTT minimum"));
}
