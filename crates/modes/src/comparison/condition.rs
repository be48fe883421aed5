//! What must not change: `goodput.rate.up -5%` fails where that figure fell by more than 5 %, and that is shown.

use std::str::FromStr;

use pathscope_core::finding::Finding as _;
use pathscope_core::quantity::{ratio, shown};
use pathscope_core::record::Check;
use pathscope_core::stats::{Telling, holm};
use thiserror::Error;

use super::document::{ComparedFigure, ComparedMeasurement};
use super::findings::ComparisonCheck;
use crate::figures::{FigureId, FigureIdError, read, told};

/// A figure, and how far it may move.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// As it was typed.
    typed: String,
    figure: FigureId,
    direction: Direction,
    most: Most,
}

/// Which way it must not move.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Direction {
    Up,
    Down,
    Either,
}

/// How far it may move that way.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Most {
    /// A share of what it was.
    Share(f64),
    /// A number in the figure's base unit.
    Number(f64),
}

/// Why a text is no condition.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
pub enum ConditionError {
    /// It names no direction.
    #[error(
        "'{}' names no change: write a figure, - or + or ±, and how much, as in 'goodput.rate.up -5%'",
        shown(.0)
    )]
    NoDirection(String),
    /// It begins with no figure.
    #[error(transparent)]
    Figure(#[from] FigureIdError),
    /// It ends with no amount.
    #[error("'{}' is no change of {figure}: {why}", shown(amount))]
    Amount {
        /// As it was typed.
        amount: String,
        /// The figure's id.
        figure: String,
        /// What one is.
        why: String,
    },
}

impl FromStr for Condition {
    type Err = ConditionError;

    fn from_str(typed: &str) -> Result<Self, ConditionError> {
        let signs = [('-', Direction::Down), ('+', Direction::Up), ('±', Direction::Either)];
        let parts = typed.char_indices().find_map(|(at, sign)| {
            let (_, direction) = signs.iter().find(|(it, _)| *it == sign)?;
            Some((&typed[..at], *direction, &typed[at + sign.len_utf8()..]))
        });
        let (figure, direction, amount) =
            parts.ok_or_else(|| ConditionError::NoDirection(typed.to_owned()))?;
        let (figure, amount) = (FigureId::find(figure.trim())?, amount.trim());
        let wrong = |why: &str| ConditionError::Amount {
            amount: amount.to_owned(),
            figure: figure.text().to_owned(),
            why: why.to_owned(),
        };
        let most = match amount.strip_suffix('%') {
            Some(percent) => {
                let percent = percent.trim_end().parse::<f64>().ok();
                let percent = percent.ok_or_else(|| wrong("write a share, as 5%"))?;
                Most::Share(percent / 100.0)
            }
            None => Most::Number(read(figure.unit(), amount).map_err(|why| wrong(&why))?),
        };
        let (Most::Share(amount_of) | Most::Number(amount_of)) = most;
        if !(amount_of >= 0.0 && amount_of.is_finite()) {
            return Err(wrong("write how much without a sign of its own, 0 or more"));
        }
        Ok(Self { typed: typed.trim().to_owned(), figure, direction, most })
    }
}

/// Judges what must not change, of every measurement that has the figure. What none has cannot be told, and does not hold.
pub(super) fn judge(conditions: &[Condition], measurements: &[ComparedMeasurement]) -> Vec<Check> {
    let mut judged = Vec::new();
    for condition in conditions {
        let id = condition.figure.id();
        let figures = measurements.iter().flat_map(|measurement| {
            let own = measurement.figures.iter().filter(|it| it.figure == id && it.entry.is_none());
            own.map(move |figure| (measurement, figure))
        });
        let before = judged.len();
        judged.extend(figures.map(|it| (condition, Some(it))));
        if judged.len() == before {
            judged.push((condition, None));
        }
    }
    // Of many that are asked about, one seems to have moved where nothing did: all together are held to one in twenty.
    let p = |(_, of): &(_, Option<(_, &ComparedFigure)>)| of.map_or(1.0, |(_, it)| it.difference.p);
    let together = holm(&judged.iter().map(p).collect::<Vec<_>>());
    let judged = judged.into_iter().zip(together);
    judged.map(|((condition, of), p)| condition.check(of, p)).collect()
}

