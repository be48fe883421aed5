//! The instrument with a row written for each ping, to be held against itself without: `--subject recording --against
//! pathscope`. Never an opponent unless it is named.

use std::path::PathBuf;

use super::super::case::{Case, Measure};
use super::pathscope::PATHSCOPE;
use super::{Contender, Setting, pathscope};

pub const RECORDING: Contender = Contender {
    name: "recording",
    measure: |case, _| matches!(case, Case::Latency { .. }).then_some(Measure::RoundTrips),
    client: |setting| {
        let samples = ["--samples".to_owned(), file(setting).display().to_string()];
        [&pathscope::client(setting)[..], &samples].concat()
    },
    figure: |setting, outputs| {
        // A file that is left costs room and no figure.
        let _ = std::fs::remove_file(file(setting));
        pathscope::figure(setting, outputs)
    },
    ..PATHSCOPE
};

/// Where the rows of this run go.
fn file(setting: &Setting<'_>) -> PathBuf {
    std::env::temp_dir().join(format!("pathscope-bench-{}.csv", setting.port))
}
