//! Which run follows which, and when there are enough: with documents of known numbers, and no run.

use pathscope_core::presentation::{Section, Value};
use pathscope_core::quantity::{Bytes, Frequency, Period};
use pathscope_core::record::{Caveat, Check, Limit, Verdict};
use pathscope_core::stats::LatencyHistogram;

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
}

#[test]
fn what_no_test_has_is_not_waited_for() {
    // One that no test of this kind has is told before anything runs.
    let begin = |until: &str| Repeats::begin(wish(2, 7, Some(until)), vec![variant("1", None)]);
    for until in ["goodput.rate.up ±10%", "loaded.rtt.p50 ±10%", "search.rate ±1%"] {
        let error = begin(until).expect_err(until).to_string();
        let figure = until.split(' ').next().unwrap_or_default();
        assert!(error.contains(&format!("latency has no {figure}")), "{error}");
    }
    assert!(begin("end.elapsed.client ±5%").is_ok());
    // One that these runs do not have, after the first round.
    let until = Some("latency.rtt.p99.9 ±10%");
    let (names, document) = runs(wish(6, 30, until), vec![variant("1", None)], |_| 100);
    let goal = document.rounds.and_then(|rounds| rounds.until).expect("a goal");
    assert_eq!((names.len(), goal.reached, goal.is_absent), (1, false, true));
    let until = Some("latency.lost ±10%");
    let (_, document) = runs(wish(2, 7, until), vec![variant("1", None)], |_| 100);
    let goal = document.rounds.and_then(|rounds| rounds.until).expect("a goal");
    assert!(goal.reached && !goal.is_absent);
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
    assert!(error(wish(2, 9, Some("latency.lost ±0%")), one()).contains("all the same"));
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

/// Three runs on each of two sides: each with what its place says it came to.
fn six_runs(change: impl Fn(usize, &mut crate::document::Measurement)) -> Section {
    let sides = [RunSide::A, RunSide::B].map(|side| variant("1", Some(side))).to_vec();
    let sides_of_one_test = Wish { interleaved_with: Some("words".to_owned()), ..wish(3, 3, None) };
    let (_, mut document) = runs(sides_of_one_test, sides, |_| 0);
    for (at, measurement) in document.measurements.iter_mut().enumerate() {
        (measurement.caveats, measurement.checks) = (Vec::new(), Vec::new());
        change(at, measurement);
    }
    let rounds = document.rounds.as_ref().expect("they are told");
    presentation::section(rounds, &document.measurements, &Hosts::default())
}

/// The cells of a table's rows as words.
fn words(section: &Section, title: &str) -> Vec<Vec<String>> {
    let table = section.tables.iter().find(|table| table.title == title).expect(title);
    let word = |value: &Value| match value {
        Value::Text(text) => text.clone(),
        Value::Count(number) => number.to_string(),
        other => format!("{other:?}"),
    };
    table.rows.iter().map(|row| row.cells.iter().map(word).collect()).collect()
}

#[test]
fn what_limited_runs_is_counted_for_each_side() {
    let section = six_runs(|at, run| {
        let limit = if at == 2 { Limit::SenderCpu } else { Limit::Network };
        run.verdict = (at != 5).then(|| Verdict {
            limit,
            sure: Some(at < 2),
            text: String::new(),
            evidence: Vec::new(),
            remedy: None,
        });
    });
    // A B, B A, A B.
    let rows = words(&section, "what limited the runs");
    let row = |at: usize| [&*rows[at][0], &*rows[at][2], &*rows[at][3]];
    assert_eq!(row(0), ["latency, size=1, A", "3 of 3", "1"]);
    assert_eq!(rows.len(), 3, "{rows:?}");
    assert_eq!((row(1)[1], row(2)[1]), ("1 of 3", "1 of 3"), "{rows:?}");
    let none = six_runs(|_, run| run.verdict = None);
    assert!(none.tables.iter().all(|table| table.title != "what limited the runs"));
}

#[test]
fn checks_and_caveats_of_all_runs_are_told_once_with_how_many_runs_have_them() {
    let section = six_runs(|at, run| {
        let check = |name: &str, passed: Option<bool>| Check {
            name: name.to_owned(),
            passed,
            text: format!("run {at}"),
            remedy: (passed == Some(false)).then(|| "look".to_owned()),
        };
        let never = (at != 4).then_some(true);
        run.checks =
            vec![check("always", Some(true)), check("mostly", Some(at != 3)), check("some", never)];
        let caveat =
            |name: &str| Caveat { name: name.to_owned(), text: format!("run {at}"), remedy: None };
        run.caveats = vec![caveat("everywhere")];
        if at > 3 {
            // Twice in one run is one run.
            run.caveats.extend([caveat("late"), caveat("late")]);
        }
    });
    let checks: Vec<_> = section.checks.iter().map(|it| (it.passed, it.text.as_str())).collect();
    assert_eq!(
        checks,
        [
            (Some(true), "always: held in all 6 runs"),
            (Some(false), "it did not hold in 1 of 6 runs, first: run 3"),
            (None, "some: held in 5 of 6 runs, and of the others nobody can know")
        ]
    );
    assert_eq!(section.checks[1].remedy.as_deref(), Some("look"));
    let caveats: Vec<_> = section.caveats.iter().map(|it| it.text.as_str()).collect();
    assert_eq!(caveats, ["in all 6 runs, first: run 0", "in 2 of 6 runs, first: run 4"]);
}

#[test]
fn settings_say_what_all_runs_have_and_every_value_of_what_differs() {
    let section = six_runs(|_, _| {});
    let of = |id: &str| {
        let own = section.settings.iter().filter(|it| it.id == id);
        own.map(|it| (it.value.clone(), it.note.clone().unwrap_or_default())).collect::<Vec<_>>()
    };
    let differs = "not in all runs".to_owned();
    let sizes = [Value::Bytes(101), Value::Bytes(201)].map(|size| (size, differs.clone()));
    assert_eq!(of("setting.latency.size"), sizes);
    assert_eq!(of("setting.report_every").len(), 1, "{:?}", section.settings);
}

#[test]
fn durations_of_all_runs_of_a_side_are_one_distribution() {
    let section = six_runs(|at, run| {
        let mut histogram = LatencyHistogram::new();
        histogram.record_many(1_000 * (at as u64 + 1), 10);
        let report = crate::latency::LatencyReport {
            rtt: Some(histogram.distribution()),
            ..crate::latency::LatencyReport::default()
        };
        run.client.latency = Some(report);
    });
    let told: Vec<_> = section
        .distributions
        .iter()
        .map(|it| (it.source.label.as_str(), it.distribution.count, it.distribution.min_ns))
        .collect();
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].0.ends_with("of latency, size=1, A") && told[1].0.ends_with('B'), "{told:?}");
    assert_eq!((told[0].1, told[1].1), (30, 30));
    assert_eq!((told[0].2, told[1].2), (Some(1_000), Some(2_000)));
}
