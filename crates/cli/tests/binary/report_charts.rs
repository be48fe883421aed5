//! What a browser makes of the charts that few results have: numbers with their intervals, boxes, stretches of time, parts of a whole, all
//! measurements of a survey; a part of the time that is dragged over; and what is printed.

use std::fs;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::common::{Server, run};
use crate::plot::changed;
use crate::report::{fixture, numbers_of, report, seen};

/// What a browser sees of the page of this result, where there is one.
fn seen_of(folder: &TempDir, result: &str) -> Option<Value> {
    let (ran, page) = report(folder, &[result]);
    ran.exits(0);
    seen(&page, folder)
}

/// The same of a stored result that was changed.
fn seen_of_changed(folder: &TempDir, name: &str, change: impl FnOnce(&mut Value)) -> Option<Value> {
    let text = fs::read_to_string(fixture(name)).expect("a fixture");
    let mut document: Value = serde_json::from_str(&text).expect("JSON");
    change(&mut document["measurements"][0]);
    let file = folder.path().join("changed.json");
    fs::write(&file, document.to_string()).expect("a folder of ours");
    seen_of(folder, file.to_str().expect("plain"))
}

fn chart<'seen>(seen: &'seen Value, title: &str) -> &'seen Value {
    assert_eq!((&seen["state"], &seen["errors"]), (&json!("drawn"), &json!([])));
    let mut charts = seen["charts"].as_array().into_iter().flatten();
    let found = charts.find(|it| it["title"].as_str().is_some_and(|it| it.contains(title)));
    found.unwrap_or_else(|| panic!("no {title} in {seen}"))
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text<'seen>(chart: &'seen Value, field: &str) -> &'seen str {
    chart[field].as_str().unwrap_or_else(|| panic!("no {field} in {chart}"))
}

const NO_BROWSER: &str = "partly skipped, because there is no chromium to open the page in";

#[test]
fn over_a_swept_setting_each_value_has_its_median() {
    let server = Server::start();
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("sweep.json");
    let file = file.to_str().expect("plain");
    let words = ["latency", &server.host(), "--iterations", "30", "--sweep", "size=64,1KiB"];
    run(&[&words[..], &["--repeat", "3", "-o", file, "--format", "md"]].concat()).exits(0);
    let Some(seen) = seen_of(&folder, file) else { return println!("{NO_BROWSER}") };
    let chart = chart(&seen, "RTT p50: median of the runs over size");
    assert_eq!(chart["axis_titles"], json!(["size"]));
    let points = list(&chart["series"][0]["data"]);
    assert_eq!(points.len(), 2, "{chart}");
    assert!(points.iter().all(|point| point[1].as_f64().is_some_and(|rtt| rtt > 0.0)), "{chart}");
    assert!(text(chart, "tip").contains("size 64"), "{chart}");
}

#[test]
fn a_comparison_has_each_change_with_its_interval() {
    let folder = TempDir::new().expect("a folder");
    let runs = |side: usize, factor| -> Vec<String> {
        (0..5).map(|run| changed(folder.path(), 2 * run + side, (64, 1), factor)).collect()
    };
    let (before, after) = (runs(0, 1.0), runs(1, 2.0));
    let before = before.iter().map(String::as_str);
    let after = after.iter().map(String::as_str);
    let page = folder.path().join("comparison.html");
    let words = ["compare", "--before"].into_iter().chain(before).chain(["--after"]).chain(after);
    let words: Vec<&str> = words.chain(["--format", "html"]).collect();
    fs::write(&page, run(&words).exits(0).stdout).expect("a folder of ours");
    let Some(seen) = seen(&page, &folder) else { return println!("{NO_BROWSER}") };
    let chart = chart(&seen, "how far each percentile moved");
    let points = list(&chart["series"][0]["data"]);
    assert!(points.len() > 3, "{chart}");
    for point in points {
        let [value, low, high] = [1, 2, 3].map(|at| point[at].as_f64().expect("a number"));
        assert!(0.0 < low && low <= value && value <= high, "{chart}");
    }
    // An upright line for each interval, behind its point.
    assert_eq!(list(&chart["series"][1]["data"]).len(), points.len(), "{chart}");
    assert!(text(chart, "tip").contains("95 %: "), "{chart}");
}

#[test]
fn paths_have_boxes_and_what_became_of_them() {
    let folder = TempDir::new().expect("a folder");
    let ranks = [5.0, 25.0, 50.0, 75.0, 95.0];
    let numbers = [1e6, 2e6, 3e6, 4e6, 9e6];
    let percentiles: Vec<Value> = ranks
        .iter()
        .zip(numbers)
        .map(|(percent, value)| json!({ "percent": percent, "value_ns": value as u64, "samples_needed": 1 }))
        .collect();
    let seen = seen_of_changed(&folder, "multipath", |measurement| {
        let path = &mut measurement["summary"]["multipath"]["paths"][0];
        path["latency"]["percentiles"] = percentiles.clone().into();
        path["gaps"]["told"] =
            json!([{ "start_ns": 200_000_000, "duration_ns": 300_000_000, "datagrams": 7 }]);
    });
    let Some(seen) = seen else { return println!("{NO_BROWSER}") };
    let boxes = chart(&seen, "latency of each path");
    assert_eq!(numbers_of(&boxes["series"][0]["data"][0]), numbers, "{boxes}");
    assert!(text(boxes, "tip").contains("p95: "), "{boxes}");
    let stretches = chart(&seen, "outages and transitions");
    let outages = list(&stretches["series"]).iter().find(|it| it["name"] == "outage");
    let data = list(&outages.expect("a kind")["data"]);
    assert_eq!(data.len(), 1, "{stretches}");
    let [from, until] = [0, 1].map(|at| data[0][at].as_f64().expect("seconds"));
    assert!((until - from - 0.3).abs() < 1e-6, "{stretches}");
    let told = text(&stretches["dragged"], "told");
    assert!(told.contains("outage: 1, "), "{told}");
    assert!(stretches["fields"].as_u64().is_some_and(|fields| fields > 0), "{stretches}");
    // All that is over time has the axis of the lines above.
    assert_eq!(stretches["axes"][0], chart(&seen, "over time")["axes"][0]);
}

