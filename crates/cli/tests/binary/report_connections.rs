//! What a report tells of connections: a bar for what each got, a mark for how long each took, failures over time; and the
//! command line that has it measured again.

use std::path::{Path, PathBuf};
use std::process::Command;

use pathscope_modes::document::{Document, Measurement};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::common::{Server, document_in, run};
use crate::report::{report, seen};

/// A result of these words, and what a browser sees of its page, where there is one.
fn measured(folder: &TempDir, words: &[&str], code: i32) -> (Document, PathBuf, Option<Value>) {
    let file = folder.path().join("result.json");
    let name = file.to_str().expect("plain");
    run(&[words, &["-o", name, "--format", "md"]].concat()).exits(code);
    let (ran, page) = report(folder, &[name]);
    ran.exits(0);
    let seen = seen(&page, folder);
    (document_in(&file), page, seen)
}

fn only(document: &Document) -> &Measurement {
    assert_eq!(document.measurements.len(), 1);
    &document.measurements[0]
}

fn chart<'seen>(seen: &'seen Value, end_of_title: &str) -> &'seen Value {
    assert_eq!((&seen["state"], &seen["errors"]), (&json!("drawn"), &json!([])));
    let ends =
        |it: &&Value| it["title"].as_str().is_some_and(|title| title.ends_with(end_of_title));
    let mut charts = seen["charts"].as_array().into_iter().flatten();
    charts.find(ends).unwrap_or_else(|| panic!("no {end_of_title} in {seen}"))
}

fn numbers(list: &Value) -> Vec<f64> {
    list.as_array().into_iter().flatten().filter_map(Value::as_f64).collect()
}

#[test]
fn each_connection_has_a_bar_of_what_it_got() {
    let server = Server::start();
    let folder = TempDir::new().expect("a folder");
    let words = ["goodput", &server.host(), "-c", "5", "-t", "1s", "--rate", "20Mbit"];
    let (document, page, seen) = measured(&folder, &words, 0);
    let receiver = only(&document).server.as_ref().and_then(|end| end.goodput.as_ref());
    let flows = receiver.map(|receiver| &receiver.flows[..]).unwrap_or_default();
    let mut rates: Vec<f64> = flows.iter().filter_map(|flow| flow.received_bps).collect();
    rates.sort_by(|one, other| other.total_cmp(one));
    assert_eq!(rates.len(), 5);
    let Some(seen) = seen else {
        return println!("partly skipped, because there is no chromium to open the page in");
    };
    let bars = chart(&seen, "goodput up of each connection");
    assert_eq!(numbers(&bars["series"][0]["data"]), rates);
    assert_eq!(numbers(&bars["series"][1]["data"]), [0.0; 5]);
    assert!(bars["tip"].as_str().is_some_and(|tip| tip.contains("flow ")), "{bars}");
    let page = std::fs::read_to_string(page).expect("it was written");
    assert!(page.contains("Jain&#39;s index") || page.contains("Jain's index"));
    assert!(page.contains("fair share"));
}

