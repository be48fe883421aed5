//! What is not the same on both sides, apart from figures: settings, machines, programs.
//!
//! Not here: what to mind of that (`caveats`).

use std::collections::{BTreeMap, BTreeSet};

use pathscope_core::figure::Unit;

use super::runs::Run;
use crate::compared::Differing;

/// What is not the same on both sides, apart from figures.
pub(super) fn differing(sides: &[Vec<Run>; 2], common: &[&str]) -> Vec<Differing> {
    let [before, after] = sides.each_ref().map(|runs| values(runs));
    let mut places: Vec<&(String, String)> = before.keys().chain(after.keys()).collect();
    places.sort();
    places.dedup();
    let is_compared =
        |of: &str| ["run", "client", "server", "peer"].contains(&of) || common.contains(&of);
    let of = |side: &Facts, place| side.get(place).map(|it| it.values.clone()).unwrap_or_default();
    let differing = places.into_iter().filter(|(name, _)| is_compared(name)).map(|place| {
        let (before, after) = (of(&before, place), of(&after, place));
        (place, before, after)
    });
    let differing = differing
        .filter(|(place, before, after)| before != after && !are_one(place, before.union(after)));
    let unit = |place| [&before, &after].into_iter().find_map(|side| Some(side.get(place)?.unit));
    let told = differing.map(|(place, before, after)| Differing {
        of: place.0.clone(),
        id: place.1.clone(),
        unit: unit(place).unwrap_or_default(),
        before: before.into_iter().collect(),
        after: after.into_iter().collect(),
    });
    told.collect()
}

/// What a side has of each setting and of each fact, by what it is of and its id.
pub(super) type Facts = BTreeMap<(String, String), Several>;

/// Every value that runs have of one thing.
#[derive(Debug, Default)]
pub(super) struct Several {
    unit: Unit,
    pub(super) values: BTreeSet<String>,
}

pub(super) fn values(runs: &[Run]) -> Facts {
    let mut values = Facts::new();
    for (place, fact) in runs.iter().flat_map(|run| &run.facts) {
        let several = values.entry(place.clone()).or_default();
        several.unit = fact.unit;
        several.values.insert(fact.value.clone());
    }
    values
}

/// Whether these values of one thing are one: a kernel that was built otherwise leaves a few pages more or less of the same memory.
pub(super) fn are_one<'value>(
    (_, id): &(String, String),
    values: impl Iterator<Item = &'value String>,
) -> bool {
    let numbers: Option<Vec<f64>> = values.map(|value| value.parse().ok()).collect();
    let Some(numbers) = numbers.filter(|_| id == "memory_bytes") else { return false };
    let least = numbers.iter().copied().fold(f64::INFINITY, f64::min);
    let most = numbers.iter().copied().fold(0.0, f64::max);
    most <= least * 1.01
}
