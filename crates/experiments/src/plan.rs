//! Experiments as data, and valid: every node is there, every figure is one, and what is expected can be derived.

use pathscope_core::quantity::Period;
use pathscope_lab::topology::Network;

use crate::programs::{Figure, Program};

/// All experiments of a file, on its network.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Where they are done.
    pub network: Network,
    /// The file that states all this, as it was read.
    pub source: String,
    /// In the order of the file.
    pub experiments: Vec<Experiment>,
}

/// Steps that belong together: one table.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// A short name, by which it is chosen: `1`.
    pub name: String,
    /// What it shows.
    pub title: String,
    /// One after the other.
    pub steps: Vec<Step>,
}

/// Runs that begin at the same instant, or one after another: one row.
#[derive(Clone, Debug)]
pub struct Step {
    /// What it is called.
    pub name: String,
    /// How often it is done; figures are then the median of all.
    pub repeat: u32,
    /// How long what is run in it lasts: `{seconds}` in a command.
    pub duration: Period,
    /// When what still runs is ended, where the file states it.
    pub stated_limit: Option<Period>,
    /// What is started.
    pub runs: Vec<Run>,
    /// What is to come of it.
    pub expectations: Vec<Expectation>,
}

/// One program on one node.
#[derive(Clone, Debug)]
pub struct Run {
    /// Unique in its step.
    pub name: String,
    /// On which node.
    pub from: String,
    /// With which other node it talks: `{to}` in a command.
    pub to: Option<String>,
    /// The run that has to end before it begins, by its place among those of the step; absent: it begins with the step.
    pub after: Option<usize>,
    /// What is started.
    pub program: Program,
    /// Its words, with `{to}` and `{seconds}` still in them.
    pub words: Vec<String>,
}

/// One figure, and what it may be.
#[derive(Clone, Debug)]
pub struct Expectation {
    /// Whose.
    pub of: Of,
    /// Which.
    pub figure: Figure,
    /// What it is called in tables; absent: by its id.
    pub label: Option<String>,
    /// Where no theory holds or another is meant: what it is to be.
    pub stated: Option<f64>,
    /// What others have published, to stand beside it.
    pub published: Option<f64>,
    /// How far below what is expected it may be; absent: any distance.
    pub below: Option<Tolerance>,
    /// How far above.
    pub above: Option<Tolerance>,
}

/// Whose figure it is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Of {
    /// Of one run, by its place in the step.
    Run(usize),
    /// Added up over all runs of the step that have it.
    Sum,
    /// Jain's index over all connections of all runs of the step that have it, 1 where all are equal (Jain, Chiu, Hawe 1984).
    Jain,
}

/// A distance from what is expected.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tolerance {
    /// In the figure's base unit.
    Absolute(f64),
    /// A share of what is expected.
    Relative(f64),
}

impl Tolerance {
    /// The distance from this.
    pub fn of(self, expected: f64) -> f64 {
        match self {
            Self::Absolute(distance) => distance,
            Self::Relative(share) => share * expected.abs(),
        }
    }
}

impl Plan {
    /// The longest that a step's programs may run.
    pub const LONGEST: Period = Period::from_secs(7_200);

    /// Those of these names; all where none is named. Unknown ones are told.
    pub fn only(mut self, names: &[String]) -> Result<Self, String> {
        let known = |name: &&String| self.experiments.iter().any(|it| &it.name == *name);
        if let Some(unknown) = names.iter().find(|name| !known(name)) {
            let all: Vec<&str> = self.experiments.iter().map(|it| it.name.as_str()).collect();
            return Err(format!(
                "there is no experiment '{unknown}'; the file has {}",
                all.join(", ")
            ));
        }
        if !names.is_empty() {
            self.experiments.retain(|it| names.contains(&it.name));
        }
        Ok(self)
    }

    /// The same with steps of another length.
    pub fn lasting(mut self, duration: Period) -> Self {
        for step in self.experiments.iter_mut().flat_map(|it| &mut it.steps) {
            step.duration = duration;
        }
        self
    }

    /// Programs that are started beside pathscope itself, each once.
    pub fn programs(&self) -> Vec<&str> {
        let steps = self.experiments.iter().flat_map(|it| &it.steps);
        let runs = steps.flat_map(|step| &step.runs);
        let mut names: Vec<&str> = runs.filter_map(Run::other_program).collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}

impl Step {
    /// When what still runs is ended. Where nothing is stated, each run may take twice its time and 20 s, if all came one after
    /// another.
    pub fn limit(&self) -> Period {
        let each = self.duration.0.saturating_mul(2).saturating_add(20_000_000_000);
        self.stated_limit.unwrap_or(Period(each.saturating_mul(self.runs.len() as u64)))
    }

    /// Whether two runs are under way at the same time, as far as the plan says.
    pub fn overlap(&self, one: usize, other: usize) -> bool {
        !self.precedes(one, other) && !self.precedes(other, one)
    }

    /// Whether one has to end before the other begins.
    fn precedes(&self, one: usize, other: usize) -> bool {
        let mut at = self.runs[other].after;
        while let Some(before) = at {
            if before == one {
                return true;
            }
            at = self.runs[before].after;
        }
        false
    }
}

impl Run {
    /// The program's name on this machine, where it is not pathscope.
    fn other_program(&self) -> Option<&str> {
        match self.program {
            Program::Pathscope => None,
            _ => self.words.first().map(String::as_str),
        }
    }
}