#[test]
fn fates_of_frames_lie_upon_each_other_over_their_intervals() {
    let folder = TempDir::new().expect("a folder");
    let seen = seen_of_changed(&folder, "media-down", |measurement| {
        measurement["intervals"][2]["client"]["media"]["frames"]["missed"] = 5.into();
    });
    let Some(seen) = seen else { return println!("{NO_BROWSER}") };
    let chart = chart(&seen, "over time");
    let series = |name: &str| {
        let mut all = list(&chart["series"]).iter();
        let found = all.find(|it| it["name"] == name).unwrap_or_else(|| panic!("{name}: {chart}"));
        let row = |row: &Value| list(row).iter().map(Value::as_f64).collect::<Vec<_>>();
        list(&found["data"]).iter().map(row).collect::<Vec<_>>()
    };
    let (good, missed) = (series("frames in time, down"), series("frames not there in time, down"));
    let third = |all: &[Vec<Option<f64>>]| all[2][4..6].to_vec();
    assert_eq!(third(&good), [Some(0.0), Some(12.0)]);
    assert_eq!(third(&missed), [Some(12.0), Some(17.0)]);
    // A bar goes from the begin to the end of its interval, and the value stands in the middle.
    let [at, start, end] = [0, 2, 3].map(|place| good[2][place].expect("seconds"));
    assert!(
        (end - start - 0.5).abs() < 1e-9 && (at - f64::midpoint(start, end)).abs() < 1e-9,
        "{chart}"
    );
    // The rectangles of two kinds in one interval, and of one in the last.
    assert!(chart["fields"].as_u64().is_some_and(|fields| fields >= 3), "{chart}");
    let told = text(&chart["dragged"], "told");
    assert!(told.contains("frames in time, down: 1 interval, mean "), "{told}");
}

#[test]
fn a_survey_begins_with_all_of_it_on_one_axis_of_time() {
    let folder = TempDir::new().expect("a folder");
    let Some(seen) = seen_of(&folder, &fixture("survey")) else { return println!("{NO_BROWSER}") };
    let first = &seen["charts"][0];
    assert_eq!(first["title"], "all measurements over time");
    let text = fs::read_to_string(fixture("survey")).expect("a fixture");
    let document: Value = serde_json::from_str(&text).expect("JSON");
    // Of the idle latency this one has nothing over time.
    let measurements = &list(&document["measurements"])[1..];
    let series = list(&first["series"]);
    let phases = series.iter().find(|it| it["name"] == "phases").expect("begins");
    assert_eq!(list(&phases["data"]).len(), measurements.len(), "{first}");
    let named = |name: &str| series.iter().any(|it| it["name"] == name);
    assert!(named("goodput up") && named("goodput down"), "{first}");
    let end = measurements.iter().filter_map(|it| {
        let last = it["intervals"].as_array()?.last()?;
        Some((it["start_ns"].as_f64()? + last["client"]["end_ns"].as_f64()?) / 1e9)
    });
    assert_eq!(numbers_of(&first["axes"][0]), [1.0, end.fold(0.0, f64::max)]);
}

#[test]
fn dragging_over_a_part_of_the_time_shows_it_alone_with_its_statistics() {
    let folder = TempDir::new().expect("a folder");
    let result = fixture("goodput-duplex");
    let Some(seen) = seen_of(&folder, &result) else { return println!("{NO_BROWSER}") };
    let chart = chart(&seen, "over time");
    let dragged = &chart["dragged"];
    let [from, until] = [0, 1].map(|at| dragged["wanted"][at].as_f64().expect("seconds"));
    let zoom = [0, 1].map(|at| dragged["zoom"][at].as_f64().expect("seconds"));
    let near = (until - from) / 20.0;
    assert!((zoom[0] - from).abs() < near && (zoom[1] - until).abs() < near, "{dragged}");
    // Of its intervals the second alone lies within from 0.4 to 1.1 s.
    let told = text(dragged, "told");
    assert!(told.contains("goodput up: 1 interval, mean ") && !told.starts_with("Drag"), "{told}");
}

#[test]
fn what_is_printed_is_laid_out_for_the_paper_and_holds_the_settings() {
    let folder = TempDir::new().expect("a folder");
    let result = fixture("goodput-duplex");
    let Some(seen) = seen_of(&folder, &result) else { return println!("{NO_BROWSER}") };
    assert_eq!(seen["errors"], json!([]));
    let charts = list(&seen["charts"]);
    assert!(charts.len() > 3, "{seen}");
    for chart in charts {
        let paper = &chart["paper"];
        assert_eq!((&paper["laid_out_for"], &paper["width"]), (&660.into(), &660.into()));
        // A canvas has pixels and no shapes.
        let right = paper["right"].as_f64();
        assert!(right.is_none_or(|right| (600.0..=660.0).contains(&right)), "{chart}");
    }
    assert!(charts.iter().any(|chart| chart["paper"]["right"].is_number()), "{seen}");
    assert_eq!(seen["settings_on_paper"], json!([true]));
    assert_eq!(seen["settings_after"], json!([false]));
}