#[test]
fn each_short_connection_has_its_begin_and_its_time_and_failures_have_their_kind() {
    // The server serves so many, and refuses the rest.
    let server = Server::start_with(&["--exit-after", "300"]);
    let folder = TempDir::new().expect("a folder");
    let words = ["goodput", &server.host(), "-c", "4", "--iterations", "100", "--transfer", "64"];
    let (document, _, seen) = measured(&folder, &words, 5);
    let measurement = only(&document);
    let client = measurement.client.goodput.as_ref().expect("of this mode");
    let times = &client.times;
    assert_eq!((times.ended, times.failed, times.told.len()), (300, 100, 400));
    assert!(times.told.iter().all(|time| time.took_ns > 0));
    assert!(times.told.is_sorted_by_key(|time| time.began_ns));
    let by_interval = measurement.intervals.iter().filter_map(|it| it.client.as_ref()?.ended);
    let failed: Vec<_> =
        by_interval.map(|it| (it.failed, it.network + it.data + it.protocol)).collect();
    assert!(failed.iter().all(|(all, by_kinds)| all == by_kinds), "{failed:?}");
    assert_eq!(failed.iter().map(|it| it.0).sum::<u64>(), 100);

    let Some(seen) = seen else {
        return println!("partly skipped, because there is no chromium to open the page in");
    };
    let scatter = chart(&seen, "how long each took");
    let start_ns = measurement.start_ns;
    let wanted = |has_failed: bool| {
        let those = times.told.iter().filter(|time| time.failed.is_some() == has_failed);
        those
            .map(|time| ((start_ns + time.began_ns) as f64 / 1e9, time.took_ns as f64))
            .collect::<Vec<_>>()
    };
    let drawn = |kind: usize| {
        let points = scatter["series"][kind]["data"].as_array().into_iter().flatten();
        points
            .filter_map(|point| Some((point[0].as_f64()?, point[1].as_f64()?)))
            .collect::<Vec<_>>()
    };
    assert_eq!(scatter["series"][0]["name"], "completed");
    assert!(drawn(0) == wanted(false), "{} are drawn", drawn(0).len());
    assert!(drawn(1) == wanted(true), "{} are drawn", drawn(1).len());
    let over_time = chart(&seen, "over time");
    let mut series = over_time["series"].as_array().into_iter().flatten();
    let drawn = series.find(|it| it["name"] == "failed: network").expect("a kind");
    let points = drawn["data"].as_array().into_iter().flatten();
    assert_eq!(points.filter_map(|it| it[1].as_u64()).sum::<u64>(), 100);
}

#[test]
fn the_command_line_is_told_so_that_a_shell_makes_the_same_words_of_it() {
    let server = Server::start();
    let folder = TempDir::new().expect("a folder");
    let host = server.host();
    let words = ["goodput", &host, "-t", "500ms", "--label", "note=it's $HOME > `x`"];
    let (document, ..) = measured(&folder, &words, 0);
    assert!(document.command.iter().any(|word| word == words[5]), "{:?}", document.command);
    assert_told(&folder, &document.command);
    // A stranger's file says whatever it likes.
    let mut hostile = document;
    hostile.command.push("</code><script>\u{1b}[2J\n\u{202e}'\\$(reboot)".to_owned());
    let text = serde_json::to_string(&hostile).expect("a document");
    std::fs::write(folder.path().join("result.json"), text).expect("a folder of ours");
    assert_told(&folder, &hostile.command);
}

/// Text, Markdown and a page of the result in the folder tell this command line as one line that nobody obeys, and a shell makes the
/// same words of it.
fn assert_told(folder: &TempDir, command: &[String]) {
    let file = folder.path().join("result.json");
    let file = file.to_str().expect("plain");
    let (_, page) = report(folder, &[file]);
    let page = std::fs::read_to_string(page).expect("it was written");
    let (_, rest) = page.split_once("<pre class=\"command\"><code>").expect("a command");
    let in_page = rest.split_once("</code>").expect("it ends").0;
    assert!(!in_page.contains('<'), "{in_page}");
    let in_page = in_page.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    let text = run(&["show", "-v", file]).exits(0).stdout.clone();
    let markdown = run(&["show", "--format", "md", file]).exits(0).stdout.clone();
    let markdown = markdown.trim_end().trim_end_matches("\n```");
    let last = |text: &str| text.trim_end().lines().last().expect("a line").trim().to_owned();
    for line in [in_page, last(&text), last(markdown)] {
        assert!(!line.contains(['\u{1b}', '\u{202e}']), "{line:?}");
        if let Some(words) = by_shell(&line) {
            assert_eq!(words, command, "{line}");
        }
    }
}

/// The words that a shell makes of a line, where there is one that knows dollar-quotes.
fn by_shell(line: &str) -> Option<Vec<String>> {
    let script = format!("printf '%s\\0' {line}");
    let shell = ["/bin/bash", "/usr/bin/bash"].into_iter().find(|it| Path::new(it).is_file());
    let said = Command::new(shell?).args(["-c", &script]).output().expect("it is there");
    let text = String::from_utf8(said.stdout).expect("text");
    Some(text.split_terminator('\0').map(str::to_owned).collect())
}
