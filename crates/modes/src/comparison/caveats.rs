//! What to mind of a comparison: a function for each thing, in the order in which they are told.
//!
//! Not here: what differs, which the comparison itself has found.

use pathscope_core::quantity::counted;
use pathscope_core::record::Caveat;
use pathscope_core::stats::Order;

use super::differing::{are_one, values};
use super::findings::ComparisonCaveat;
use super::runs::Run;
use super::{Named, RENEWED, clock};
use crate::compared::{self, ComparedMeasurement, ComparisonDocument, Differing, Outcome};

/// Of which side something is, in words.
fn of(side: &str) -> String {
    match side {
        "before" | "after" => side.to_owned(),
        side => format!("of {side}"),
    }
}

/// All that is to be minded of these runs. `names`: of the measurements of each side.
pub(super) fn caveats(
    document: &ComparisonDocument,
    sides: &[Vec<Run>; 2],
    names: &[Vec<&str>; 2],
) -> Vec<Caveat> {
    let of_all = [
        too_few_runs(document),
        no_turns(document),
        overlap(document, sides),
        differing(document, ComparisonCaveat::SettingsDiffer, "settings", |it| !is_of_host(it)),
        differing(
            document,
            ComparisonCaveat::HostsDiffer,
            "facts about the machines and their programs",
            |it| is_of_host(it) && it.label().is_none(),
        ),
    ];
    let [first, second] = document.names().map(of);
    let of_sides = [&first, &second].into_iter().zip(sides);
    let of_sides = of_sides.flat_map(|(side, runs)| [not_alike(side, runs), failed(side, runs)]);
    let [own, others] = names;
    let alone = [on_one_side(&first, own, others), on_one_side(&second, others, own)];
    let found = of_all.into_iter().chain(of_sides).chain(alone).chain([renewed(sides)]);
    found.flatten().collect()
}

/// Results of a side that hold no run.
pub(super) fn without_runs(side: &str, results: &[Named<'_>]) -> Option<Caveat> {
    let empty = results.iter().filter(|it| it.holds.is_empty()).count();
    (empty > 0).then(|| {
        let side = of(side);
        let text = match results.len() {
            1 => format!("the result {side} holds no measurement"),
            all => format!("{empty} of {all} results {side} hold no measurement"),
        };
        Caveat::new(ComparisonCaveat::RunsFailed, text)
    })
}

/// Whether so few runs tell nothing of a measurement.
fn has_few_runs(measurement: &ComparedMeasurement) -> bool {
    measurement.figures.iter().all(|figure| figure.outcome == Outcome::TooFewRuns)
}

fn too_few_runs(document: &ComparisonDocument) -> Option<Caveat> {
    let first = document.measurements.iter().find(|it| has_few_runs(it))?;
    let [before, after] = first.runs;
    let [first, second] = document.names().map(of);
    let text = format!(
        "{} {first} and {after} {second} tell no difference, however large it is: what moved may be chance; \
         five of each are the least that is of use, and fifteen are better",
        counted(u64::from(before), "run")
    );
    Some(Caveat::new(ComparisonCaveat::TooFewRuns, text))
}

fn no_turns(document: &ComparisonDocument) -> Option<Caveat> {
    let any_in_blocks = document.measurements.iter().any(|it| it.order == Order::Blocks);
    let any_is_judged = document.measurements.iter().any(|it| !has_few_runs(it));
    (any_in_blocks && any_is_judged).then(|| {
        let text = "the two sides did not take turns, as far as their times tell: whatever else changed on the machines or the path \
                    meanwhile is part of each difference";
        Caveat::new(ComparisonCaveat::DidNotTakeTurns, text)
    })
}

/// Runs whose times cannot be in order.
fn overlap(document: &ComparisonDocument, sides: &[Vec<Run>; 2]) -> Option<Caveat> {
    let of = |name: &str| {
        let own = sides.each_ref().map(|runs| runs.iter().filter(|run| run.name == name));
        let [before, after] = own.map(Iterator::collect::<Vec<_>>);
        clock::overlap([&before, &after])
    };
    let first = document.measurements.iter().find_map(|it| of(&it.name))?;
    let text = format!(
        "{first}: they ran at once, or the clock of that machine was set back meanwhile; in which order the runs were is not known"
    );
    Some(Caveat::new(ComparisonCaveat::RunsOverlap, text))
}

fn is_of_host(differing: &Differing) -> bool {
    ["client", "server", "peer"].contains(&differing.of.as_str())
}

/// What is not the same on both sides, of one kind.
fn differing(
    document: &ComparisonDocument,
    caveat: ComparisonCaveat,
    what: &str,
    is_it: fn(&Differing) -> bool,
) -> Option<Caveat> {
    let differing = document.differing.iter().filter(|it| is_it(it));
    let mut all: Vec<String> = Vec::new();
    for sentence in differing.map(Differing::sentence) {
        // Of several measurements the same is told once.
        if !all.contains(&sentence) {
            all.push(sentence);
        }
    }
    (!all.is_empty()).then(|| {
        let text = format!("{what} are not the same on both sides: {}", some(&all, ", "));
        Caveat::new(caveat, text)
    })
}

/// What varies among the runs of one side.
fn not_alike(side: &str, runs: &[Run]) -> Option<Caveat> {
    let several = values(runs);
    let several = several
        .iter()
        .filter(|(place, it)| it.values.len() > 1 && !are_one(place, it.values.iter()));
    let ids: Vec<String> = several.map(|((of, id), _)| compared::called(of, id)).collect();
    (!ids.is_empty()).then(|| {
        let vary = if ids.len() == 1 { "varies" } else { "vary" };
        let text = format!("the runs {side} are not alike: {} {vary} among them", some(&ids, ", "));
        Caveat::new(ComparisonCaveat::RunsDiffer, text)
    })
}

/// Runs of one side that are not as they should be.
fn failed(side: &str, runs: &[Run]) -> Option<Caveat> {
    let faults: Vec<&str> = runs.iter().filter_map(|run| run.fault.as_deref()).collect();
    let first = faults.first()?;
    let text = match (faults.len(), runs.len()) {
        (1, 1) => format!("the run {side} did not end as it should: {first}"),
        (1, all) => format!("1 of {all} runs {side} did not end as it should: {first}"),
        (several, all) => {
            format!("{several} of {all} runs {side} did not end as they should, first: {first}")
        }
    };
    Some(Caveat::new(ComparisonCaveat::RunsFailed, text))
}

/// Measurements that this side alone has.
fn on_one_side(side: &str, own: &[&str], others: &[&str]) -> Option<Caveat> {
    let alone = own.iter().filter(|name| !others.contains(name));
    let alone: Vec<String> = alone.map(|name| (*name).to_owned()).collect();
    (!alone.is_empty()).then(|| {
        let text = format!("measured {side} alone, and not compared: {}", some(&alone, ", "));
        Caveat::new(ComparisonCaveat::OnOneSide, text)
    })
}

/// Figures that have another name since.
fn renewed(sides: &[Vec<Run>; 2]) -> Option<Caveat> {
    sides.iter().flatten().any(|run| run.is_renewed).then(|| {
        let text = format!(
            "of results of an earlier version, round trips of an open loop are compared as what they are called now, {RENEWED}"
        );
        Caveat::new(ComparisonCaveat::MeaningChanged, text)
    })
}

/// The first few, and how many more.
pub(super) fn some(all: &[String], between: &str) -> String {
    const TOLD: usize = 4;
    let told = all[..all.len().min(TOLD)].join(between);
    match all.len().saturating_sub(TOLD) {
        0 => told,
        more => format!("{told} and {more} more"),
    }
}
