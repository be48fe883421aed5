//! Comparisons of runs whose difference is known: made of one stored result, whose numbers, times, settings or machines are changed.
//!
//! In one file: all of them are made by the same few functions.

use std::fs;
use std::path::{Path, PathBuf};

use pathscope_core::record::Check;
use pathscope_core::stats::Order;
use pathscope_modes::compared::{ComparedFigure, ComparisonDocument, Outcome, Tier};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::common::{Ran, run};

/// What a run is made like before it is stored.
type Change<'change> = &'change dyn Fn(&mut Value, usize);

fn fixture(version: u32, name: &str) -> Value {
    let path = format!("{}/tests/fixtures/{version}/{name}.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&fs::read_to_string(path).expect("a fixture")).expect("a document")
}

/// Runs that differ by a few per mille from one another, as runs do, each begun in its minute.
fn runs(
    folder: &Path,
    name: &str,
    from: &Value,
    minutes: &[u32],
    factor: f64,
    change: Change<'_>,
) -> Vec<PathBuf> {
    let run = |(number, minute): (usize, &u32)| {
        let mut document = from.clone();
        document["started_at"] = json!(format!("2026-01-01T00:{minute:02}:00.000Z"));
        // Not in the order of time, and not the same on both sides.
        let own = [0.998, 1.003, 1.0, 1.004, 0.997, 1.001, 0.999, 1.002][number % 8];
        let factor = factor * (own + f64::from(*minute) * 1e-6);
        for measurement in document["measurements"].as_array_mut().expect("measurements") {
            scale(&mut measurement["summary"], factor);
        }
        change(&mut document, number);
        let path = folder.join(format!("{name}{number}.json"));
        fs::write(&path, document.to_string()).expect("a folder of ours");
        path
    };
    minutes.iter().enumerate().map(run).collect()
}

/// Every time and rate of it, as many times as much; what is counted stays.
fn scale(value: &mut Value, factor: f64) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                match field.as_u64() {
                    Some(number) if name.ends_with("_ns") => {
                        *field = json!((number as f64 * factor).round() as u64);
                    }
                    None if name.ends_with("_ns") || name.ends_with("_bps") => {
                        if let Some(number) = field.as_f64() {
                            *field = json!(number * factor);
                        }
                    }
                    _ => {}
                }
                scale(field, factor);
            }
        }
        Value::Array(all) => all.iter_mut().for_each(|it| scale(it, factor)),
        _ => {}
    }
}

fn same(_: &mut Value, _: usize) {}

fn compare(before: &[PathBuf], after: &[PathBuf], more: &[&str]) -> Ran {
    let text = |path: &PathBuf| path.to_str().expect("plain").to_owned();
    let mut words = vec!["compare".to_owned(), "--before".to_owned()];
    words.extend(before.iter().map(text));
    words.push("--after".to_owned());
    words.extend(after.iter().map(text));
    words.extend(more.iter().map(|word| (*word).to_owned()));
    run(&words.iter().map(String::as_str).collect::<Vec<_>>())
}

fn document(ran: &Ran) -> ComparisonDocument {
    ComparisonDocument::from_json(&ran.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", ran.said()))
}

fn figure<'document>(
    document: &'document ComparisonDocument,
    id: &str,
) -> &'document ComparedFigure {
    let mut figures = document.measurements.iter().flat_map(|it| &it.figures);
    figures.find(|it| it.figure == id).unwrap_or_else(|| panic!("no {id}"))
}

fn caveats(document: &ComparisonDocument) -> Vec<&str> {
    document.caveats.iter().map(|caveat| caveat.name.as_str()).collect()
}

/// Turns of two sides: minutes of the first, and of the second.
fn turns(runs: u32) -> [Vec<u32>; 2] {
    let of = |first: u32| (0..runs).map(|run| 2 * run + first).collect();
    [of(0), of(1)]
}

