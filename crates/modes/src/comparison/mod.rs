//! Runs before a change beside runs after it: what differs, how sure that is, and what was to stay as it was. The run is the unit: of each
//! one number of each figure enters. docs/method/compare.md has the method.
//!
//! Not here: the statistics themselves (`core/stats`), and reading results.

mod caveats;
mod charts;
mod clock;
mod condition;
mod differing;
pub mod findings;
mod once;
pub mod presentation;
mod runs;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use pathscope_core::figure::{Better, Unit};
use pathscope_core::finding::Finding as _;
use pathscope_core::presentation::Presentation;
use pathscope_core::stats::{Difference, Order, Telling, false_discovery, median};
use thiserror::Error;

use self::differing::differing;
use self::findings::ComparisonCaveat;
use self::once::{place, same_file, twice};
use self::runs::{Key, Number, Run};
use crate::compared::{
    ComparedFigure, ComparedMeasurement, ComparisonDocument, Outcome, Side, Tier,
};
use crate::condition::Condition;
use crate::document::{Document, Measurement};
use crate::runs::RunSide;

/// A result that is compared.
#[derive(Clone, Debug)]
pub struct Named<'result> {
    /// Where it was read.
    pub name: String,
    /// Which of all files it was read from: two results of one number are one and the same file, or files of the same contents.
    pub file: usize,
    /// What it holds.
    pub holds: Compared<'result>,
}

/// What can be compared.
#[derive(Clone, Copy, Debug)]
pub enum Compared<'result> {
    /// What a command measured.
    Measured(&'result Document),
    /// What another tool has kept, as it is shown: its figures alone are known.
    Shown(&'result Presentation),
}

impl Compared<'_> {
    fn runs(self) -> Vec<Run> {
        match self {
            Self::Measured(document) => runs::runs(document),
            Self::Shown(presentation) => runs::shown(presentation),
        }
    }

    /// Whether it holds no measurement, and so no run.
    fn is_empty(self) -> bool {
        match self {
            Self::Measured(document) => document.all_measurements().next().is_none(),
            Self::Shown(presentation) => presentation.sections.is_empty(),
        }
    }

    fn began(self) -> Option<String> {
        match self {
            Self::Measured(document) => Some(document.started_at.clone()),
            Self::Shown(_) => None,
        }
    }
}

/// Why nothing is compared.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
pub enum ComparisonError {
    /// A copy is no run of its own, and a run is not a change from itself.
    #[error(
        "one run is there twice: {name}, which began at {began}, in {first} and in {second}; name each result once"
    )]
    Twice {
        /// The measurement.
        name: String,
        /// When its result began.
        began: String,
        /// The result that has it, and its side.
        first: String,
        /// The other one.
        second: String,
    },
    /// The same of results that do not say when they began.
    #[error(
        "one run is there twice: {first} and {second} are one file, or have the same contents; name each result once"
    )]
    SameFile {
        /// The result, and its side.
        first: String,
        /// The other one.
        second: String,
    },
    /// The sides have no measurement in common.
    #[error(
        "nothing is compared: {before} before, and {after} after; compare runs of the same command"
    )]
    NothingInCommon {
        /// What the one side measured.
        before: String,
        /// What the other did.
        after: String,
    },
}