impl Condition {
    fn check(&self, of: Option<(&ComparedMeasurement, &ComparedFigure)>, p: f64) -> Check {
        let Self { typed, figure, .. } = self;
        let check = |passed: bool, text: String| {
            let name = ComparisonCheck::NotChanged.name().to_owned();
            Check { name, passed, text: format!("{typed}: {text}") }
        };
        let Some((measurement, it)) = of else {
            let more = figure.statistic().filter(|it| it.starts_with('p'));
            let more = more.map_or("", |_| "; a percentile needs enough samples in each run");
            let text = format!("it cannot be told, since not both sides have this figure{more}");
            return check(false, text);
        };
        let place = &measurement.name;
        let [before, after] = [it.before.len(), it.after.len()];
        let unit = figure.unit();
        let moved = format!(
            "{}, {} to {}, in {place}",
            change(it),
            told(unit, it.before_median),
            told(unit, it.after_median)
        );
        match it.difference.telling(p) {
            Telling::TooFewRuns => check(
                false,
                format!(
                    "of {before} and {after} runs no difference can be told, in {place}; five of each, or better fifteen"
                ),
            ),
            Telling::Shown if self.is_beyond(it) => check(false, moved),
            Telling::Shown => check(true, moved),
            Telling::NotShown => check(
                true,
                format!("no difference is shown by {before} and {after} runs, in {place}"),
            ),
        }
    }

    /// Whether the estimate is beyond what is allowed.
    fn is_beyond(&self, figure: &ComparedFigure) -> bool {
        let shift = figure.difference.shift;
        let that_way = match self.direction {
            Direction::Up => shift,
            Direction::Down => -shift,
            Direction::Either => shift.abs(),
        };
        let most = match self.most {
            Most::Share(share) => share * figure.before_median.abs(),
            Most::Number(number) => number,
        };
        that_way > most
    }
}

/// How far a figure moved, in words: `+3.1 %`, or in its unit where it was nothing before.
pub(super) fn change(figure: &ComparedFigure) -> String {
    amount(figure, figure.difference.shift)
}

/// A shift of this figure in words.
pub(super) fn amount(figure: &ComparedFigure, shift: f64) -> String {
    let sign = if shift < 0.0 { "-" } else { "+" };
    let before = figure.before_median.abs();
    let much =
        if before > 0.0 { ratio(shift.abs() / before) } else { told(figure.unit, shift.abs()) };
    format!("{sign}{much}")
}

/// The least and the most of a shift, in words.
pub(super) fn between(figure: &ComparedFigure, low: f64, high: f64) -> String {
    let [low, high] = [low, high].map(|shift| amount(figure, shift));
    match (low.strip_suffix(" %"), high.ends_with(" %")) {
        (Some(low), true) => format!("{low} to {high}"),
        _ => format!("{low} to {high}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_is_a_figure_a_direction_and_an_amount() {
        for (typed, direction, most) in [
            ("goodput.rate.up -5%", Direction::Down, Most::Share(0.05)),
            ("latency.rtt.p99+2ms", Direction::Up, Most::Number(2e6)),
            ("latency.rtt.p99 ± 10 %", Direction::Either, Most::Share(0.1)),
            ("latency.lost +0", Direction::Up, Most::Number(0.0)),
            ("goodput.rate.down -1Mbit", Direction::Down, Most::Number(1e6)),
        ] {
            let condition: Condition = typed.parse().expect(typed);
            assert_eq!((condition.direction, condition.most), (direction, most), "{typed}");
        }
    }

    #[test]
    fn what_is_no_condition_is_refused_with_what_one_is() {
        let error = |typed: &str| typed.parse::<Condition>().expect_err(typed).to_string();
        assert!(error("goodput.rate.up").contains("write a figure, - or + or ±"));
        assert!(error("speed -5%").contains("there is no figure speed"));
        assert!(error("goodput.rate -5%").contains("write goodput.rate.up"));
        assert!(error("goodput.rate.up -5x%").contains("write a share, as 5%"));
        assert!(error("goodput.rate.up -fast").contains("is no change of goodput.rate.up"));
        assert!(error("goodput.rate.up --5%").contains("without a sign of its own"));
        assert!(error("goodput.rate.up -NaN%").contains("without a sign of its own"));
        assert!(error("").contains("names no change"));
    }
}
