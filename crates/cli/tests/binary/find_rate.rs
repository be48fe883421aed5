//! `goodput --find-rate` through the binary, on loopback.

use pathscope_core::record::Limit;
use pathscope_modes::document::{Document, OutcomeState};
use pathscope_modes::search::{RateSearch, SearchEnd, TrialVerdict};

use crate::common::{Ran, Running, Server, document_in, pathscope, run};

const WORDS: [&str; 4] = ["--protocol", "udp", "--find-rate", "--no-probe"];

fn find(server: &Server, words: &str) -> Ran {
    let host = server.host();
    let words: Vec<&str> = words.split_whitespace().collect();
    run(&[&["goodput", &host], &WORDS[..], &words].concat())
}

/// The search of a document, in which every trial is a measurement whose counts it tells.
fn search<'document>(document: &'document Document, ran: &Ran) -> &'document RateSearch {
    let search = document.rate_search.as_ref().unwrap_or_else(|| panic!("{}", ran.said()));
    assert_eq!(search.trials.len(), document.measurements.len(), "{}", ran.said());
    for (trial, measurement) in search.trials.iter().zip(&document.measurements) {
        let summary = measurement.summary.datagrams.as_ref().expect("of datagrams");
        let (_, way) = summary.directions().next().expect("one direction");
        assert_eq!(Some(trial.sent), way.sent, "{}", ran.said());
        assert_eq!((trial.received, trial.lost), (way.received, way.lost), "{}", ran.said());
        let passed = way.received == way.sent;
        assert_eq!(trial.has_passed(), passed, "{}", ran.said());
        assert!(measurement.name.starts_with(&format!("trial {}, ", trial.number)));
    }
    search
}

#[test]
fn a_low_ceiling_is_found_in_either_direction_unless_this_machine_lost_something() {
    let server = Server::start();
    for pattern in ["push", "pull"] {
        let words = format!("--pattern {pattern} --rate 5Mbit -t 1s -c 2 --json");
        let ran = find(&server, &words).exits(0);
        let document = ran.document();
        let search = search(&document, &ran);
        assert_eq!((search.pattern.name(), search.ceiling_bps), (pattern, Some(10_000_000)));
        assert!(search.trials.iter().all(|trial| trial.asked_bps <= Some(10_000_000)));
        let is_undisturbed =
            search.trials.iter().all(|trial| trial.verdict == TrialVerdict::Passed);
        if is_undisturbed {
            assert_eq!(search.ended, SearchEnd::Found, "{}", ran.said());
            assert_eq!(search.limit, Some(Limit::ConfiguredRate), "{}", ran.said());
            let found = search.found.expect("found");
            assert!((9_900_000..=10_000_000).contains(&found.rate_bps), "{}", ran.said());
            assert_eq!((search.trials.len(), found.confirmations, found.trial), (2, 1, 2));
            assert_eq!(found.datagrams, 894, "{}", ran.said());
        } else if let Some(found) = search.found {
            assert!(found.rate_bps <= 10_000_000, "{}", ran.said());
        }
    }
}

#[test]
fn as_fast_as_it_goes_something_is_found_or_said_and_shown_again() {
    let server = Server::start();
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("run.json");
    let ran = find(&server, &format!("-t 500ms -o {}", file.to_str().expect("plain"))).exits(0);
    let document = document_in(&file);
    let search = search(&document, &ran);
    assert_eq!(search.trials[0].asked_bps, None);
    assert_ne!(search.ended, SearchEnd::Unfinished, "{}", ran.said());
    let shown = run(&["show", file.to_str().expect("plain")]).exits(0);
    // A row for each trial while it goes on, and none for its intervals.
    let live = ran.stdout.lines().take_while(|line| !line.contains("rate found"));
    let rows = live.filter(|line| line.contains("passed") || line.contains("lost in a socket"));
    assert!(rows.count() > 0 && !ran.stdout.contains("missing"), "{}", ran.said());
    for line in ["rate found", "  trials"] {
        let of = |said: &str| said.lines().find(|it| it.contains(line)).map(str::to_owned);
        assert!(of(&ran.stdout).is_some(), "'{line}' is missing: {}", ran.said());
        assert_eq!(of(&ran.stdout), of(&shown.stdout));
    }
}

#[test]
fn a_search_that_is_interrupted_keeps_the_trials_that_were_judged() {
    let server = Server::start();
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("run.json");
    let host = server.host();
    let words = [&["goodput", &host], &WORDS[..], &["--rate", "2Mbit", "-t", "60s"]].concat();
    let more = ["--json-stream", "-o", file.to_str().expect("plain")];
    let mut client = Running::start(pathscope(&[&words[..], &more].concat()));
    // The first trial lasts 12 s; the second, of a minute, is cut.
    client.await_stdout("\"event\":\"trial\"");
    client.signal("INT");
    let ran = client.finish().exits(130);
    let document = document_in(&file);
    assert_eq!(document.outcome.state, OutcomeState::Interrupted);
    let search = document.rate_search.as_ref().unwrap_or_else(|| panic!("{}", ran.said()));
    assert_eq!((search.ended, search.trials.len()), (SearchEnd::Unfinished, 1), "{}", ran.said());
    if search.trials[0].has_passed() {
        let found = search.found.expect("it passed");
        assert_eq!((found.trial, found.confirmations), (1, 0), "{}", ran.said());
    }
}

#[test]
fn what_cannot_be_searched_is_refused_with_the_reason() {
    let server = Server::start();
    for (words, said) in [
        ("--pattern duplex", "choose push or pull"),
        ("-n 1MiB", "--find-rate and --transfer exclude each other"),
        ("--iterations 3", "--iterations and --protocol udp exclude each other"),
        ("--rate 50kbit", "out of range"),
    ] {
        find(&server, words).exits(2).complains(&[said]);
    }
    let words = ["goodput", &server.host(), "--find-rate"];
    run(&words).exits(2).complains(&["--find-rate", "give --protocol udp with it"]);
    let ran = find(&server, "--rate 5Mbit --dry-run").exits(0);
    assert!(ran.stdout.contains("trial 1, 5.000 Mbit/s: 1 UDP flow"), "{}", ran.said());
    assert!(ran.stdout.contains("at most 25 trials of 2 s to 10 s"), "{}", ran.said());
}