/// Whichever way a figure moves, by how much, in which mode: what is told is what was done.
#[test]
fn what_was_changed_is_what_is_told() {
    for (name, id, better_is_more) in [
        ("latency-tcp", "latency.rtt.p50", false),
        ("latency-udp-open", "latency.rtt.p50", false),
        ("goodput-pull", "goodput.rate.down", true),
        ("goodput-push", "goodput.rate.up", true),
        ("goodput-udp", "datagrams.rate.up", true),
        ("media-down", "media.needed_depth.down", false),
        ("multipath", "multipath.effective.p50", false),
    ] {
        let from = fixture(2, name);
        for factor in [0.5, 0.9, 1.0, 1.1, 3.0] {
            let folder = TempDir::new().expect("a folder");
            let [early, late] = turns(6);
            let before = runs(folder.path(), "before", &from, &early, 1.0, &same);
            let after = runs(folder.path(), "after", &from, &late, factor, &same);
            let ran = compare(&before, &after, &["--json"]).exits(0);
            let document = document(&ran);
            let place = format!("{name} × {factor}");
            let found = figure(&document, id);
            let is_better = (factor > 1.0) == better_is_more;
            let expected = match (factor, is_better) {
                (1.0, _) => Outcome::NotShown,
                (_, true) => Outcome::Better,
                (_, false) => Outcome::Worse,
            };
            assert_eq!((found.outcome, found.tier), (expected, Tier::Primary), "{place}");
            let relative = found.relative().expect("not zero");
            assert!((relative - (factor - 1.0)).abs() < 0.01, "{place}: {relative}");
            let interval = found.difference.low.zip(found.difference.high);
            let (low, high) = interval.expect("enough runs");
            let truth = found.before_median * (factor - 1.0);
            assert!(low <= found.difference.shift && found.difference.shift <= high, "{place}");
            assert!(
                (low - truth).abs() < 0.02 * found.before_median,
                "{place}: {low}, not {truth}"
            );
            assert_eq!(document.measurements[0].order, Order::Turns, "{place}");
            // Everything that is told of as other than before is so, and where nothing was changed nothing is.
            let moved = document.measurements.iter().flat_map(|it| &it.figures);
            let moved = moved.filter(|it| it.outcome != Outcome::NotShown);
            for it in moved {
                assert!((factor > 1.0) == (it.difference.shift > 0.0), "{place}: {}", it.figure);
                assert!((factor - 1.0).abs() > 1e-9, "{place}: {} is told", it.figure);
            }
            assert_eq!(caveats(&document), [""; 0], "{place}");
        }
    }
}

#[test]
fn of_few_runs_nothing_is_told() {
    let folder = TempDir::new().expect("a folder");
    let from = fixture(2, "latency-tcp");
    for number in [1_usize, 3] {
        let [early, late] = turns(number as u32);
        let before = runs(folder.path(), "before", &from, &early, 1.0, &same);
        let after = runs(folder.path(), "after", &from, &late, 9.0, &same);
        let ran = compare(&before, &after, &["--json"]).exits(0);
        let document = document(&ran);
        assert!(
            document.measurements[0].figures.iter().all(|it| it.outcome == Outcome::TooFewRuns)
        );
        assert_eq!(caveats(&document), ["too_few_runs"]);
        let condition = ["--fail-on", "latency.rtt.p50 +5%"];
        let ran =
            compare(&before, &after, &condition).exits(5).complains(&["no difference can be told"]);
        assert!(ran.stdout.contains("nothing can be told of so few runs"), "{}", ran.said());
    }
    let [a, b] = ["before0.json", "after0.json"].map(|name| folder.path().join(name));
    let pair = [a.to_str().expect("plain"), b.to_str().expect("plain")];
    run(&["compare", pair[0], pair[1]]).exits(0);
}

