//! A run made by hand, and the truths that the rules find in its file.

use std::collections::BTreeSet;

use pathscope_core::quantity::Period;
use pathscope_modes::figures::{Found, found};
use serde_json::{Value, json};

use super::{OUTAGES, RULES, SAMPLES};
use crate::Extent;
use crate::cell::Cell;
use crate::evidence::Evidence;
use crate::grid;
use crate::rule::Rule;
use crate::samples::Samples;

const HEAD: &str = "Sequence number, Primary Send timestamp (microsec), \
    Primary Echo timestamp (microsec), Primary Receive timestamp (microsec), \
    Secondary Send timestamp (microsec), Secondary Echo timestamp (microsec), \
    Secondary Receive timestamp (microsec)\n";

/// A thousand datagrams a second, in groups of 30.
fn cell() -> Cell {
    let cells = grid::cells(Extent::Quick);
    let is_lossy = |cell: &Cell| cell.name == "multipath, 10 % lost, either way";
    let cell = cells.into_iter().find(is_lossy).expect("a cell of this name");
    Cell { duration: Period::from_secs(1), ..cell }
}

/// A thousand numbers in groups, 12 µs late but for the first of each group, which are 10 late, on two paths of 4 and 6 ms:
/// number 40 lost on the first, 50 on the second, 60 to 239 on both.
fn file() -> String {
    let row = |number: u64| {
        let at = 1_000 + number / 30 * 30_000 + if number.is_multiple_of(30) { 10 } else { 12 };
        let path = |is_lost: bool, sent: u64, latency: u64| {
            if is_lost {
                format!("{sent}, -1, -1")
            } else {
                format!("{sent}, 77, {}", sent + latency)
            }
        };
        let is_gone = (60..240).contains(&number);
        let (first, second) = (is_gone || number == 40, is_gone || number == 50);
        format!("{number}, {}, {}\n", path(first, at, 4_000), path(second, at + 5, 6_000))
    };
    let rows: String = (0..1_000).map(row).collect();
    format!("{HEAD}{rows}")
}

fn distribution(least: u64) -> Value {
    let percentiles = [1.0, 25.0, 50.0, 75.0].map(|it| json!({ "percent": it, "value_ns": 1 }));
    json!({ "count": 1, "min_ns": least, "max_ns": 1, "mean_ns": 1.0,
        "standard_deviation_ns": 1.0, "interquartile_range_ns": 0, "percentiles": percentiles })
}

/// As documents have it; what it says itself is of no matter, but for the names and the least lag.
fn measurement() -> Value {
    let gaps = || {
        let told = json!([{ "start_ns": 1, "duration_ns": 1, "datagrams": 1 }]);
        json!({ "most_in_a_row": 1, "longest_ns": 1, "outage_least_ns": 1, "outages": 1, "outage_ns": 1, "told": told })
    };
    let path = |path: u8| {
        json!({ "path": path, "sent": 1, "received": 1, "lost": 1, "refused": 1, "reordered": 1,
            "first": 1, "only": 1, "latency": distribution(1), "gaps": gaps() })
    };
    let names = ["primary_only", "fail_over", "duplicate_late", "duplicate_always"];
    let policy = |name: &str| {
        json!({ "policy": name, "sent": 1, "sent_bytes": 1, "lost": 1, "lost_ratio": 1.0,
            "latency": distribution(1) })
    };
    let pair = json!({ "one": 0, "other": 1, "neither": 1, "one_lost": 1, "other_lost": 1, "both_lost": 1 });
    let losses = json!([{ "pair": pair, "correlation": 1.0, "expected_both": 1.0 }]);
    json!({
        "client": { "multipath": { "transitions": [
            { "at_ns": 0, "path": 0, "what": "up" },
            { "at_ns": 0, "path": 1, "what": "up" },
            { "at_ns": 7, "path": 1, "what": "down" },
        ] } },
        "summary": { "multipath": {
            "scheduled": 1, "sent": 1, "sent_bytes": 1, "sending_ns": 1, "rate_bps": 1.0, "received": 1, "lost": 1,
            "without_path": 1, "unsent": 1, "prevented": 1, "waiting_saved_ns": 1, "waiting_saved_ratio": 1.0,
            "first_elsewhere": 1, "first_elsewhere_ratio": 1.0, "mean_improvement": 1.0, "median_improvement": 1.0,
            "effective": distribution(1), "paired": distribution(1), "send_lag": distribution(10_250),
            "effective_gaps": gaps(), "paths": [path(0), path(1)], "policies": names.map(policy), "losses": losses,
        } },
    })
}

/// The truths of all numbers that single samples tell, with their ids and entries.
fn truths(text: &str) -> Vec<(String, Option<usize>, f64)> {
    let (cell, measurement) = (cell(), measurement());
    let samples = Samples::read(text);
    let evidence = Evidence {
        cell: &cell,
        measurement: &measurement,
        links: Vec::new(),
        ping_ns: None,
        samples,
        port: 5210,
        witnesses: crate::relay::Witnesses::default(),
    };
    let found = found(&measurement);
    let rules = RULES.iter().chain(OUTAGES).filter(|rule| rule.against == SAMPLES);
    let truths = rules.flat_map(|rule| {
        let of = |it: &Found| Some((it.kind(), it.entry, (rule.truth)(&evidence, it)?));
        found.iter().filter(|it| rule.is_about(it)).filter_map(of).collect::<Vec<_>>()
    });
    truths.collect()
}

