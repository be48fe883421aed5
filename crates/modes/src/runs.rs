//! Several runs of the same tests as they stand in the document. What decides which is next is `repeats`'.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which run of its test a measurement is.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct Run {
    /// What the test is called in all of its runs: `goodput`.
    pub of: String,
    /// The number of the round that it is of, from 1: in each round every test is done once, on every side and at every point.
    pub round: u32,
    /// The settings that are swept, as they were in this run; empty where none is.
    pub point: Vec<Swept>,
    /// Which of two sides it is of; absent where there is one.
    pub side: Option<RunSide>,
}

/// A setting that is swept, as it was typed.
#[derive(
    Clone, Debug, Default, Deserialize, Eq, JsonSchema, Ord, PartialEq, PartialOrd, Serialize,
)]
#[serde(default)]
pub struct Swept {
    /// Its option, without dashes: `connections`.
    pub option: String,
    /// Its value: `4`.
    pub value: String,
}

/// One of two sides that take turns.
#[derive(
    Clone, Copy, Debug, Deserialize, Eq, JsonSchema, Ord, PartialEq, PartialOrd, Serialize,
)]
#[serde(rename_all = "snake_case")]
pub enum RunSide {
    /// The command as it was typed.
    A,
    /// The same with the words of `--interleave-with`.
    B,
}

impl RunSide {
    /// How it is told: `A`.
    pub fn name(self) -> &'static str {
        match self {
            Self::A => "A",
            Self::B => "B",
        }
    }
}

/// What was to be repeated, and how far that came.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct Rounds {
    /// The least number of rounds that was asked for.
    pub least: u32,
    /// The most.
    pub most: u32,
    /// The rounds that came to their end.
    pub done: u32,
    /// The settings that were swept, each with all its values, in order.
    pub sweep: Vec<Sweep>,
    /// The words in which side B differs, as they were typed; absent where there is one side.
    pub interleaved_with: Option<String>,
    /// What was to be known before it ended; absent where the rounds were counted alone.
    pub until: Option<Goal>,
}

/// A setting, and the values that it is to have.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct Sweep {
    /// Its option, without dashes.
    pub option: String,
    /// Its values as they were typed.
    pub values: Vec<String>,
}

/// How well a figure's median is to be known.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct Goal {
    /// As it was typed: `goodput.rate.up ±2.5%`.
    pub asked: String,
    /// Whether the 95 % interval of every median of it came to lie within that.
    pub reached: bool,
    /// How far the end of such an interval is from its median at the most, in the figure's base unit; absent where a median has no
    /// interval yet.
    pub widest: Option<f64>,
    /// The same as a share of that median.
    pub widest_share: Option<f64>,
    /// Whether no test of the first round had that figure, so that it ended there.
    pub is_absent: bool,
}

impl Run {
    /// The test, its point and its side, in words: what all of its rounds have in common.
    pub fn title(&self) -> String {
        let mut title = self.of.clone();
        for Swept { option, value } in &self.point {
            title = format!("{title}, {option}={value}");
        }
        if let Some(side) = self.side {
            title = format!("{title}, {}", side.name());
        }
        title
    }
}
