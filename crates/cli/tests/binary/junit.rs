//! Checks as test cases for CI systems, and labels at both ends.

use std::fs;

use quick_junit::{Report, TestCaseStatus};
use tempfile::TempDir;

use crate::common::{Server, run};

/// Each case with its suite, and the message where it is no success.
fn cases(path: &std::path::Path) -> Vec<(String, String, Option<String>)> {
    let text = fs::read_to_string(path).expect("it was written");
    let report =
        Report::deserialize_from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let mut cases = Vec::new();
    for suite in &report.test_suites {
        for case in &suite.test_cases {
            let message = match &case.status {
                TestCaseStatus::NonSuccess { message, .. } => {
                    Some(message.as_ref().map_or_else(String::new, |it| it.as_str().to_owned()))
                }
                _ => None,
            };
            cases.push((suite.name.as_str().to_owned(), case.name.as_str().to_owned(), message));
        }
    }
    cases
}

#[test]
fn every_check_is_a_case_and_what_failed_says_why() {
    let server = Server::start();
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("junit.xml");
    let name = file.to_str().expect("plain");
    let words = [
        "latency",
        &server.host(),
        "--iterations",
        "20",
        "--repeat",
        "2",
        "--junit",
        name,
        "--assert",
        "latency.lost=0",
        "--assert",
        "latency.rtt.min<1ns",
    ];
    run(&words).exits(5);
    let cases = cases(&file);
    let of = |name: &str| {
        cases
            .iter()
            .filter(|(_, case, _)| case == name)
            .map(|(suite, _, message)| (suite.as_str(), message.is_none()))
            .collect::<Vec<_>>()
    };
    let runs = ["latency, run 1 of 2", "latency, run 2 of 2"];
    assert_eq!(of("latency.lost=0"), runs.map(|run| (run, true)));
    assert_eq!(of("latency.rtt.min<1ns"), runs.map(|run| (run, false)));
    assert_eq!(of("came to its planned end"), [("run", true)]);
    let failed = cases.iter().find_map(|(.., message)| message.clone()).expect("one failed");
    assert!(failed.starts_with("latency.rtt.min<1ns: it is "), "{failed}");
}

#[test]
fn a_run_that_never_began_is_an_error_and_no_empty_success() {
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("junit.xml");
    let name = file.to_str().expect("plain");
    run(&["latency", "127.0.0.1:1", "--iterations", "20", "--junit", name]).exits(3);
    let cases = cases(&file);
    assert_eq!(cases.len(), 1);
    assert_eq!((cases[0].1.as_str(), cases[0].2.is_some()), ("came to its planned end", true));
    // A place that cannot be written is told before anything is measured.
    let nowhere = ["latency", "127.0.0.1:1", "--junit", "/no/such/folder/junit.xml"];
    run(&nowhere).exits(2).complains(&["--junit", "/no/such/folder"]);
    let twice = ["latency", "127.0.0.1:1", "--junit", name, "-o", name];
    run(&twice).exits(2).complains(&["--junit"]);
}

#[test]
fn conditions_of_a_comparison_are_cases() {
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("junit.xml");
    let name = file.to_str().expect("plain");
    let [before, after] = ["1", "2"].map(|version| {
        format!("{}/tests/fixtures/{version}/latency-tcp.json", env!("CARGO_MANIFEST_DIR"))
    });
    let words = ["compare", &before, &after, "--junit", name, "--fail-on", "latency.rtt.p50 +5%"];
    run(&words).exits(5);
    let cases = cases(&file);
    assert_eq!(cases.len(), 1);
    assert_eq!(cases[0].1, "latency.rtt.p50 +5%");
    assert!(
        cases[0].2.as_ref().is_some_and(|it| it.contains("no difference can be told")),
        "{cases:?}"
    );
    // Without a condition there is no case, and a CI system would show a success.
    let without = ["compare", &before, &after, "--junit", name];
    run(&without).exits(2).complains(&["--fail-on"]);
}

#[test]
fn both_ends_keep_what_they_are_called() {
    let server = Server::start_with(&["--label", "rack=7", "--label", "build=<b>"]);
    let host = server.host();
    let words = ["latency", &host, "--iterations", "20", "--label", "note=a b", "--json"];
    let document = run(&words).exits(0).document();
    let client = document.hosts.client.labels.iter().map(|(name, value)| format!("{name}={value}"));
    assert_eq!(client.collect::<Vec<_>>(), ["note=a b"]);
    let there = document.hosts.server.expect("it was there").labels;
    let there: Vec<String> = there.iter().map(|(name, value)| format!("{name}={value}")).collect();
    assert_eq!(there, ["build=<b>", "rack=7"]);
    let text = run(&["latency", &host, "--iterations", "20", "--label", "note=a b"]).exits(0);
    assert!(text.stdout.contains("build=<b>, rack=7\n"), "{}", text.said());
    for words in [["--label", "a b=1"], ["--label", "none"]] {
        run(&[&["latency", host.as_str()], &words[..]].concat())
            .exits(2)
            .complains(&["is no label"]);
    }
    let twice = ["latency", &host, "--label", "a=1", "--label", "a=2"];
    run(&twice).exits(2).complains(&["a is given twice"]);
}
