//! Results of every kind as earlier versions wrote them: each is read, and shown in the same words as when this
//! text was last agreed on.
//!
//! A commit that changes the text on purpose renews what is compared with:
//! `PATHSCOPE_RENEW_TEXTS=1 cargo test -p pathscope --test binary documents`.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{document_in, run};

/// Set to anything, the texts are written and not compared.
const RENEW: &str = "PATHSCOPE_RENEW_TEXTS";

/// The results of a version of the schema, in the order of their names.
fn results(version: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(version);
    let entries =
        fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut results: Vec<PathBuf> = entries
        .map(|entry| entry.expect("a folder of ours").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .collect();
    results.sort();
    results
}

/// Those of the document.
const VERSIONS: [&str; 2] = ["1", "2"];

#[test]
fn results_of_every_version_are_read() {
    for version in VERSIONS {
        let results = results(version);
        let mut kinds: Vec<String> = results.iter().map(|path| document_in(path).kind).collect();
        kinds.sort();
        kinds.dedup();
        assert_eq!(kinds, ["goodput", "latency", "media", "multipath", "survey"], "{version}");
    }
}

#[test]
fn results_of_every_version_are_shown_as_before() {
    for version in VERSIONS {
        let results = results(version);
        assert_eq!(results.len(), 24, "{results:?}");
        are_shown_as_before(&results);
    }
}

#[test]
fn experiments_and_calibrations_of_version_1_are_shown_as_before() {
    for folder in ["experiments-1", "calibration-1"] {
        let results = results(folder);
        assert_eq!(results.len(), 2, "{results:?}");
        are_shown_as_before(&results);
    }
}

fn are_shown_as_before(results: &[PathBuf]) {
    let renew = std::env::var_os(RENEW).is_some();
    let changed: Vec<String> = results
        .iter()
        .filter_map(|path| {
            let shown = run(&["show", path.to_str().expect("plain")]).exits(0);
            assert_eq!(shown.stderr, "", "{}", path.display());
            let kept = path.with_extension("txt");
            if renew {
                fs::write(&kept, &shown.stdout).expect("a folder of ours");
            }
            let before = fs::read_to_string(&kept)
                .unwrap_or_else(|error| panic!("{}: {error}", kept.display()));
            difference(&before, &shown.stdout).map(|text| format!("{}: {text}", kept.display()))
        })
        .collect();
    assert!(changed.is_empty(), "{}\nset {RENEW}=1 if that is meant to be", changed.join("\n"));
}

/// The first line in which two texts differ.
fn difference(before: &str, now: &str) -> Option<String> {
    if before == now {
        return None;
    }
    let (mut old, mut new) = (before.lines(), now.lines());
    for number in 1.. {
        let (old, new) = (old.next(), new.next());
        if old != new || old.is_none() {
            return Some(format!("line {number}\n  was {old:?}\n  is  {new:?}"));
        }
    }
    None
}
