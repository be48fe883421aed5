//! How far a figure may move, as people type it: `goodput.rate.up -5%`, `latency.rtt.p99 +2ms`, `goodput.rate.up ±2.5%`.
//!
//! Not here: whether it moved, which comparisons and repetitions judge each in its way.

use std::str::FromStr;

use pathscope_core::quantity::shown;
use thiserror::Error;

use crate::figures::{FigureId, FigureIdError, Unit, read};

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
        "'{}' names no change: write a figure, - or + or ±, and how much, as in 'goodput.rate.up ±5%'",
        shown(.0)
    )]
    NoDirection(String),
    /// It asks for what several runs come to, which it is about anyway.
    #[error(
        "'{}': '@' is of --assert; a comparison and --until are about the median of the runs anyway, so leave it out",
        shown(.0)
    )]
    Median(String),
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
        if figure.contains('@') {
            return Err(ConditionError::Median(figure.trim().to_owned()));
        }
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
        if figure.is_never_negative() && amount_of >= 1.0 {
            match (direction, most) {
                // Meant is a rise, or another place of the point: it would hold whatever is measured.
                (Direction::Down, Most::Share(_)) => {
                    return Err(wrong(
                        "nothing falls by more than all of it, so write less than 100%",
                    ));
                }
                (_, Most::Number(_)) if figure.unit() == Unit::Share => {
                    let why = "a share is 0 to 1 and moves by less, so write as much as 0.05, or 5% of what it was";
                    return Err(wrong(why));
                }
                _ => {}
            }
        }
        Ok(Self { typed: typed.trim().to_owned(), figure, direction, most })
    }
}

impl Condition {
    /// As it was typed.
    pub fn text(&self) -> &str {
        &self.typed
    }

    /// The figure.
    pub fn figure(&self) -> &FigureId {
        &self.figure
    }

    /// Whether neither way is free.
    pub fn is_either_way(&self) -> bool {
        self.direction == Direction::Either
    }

    /// Whether it allows nothing of what is measured, which hardly ever is the same twice: counts are.
    pub fn is_exact(&self) -> bool {
        match self.most {
            Most::Share(share) => share <= 0.0,
            Most::Number(number) => number <= 0.0 && self.figure.unit() != Unit::Count,
        }
    }

    /// How far it may move as a share of what it was, where it was typed as one.
    pub fn share(&self) -> Option<f64> {
        match self.most {
            Most::Share(share) => Some(share),
            Most::Number(_) => None,
        }
    }

    /// How far it may move, where it was this much.
    pub fn most_of(&self, number: f64) -> f64 {
        match self.most {
            Most::Share(share) => share * number.abs(),
            Most::Number(number) => number,
        }
    }

    /// Whether what moved by `moved` is beyond `most` in the direction in which it must not be.
    pub fn is_beyond(&self, moved: f64, most: f64) -> bool {
        let that_way = match self.direction {
            Direction::Up => moved,
            Direction::Down => -moved,
            Direction::Either => moved.abs(),
        };
        that_way > most
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
        assert!(error("latency.rtt.p50@median ±5%").contains("so leave it out"));
        assert!(error("goodput.up -5%").contains("did you mean goodput.rate.up?"));
        assert!(error("speed -5%").contains("there is no figure speed"));
        assert!(error("goodput.rate -5%").contains("write goodput.rate.up"));
        assert!(error("goodput.rate.up -5x%").contains("write a share, as 5%"));
        assert!(error("goodput.rate.up -fast").contains("is no change of goodput.rate.up"));
        assert!(error("goodput.rate.up --5%").contains("without a sign of its own"));
        assert!(error("goodput.rate.up -NaN%").contains("without a sign of its own"));
        assert!(error("").contains("names no change"));
    }

    /// Slips that would hold whatever is measured.
    #[test]
    fn what_cannot_fail_is_refused() {
        let error = |typed: &str| typed.parse::<Condition>().expect_err(typed).to_string();
        for typed in ["latency.rtt.p50 -500%", "latency.rtt.p50 -100%", "goodput.rate.up -100 %"] {
            assert!(error(typed).contains("write less than 100%"), "{}", error(typed));
        }
        for typed in ["datagrams.lost_share.up +5", "media.played_share.down -1"] {
            assert!(error(typed).contains("a share is 0 to 1"), "{}", error(typed));
        }
        for typed in [
            "latency.rtt.p50 +500%",
            "latency.rtt.p50 -99.9%",
            "latency.rtt.p50 ±100%",
            "datagrams.lost_share.up +150%",
            "datagrams.lost_share.up +0.5",
            // These are negative at times.
            "latency.drift -200%",
            "latency.drift.change -2",
            "multipath.mean_improvement -2",
        ] {
            assert!(typed.parse::<Condition>().is_ok(), "{typed}");
        }
    }

    #[test]
    fn what_is_measured_is_not_known_exactly() {
        let is_exact = |typed: &str| typed.parse::<Condition>().expect(typed).is_exact();
        for typed in ["latency.rtt.p50 ±0%", "latency.rtt.p50 ±0ms", "latency.lost ±0%"] {
            assert!(is_exact(typed), "{typed}");
        }
        assert!(!is_exact("latency.lost ±0") && !is_exact("latency.rtt.p50 ±1%"));
    }
}
