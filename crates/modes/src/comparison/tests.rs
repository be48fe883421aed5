//! What is decided of runs before any number is looked at. Comparisons of whole results are tests of the binary.

use pathscope_core::quantity::{Frequency, Period};
use pathscope_core::record::PeerFacts;

use super::*;
use crate::assemble::{self, Findings};
use crate::compared::Differing;
use crate::end::Hosts;
use crate::figures::{FigureId, groups};
use crate::groups::Test;
use crate::latency::{LatencyPlan, LatencyReport};
use crate::registry::EndReport;

fn began(minutes: &[u32]) -> Vec<Run> {
    let run = |minute: &u32| Run {
        name: "latency".to_owned(),
        result: format!("r{minute}"),
        began: (format!("2026-01-01T00:{minute:02}:00.000Z"), 0),
        lasted_ns: 30_000_000_000,
        machine: "alpha".to_owned(),
        numbers: Vec::new(),
        leading: Vec::new(),
        resolution_ns: 0.0,
        facts: BTreeMap::new(),
        fault: None,
        is_renewed: false,
    };
    minutes.iter().map(run).collect()
}

fn order_of(before: &[u32], after: &[u32]) -> Order {
    let [before, after] = [began(before), began(after)];
    order(&[before.iter().collect(), after.iter().collect()])
}

#[test]
fn sides_take_turns_where_neither_has_three_runs_in_a_row() {
    assert_eq!(order_of(&[0, 2, 4, 6], &[1, 3, 5, 7]), Order::Turns);
    // A B B A, and so on.
    assert_eq!(order_of(&[0, 3, 4, 7], &[1, 2, 5, 6]), Order::Turns);
    assert_eq!(order_of(&[0, 2, 4], &[1, 3]), Order::Turns);
    assert_eq!(order_of(&[0, 1, 2], &[3, 4, 5]), Order::Blocks);
    assert_eq!(order_of(&[0, 1, 2, 6], &[3, 4, 5, 7]), Order::Blocks);
    // Many of the one between few of the other.
    assert_eq!(order_of(&[0, 1, 3, 4, 6, 7], &[2, 5]), Order::Blocks);
}

/// A run that began before the last had ended: of the order nothing is known.
#[test]
fn runs_that_overlap_are_in_no_order() {
    let [mut before, after] = [began(&[0, 2, 4, 6]), began(&[1, 3, 5, 7])];
    let order =
        |before: &[Run], after: &[Run]| order(&[before.iter().collect(), after.iter().collect()]);
    assert_eq!(order(&before, &after), Order::Turns);
    before[1].lasted_ns = 61_000_000_000;
    assert_eq!(order(&before, &after), Order::Blocks);
    let all = [&before, &after].map(|runs| runs.iter().collect::<Vec<_>>());
    let told = clock::overlap([&all[0], &all[1]]);
    let expected = "a run of latency began at 2026-01-01T00:03:00.000Z, 1 s before the one before it had ended";
    assert_eq!(told.as_deref(), Some(expected));
    // Two machines have two clocks.
    before[1].machine = "beta".to_owned();
    assert_eq!(order(&before, &after), Order::Turns);
}

/// A copy of a run is no run of its own, and nothing differs from itself.
#[test]
fn a_run_is_there_once() {
    let said = |before: &[u32], after: &[u32]| {
        twice(&[began(before), began(after)]).map(|error| error.to_string())
    };
    assert_eq!(said(&[0, 2, 4], &[1, 3, 5]), None);
    let told = "one run is there twice: latency, which began at 2026-01-01T00:02:00.000Z, in r2 and in r2; name each result once";
    assert_eq!(said(&[0, 2, 2], &[1, 3, 5]).as_deref(), Some(told));
    assert_eq!(said(&[0, 2, 4], &[1, 2, 5]).as_deref(), Some(told));
    // Another machine can begin at the same moment.
    let mut after = began(&[0, 2, 4]);
    after.iter_mut().for_each(|run| run.machine = "beta".to_owned());
    assert_eq!(twice(&[began(&[0, 2, 4]), after]), None);
    // What does not say when it began is known by its file alone.
    let presentation = Presentation::default();
    let files = |files: &[usize]| {
        let named = |&file: &usize| Named {
            name: format!("{file}.csv"),
            file,
            holds: Compared::Shown(&presentation),
        };
        files.iter().map(named).collect::<Vec<_>>()
    };
    let said = |before: &[usize], after: &[usize]| {
        let error = same_file([("before", &files(before)), ("after", &files(after))]);
        error.map(|error| error.to_string())
    };
    assert_eq!(said(&[0, 1], &[2, 3]), None);
    let told = said(&[0, 1], &[2, 1]).expect("it is on both sides");
    assert!(told.contains("1.csv (before) and 1.csv (after) are one file"), "{told}");
    assert!(
        said(&[0, 0], &[2, 1])
            .is_some_and(|told| told.contains("0.csv (before) and 0.csv (before)"))
    );
}

