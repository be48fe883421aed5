//! Whether a run is there once: a copy is no run of its own, and nothing differs from itself.
//!
//! Not here: which files are one and the same, which whoever reads them says.

use std::collections::BTreeMap;

use super::runs::Run;
use super::{ComparisonError, Named};

/// Which result it is, and on which side.
pub(super) fn place(side: &str, result: &Named<'_>) -> String {
    format!("{} ({side})", result.name)
}

/// A run that is there twice, on one side or on both: two of the same measurement that the same machine began at the same time, where that is
/// known.
pub(super) fn twice(sides: &[Vec<Run>; 2]) -> Option<ComparisonError> {
    let mut seen: BTreeMap<_, &str> = BTreeMap::new();
    let all = sides.iter().flatten().filter(|run| !run.began.0.is_empty());
    all.map(|run| (run, seen.insert((&run.began, &run.name, &run.machine), &run.result))).find_map(
        |(run, first)| {
            Some(ComparisonError::Twice {
                name: run.name.clone(),
                began: run.began.0.clone(),
                first: first?.to_owned(),
                second: run.result.clone(),
            })
        },
    )
}

/// Two results that are one and the same file, on one side or on both.
pub(super) fn same_file(sides: [(&str, &[Named<'_>]); 2]) -> Option<ComparisonError> {
    let mut seen: BTreeMap<usize, String> = BTreeMap::new();
    let all =
        sides.into_iter().flat_map(|(side, results)| results.iter().map(move |it| (side, it)));
    all.map(|(side, it)| (place(side, it), it.file)).find_map(|(second, file)| {
        let first = seen.insert(file, second.clone())?;
        Some(ComparisonError::SameFile { first, second })
    })
}
