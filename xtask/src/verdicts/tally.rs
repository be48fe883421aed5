//! Cells counted: by cause, and what was said beside what was true.

use std::collections::{BTreeMap, BTreeSet};

use super::outcome::{Outcome, name};

/// Of the verdicts that count, so many must be right.
pub const RIGHT: f64 = 0.95;

/// What some cells came to.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Spoilt ones apart.
    pub cells: usize,
    /// In which the cause was true.
    pub caused: usize,
    pub right: usize,
    pub sure: usize,
    pub sure_and_wrong: usize,
    pub spoilt: usize,
    /// How often what was said.
    pub said: BTreeMap<String, usize>,
}

impl Tally {
    pub fn of<'cell>(outcomes: impl IntoIterator<Item = &'cell Outcome>) -> Self {
        let mut tally = Self::default();
        for outcome in outcomes {
            if outcome.spoilt.is_some() {
                tally.spoilt += 1;
                continue;
            }
            tally.cells += 1;
            tally.caused += usize::from(outcome.is_true());
            tally.right += usize::from(outcome.is_right());
            tally.sure += usize::from(outcome.is_sure());
            tally.sure_and_wrong += usize::from(outcome.is_sure() && !outcome.is_right());
            *tally.said.entry(name(outcome.said())).or_default() += 1;
        }
        tally
    }

    pub fn right_share(&self) -> f64 {
        if self.cells == 0 { 0.0 } else { self.right as f64 / self.cells as f64 }
    }

    /// Whether enough is right, and nothing sure is wrong.
    pub fn holds(&self) -> bool {
        self.right_share() >= RIGHT && self.sure_and_wrong == 0
    }

    /// `network 7, send_buffer 2`
    pub fn said_in_words(&self) -> String {
        let said = self.said.iter().map(|(name, count)| format!("{name} {count}"));
        said.collect::<Vec<_>>().join(", ")
    }
}

/// How often what was said where what was true: names of columns, then rows of what was true and counts.
pub fn matrix(outcomes: &[Outcome]) -> (Vec<String>, Vec<(String, Vec<usize>)>) {
    let counted = || outcomes.iter().filter(|outcome| outcome.spoilt.is_none());
    let pair = |outcome: &Outcome| (name(outcome.expected()), name(outcome.said()));
    let truths: BTreeSet<String> = counted().map(|outcome| pair(outcome).0).collect();
    let said: BTreeSet<String> = counted().map(|outcome| pair(outcome).1).collect();
    let columns: Vec<String> = truths.union(&said).cloned().collect();
    let count = |truth: &String, said: &String| {
        counted().filter(|outcome| pair(outcome) == (truth.clone(), said.clone())).count()
    };
    let row = |truth: &String| {
        (truth.clone(), columns.iter().map(|said| count(truth, said)).collect::<Vec<_>>())
    };
    let rows = truths.iter().map(row).collect();
    (columns, rows)
}

#[cfg(test)]
mod tests {
    use super::Tally;

    #[test]
    fn nineteen_of_twenty_hold_unless_the_other_was_sure() {
        let tally = Tally { cells: 20, right: 19, ..Tally::default() };
        assert!(tally.holds());
        assert!(!Tally { sure_and_wrong: 1, ..tally.clone() }.holds());
        assert!(!Tally { right: 18, ..tally }.holds());
        assert!(!Tally::default().holds());
    }
}
