//! Killed at any moment: what is left says that the run was cut off, and where.

use std::fs;
use std::path::{Path, PathBuf};

use pathscope_modes::document::{Document, OutcomeState};

use crate::common::{Running, Server, document_in, pathscope, run};

/// A run that is killed when its stream of JSON says this: what it left in its file, and what it had said.
fn killed(words: &[&str], folder: &Path, said: &str) -> (PathBuf, Document, String) {
    let file = folder.join("run.json");
    let more = ["--json-stream", "--report-every", "100ms", "-o", file.to_str().expect("plain")];
    let mut running = Running::start(pathscope(&[words, &more].concat()));
    running.await_stdout(said);
    running.signal("KILL");
    let ran = running.finish();
    let document = document_in(&file);
    assert_eq!(document.outcome.state, OutcomeState::CutOff, "{}", ran.said());
    (file, document, ran.stdout)
}

/// What is shown of a file says so, in text and as a stream of JSON.
fn is_shown(file: &Path, reason: &str) {
    let file = file.to_str().expect("plain");
    let shown = run(&["show", file]).exits(0);
    // However it is broken into lines.
    let text = shown.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains(&format!("ended early: {reason}")), "{}", shown.said());
    assert!(!text.contains("lost the peer"), "{}", shown.said());
    let shown = run(&["show", file, "--json-stream"]).exits(0);
    assert!(shown.stdout.contains("\"state\":\"cut_off\""), "{}", shown.said());
}

#[test]
fn between_the_iterations_of_media() {
    let server = Server::start();
    let folder = tempfile::tempdir().expect("a folder");
    let host = server.host();
    let words = ["media", &host, "--rate", "1Mbit", "-t", "500ms", "--iterations", "3"];
    // The file is written anew a second into an iteration, if at all.
    let second = "\"measurement\":\"media 2 of 3\"";
    let (file, document, _) = killed(&words, folder.path(), second);
    assert_eq!(document.measurements.len(), 1);
    assert_eq!(document.outcome.measurement, None);
    is_shown(&file, "cut off after 'media 1 of 3': the program was killed");
}

#[test]
fn between_the_steps_of_a_survey() {
    let folder = tempfile::tempdir().expect("a folder");
    let words = ["survey", "-t", "600ms", "-c", "1"];
    let third = "\"measurement\":\"goodput down\"";
    let (file, document, _) = killed(&words, folder.path(), third);
    let names: Vec<_> = document.measurements.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["latency idle", "goodput up"]);
    is_shown(&file, "cut off after 'goodput up': ");
}

#[test]
fn in_the_middle_of_a_measurement() {
    let server = Server::start();
    let folder = tempfile::tempdir().expect("a folder");
    let words = ["goodput", &server.host(), "-t", "60s", "-c", "1", "--rate", "10Mbit"];
    // Two seconds and more: the file was written at least once.
    let (file, document, said) = killed(&words, folder.path(), "\"index\":20,");
    let [measurement] = &document.measurements[..] else { panic!("one is under way") };
    assert!(!measurement.intervals.is_empty());
    assert_eq!(document.outcome.measurement.as_deref(), Some("goodput"));
    assert!(document.duration_ns >= 1_000_000_000, "{}", document.duration_ns);
    let caveats: Vec<_> = measurement.caveats.iter().map(|caveat| caveat.name.as_str()).collect();
    assert_eq!(caveats, ["unfinished"], "no report is missing before the end");
    is_shown(&file, "cut off in 'goodput', saved last ");
    // A stream without its last line was cut off, too, and its first says no other.
    let lines: Vec<&str> = said.lines().collect();
    assert!(lines[0].contains("\"state\":\"cut_off\""), "{}", lines[0]);
    assert!(lines.iter().all(|line| !line.contains("\"event\":\"finished\"")));
}

#[test]
fn between_the_trials_of_a_search() {
    let server = Server::start();
    let folder = tempfile::tempdir().expect("a folder");
    let host = server.host();
    let words = ["goodput", &host, "--protocol", "udp", "--find-rate", "--rate", "5Mbit"];
    let words = [&words[..], &["-t", "10s", "--no-probe"]].concat();
    // The file is written right after the first trial is told, and its confirmation takes 10 s.
    let confirming = "\"measurement\":\"trial 2";
    let (file, document, _) = killed(&words, folder.path(), confirming);
    let search = document.rate_search.as_ref().expect("a search");
    assert_eq!(search.trials.len(), 1);
    is_shown(&file, "cut off ");
}

#[test]
fn a_run_that_ends_is_complete_and_leaves_nothing_beside_its_file() {
    let server = Server::start();
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("run.json");
    let words = ["latency", &server.host(), "-t", "2500ms", "-o", file.to_str().expect("plain")];
    for _ in 0..2 {
        run(&words).exits(0);
        assert_eq!(document_in(&file).outcome.state, OutcomeState::Complete);
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
    }
}

#[test]
fn a_result_that_was_there_stays_until_the_new_one_is_whole() {
    let server = Server::start();
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("run.json");
    let name = file.to_str().expect("plain");
    run(&["latency", &server.host(), "-n", "50", "-o", name]).exits(0);
    let before = fs::read_to_string(&file).expect("a result");
    let words =
        ["latency", &server.host(), "-t", "60s", "--report-every", "100ms", "--json-stream"];
    let mut running = Running::start(pathscope(&[&words[..], &["-o", name]].concat()));
    running.await_stdout("\"index\":20,");
    let partial = folder.path().join(format!("run.json.{}.partial", running.id()));
    running.signal("KILL");
    running.finish();
    assert_eq!(fs::read_to_string(&file).expect("a result"), before);
    assert_eq!(document_in(&partial).outcome.measurement.as_deref(), Some("latency"));
}