#[test]
fn every_rule_finds_its_truth_in_the_file() {
    let truths = truths(&file());
    for (figure, entry, truth) in [
        ("multipath.scheduled", None, 1_000.0),
        ("multipath.unsent", None, 0.0),
        ("multipath.sent_bytes", None, 200_000.0),
        ("multipath.sending", None, 1e9),
        ("multipath.rate", None, 1_600_000.0),
        ("multipath.lost", None, 180.0),
        ("multipath.prevented", None, 1.0),
        ("multipath.first_elsewhere", None, 1.0),
        ("multipath.first_elsewhere_share", None, 1.0 / 820.0),
        ("multipath.waiting_saved", None, 0.0),
        ("multipath.mean_improvement", None, 0.0),
        ("multipath.effective.count", None, 820.0),
        ("multipath.effective.p50", None, 4_000_000.0),
        ("multipath.effective.max", None, 6_005_000.0),
        ("multipath.paired.count", None, 819.0),
        ("multipath.send_lag.count", None, 1_000.0),
        // By the stated least, which the file cannot tell.
        ("multipath.send_lag.max", None, 12_250.0),
        ("multipath.send_lag.p1", None, 10_250.0),
        ("multipath.losses.both", Some(0), 180.0),
        ("multipath.losses.neither", Some(0), 818.0),
        ("multipath.losses.expected", Some(0), 181.0 * 181.0 / 1_000.0),
        ("multipath.effective.outages", None, 1.0),
        ("multipath.effective.outage_time", None, 180e6),
        ("multipath.effective.gap.from", Some(0), 60e6),
        ("multipath.effective.gap.length", Some(0), 180e6),
        ("multipath.effective.gap.numbers", Some(0), 180.0),
        ("multipath.path.longest_gap", Some(1), 180e6),
        ("multipath.path.most_in_a_row", Some(0), 180.0),
        ("multipath.path.latency.mean", Some(1), 6_000_000.0),
        ("multipath.path.sent", Some(0), 1_000.0),
        ("multipath.path.refused", Some(0), 0.0),
        ("multipath.path.only", Some(1), 1.0),
        ("multipath.policy.lost", Some(0), 181.0),
        ("multipath.policy.lost", Some(3), 180.0),
        ("multipath.policy.lost_share", Some(2), 0.18),
        ("multipath.policy.sent", Some(2), 1_181.0),
        ("multipath.policy.sent_bytes", Some(3), 400_000.0),
        ("multipath.policy.latency.max", Some(2), 56_000_000.0),
        ("multipath.policy.latency.p50", Some(3), 4_000_000.0),
    ] {
        let of = truths.iter().filter(|it| it.0 == figure && it.1 == entry);
        let of: Vec<f64> = of.map(|it| it.2).collect();
        let is_near = of.iter().any(|it| (it - truth).abs() <= truth.abs() * 1e-9);
        assert!(is_near, "{figure} {entry:?}: {of:?} for {truth}");
    }
    // A path that went away may have refused nothing of what did not leave.
    let refused = truths.iter().filter(|it| it.0 == "multipath.path.refused");
    assert_eq!(refused.count(), 1);
}

#[test]
fn no_rule_of_single_samples_is_without_a_truth() {
    let seen: BTreeSet<String> = truths(&file()).into_iter().map(|it| it.0).collect();
    let is_seen = |rule: &&Rule| seen.iter().any(|kind| kind.starts_with(rule.figure));
    let rules = RULES.iter().filter(|rule| rule.against == SAMPLES);
    let unseen: Vec<&str> = rules.filter(|it| !is_seen(it)).map(|it| it.figure).collect();
    assert_eq!(unseen, [""; 0]);
}

#[test]
fn without_a_file_there_is_no_truth() {
    assert!(truths("").is_empty());
    assert!(truths(&file()[..file().len() - 9]).is_empty());
}

#[test]
fn what_is_stretched_is_another_truth() {
    let mut stretched = Samples::read(&file()).expect("stamps");
    let Samples::Stamps(stamps) = &mut stretched else { panic!("{stretched:?}") };
    stamps.stretch(1.002_5);
    let before = truths(&file());
    let (cell, measurement) = (cell(), measurement());
    let evidence = Evidence {
        cell: &cell,
        measurement: &measurement,
        links: Vec::new(),
        ping_ns: None,
        samples: Some(stretched),
        port: 5210,
        witnesses: crate::relay::Witnesses::default(),
    };
    let found = found(&measurement);
    let mut unnoticed = Vec::new();
    for rule in RULES.iter().filter(|rule| rule.against == SAMPLES) {
        for it in found.iter().filter(|it| rule.is_about(it)) {
            let Some(moved) = (rule.truth)(&evidence, it) else { continue };
            let is_same = |(kind, entry, truth): &&(String, Option<usize>, f64)| {
                *kind == it.kind() && *entry == it.entry && rule.allows(*truth, moved)
            };
            if rule.below.is_some() && rule.above.is_some() && before.iter().any(|it| is_same(&it))
            {
                unnoticed.push((it.kind(), it.entry));
            }
        }
    }
    assert_eq!(unnoticed, []);
}
