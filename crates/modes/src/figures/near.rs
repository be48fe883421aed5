//! The id that was likely meant by one that there is not: a slip of the keyboard, or a word left out, as in `goodput.up`.
//!
//! Not here: ids themselves. Nothing is taken for what is only near.

use pathscope_core::edits::edits;

use super::found::{is_primary, sides, statistic, whole};
use super::{FigureDefinition, Group, Unit, groups};

/// So many words may be missing.
const MOST_WORDS: usize = 2;
/// So many letters may be wrong, and no more than a part of them.
const MOST_LETTERS: usize = 3;
const LETTERS_OF_ONE: usize = 5;

/// The nearest of all ids of single numbers, if any is near: of several those that a test is for come first.
pub(super) fn nearest(typed: &str) -> Option<String> {
    // A percentile may have a part behind its own point: p99.9.
    let ends = [1, 0].map(|points| typed.rmatch_indices('.').nth(points).map(|(at, _)| at + 1));
    let number = ends.into_iter().flatten().find_map(|from| statistic(&typed[from..]));
    let number = number.unwrap_or_else(|| "p50".to_owned());
    let of_group = |group: &'static Group| {
        let number = &number;
        group.figures.iter().flat_map(move |figure| ids(group, figure, number))
    };
    let near = groups().flat_map(of_group).filter_map(|id| Some((distance(typed, &id)?, id)));
    near.min_by_key(|(distance, id)| (*distance, !is_primary(id))).map(|(_, id)| id)
}

/// The ids of a figure that are single numbers; of a distribution with this number of it.
fn ids(group: &Group, figure: &FigureDefinition, number: &str) -> Vec<String> {
    let place = group.place_of(figure);
    if place.contains("[]") || place.contains('*') || figure.unit == Unit::Percentiles {
        return Vec::new();
    }
    let number = (figure.unit == Unit::Distribution).then_some(number);
    sides(&place).into_iter().map(|(side, _)| whole(group, figure, side, number)).collect()
}

/// How far an id is from what was typed: words that are missing, or letters that are wrong. `None` where it is too far to be meant.
fn distance(typed: &str, id: &str) -> Option<usize> {
    let mut rest = id.split('.');
    let has_all = typed.split('.').all(|word| rest.any(|other| other == word));
    let words = |text: &str| text.split('.').count();
    let missing = words(id).saturating_sub(words(typed));
    if has_all && missing <= MOST_WORDS {
        return Some(missing);
    }
    let length = typed.chars().count();
    let most = MOST_LETTERS.min(length / LETTERS_OF_ONE);
    // Whoever types a hundred thousand letters is not kept waiting.
    if length.abs_diff(id.chars().count()) > most {
        return None;
    }
    let letters = edits(typed, id);
    (letters <= most).then_some(letters)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_meant_is_the_nearest() {
        for (typed, meant) in [
            ("goodput.up", Some("goodput.rate.up")),
            ("goodput.rat.up", Some("goodput.rate.up")),
            ("goodputt.rate.down", Some("goodput.rate.down")),
            ("latency.p99", Some("latency.rtt.p99")),
            ("latency.rt.p99.9", Some("latency.rtt.p99.9")),
            ("rtt.p99", Some("latency.rtt.p99")),
            ("latency.loss", Some("latency.lost")),
            ("loaded.rtt_p50", Some("loaded.rtt.p50")),
            ("multipath.effective", Some("multipath.effective.p50")),
            ("media.played", None),
            ("speed", None),
            ("", None),
            (".", None),
            ("\u{1b}[2J", None),
            ("x".repeat(1 << 20).as_str(), None),
        ] {
            assert_eq!(nearest(typed).as_deref(), meant, "{typed:?}");
        }
    }
}
