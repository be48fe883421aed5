//! Calibration through the binary: what is counted must be exactly the truth in every setting; times are held by hand.

use pathscope_calibration::document::{Allowed, CalibrationDocument, RowResult};
use pathscope_calibration::{Against, Extent, commands};
use pathscope_core::record::Caveat;

use super::Folder;
use crate::common::run;

#[test]
fn every_cell_of_every_run_asks_for_what_can_be_asked_for() {
    for extent in [Extent::Quick, Extent::Usual, Extent::Long] {
        for (name, words) in commands(extent, "samples.csv") {
            let words: Vec<&str> = words.iter().map(String::as_str).chain(["--dry-run"]).collect();
            let ran = run(&words);
            assert_eq!(ran.code, Some(0), "{name}: {words:?}: {}", ran.said());
        }
    }
}

#[test]
fn what_is_counted_is_the_truth_in_every_setting_that_a_quick_run_has() {
    let Some(folder) = Folder::new() else { return };
    let file = folder.path().join("calibration.json");
    let name = file.to_str().expect("plain");
    let ran = folder.run(&["verify", "--quick", "--seed", "7", "-o", name]);
    // A busy machine is late, which is told.
    assert!(matches!(ran.code, Some(0 | 5)), "{}", ran.said());
    let text = std::fs::read_to_string(&file).expect("it was written");
    let document = CalibrationDocument::from_json(&text).expect("a calibration");
    assert_eq!(document.cells.len() as u64, document.planned_cells, "{}", ran.said());
    for cell in &document.cells {
        assert!(cell.fault.is_none(), "{}: {:?}: {:?}", cell.name, cell.fault, cell.command);
    }
    for row in document.rows.iter().filter(|row| row.holds_when_busy) {
        assert!(row.outside.is_empty(), "{}", row.sentence());
    }
    for row in document.rows.iter().filter(|row| row.holds_when_busy) {
        // Evidence that says something else makes each number fail that may be off by nothing; and each percentile of pings.
        let is_known = matches!(row.against, Against::Ledger | Against::Samples | Against::Asked);
        let is_exact = row.below == Some(Allowed::Absolute(0.0));
        let is_ping = row.figure.starts_with("latency.");
        let is_held = is_known && (is_exact || is_ping) && row.below == row.above;
        assert!(!is_held || row.noticed == row.moved, "{row:?}");
    }
    // The relay's own counts are those of the kernel's interfaces, and nothing came early by captures. What a busy machine
    // delays is later than evidence that was moved, too: of times some must be noticed, of counts all.
    for (figure, against, is_time) in [
        ("relay.offered", Against::Counters, false),
        ("relay.delivered.bytes", Against::Counters, false),
        ("relay.one_way.min", Against::Links, true),
        ("latency.rtt.min", Against::Captures, true),
    ] {
        let is_it = |row: &&RowResult| row.figure == figure && row.against == against;
        let row = document.rows.iter().find(is_it);
        let row = row.unwrap_or_else(|| panic!("{figure} is held to nothing: {}", ran.said()));
        let least = if is_time { 1 } else { row.moved };
        assert!(row.outside.is_empty() && row.noticed >= least, "{row:?}");
    }
    let spoilt = document.cells.iter().filter(|cell| !cell.shortcomings.is_empty()).count();
    if 2 * spoilt > document.cells.len() {
        println!("skipped, because the lab was too late for {spoilt} of all cells");
    } else {
        assert!(document.rows.len() >= 250, "{}", document.rows.len());
    }

    let shown = run(&["show", name, "--format", "md"]);
    assert!(shown.stdout.contains("| latency.rtt.min |"), "{}", shown.said());
    for nothing in ["speed", "", "latency;"] {
        let refused = folder.run(&["verify", "--only", nothing]).exits(2);
        assert!(refused.stderr.contains("no cell's name begins with"), "{}", refused.said());
    }
}

#[test]
fn the_relay_is_held_to_counters_captures_and_the_kernels_own_shaper() {
    let Some(folder) = Folder::new() else { return };
    let file = folder.path().join("relay.json");
    let name = file.to_str().expect("plain");
    let ran = folder.run(&["verify", "--quick", "--seed", "7", "--only", "relay ", "-o", name]);
    assert!(matches!(ran.code, Some(0 | 5)), "{}", ran.said());
    let text = std::fs::read_to_string(&file).expect("it was written");
    let document = CalibrationDocument::from_json(&text).expect("a calibration");
    if document.cells.iter().any(|cell| !cell.shortcomings.is_empty()) {
        return println!("skipped, because the lab was too late: {}", ran.said());
    }
    assert_eq!(document.cells.len(), 2, "{}", ran.said());
    let rows = |against| document.rows.iter().filter(move |row| row.against == against);
    assert_eq!(rows(Against::Counters).count(), 4, "{}", ran.said());
    // Both ways, of both cells; every one of them exactly.
    for row in rows(Against::Counters).chain(rows(Against::Filter)) {
        assert!(row.outside.is_empty() && row.noticed == 4 && row.observations == 4, "{row:?}");
    }
    // What a machine lacks is told, and nothing else is missing.
    for (against, rows_of_it) in
        [(Against::Filter, 6), (Against::Captures, 2), (Against::Shaper, 2)]
    {
        let is_told =
            |it: &&Caveat| it.name == "source_missing" && it.text.contains(against.words());
        let is_missing = document.caveats.iter().find(is_told);
        let count = rows(against).count();
        assert!(is_missing.is_some() || count == rows_of_it, "{count}: {}", ran.said());
    }
    for row in rows(Against::Links).filter(|row| row.figure == "relay.one_way.min") {
        assert!(row.outside.is_empty() && row.noticed >= 1, "{row:?}");
    }
    let shown = run(&["show", name]);
    assert!(shown.stdout.contains("The relay") && shown.stdout.contains("interfaces' counters"));
}
