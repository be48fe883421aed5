//! What is decided of runs before any number is looked at. Comparisons of whole results are tests of the binary.

use super::*;
use crate::figures::{FigureId, groups};

fn began(minutes: &[u32]) -> Vec<Run> {
    let run = |minute: &u32| Run {
        name: "latency".to_owned(),
        began: (format!("2026-01-01T00:{minute:02}:00.000Z"), 0),
        numbers: Vec::new(),
        leading: Vec::new(),
        resolution_ns: 0.0,
        facts: BTreeSet::new(),
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
