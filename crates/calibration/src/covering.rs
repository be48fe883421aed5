//! Covering designs: few cells in which every pair of settings is met at least once (Cohen, Dalal, Fredman, Patton: "The AETG
//! system", IEEE Transactions on Software Engineering 23(7), 1997). Most faults need one setting, or two that meet.
//!
//! Not here: what the settings mean.

use std::collections::BTreeSet;

/// The places of values in a cell, one of each axis.
pub type Choice = Vec<usize>;

/// Two values that may meet: axis and value of each.
type Pair = ((usize, usize), (usize, usize));

/// Cells that together hold every pair that some possible cell holds. `sizes` is how many values each axis has. The same
/// question has the same answer always.
pub fn cover(sizes: &[usize], is_possible: &dyn Fn(&[usize]) -> bool) -> Vec<Choice> {
    let possible: Vec<Choice> = all(sizes).filter(|choice| is_possible(choice)).collect();
    let mut open: BTreeSet<Pair> = possible.iter().flat_map(|choice| pairs(choice)).collect();
    let mut cells = Vec::new();
    while !open.is_empty() {
        let gain = |choice: &Choice| pairs(choice).filter(|pair| open.contains(pair)).count();
        // The first of the best.
        let best = possible.iter().rev().max_by_key(|choice| gain(choice));
        let Some(best) = best else { break };
        for pair in pairs(best) {
            open.remove(&pair);
        }
        cells.push(best.clone());
    }
    cells
}

/// Every choice there is, the last axis first.
fn all(sizes: &[usize]) -> impl Iterator<Item = Choice> + '_ {
    let number: usize = sizes.iter().product();
    (0..number).map(|number| {
        let mut rest = number;
        let mut choice: Choice = sizes
            .iter()
            .rev()
            .map(|&size| {
                let value = rest % size;
                rest /= size;
                value
            })
            .collect();
        choice.reverse();
        choice
    })
}

fn pairs(choice: &[usize]) -> impl Iterator<Item = Pair> + '_ {
    (0..choice.len()).flat_map(move |one| {
        (one + 1..choice.len()).map(move |other| ((one, choice[one]), (other, choice[other])))
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::{any, prop, proptest};

    use super::{all, cover, pairs};

    #[test]
    fn three_axes_of_two_need_four_cells() {
        let cells = cover(&[2, 2, 2], &|_| true);
        assert_eq!(cells, [[0, 0, 0], [0, 1, 1], [1, 0, 1], [1, 1, 0]]);
    }

    #[test]
    fn what_cannot_be_is_in_no_cell_and_costs_no_other_pair() {
        // The second value of the first axis goes with none but the first of the second.
        let is_possible = |choice: &[usize]| choice[0] == 0 || choice[1] == 0;
        let cells = cover(&[2, 3, 2], &is_possible);
        assert!(cells.iter().all(|cell| is_possible(cell)), "{cells:?}");
        assert!(cells.iter().any(|cell| cell[0] == 1 && cell[2] == 1), "{cells:?}");
        assert!(cells.iter().any(|cell| cell[1] == 2 && cell[2] == 1), "{cells:?}");
    }

    #[test]
    fn nothing_possible_is_no_cell() {
        assert!(cover(&[2, 2], &|_| false).is_empty());
        assert!(cover(&[3, 0], &|_| true).is_empty());
    }

    proptest! {
        #[test]
        fn every_pair_is_met(sizes in prop::collection::vec(1_usize..5, 2..6), seed in any::<u32>()) {
            // An arbitrary seventh of all is impossible.
            let is_possible = |choice: &[usize]| {
                let sum = choice.iter().fold(seed as usize, |sum, it| sum.wrapping_mul(31) + it);
                !sum.is_multiple_of(7)
            };
            let cells = cover(&sizes, &is_possible);
            let met: BTreeSet<_> = cells.iter().flat_map(|cell| pairs(cell)).collect();
            let possible = all(&sizes).filter(|choice| is_possible(choice));
            let to_meet: BTreeSet<_> =
                possible.flat_map(|choice| pairs(&choice).collect::<Vec<_>>()).collect();
            assert_eq!(met, to_meet);
        }
    }
}