/// What a kernel leaves of one machine's memory is not the same to the page.
#[test]
fn the_same_machine_is_known_by_its_memory() {
    let run = |memory: &str| {
        let fact = |unit, value: &str| runs::Fact { unit, value: value.to_owned() };
        let place = |of: &str, id: &str| (of.to_owned(), id.to_owned());
        let memory = (place("client", "memory_bytes"), fact(Unit::Bytes, memory));
        let size = (place("latency", "setting.latency.size"), fact(Unit::Bytes, "64"));
        let facts = BTreeMap::from([memory, size]);
        began(&[0]).into_iter().map(|run| Run { facts: facts.clone(), ..run }).collect::<Vec<_>>()
    };
    let of = |before: &str, after: &str| differing(&[run(before), run(after)], &["latency"]);
    assert_eq!(of("25276510208", "25276502016"), []);
    let told = of("25276510208", "12638255104");
    assert_eq!(told[0].sentence(), "client memory_bytes (23.54 GiB, then 11.77 GiB)");
    assert_eq!(told.len(), 1);
}

#[test]
fn every_primary_figure_is_one_and_has_a_better_direction() {
    let mut all = 0;
    for group in groups() {
        for name in group.primary {
            let typed =
                ["", ".up"].map(|side| FigureId::find(&format!("{}.{name}{side}", group.name)));
            let found = typed.into_iter().find_map(Result::ok);
            let found = found.unwrap_or_else(|| panic!("{}.{name}", group.name));
            assert_ne!(found.figure().better, Better::Neither, "{}", found.text());
            all += 1;
        }
    }
    assert!(all > 10, "{all}");
}

#[test]
fn outcomes_follow_the_better_direction() {
    let of = |shift: f64, better| {
        let first = [0.0, 0.1, 0.2, 0.3, 0.4].map(|own| 100.0 + own);
        let second = first.map(|value| value + shift);
        let difference = Difference::between(&first, &second, 0.0, Order::Turns).expect("numbers");
        outcome(&difference, difference.p, better)
    };
    assert_eq!(of(9.0, Better::Higher), Outcome::Better);
    assert_eq!(of(-9.0, Better::Higher), Outcome::Worse);
    assert_eq!(of(9.0, Better::Lower), Outcome::Worse);
    assert_eq!(of(-9.0, Better::Lower), Outcome::Better);
    assert_eq!(of(9.0, Better::Neither), Outcome::More);
    assert_eq!(of(-9.0, Better::Neither), Outcome::Less);
    assert_eq!(of(0.05, Better::Higher), Outcome::NotShown);
}

#[test]
fn what_differs_in_several_measurements_in_the_same_way_is_told_once() {
    let differing = |of: &str, after: &str| Differing {
        of: of.to_owned(),
        id: "setting.goodput.congestion_control".to_owned(),
        before: vec!["cubic".to_owned()],
        after: vec![after.to_owned()],
        ..Differing::default()
    };
    let document = ComparisonDocument {
        differing: vec![differing("up", "reno"), differing("down", "reno"), differing("x", "bbr")],
        ..ComparisonDocument::default()
    };
    let told = presentation::presentation(&document);
    let rows: Vec<String> =
        told.sections[0].tables[0].rows.iter().map(|row| format!("{:?}", row.cells)).collect();
    assert_eq!(rows.len(), 2, "{rows:?}");
    assert!(rows[0].contains("reno") && rows[1].contains("bbr"), "{rows:?}");
}

/// A result of a server of this kind; of a version that did not say of which, none.
fn of_kind(name: Option<&str>, started_at: &str) -> Document {
    let peer = name.map(|name| PeerFacts { name: name.to_owned(), ..PeerFacts::default() });
    let hosts = Hosts { peer, ..Hosts::default() };
    let test = Test::new(LatencyPlan::probe(Frequency(1)).into(), None, Period::from_secs(1));
    let findings = Findings {
        name: "latency".to_owned(),
        test,
        substitutions: Vec::new(),
        start_ns: 0,
        duration_ns: 1,
        intervals: Vec::new(),
        client: EndReport { latency: Some(LatencyReport::default()), ..EndReport::default() },
        server: None,
        failed_there: Vec::new(),
    };
    let measurements = vec![assemble::measurement(findings, &hosts)];
    Document { started_at: started_at.to_owned(), measurements, hosts, ..Document::default() }
}

#[test]
fn other_ends_of_two_kinds_are_told_and_an_earlier_result_was_of_our_own() {
    let times = ["2026-01-01T00:00:00.000Z", "2026-01-01T01:00:00.000Z"];
    for (before, after, told) in [
        (Some("pathscope"), Some("toy"), true),
        (None, Some("toy"), true),
        (None, Some("pathscope"), false),
        (Some("toy"), Some("toy"), false),
    ] {
        let [before, after] = [of_kind(before, times[0]), of_kind(after, times[1])];
        let named = |file, document| {
            [Named { name: format!("{file}"), file, holds: Compared::Measured(document) }]
        };
        let compared = compare(&named(0, &before), &named(1, &after), &[]).expect("they compare");
        let differ = compared.caveats.iter().find(|caveat| caveat.name == "hosts_differ");
        let text = differ.map_or("", |caveat| &caveat.text);
        assert_eq!(text.contains("peer name (pathscope, then toy)"), told, "{text}");
    }
}