#[test]
fn a_condition_fails_where_the_runs_show_it_and_only_there() {
    let folder = TempDir::new().expect("a folder");
    let from = fixture(2, "goodput-push");
    let [early, late] = turns(6);
    let before = runs(folder.path(), "before", &from, &early, 1.0, &same);
    let slower = runs(folder.path(), "slower", &from, &late, 0.9, &same);
    let alike = runs(folder.path(), "alike", &from, &late, 1.0, &same);
    let wild = runs(folder.path(), "wild", &from, &late, 1.0, &|document, number| {
        let factor = if number % 2 == 0 { 0.2 } else { 1.5 };
        scale(&mut document["measurements"][0]["summary"], factor);
    });
    for (after, condition, code) in [
        (&slower, "goodput.rate.up -5%", 5),
        (&slower, "goodput.rate.up ±5%", 5),
        (&slower, "goodput.rate.up -20%", 0),
        (&slower, "goodput.rate.up +5%", 0),
        (&slower, "goodput.rate.up -1Mbit", 5),
        (&slower, "goodput.rate.up -1Gbit", 0),
        (&alike, "goodput.rate.up -5%", 0),
        // Far down and up by turns: an estimate beyond the threshold, and nothing that is shown.
        (&wild, "goodput.rate.up -5%", 0),
        // What not both sides have is not known to have stayed.
        (&alike, "goodput.rate.down -5%", 5),
        (&alike, "latency.rtt.p99 +5%", 5),
        (&alike, "goodput.rate.up -5%oops", 2),
        (&alike, "speed -5%", 2),
        // What would hold whatever is measured.
        (&alike, "goodput.rate.up -500%", 2),
        (&alike, "goodput.rate.up -100%", 2),
    ] {
        let ran = compare(&before, after, &["--fail-on", condition]);
        assert_eq!(ran.code, Some(code), "{condition}: {}", ran.said());
        let ran = compare(&before, after, &["--json", "--fail-on", condition]);
        assert_eq!(ran.code, Some(code), "{condition}: {}", ran.said());
        if code != 2 {
            let checks = document(&ran).checks;
            assert_eq!(checks.len(), 1, "{condition}");
            assert_eq!(checks[0].has_held(), code == 0, "{condition}");
        }
    }
}

/// Halves of the first side are further apart than the sides are: the floor hides a change that the ranks are sure of.
#[test]
fn a_condition_is_not_hidden_by_what_runs_of_one_side_differ_by() {
    let folder = TempDir::new().expect("a folder");
    let from = fixture(2, "goodput-push");
    let [early, late] = turns(8);
    let before = runs(folder.path(), "before", &from, &early, 1.0, &|document, number| {
        let factor = if number < 4 { 1.5 } else { 1.0 };
        scale(&mut document["measurements"][0]["summary"], factor);
    });
    let after = runs(folder.path(), "after", &from, &late, 0.85, &same);
    for (condition, code) in [
        ("goodput.rate.up -5%", 5),
        ("goodput.rate.up ±5%", 5),
        ("goodput.rate.up +5%", 0),
        ("goodput.rate.up -60%", 0),
    ] {
        let ran = compare(&before, &after, &["--json", "--fail-on", condition]).exits(code);
        let document = document(&ran);
        assert_eq!(document.measurements[0].order, Order::Turns);
        assert_eq!(figure(&document, "goodput.rate.up").outcome, Outcome::NotShown, "{condition}");
        let text = &document.checks[0].text;
        assert!(text.contains("95 % interval -") && text.contains("; told above "), "{text}");
    }
    // In blocks that may be what drifts.
    let minutes = |from: u32| (from..from + 8).collect::<Vec<_>>();
    let before = runs(folder.path(), "first", &from, &minutes(0), 1.0, &|document, number| {
        let factor = if number < 4 { 1.5 } else { 1.0 };
        scale(&mut document["measurements"][0]["summary"], factor);
    });
    let after = runs(folder.path(), "second", &from, &minutes(8), 0.85, &same);
    let words = ["--fail-on", "goodput.rate.up -5%"];
    let ran = compare(&before, &after, &words).exits(0);
    assert!(ran.stdout.contains("no difference is shown by 8 and 8 runs: -"), "{}", ran.said());
}

