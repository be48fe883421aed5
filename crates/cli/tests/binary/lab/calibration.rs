//! Calibration through the binary: what is counted must be exactly the truth in every setting; times are held by hand.

use pathscope_calibration::Against;
use pathscope_calibration::document::{Allowed, CalibrationDocument};

use super::Folder;
use crate::common::run;

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
