//! Figures beside their truths: one cell, and over all cells.

use std::collections::{BTreeMap, BTreeSet};

use pathscope_modes::figures::{Group, STATISTICS, Unit, found, groups};
use serde_json::Value;

use crate::change::Change;
use crate::document::{CalibrationDocument, CellResult, Observation, Outside, RowResult};
use crate::evidence::Evidence;
use crate::grid::Extent;
use crate::moved::Moved;
use crate::others;
use crate::relay_figures;
use crate::rule::{Against, Rule, is_same};
use crate::rules;
use crate::rules::without;

/// The most that is told of what one row found outside.
const MOST_OUTSIDE: usize = 20;

/// What one cell shows: each figure that it has beside each truth that there is for it.
pub fn cell(evidence: &Evidence<'_>) -> Vec<Observation> {
    let mut found = found(evidence.measurement);
    found.extend(relay_figures::found(evidence));
    found.extend(others::found(evidence.measurement));
    let sources = Against::ALL.into_iter().filter(|it| evidence.witnesses.has(*it));
    let changes = sources.flat_map(|it| Change::ALL.map(|change| (it, change)));
    let others = changes.map(|(against, change)| (against, Moved::of(evidence, against, change)));
    let others: Vec<(Against, Moved)> = others.collect();
    let others: Vec<_> = others.iter().map(|(against, it)| (*against, it.evidence())).collect();
    let mut observations = Vec::new();
    for (index, rule) in rules::all().enumerate() {
        let others = || others.iter().filter(|(against, _)| *against == rule.against);
        for found in found.iter().filter(|found| rule.is_about(found)) {
            // What is no number, 0 of 0 for one, is no truth.
            let truth = (rule.truth)(evidence, found).filter(|truth| truth.is_finite());
            let Some(truth) = truth else { continue };
            let moved = others().filter_map(|(_, other)| (rule.truth)(other, found));
            let moved = moved.filter(|it| it.is_finite() && !is_same(truth, *it));
            let seen: Vec<bool> = moved.map(|moved| !rule.allows(found.number, moved)).collect();
            // One side alone is bounded against one of them.
            let is_noticed = if rule.below.is_some() && rule.above.is_some() {
                seen.iter().all(|it| *it)
            } else {
                seen.contains(&true)
            };
            observations.push(Observation {
                rule: index as u32,
                figure: found.kind(),
                side: found.side.map(str::to_owned),
                entry: found.entry.map(|entry| entry as u32),
                truth,
                measured: found.number,
                noticed: (!seen.is_empty()).then_some(is_noticed),
            });
        }
    }
    observations
}

/// The numbers of a measurement that no rule is about.
pub fn unruled(measurement: &Value) -> impl Iterator<Item = String> {
    let rules: Vec<&Rule> = rules::all().collect();
    let found = found(measurement).into_iter();
    found.filter(move |found| !rules.iter().any(|rule| rule.is_about(found))).map(|it| it.kind())
}

/// Whether any of these is further off than its rule allows.
pub fn is_any_outside(observations: &[Observation]) -> bool {
    let rules: Vec<&Rule> = rules::all().collect();
    observations.iter().any(|it| {
        let rule = rules.get(it.rule as usize);
        rule.is_some_and(|rule| !rule.allows(it.measured, it.truth))
    })
}

/// The figures that no row is about: of a distribution its numbers, as far as any cell had them.
pub fn without_row(rows: &[RowResult], unruled: &BTreeSet<String>) -> Vec<String> {
    let has_row = |id: &str| {
        rows.iter().any(|row| {
            let rest = row.figure.strip_prefix(id);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        })
    };
    let of = |group: &'static Group| group.figures.iter().map(move |it| (group.id(it), it.unit));
    let mut without = Vec::new();
    for (id, unit) in groups().flat_map(of) {
        let is_its = |kind: &&String| {
            let last = kind.strip_prefix(&id).and_then(|rest| rest.strip_prefix('.'));
            unit == Unit::Distribution && last.is_some_and(is_statistic)
        };
        let numbers: Vec<String> = unruled.iter().filter(is_its).cloned().collect();
        if has_row(&id) {
            without.extend(numbers.into_iter().filter(|kind| !has_row(kind)));
        } else {
            without.push(id);
        }
    }
    without
}

/// Whether it is the last part of a distribution's number.
fn is_statistic(name: &str) -> bool {
    let percent = name.strip_prefix('p').map(str::parse::<f64>);
    matches!(percent, Some(Ok(_))) || STATISTICS.iter().any(|it| it.name == name)
}

/// The rows of a document, from all its cells.
pub fn conclude(document: &mut CalibrationDocument, unruled: &BTreeSet<String>) {
    document.rows = rows(&document.cells);
    document.without_row = without_row(&document.rows, unruled);
    document.without_reasons = without::reasons(&document.without_row);
}