/// Five runs can show one of six figures: of seven conditions none has stayed for all that they tell.
#[test]
fn conditions_that_so_few_runs_cannot_judge_do_not_hold() {
    let folder = TempDir::new().expect("a folder");
    let from = fixture(2, "latency-tcp");
    let [early, late] = turns(5);
    let before = runs(folder.path(), "before", &from, &early, 1.0, &same);
    let after = runs(folder.path(), "after", &from, &late, 9.0, &same);
    let ids = ["min", "mean", "max", "p50", "p75", "p90", "p95"];
    let conditions: Vec<String> = ids.iter().map(|id| format!("latency.rtt.{id} +5%")).collect();
    let words = |number: usize| {
        let words = conditions[..number].iter().flat_map(|it| ["--fail-on", it]);
        ["--json"].into_iter().chain(words).collect::<Vec<_>>()
    };
    for number in [1, 6, 7] {
        let checks = document(&compare(&before, &after, &words(number)).exits(5)).checks;
        assert_eq!(checks.len(), number);
        assert!(checks.iter().all(Check::has_failed), "{checks:?}");
        let untold =
            checks.iter().filter(|check| check.text.contains("more runs, or fewer conditions"));
        assert_eq!(untold.count(), if number == 7 { 7 } else { 0 });
    }
    // A figure that some of the runs do not have is not known to have stayed in those.
    let lacking = runs(folder.path(), "lacking", &from, &late, 1.0, &|document, number| {
        if number == 0 {
            document["measurements"][0]["summary"]["latency"]["rtt"]["mean_ns"] = Value::Null;
        }
    });
    let words = ["--json", "--fail-on", "latency.rtt.mean +5%"];
    let checks = document(&compare(&before, &lacking, &words).exits(5)).checks;
    assert!(checks[0].text.contains("1 of those after have no such figure"), "{checks:?}");
}

/// A copy is no run of its own, and a run is not a change from itself: neither tells whether anything differs.
#[test]
fn a_run_that_is_named_twice_is_refused() {
    let folder = TempDir::new().expect("a folder");
    let from = fixture(2, "latency-tcp");
    let [early, late] = turns(5);
    let before = runs(folder.path(), "before", &from, &early, 1.0, &same);
    let after = runs(folder.path(), "after", &from, &late, 9.0, &same);
    let refused = |before: &[PathBuf], after: &[PathBuf]| {
        let words = ["--fail-on", "latency.rtt.p50 +5%"];
        compare(before, after, &words).exits(2).complains(&["one run is there twice"])
    };
    refused(&before, &vec![after[0].clone(); 5]).complains(&["after0.json (after)"]);
    refused(&before, &before);
    refused(&before, &[&after[1..], &before[2..3]].concat());
    // Whatever it is called, and however it is written.
    let copy = folder.path().join("copy.json");
    let text = fs::read_to_string(&before[2]).expect("it was written");
    let document: Value = serde_json::from_str(&text).expect("a document");
    fs::write(&copy, serde_json::to_string_pretty(&document).expect("plain")).expect("ours");
    refused(&before, &[&after[1..], &[copy]].concat()).complains(&["before2 (before)", "copy"]);
    // Files of other tools do not say when they began.
    let write = |name: &str, more: u32| {
        let path = folder.path().join(name);
        let row = |row: u32| format!("{row}, {}\n", 200 + more + row % 50);
        let text = "Index, Latency(us)\n".to_owned() + &(0..1_000).map(row).collect::<String>();
        fs::write(&path, text).expect("a folder of ours");
        path
    };
    let (one, other, alike) = (write("a.csv", 0), write("b.csv", 2), write("c.csv", 0));
    let one = [one];
    compare(&one, std::slice::from_ref(&other), &[]).exits(0);
    refused(&vec![one[0].clone(); 5], &vec![other.clone(); 5]);
    refused(&one, &[other, alike]);
    refused(&one, &one);
}

