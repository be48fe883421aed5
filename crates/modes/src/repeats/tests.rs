//! Which run follows which, and when there are enough: with documents of known numbers, and no run.

use pathscope_core::quantity::{Bytes, Frequency, Period};

use super::*;
use crate::assemble::{Findings, measurement};
use crate::end::Hosts;
use crate::latency::{Extent, LatencyPlan, LatencySummary, LoadModel};
use crate::registry::EndReport;

fn plan() -> LatencyPlan {
    let extent = Extent::Iterations(10);
    LatencyPlan { load_model: LoadModel::Closed, extent, ..LatencyPlan::probe(Frequency(1)) }
}

fn wish(least: u32, most: u32, until: Option<&str>) -> Wish {
    Wish {
        times: Times { least, most },
        until: until.map(|typed| typed.parse().expect(typed)),
        sweep: Vec::new(),
        interleaved_with: None,
    }
}

fn variant(value: &str, side: Option<RunSide>) -> Variant {
    let point = vec![Swept { option: "size".to_owned(), value: value.to_owned() }];
    // What it is called is what it is.
    let more = if side == Some(RunSide::B) { 100 } else { 0 };
    let size_bytes = Bytes(100 + value.parse::<u64>().expect("a number") + more);
    let test = Test::new(LatencyPlan { size_bytes, ..plan() }.into(), None, Period::from_secs(1));
    Variant { point, side, tests: vec![("latency".to_owned(), test)] }
}

/// Runs all of it, where each run lost so many pings: the names in order, and the document.
fn runs(
    wish: Wish,
    variants: Vec<Variant>,
    lost: impl Fn(usize) -> u64,
) -> (Vec<String>, Document) {
    let (mut repeats, first) = Repeats::begin(wish, variants).expect("a wish");
    let mut document = Document::default();
    let (mut names, mut next) = (Vec::new(), Some(first));
    while let Some((name, test)) = next {
        let findings = Findings {
            name: name.clone(),
            test,
            substitutions: Vec::new(),
            start_ns: 0,
            duration_ns: 1,
            intervals: Vec::new(),
            client: EndReport::default(),
            server: None,
            failed_there: Vec::new(),
        };
        let mut measured = measurement(findings, &Hosts::default());
        let lost = lost(names.len());
        measured.summary.latency = Some(LatencySummary { lost, ..LatencySummary::default() });
        document.measurements.push(measured);
        names.push(name);
        next = repeats.follow(&mut document).next;
    }
    (names, document)
}

#[test]
fn every_other_round_is_from_the_last_to_the_first() {
    let variants = vec![variant("1", None), variant("2", None), variant("3", None)];
    let (names, document) = runs(wish(3, 3, None), variants, |_| 0);
    let order: Vec<&str> = names.iter().map(|name| &name["latency, size=".len()..][..1]).collect();
    assert_eq!(order, ["1", "2", "3", "3", "2", "1", "1", "2", "3"]);
    assert_eq!(names[3], "latency, size=3, run 2 of 3");
    let rounds = document.rounds.expect("they are told");
    assert_eq!((rounds.done, rounds.until), (3, None));
    let run = document.measurements[3].run.as_ref().expect("which run it is");
    assert_eq!((run.of.as_str(), run.round, run.point[0].value.as_str()), ("latency", 2, "3"));
}

#[test]
fn sides_never_have_three_runs_in_a_row() {
    let sides = [RunSide::A, RunSide::B].map(|side| variant("1", Some(side))).to_vec();
    let (names, _) = runs(wish(4, 4, None), sides, |_| 0);
    let sides: Vec<&str> =
        names.iter().map(|name| if name.contains(", A,") { "A" } else { "B" }).collect();
    assert_eq!(sides, ["A", "B", "B", "A", "A", "B", "B", "A"]);
}