/// The rules of which no cell that counts has shown anything, but for those of sources that there were none of.
pub fn unseen(cells: &[CellResult], extent: Extent, missing: &[Against]) -> Vec<String> {
    let counting = cells.iter().filter(|cell| cell.counts());
    let seen: BTreeSet<u32> = counting.flat_map(|it| &it.observations).map(|it| it.rule).collect();
    // Other programs need not be there, and have no bounds.
    let is_bounded = |rule: &Rule| rule.below.is_some() || rule.above.is_some();
    let is_there = |rule: &Rule| {
        let known_by = relay_figures::known_by(rule.figure);
        !missing.contains(&rule.against) && known_by.is_none_or(|it| !missing.contains(&it))
    };
    // What holds on a quiet machine only may have nothing to be compared with on another.
    let is_tried = |rule: &Rule, least: Extent| {
        rule.holds_when_busy && extent >= least && is_there(rule) && is_bounded(rule)
    };
    let unseen = rules::with_extents().enumerate().filter(|(index, (rule, least))| {
        !seen.contains(&(*index as u32)) && is_tried(rule, *least)
    });
    unseen
        .map(|(_, (rule, _))| format!("{} against {}", rule.figure, rule.against.words()))
        .collect()
}

/// A row for each rule and number that any cell has shown something of.
pub fn rows(cells: &[CellResult]) -> Vec<RowResult> {
    let mut by_rule: BTreeMap<(u32, usize, &str), Vec<Seen<'_>>> = BTreeMap::new();
    for cell in cells.iter().filter(|cell| cell.counts()) {
        for observation in &cell.observations {
            let key = (observation.rule, place(&observation.figure), &*observation.figure);
            by_rule.entry(key).or_default().push((cell, observation));
        }
    }
    let rules: Vec<&Rule> = rules::all().collect();
    let rows = by_rule.into_iter().filter_map(|((index, _, figure), seen)| {
        let rule = rules.get(index as usize)?;
        Some(row(rule, figure, &seen))
    });
    rows.collect()
}

/// Where a number stands among those of its distribution.
fn place(figure: &str) -> usize {
    let last = |name: &str| figure.rsplit_once('.').is_some_and(|(_, last)| last == name);
    let at = STATISTICS.iter().position(|it| last(it.name));
    // Percentiles stand behind the others, but for the largest.
    at.unwrap_or(STATISTICS.len())
}

/// What one cell has of a rule.
type Seen<'document> = (&'document CellResult, &'document Observation);

fn row(rule: &Rule, figure: &str, seen: &[Seen<'_>]) -> RowResult {
    let mut errors: Vec<f64> = seen.iter().map(|(_, it)| it.measured - it.truth).collect();
    errors.sort_by(f64::total_cmp);
    let outside = seen.iter().filter(|(_, it)| !rule.allows(it.measured, it.truth));
    let told = outside.clone().take(MOST_OUTSIDE).map(|(cell, it)| Outside {
        cell: cell.name.clone(),
        side: it.side.clone(),
        entry: it.entry,
        truth: it.truth,
        measured: it.measured,
    });
    let mut cells: Vec<&str> = seen.iter().map(|(cell, _)| cell.name.as_str()).collect();
    cells.dedup();
    let truths = seen.iter().map(|(_, it)| it.truth);
    let count = |is: fn(&Observation) -> bool| seen.iter().filter(|(_, it)| is(it)).count() as u64;
    RowResult {
        figure: figure.to_owned(),
        unit: unit(figure),
        against: rule.against,
        below: rule.below.map(Into::into),
        above: rule.above.map(Into::into),
        reason: rule.reason.to_owned(),
        cells: cells.len() as u64,
        observations: seen.len() as u64,
        greatest_truth: truths.fold(f64::NEG_INFINITY, f64::max),
        least_error: errors.first().copied().unwrap_or(0.0),
        median_error: errors.get(errors.len() / 2).copied().unwrap_or(0.0),
        greatest_error: errors.last().copied().unwrap_or(0.0),
        outside_count: outside.count() as u64,
        moved: count(|it| it.noticed.is_some()),
        noticed: count(|it| it.noticed == Some(true)),
        holds_when_busy: rule.holds_when_busy,
        outside: told.collect(),
    }
}

fn unit(figure: &str) -> Unit {
    let of = |group: &'static Group| group.figures.iter().map(move |it| (group.id(it), it.unit));
    let known =
        |id: &str| relay_figures::groups().flat_map(of).find(|it| it.0 == id).map(|it| it.1);
    let is_last = |name: &str| figure.rsplit_once('.').is_some_and(|(_, last)| last == name);
    let of_statistic = || STATISTICS.iter().find(|it| is_last(it.name)).map(|it| it.unit);
    known(figure).or_else(of_statistic).unwrap_or(Unit::Duration)
}
