//! What a person reads of a result of each version, as it is.

use crate::common::run;

#[test]
fn a_survey_of_version_1_reads_like_this() {
    let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/../modes/tests/fixtures/document-1.json");
    let shown = run(&["show", fixture]).exits(0);
    assert!(shown.stdout.lines().all(|line| line.chars().count() <= 80), "{}", shown.said());
    insta::assert_snapshot!(shown.stdout);
}