#[test]
fn runs_in_blocks_are_told_of_in_the_first_line() {
    let folder = TempDir::new().expect("a folder");
    let from = fixture(2, "latency-tcp");
    let early: Vec<u32> = (0..6).collect();
    let late: Vec<u32> = (6..12).collect();
    let before = runs(folder.path(), "before", &from, &early, 1.0, &same);
    let after = runs(folder.path(), "after", &from, &late, 2.0, &same);
    let document = document(&compare(&before, &after, &["--json"]).exits(0));
    assert_eq!(document.measurements[0].order, Order::Blocks);
    assert_eq!(caveats(&document), ["did_not_take_turns"]);
    assert_eq!(figure(&document, "latency.rtt.p50").outcome, Outcome::Worse);
    let ran = compare(&before, &after, &[]).exits(0);
    let place = |words: &str| ran.stdout.find(words).unwrap_or_else(|| panic!("{}", ran.said()));
    assert!(place("with caution") < place("RTT minimum"), "{}", ran.said());
    // Results that say nothing of their time are no turns.
    let [early, late] = turns(6);
    let without: Change<'_> = &|document, _| document["started_at"] = json!("");
    let before = runs(folder.path(), "before", &from, &early, 1.0, without);
    let after = runs(folder.path(), "after", &from, &late, 2.0, without);
    let document = self::document(&compare(&before, &after, &["--json"]).exits(0));
    assert_eq!(document.measurements[0].order, Order::Blocks);
}

/// A machine that grows slower all the time, and nothing else: in turns nothing is told, whatever the ranks of blocks say.
#[test]
fn a_drift_is_no_difference_where_runs_took_turns() {
    let folder = TempDir::new().expect("a folder");
    let from = fixture(2, "latency-tcp");
    let minutes: Vec<u32> = (0..16).collect();
    let all = runs(folder.path(), "run", &from, &minutes, 1.0, &|document, number| {
        scale(&mut document["measurements"][0]["summary"], 1.0 + 0.02 * number as f64);
    });
    let every_other = |from: usize| all.iter().skip(from).step_by(2).cloned().collect::<Vec<_>>();
    let document = document(&compare(&every_other(0), &every_other(1), &["--json"]).exits(0));
    assert_eq!(figure(&document, "latency.rtt.p50").outcome, Outcome::NotShown);
}

#[test]
fn what_else_differs_is_told() {
    let folder = TempDir::new().expect("a folder");
    let from = fixture(2, "latency-tcp");
    let [early, late] = turns(5);
    let before = runs(folder.path(), "before", &from, &early, 1.0, &same);
    let with = |name: &str, change: Change<'_>| {
        let after = runs(folder.path(), name, &from, &late, 1.0, change);
        document(&compare(&before, &after, &["--json"]).exits(0))
    };
    let settings = with("settings", &|document, _| {
        document["measurements"][0]["test"]["plan"]["latency"]["size_bytes"] = json!(1_400);
    });
    assert_eq!(caveats(&settings), ["settings_differ"]);
    let differing = &settings.differing[0];
    assert_eq!(
        (&*differing.id, &differing.after[..]),
        ("setting.latency.size", &["1400".to_owned()][..])
    );
    let host =
        with("host", &|document, _| document["hosts"]["server"]["kernel"] = json!("Linux 9"));
    assert_eq!(caveats(&host), ["hosts_differ"]);
    // By labels people tell sides apart: they are told of, and nothing is the matter.
    let labels = with("labels", &|document, _| {
        document["hosts"]["client"]["labels"] = json!({ "build": "1234" });
    });
    assert_eq!(caveats(&labels), [""; 0]);
    assert_eq!(labels.differing[0].label(), Some("build"));
    let after: Vec<PathBuf> =
        (0..5).map(|number| folder.path().join(format!("labels{number}.json"))).collect();
    let told = compare(&before, &after, &[]).exits(0).stdout;
    assert!(told.contains("client build nothing, then 1234"), "{told}");
    // What names a boot differs by itself.
    let boot = with("boot", &|document, number| {
        for end in ["client", "server"] {
            document["hosts"][end]["boot_id"] = json!(format!("{number}"));
            document["hosts"][end]["clock"]["read_ns"] = json!(20.0 + number as f64);
        }
    });
    assert_eq!(caveats(&boot), [""; 0]);
    let unlike = with("unlike", &|document, number| {
        let kernel = if number == 1 { "Linux 8" } else { "Linux 9" };
        document["hosts"]["client"]["kernel"] = json!(kernel);
    });
    assert_eq!(caveats(&unlike), ["hosts_differ", "runs_differ"]);
    let failed = with("failed", &|document, number| {
        if number == 3 {
            document["outcome"] = json!({ "state": "interrupted", "reason": "Ctrl-C" });
        }
    });
    assert_eq!(caveats(&failed), ["runs_failed"]);
    assert!(failed.caveats[0].text.contains("1 of 5 runs after"), "{:?}", failed.caveats);
}