#[test]
fn it_ends_when_the_median_is_known_well_enough_and_not_before_six() {
    // All alike: known from the first interval on.
    let until = Some("latency.lost ±10%");
    let (names, document) = runs(wish(2, 30, until), vec![variant("1", None)], |_| 100);
    let goal = document.rounds.and_then(|rounds| rounds.until).expect("a goal");
    assert_eq!((names.len(), goal.reached, goal.widest), (6, true, Some(0.0)));
    // At least as often as was asked for.
    let (names, _) = runs(wish(9, 30, until), vec![variant("1", None)], |_| 100);
    assert_eq!(names.len(), 9);
    // Two far apart by turns: never.
    let by_turns = |run: usize| if run.is_multiple_of(2) { 10 } else { 1_000 };
    let (names, document) = runs(wish(2, 12, until), vec![variant("1", None)], by_turns);
    let goal = document.rounds.and_then(|rounds| rounds.until).expect("a goal");
    assert_eq!((names.len(), goal.reached), (12, false));
    assert!(goal.widest_share.is_some_and(|share| share > 0.9), "{goal:?}");
    // A few far off among many that are alike: the interval closes in time.
    let seldom = |run: usize| if run.is_multiple_of(4) { 1_000 } else { 100 };
    let (names, document) = runs(wish(2, 40, until), vec![variant("1", None)], seldom);
    let goal = document.rounds.and_then(|rounds| rounds.until).expect("a goal");
    assert!(goal.reached && (7..40).contains(&names.len()), "{} {goal:?}", names.len());
    // A figure that no run has is never known.
    let until = Some("goodput.rate.up ±10%");
    let (names, document) = runs(wish(2, 7, until), vec![variant("1", None)], |_| 100);
    let goal = document.rounds.and_then(|rounds| rounds.until).expect("a goal");
    assert_eq!((names.len(), goal.reached, goal.widest), (7, false, None));
}

#[test]
fn every_point_has_to_be_known() {
    let until = Some("latency.lost ±10%");
    // Of one point all are alike, of the other every third is far off.
    let variants = vec![variant("1", None), variant("2", None)];
    let lost = |run: usize| if run % 4 == 1 { 1_000 } else { 100 };
    let (names, document) = runs(wish(2, 10, until), variants, lost);
    let goal = document.rounds.and_then(|rounds| rounds.until).expect("a goal");
    assert_eq!((names.len(), goal.reached), (20, false));
}

#[test]
fn what_cannot_be_wished_is_told() {
    let error = |wish: Wish, variants: Vec<Variant>| {
        Repeats::begin(wish, variants).expect_err("no wish").to_string()
    };
    let one = || vec![variant("1", None)];
    assert!(error(wish(2, 4, None), one()).contains("needs --until"));
    assert!(error(wish(9, 9, Some("latency.lost ±1%")), one()).contains("needs a range"));
    assert!(error(wish(2, 5, Some("latency.lost ±1%")), one()).contains("ends at 6 or later"));
    assert!(error(wish(2, 9, Some("latency.lost +1%")), one()).contains("takes ±"));
    let many = (0..11).map(|value| variant(&value.to_string(), None)).collect();
    assert!(error(wish(1_000, 1_000, None), many).contains("11000 tests"));
    let alike = vec![variant("1", None), Variant { side: Some(RunSide::A), ..variant("1", None) }];
    assert!(error(wish(2, 2, None), alike).contains("one and the same test"));
    let plan = LatencyPlan { connections: 0, ..plan() };
    let impossible = Test::new(plan.into(), None, Period::from_secs(1));
    let variants =
        vec![Variant { tests: vec![("latency".to_owned(), impossible)], ..variant("1", None) }];
    assert!(error(wish(2, 2, None), variants).contains("connections"));
}

#[test]
fn tests_that_are_ahead_are_known() {
    let (mut repeats, _) =
        Repeats::begin(wish(3, 3, None), vec![variant("1", None)]).expect("a wish");
    assert_eq!(repeats.ahead(), "all of it 3 times");
    // That of the round, which is running, and that of the rounds to come.
    assert_eq!(repeats.known().len(), 2);
}
