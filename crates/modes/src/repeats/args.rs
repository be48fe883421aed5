//! The words for repeating: how often, until what is known, over which values.

use std::str::FromStr;

use clap::Args;
use pathscope_core::quantity::shown;
use thiserror::Error;

use crate::condition::Condition;
use crate::runs::Sweep;

/// What every command that measures can be asked for besides.
#[derive(Args, Clone, Debug)]
pub struct RepeatArgs {
    /// Do all of it so many times, in one result: 15; with --until at least and at most, as 6..30
    #[arg(long, value_name = "TIMES")]
    pub repeat: Option<Times>,
    /// Repeat until the median of this figure is known so well, with 95 % probability: 'goodput.rate.up ±2.5%'
    #[arg(long, value_name = "FIGURE ±SHARE", requires = "repeat")]
    pub until: Option<Condition>,
    /// Let each run take turns with one that has these words besides, in one result: --interleave-with '--congestion reno'
    #[arg(long, value_name = "WORDS", requires = "repeat", allow_hyphen_values = true)]
    pub interleave_with: Option<String>,
    /// Do it with each of these values of an option, in one result: connections=1,2,4; several: with every combination
    #[arg(long, value_name = "OPTION=VALUES")]
    pub sweep: Vec<Sweep>,
}

impl RepeatArgs {
    /// Whether there is more than one run of a test.
    pub fn is_asked_for(&self) -> bool {
        self.repeat.is_some() || !self.sweep.is_empty()
    }
}

/// How often something is done.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Times {
    /// At least.
    pub least: u32,
    /// At the most.
    pub most: u32,
}

/// The most rounds of one run.
const MOST: u32 = 1_000;

/// Why words say nothing that can be repeated.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
pub enum RepeatError {
    /// No number of times.
    #[error("'{}' is no number of times: write 15, or 5..30 with --until, up to {MOST}", shown(.0))]
    Times(String),
    /// No list of values.
    #[error(
        "'{}' is no sweep: write an option without its dashes and its values, as in connections=1,2,4",
        shown(.0)
    )]
    Sweep(String),
    /// A value that would be measured twice.
    #[error("--sweep {option}: {} stands there twice; write each value once", shown(value))]
    Twice {
        /// The option.
        option: String,
        /// Its value.
        value: String,
    },
}

impl FromStr for Times {
    type Err = RepeatError;

    fn from_str(typed: &str) -> Result<Self, RepeatError> {
        let number = |text: &str| text.trim().parse().ok().filter(|it| (1..=MOST).contains(it));
        let times = match typed.split_once("..") {
            Some((least, most)) => number(least).zip(number(most)),
            None => number(typed).map(|times| (times, times)),
        };
        let times = times.filter(|(least, most)| least <= most);
        let (least, most) = times.ok_or_else(|| RepeatError::Times(typed.to_owned()))?;
        Ok(Self { least, most })
    }
}

impl FromStr for Sweep {
    type Err = RepeatError;

    fn from_str(typed: &str) -> Result<Self, RepeatError> {
        let error = || RepeatError::Sweep(typed.to_owned());
        let (option, values) = typed.split_once('=').ok_or_else(error)?;
        let option = option.trim().trim_start_matches('-');
        let values: Vec<String> = values.split(',').map(|value| value.trim().to_owned()).collect();
        let is_word = option.chars().all(|it| it.is_ascii_alphanumeric() || it == '-');
        if option.is_empty() || !is_word || values.iter().any(String::is_empty) {
            return Err(error());
        }
        let twice = values.iter().enumerate().find(|(at, value)| values[..*at].contains(value));
        if let Some((_, value)) = twice {
            return Err(RepeatError::Twice { option: option.to_owned(), value: value.clone() });
        }
        Ok(Self { option: option.to_owned(), values })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_of_times_is_one_or_a_range() {
        let times = |typed: &str| typed.parse::<Times>().map(|it| (it.least, it.most)).ok();
        assert_eq!(times("15"), Some((15, 15)));
        assert_eq!(times("5..30"), Some((5, 30)));
        for typed in ["", "0", "0..4", "9..4", "1001", "5..", "many", "-1"] {
            assert_eq!(times(typed), None, "{typed}");
        }
    }

    #[test]
    fn a_sweep_is_an_option_and_its_values() {
        let sweep = |typed: &str| typed.parse::<Sweep>().map(|it| (it.option, it.values)).ok();
        let values = |all: &[&str]| all.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
        assert_eq!(
            sweep("connections=1,2, 4"),
            Some(("connections".to_owned(), values(&["1", "2", "4"])))
        );
        assert_eq!(sweep("--buffer=64KiB"), Some(("buffer".to_owned(), values(&["64KiB"]))));
        for typed in ["", "connections", "=1", "connections=", "connections=1,,2", "a b=1"] {
            assert_eq!(sweep(typed), None, "{typed}");
        }
        let twice = "size=1,2, 1".parse::<Sweep>().expect_err("it has a value twice").to_string();
        assert_eq!(twice, "--sweep size: 1 stands there twice; write each value once");
    }
}