#[test]
fn an_open_loop_of_version_1_is_compared_under_the_name_that_it_has_now() {
    let folder = TempDir::new().expect("a folder");
    let [early, late] = turns(5);
    let before = runs(folder.path(), "before", &fixture(1, "latency-tcp-open"), &early, 1.0, &same);
    let after = runs(folder.path(), "after", &fixture(2, "latency-tcp-open"), &late, 1.0, &same);
    let document = document(&compare(&before, &after, &["--json"]).exits(0));
    let ids: Vec<&str> =
        document.measurements[0].figures.iter().map(|it| it.figure.as_str()).collect();
    assert!(ids.contains(&"latency.rtt_since_scheduled.p50"), "{ids:?}");
    assert!(!ids.iter().any(|id| id.starts_with("latency.rtt.")), "{ids:?}");
    // What the test is for stands where people look.
    let median = figure(&document, "latency.rtt_since_scheduled.p50");
    assert_eq!(median.tier, Tier::Primary);
    let told = compare(&before, &after, &[]).exits(0).stdout;
    assert!(told.contains("latency.rtt_since_scheduled, percentile by percentile"), "{told}");
    assert!(caveats(&document).contains(&"meaning_changed"));
}

#[test]
fn entries_of_lists_are_found_by_their_names() {
    let folder = TempDir::new().expect("a folder");
    let from = fixture(2, "multipath");
    let [early, late] = turns(5);
    let before = runs(folder.path(), "before", &from, &early, 1.0, &same);
    // The same paths in another order.
    let after = runs(folder.path(), "after", &from, &late, 1.0, &|document, _| {
        let paths = &mut document["measurements"][0]["summary"]["multipath"]["paths"];
        paths.as_array_mut().expect("paths").reverse();
    });
    let document = document(&compare(&before, &after, &["--json"]).exits(0));
    let figures = document.measurements[0].figures.iter();
    let latency: Vec<_> = figures.filter(|it| it.figure == "multipath.path.latency.p50").collect();
    assert_eq!(latency.len(), 2);
    for it in latency {
        assert_eq!(it.outcome, Outcome::NotShown, "{:?}", it.entry);
        assert!(
            it.relative().expect("not zero").abs() < 0.01,
            "{:?}: {:?}",
            it.entry,
            it.relative()
        );
    }
}

/// Which of two paths of one name is which is not known in another run.
#[test]
fn entries_of_one_name_are_not_compared() {
    let folder = TempDir::new().expect("a folder");
    let mut from = fixture(2, "multipath");
    let paths = &mut from["measurements"][0]["summary"]["multipath"]["paths"];
    let paths = paths.as_array_mut().expect("paths");
    paths[1]["interface"] = paths[0]["interface"].clone();
    let [early, late] = turns(5);
    let before = runs(folder.path(), "before", &from, &early, 1.0, &same);
    let after = runs(folder.path(), "after", &from, &late, 1.0, &same);
    let document = document(&compare(&before, &after, &["--json"]).exits(0));
    let figures = &document.measurements[0].figures;
    assert!(figures.iter().all(|it| it.before.len() <= 5 && it.after.len() <= 5), "counted twice");
    assert!(figures.iter().all(|it| it.figure != "multipath.path.latency.p50"), "which one?");
    assert!(figures.iter().any(|it| it.figure == "multipath.effective.p50"));
}

#[test]
fn a_search_is_compared_by_what_it_found() {
    let folder = TempDir::new().expect("a folder");
    let from = fixture(2, "find-rate");
    let [early, late] = turns(5);
    let rate = |factor: f64| {
        move |document: &mut Value, number: usize| {
            let found = &mut document["rate_search"]["found"]["rate_bps"];
            let own = 1.0 + [0.001, -0.002, 0.003, 0.0, 0.002][number % 5];
            *found = json!((found.as_f64().expect("a rate") * factor * own).round() as u64);
        }
    };
    let before = runs(folder.path(), "before", &from, &early, 1.0, &rate(1.0));
    let after = runs(folder.path(), "after", &from, &late, 1.0, &rate(0.5));
    let document = document(&compare(&before, &after, &["--json"]).exits(0));
    let names: Vec<&str> = document.measurements.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["goodput, highest rate without loss"]);
    assert_eq!(figure(&document, "search.rate").outcome, Outcome::Worse);
}