/// Compares all runs before with all runs after. What wrote the document is the caller's to say.
pub fn compare(
    before: &[Named<'_>],
    after: &[Named<'_>],
    conditions: &[Condition],
) -> Result<ComparisonDocument, ComparisonError> {
    compare_named([("before", before), ("after", after)], conditions)
}

/// The same of two sides, each with what it is called.
fn compare_named(
    named: [(&str, &[Named<'_>]); 2],
    conditions: &[Condition],
) -> Result<ComparisonDocument, ComparisonError> {
    let sides = named.map(|(side, results)| runs_of(side, results));
    if let Some(error) = twice(&sides).or_else(|| same_file(named)) {
        return Err(error);
    }
    let names = sides.each_ref().map(|runs| names(runs));
    let common: Vec<&str> =
        names[0].iter().copied().filter(|name| names[1].contains(name)).collect();
    if common.is_empty() {
        let [before, after] = names.map(|names| match &names[..] {
            [] => "there is no measurement".to_owned(),
            names => format!("there is {}", names.join(", ")),
        });
        return Err(ComparisonError::NothingInCommon { before, after });
    }
    let mut measurements: Vec<ComparedMeasurement> =
        common.iter().map(|name| measurement(name, &sides)).collect();
    judge_together(&mut measurements);
    let differing = differing(&sides, &common);
    let [before, after] = named.map(|(name, results)| side(name, results));
    let mut document = ComparisonDocument {
        before,
        after,
        checks: condition::judge(conditions, &measurements),
        measurements,
        differing,
        ..ComparisonDocument::default()
    };
    document.caveats = caveats::caveats(&document, &sides, &names);
    let empty = named.map(|(side, results)| caveats::without_runs(side, results));
    document.caveats.extend(empty.into_iter().flatten());
    Ok(document)
}

/// Compares the two sides of a run with `--interleave-with`, which its result is called `name`; `None` of any other.
pub fn compare_sides(
    document: &Document,
    name: &str,
    conditions: &[Condition],
) -> Option<Result<ComparisonDocument, ComparisonError>> {
    let sides = sides(document)?;
    let names = [RunSide::A, RunSide::B].map(RunSide::name);
    let place = if name.is_empty() { String::new() } else { format!("{name}, ") };
    let named = |at: usize| {
        let name = format!("{place}{}", names[at]);
        [Named { name, file: at, holds: Compared::Measured(&sides[at]) }]
    };
    let (first, second) = (named(0), named(1));
    let compared = compare_named([(names[0], &first), (names[1], &second)], conditions);
    Some(compared.map(|mut compared| {
        // Both are one command but for the words of the other side: that these have an effect is what was asked for.
        compared.caveats.retain(|it| it.name != ComparisonCaveat::SettingsDiffer.name());
        compared
    }))
}

/// What the sides of a run with `--interleave-with` differ by, to stand in its own document: as it stands there, or else worked out. `None` of
/// any other, and of one that ended before both sides had a run.
pub fn of_run(document: &Document) -> Option<Box<ComparisonDocument>> {
    let worked_out = || Some(Box::new(compare_sides(document, "", &[])?.ok()?));
    document.comparison.clone().or_else(worked_out)
}

/// The two sides of a run with `--interleave-with`, each as a result of its own; `None` of any other.
fn sides(document: &Document) -> Option<[Document; 2]> {
    document.rounds.as_ref()?.interleaved_with.as_ref()?;
    let of = |side: RunSide| {
        let is_of = |it: &&Measurement| it.run.as_ref().is_some_and(|run| run.side == Some(side));
        let mut measurements: Vec<Measurement> =
            document.measurements.iter().filter(is_of).cloned().collect();
        // What is compared is one test on both sides.
        measurements.iter_mut().filter_map(|it| it.run.as_mut()).for_each(|run| run.side = None);
        Document { measurements, comparison: None, ..document.clone() }
    };
    Some([RunSide::A, RunSide::B].map(of))
}

fn side(name: &str, results: &[Named<'_>]) -> Side {
    let mut began: Vec<String> = results.iter().filter_map(|it| it.holds.began()).collect();
    began.retain(|began| !began.is_empty());
    began.sort();
    let began = began.first().zip(began.last()).map(|(first, last)| [first.clone(), last.clone()]);
    let name = name.to_owned();
    Side { name, results: results.iter().map(|it| it.name.clone()).collect(), began }
}

/// All runs of a side, in the order of time.
fn runs_of(side: &str, results: &[Named<'_>]) -> Vec<Run> {
    let of = |result: &Named<'_>| {
        let mut runs = result.holds.runs();
        runs.iter_mut().for_each(|run| run.result = place(side, result));
        runs
    };
    let mut runs: Vec<Run> = results.iter().flat_map(of).collect();
    runs.sort_by(|one, other| one.began.cmp(&other.began));
    runs
}

/// The names of its measurements, each once.
fn names(runs: &[Run]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for run in runs {
        if !names.contains(&run.name.as_str()) {
            names.push(&run.name);
        }
    }
    names
}

fn measurement(name: &str, sides: &[Vec<Run>; 2]) -> ComparedMeasurement {
    let own =
        sides.each_ref().map(|runs| runs.iter().filter(|run| run.name == name).collect::<Vec<_>>());
    let order = order(&own);
    let all = || own.iter().flatten();
    let resolution_ns = all().map(|run| run.resolution_ns).fold(0.0, f64::max);
    let mut leading: Vec<(&Key, &str)> = Vec::new();
    for (key, label) in all().flat_map(|run| &run.leading) {
        if !leading.iter().any(|(it, _)| *it == key) {
            leading.push((key, label));
        }
    }
    let mut figures: BTreeMap<&Key, (&Number, [Vec<f64>; 2])> = BTreeMap::new();
    let mut sequence: Vec<&Key> = Vec::new();
    for (side, runs) in own.iter().enumerate() {
        for number in runs.iter().flat_map(|run| &run.numbers) {
            let (_, numbers) = figures.entry(&number.key).or_insert_with(|| {
                sequence.push(&number.key);
                (number, Default::default())
            });
            numbers[side].push(number.number);
        }
    }
    let is_renewed = all().any(|run| run.is_renewed);
    let place = |key: &Key| leading.iter().position(|(it, _)| *it == key);
    // The sort is stable: what the result does not begin with stays in its order.
    sequence.sort_by_key(|key| place(key).unwrap_or(usize::MAX));
    let begins: Vec<&str> = leading.iter().map(|(key, _)| key.id.as_str()).collect();
    let compared = sequence.into_iter().filter_map(|key| {
        let (number, [before, after]) = figures.remove(key)?;
        let resolution = if number.unit == Unit::Duration { resolution_ns } else { 0.0 };
        let difference = Difference::between(&before, &after, resolution, order)?;
        let at = place(key);
        Some(ComparedFigure {
            figure: key.id.clone(),
            entry: key.entry.clone(),
            label: at.map_or_else(|| number.label.clone(), |at| leading[at].1.to_owned()),
            unit: number.unit,
            better: number.better,
            percentile_of: number.percentile_of.as_ref().map(|(of, _)| of.clone()),
            percent: number.percentile_of.as_ref().map(|(_, percent)| *percent),
            tier: match tier(number, at.is_some(), &begins) {
                Tier::Other if is_renewed => tier_of_renewed(number),
                tier => tier,
            },
            before_median: median(&before)?,
            after_median: median(&after)?,
            before,
            after,
            difference,
            p_among_all: None,
            outcome: outcome(&difference, difference.p, number.better),
        })
    });
    let figures = compared.collect();
    let runs = own.each_ref().map(|runs| u32::try_from(runs.len()).unwrap_or(u32::MAX));
    ComparedMeasurement { name: name.to_owned(), order, runs, figures }
}

/// With which others a figure is judged. `begins`: the ids of those that the result begins with.
fn tier(number: &Number, is_leading: bool, begins: &[&str]) -> Tier {
    let is_in = |id: &str| {
        let rest = number.percentile_of.as_ref().and_then(|(of, _)| id.strip_prefix(of.as_str()));
        rest.is_some_and(|rest| rest.starts_with('.'))
    };
    match number.better {
        Better::Higher | Better::Lower if number.is_primary => Tier::Primary,
        Better::Higher | Better::Lower if is_leading || begins.iter().any(|id| is_in(id)) => {
            Tier::Leading
        }
        _ => Tier::Other,
    }
}

/// What round trips of an open loop are compared as where one side is of an earlier version: what such a test is for, in place of the round trips
/// that this side does not have.
const RENEWED: &str = "latency.rtt_since_scheduled";

fn tier_of_renewed(number: &Number) -> Tier {
    let statistic = number.key.id.strip_prefix(RENEWED).and_then(|rest| rest.strip_prefix('.'));
    match statistic {
        Some("p50" | "p99") => Tier::Primary,
        Some(_) if number.better != Better::Neither => Tier::Leading,
        _ => Tier::Other,
    }
}

/// Whether two sides took turns: never three runs of one in a row, and of both about as many.
fn order(sides: &[Vec<&Run>; 2]) -> Order {
    let [before, after] = sides.each_ref().map(|runs| runs.iter().map(|run| (&run.began, false)));
    let mut all: Vec<_> = before.chain(after.map(|(began, _)| (began, true))).collect();
    all.sort();
    let is_known = all.iter().all(|((began, _), _)| !began.is_empty());
    let in_a_row = all.chunk_by(|one, other| one.1 == other.1).map(<[_]>::len).max();
    let is_plain = clock::overlap([&sides[0], &sides[1]]).is_none();
    let is_even = sides[0].len().abs_diff(sides[1].len()) <= 1;
    if is_known && is_plain && is_even && in_a_row.is_some_and(|longest| longest <= 2) {
        Order::Turns
    } else {
        Order::Blocks
    }
}

fn outcome(difference: &Difference, p: f64, better: Better) -> Outcome {
    match (difference.telling(p), better, difference.is_more()) {
        (Telling::TooFewRuns, _, _) => Outcome::TooFewRuns,
        (Telling::NotShown, _, _) => Outcome::NotShown,
        (Telling::Shown, Better::Higher, true) | (Telling::Shown, Better::Lower, false) => {
            Outcome::Better
        }
        (Telling::Shown, Better::Higher, false) | (Telling::Shown, Better::Lower, true) => {
            Outcome::Worse
        }
        (Telling::Shown, Better::Neither, true) => Outcome::More,
        (Telling::Shown, Better::Neither, false) => Outcome::Less,
    }
}

/// What each figure comes to where all of its tier are looked at, of which one seems to have moved by chance.
fn judge_together(measurements: &mut [ComparedMeasurement]) {
    for tier in [Tier::Primary, Tier::Leading, Tier::Other] {
        let figures = measurements.iter_mut().flat_map(|measurement| &mut measurement.figures);
        let is_judged =
            |it: &&mut ComparedFigure| it.tier == tier && it.outcome != Outcome::TooFewRuns;
        let mut own: Vec<&mut ComparedFigure> = figures.filter(is_judged).collect();
        let p: Vec<f64> = own.iter().map(|figure| figure.difference.p).collect();
        for (figure, p) in own.iter_mut().zip(false_discovery(&p)) {
            figure.p_among_all = Some(p);
            figure.outcome = outcome(&figure.difference, p, figure.better);
        }
    }
}
