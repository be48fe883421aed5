//! What a user asserts of a result: told as checks are, in every output, and by the exit code.

use pathscope_core::record::Check;
use pathscope_modes::document::Document;

use crate::common::{Server, run};

/// Of each measurement, what was asserted of it.
fn asserted(document: &Document) -> Vec<Vec<&Check>> {
    let measurements = document.measurements.iter();
    measurements
        .map(|it| it.checks.iter().filter(|check| check.name == "asserted").collect())
        .collect()
}

#[test]
fn what_holds_is_told_and_the_run_is_a_success() {
    let server = Server::start();
    let words = [
        "latency",
        &server.host(),
        "--iterations",
        "50",
        "--json", //
        "--assert",
        "latency.rtt.mean<1h",
        "--assert",
        "latency.lost=0",
    ];
    let document = run(&words).exits(0).document();
    let all = asserted(&document);
    let [checks] = &all[..] else { panic!("{all:?}") };
    let [mean, lost] = &checks[..] else { panic!("{checks:?}") };
    assert!(mean.has_held() && mean.text.starts_with("latency.rtt.mean<1h: it is "), "{mean:?}");
    assert_eq!((lost.has_held(), &*lost.text), (true, "latency.lost=0: it is 0"));
}

#[test]
fn what_does_not_hold_is_a_failed_check_in_every_output() {
    let server = Server::start();
    let words =
        ["latency", &server.host(), "--iterations", "50", "--assert", "latency.rtt.min<1ns"];
    let ran = run(&words).exits(5).complains(&["latency.rtt.min<1ns: it is "]);
    assert!(ran.stdout.contains("✗ FAILED"), "{}", ran.said());
    let ran = run(&[&words[..], &["--json"]].concat()).exits(5);
    let document = ran.document();
    assert!(asserted(&document)[0][0].has_failed());
}

#[test]
fn a_figure_that_a_result_does_not_have_does_not_hold() {
    let server = Server::start();
    let words = [
        "goodput",
        &server.host(),
        "--transfer",
        "1MiB",
        "--no-probe",
        "--assert",
        "loaded.rtt.p99<1s",
    ];
    run(&words).exits(5).complains(&["loaded.rtt.p99<1s: this result has no such figure"]);
}

#[test]
fn of_several_measurements_each_that_has_the_figure_is_judged() {
    let words = [
        "survey",
        "-t",
        "300ms",
        "-c",
        "1",
        "--json", //
        "--assert",
        "goodput.rate.up>1kbit",
        "--assert",
        "latency.lost<1000000",
    ];
    let ran = run(&words);
    let document = ran.document();
    let all = asserted(&document);
    let names = |checks: &Vec<&Check>| -> Vec<String> {
        let figure = |check: &&Check| check.text.split(['<', '>']).next().map(str::to_owned);
        checks.iter().filter_map(figure).collect()
    };
    let told: Vec<Vec<String>> = all.iter().map(names).collect();
    let [idle, up, down, both] = &told[..] else { panic!("{told:?}") };
    assert_eq!(idle, &["latency.lost"]);
    assert_eq!(up, &["goodput.rate.up"]);
    assert!(down.is_empty(), "{down:?}");
    assert_eq!(both, &["goodput.rate.up"]);
}

#[test]
fn what_is_no_assertion_is_refused_before_anything_is_measured() {
    for (typed, why) in [
        ("latency.rtt.p99", "compares nothing"),
        ("latency.speed>1", "latency has "),
        ("latency.rtt.p99<20", "'20' is no value of latency.rtt.p99"),
    ] {
        run(&["latency", "127.0.0.1", "--assert", typed]).exits(2).complains(&[why]);
    }
}