/// Its figures are known by the same ids, and nothing of its time.
#[test]
fn files_of_another_tool_are_compared_as_they_are_shown() {
    let folder = TempDir::new().expect("a folder");
    let write = |name: &str, number: u32, times: u32| {
        let path = folder.path().join(format!("{name}{number}.csv"));
        let row = |row: u32| format!("{row}, {}\n", times * (200 + row % 50) + number);
        let text = "Index, Latency(us)\n".to_owned() + &(0..1_000).map(row).collect::<String>();
        fs::write(&path, text).expect("a folder of ours");
        path
    };
    let before: Vec<PathBuf> = (0..5).map(|number| write("before", number, 1)).collect();
    let after: Vec<PathBuf> = (0..5).map(|number| write("after", number, 2)).collect();
    let first = run(&["show", before[0].to_str().expect("plain")]);
    assert_eq!(first.code, Some(0), "{}", first.said());
    let document = document(&compare(&before, &after, &["--json"]).exits(0));
    assert_eq!(document.measurements[0].order, Order::Blocks);
    let median = figure(&document, "latency.rtt.p50");
    assert_eq!((median.outcome, median.tier), (Outcome::Worse, Tier::Primary));
    assert!((median.relative().expect("not zero") - 1.0).abs() < 0.1);
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let folder = TempDir::new().expect("a folder");
    let path = |name: &str| format!("{}/tests/fixtures/2/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let [latency, goodput] = ["latency-tcp", "goodput-push"].map(path);
    let refused = |words: &[&str], said: &[&str]| {
        run(&[&["compare"], words].concat()).exits(2).complains(said);
    };
    refused(
        &[&latency, &goodput],
        &["nothing is compared", "latency", "compare runs of the same command"],
    );
    refused(&[&latency, &path("unreachable")], &["there is no measurement"]);
    refused(&[&latency], &[]);
    refused(&["--before", &latency], &[]);
    refused(&[&latency, "/no/such/file"], &["/no/such/file"]);
    refused(&["-", "-"], &["named twice"]);
    let compared = folder.path().join("compared.json");
    let compared = compared.to_str().expect("plain");
    let older = format!("{}/tests/fixtures/1/latency-tcp.json", env!("CARGO_MANIFEST_DIR"));
    run(&["compare", &older, &latency, "-o", compared]).exits(0);
    refused(&[&latency, compared], &["a comparison", "commands that measure"]);
    refused(&[&older, &latency, "-o", "/no/such/folder/x.json"], &["/no/such/folder"]);
    // What was saved is shown and reported like any result.
    let shown = run(&["show", compared]).exits(0);
    assert!(shown.stdout.starts_with("comparison"), "{}", shown.said());
    let page = run(&["report", compared]).exits(0);
    assert!(page.stdout.contains("<h1>comparison</h1>"), "no page");
}

#[test]
fn names_of_strangers_are_text_on_every_form() {
    let folder = TempDir::new().expect("a folder");
    let from = fixture(2, "latency-tcp");
    let [early, late] = turns(5);
    let hostile: Change<'_> = &|document, _| {
        document["hosts"]["server"]["kernel"] = json!("</td><script>alert(1)</script>\u{1b}[31m");
    };
    let before = runs(folder.path(), "before", &from, &early, 1.0, &same);
    let after = runs(folder.path(), "after", &from, &late, 1.0, hostile);
    let page = compare(&before, &after, &["--format", "html"]).exits(0);
    assert!(page.stdout.contains("&lt;script&gt;alert(1)"), "{}", page.said());
    assert!(!page.stdout.contains("<script>alert(1)"), "not escaped");
    let text = compare(&before, &after, &[]).exits(0);
    assert!(!text.stdout.contains('\u{1b}'), "{}", text.said());
}
