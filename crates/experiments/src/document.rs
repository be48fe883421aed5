//! The document that experiments end with: what each step's programs found, whole, and what was to come of it beside what did.
//!
//! A promise like the document of one run: numbers in base units, absent is null, fields are added and none changes its
//! meaning.

use pathscope_core::record::{Caveat, Host, Tool};
use pathscope_modes::document::{Document, Outcome, SchemaError, SchemaId};
use pathscope_modes::figures::Unit;
use schemars::{JsonSchema, Schema, schema_for};
use serde::{Deserialize, Serialize};

/// The version that this program writes.
pub const SCHEMA_VERSION: u32 = 1;
/// The name that says whose schema it is.
pub const SCHEMA_NAME: &str = "pathscope-experiments";

/// All experiments of a file, done once.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct ExperimentsDocument {
    /// Whose schema this is, and which version of it.
    pub schema: SchemaId,
    /// The program that wrote it.
    pub tool: Tool,
    /// The command line, word by word.
    pub command: Vec<String>,
    /// When they began, RFC 3339, UTC.
    pub started_at: String,
    /// From their begin to their end.
    pub duration_ns: u64,
    /// How they ended.
    pub outcome: Outcome,
    /// The machine.
    pub host: Host,
    /// Where they were done.
    pub lab: LabFacts,
    /// In the order of the file.
    pub experiments: Vec<ExperimentResult>,
    /// What to mind in all of them.
    pub caveats: Vec<Caveat>,
}

impl Default for ExperimentsDocument {
    fn default() -> Self {
        Self {
            schema: SchemaId { name: SCHEMA_NAME.to_owned(), version: SCHEMA_VERSION },
            tool: Tool::default(),
            command: Vec::new(),
            started_at: String::new(),
            duration_ns: 0,
            outcome: Outcome::default(),
            host: Host::default(),
            lab: LabFacts::default(),
            experiments: Vec::new(),
            caveats: Vec::new(),
        }
    }
}

/// The network, as it was put up.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct LabFacts {
    /// What it is called.
    pub name: String,
    /// What it is made of, in a few words.
    pub summary: String,
    /// The conditions of its shaped links, in words: `r1:r2: rate=40Mbit delay=10ms queue=67p`.
    pub links: Vec<String>,
    /// Who applied them.
    pub shaper: String,
    /// What the chances of its links were drawn from.
    pub seed: u64,
    /// The file that states it and what is done on it, as it was read: whoever has this document can do it again. Absent in
    /// documents of earlier versions.
    pub source: Option<String>,
}

/// One experiment.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct ExperimentResult {
    /// By which it is chosen.
    pub name: String,
    /// What it shows.
    pub title: String,
    /// Its steps, in order; those that were not begun are not here.
    pub steps: Vec<StepResult>,
}

/// One step.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct StepResult {
    /// What it is called.
    pub name: String,
    /// Each time that it was done, in order.
    pub attempts: Vec<Attempt>,
    /// What was to come of it, and what did.
    pub figures: Vec<FigureResult>,
}

/// A step, done once.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct Attempt {
    /// Which repetition it is of, from 0. The last attempt of each counts.
    pub repetition: u32,
    /// Its begin, in time since the begin of the document.
    pub start_ns: u64,
    /// From the instant at which its programs were let go to the end of the last.
    pub duration_ns: u64,
    /// What the lab, and not the path, did to packets meanwhile: sentences. With any of these it is invalid.
    pub shortcomings: Vec<String>,
    /// Why it came to nothing: a server that did not start, a program that had to be ended. Others' results stand.
    pub failure: Option<String>,
    /// Its programs.
    pub runs: Vec<RunResult>,
}

/// One program.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct RunResult {
    /// What it is called in its step.
    pub name: String,
    /// On which node it ran.
    pub from: String,
    /// With which it talked.
    pub to: Option<String>,
    /// The command, word by word.
    pub command: Vec<String>,
    /// Its begin, in time since the instant at which the first programs of the step were let go; absent where it never began.
    pub start_ns: Option<u64>,
    /// How long it ran.
    pub duration_ns: Option<u64>,
    /// Its exit code; absent where it had none.
    pub exit_code: Option<i32>,
    /// Why its figures are missing, or not to be believed: a sentence.
    pub fault: Option<String>,
    /// Of pathscope: its document.
    pub document: Option<Box<Document>>,
    /// Of another program: what it printed.
    pub output: Option<String>,
    /// The last that it said on its other output.
    pub complaint: Option<String>,
}

/// A figure beside what it was to be.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct FigureResult {
    /// Its id: `ping.rtt.mean`.
    pub figure: String,
    /// What it is called in tables.
    pub label: String,
    /// Whose it is.
    pub of: Whose,
    /// What it is a number of. Numbers are in its base unit: bit/s, nanoseconds, shares of 1.
    pub unit: Unit,
    /// What the links promise, or the file states; absent where neither does.
    pub expected: Option<f64>,
    /// Whether it is the file that states it.
    pub is_stated: bool,
    /// What others have published.
    pub published: Option<f64>,
    /// What was measured: the median of all repetitions.
    pub measured: Option<f64>,
    /// Each of them; absent where a repetition did not have it.
    pub values: Vec<Option<f64>>,
    /// The least that is allowed; absent where anything is.
    pub least: Option<f64>,
    /// The most that is allowed; absent where anything is.
    pub most: Option<f64>,
    /// How it compares.
    pub state: State,
}

/// Whose figure it is.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Whose {
    /// That of a program.
    Run {
        /// What it is called in its step.
        name: String,
        /// On which node it ran, and with which it talked.
        between: String,
    },
    /// The sum over all programs of the step.
    Sum,
    /// Jain's index over all connections of all programs of the step.
    Jain,
    /// Somebody's whom this version does not know.
    #[default]
    #[serde(other)]
    Unknown,
}

/// How a figure compares with what was expected.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// It is within what is allowed.
    Within,
    /// It is not.
    Outside,
    /// It was not measured, or not each time.
    Missing,
    /// A distance is allowed, and the links promise nothing here that it could be from.
    NotPromised,
    /// Any distance is allowed.
    #[default]
    NotJudged,
    /// A state that this version does not know.
    #[serde(other)]
    Unknown,
}

impl ExperimentsDocument {
    /// Whether a text is one, as far as its head tells; whatever else it is, it is not.
    pub fn is_one(text: &str) -> bool {
        SchemaId::is_named(text, SCHEMA_NAME)
    }

    /// Reads a document of this or any earlier version.
    pub fn from_json(text: &str) -> Result<Self, SchemaError> {
        SchemaId::read(text, "a result of experiments", SCHEMA_VERSION)
    }

    /// Of the step that ended last, how many things are not as they should be.
    pub fn faults_of_last(&self) -> usize {
        let last = self.experiments.last().and_then(|it| it.steps.last());
        last.map_or(0, |step| step.faults().len())
    }

    /// What did not come out as it should, as sentences.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        for experiment in &self.experiments {
            for step in &experiment.steps {
                let place = format!("{}, {}", experiment.name, step.name);
                faults.extend(step.faults().iter().map(|fault| format!("{place}: {fault}")));
            }
        }
        faults
    }
}

impl StepResult {
    /// The attempts that count: the last of each repetition.
    pub fn counted(&self) -> impl Iterator<Item = &Attempt> {
        let attempts = self.attempts.iter().enumerate();
        attempts.filter_map(|(index, attempt)| {
            let next = self.attempts.get(index + 1);
            next.is_none_or(|next| next.repetition != attempt.repetition).then_some(attempt)
        })
    }

    /// What did not come out as it should, as sentences.
    pub(crate) fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        for attempt in self.counted() {
            faults.extend(attempt.failure.iter().cloned());
            let runs = attempt.runs.iter();
            let failed = runs.filter_map(|run| Some((run, run.fault.as_ref()?)));
            faults.extend(failed.map(|(run, fault)| format!("{}: {fault}", run.name)));
            faults.extend(attempt.shortcomings.iter().cloned());
        }
        let figures = self.figures.iter();
        let outside = figures
            .filter(|it| matches!(it.state, State::Outside | State::Missing | State::NotPromised));
        faults.extend(outside.map(FigureResult::sentence));
        faults
    }
}

/// The JSON Schema of what this version writes.
pub fn schema() -> Schema {
    schema_for!(ExperimentsDocument)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_version_is_told_apart_from_what_is_none() {
        let later = r#"{"schema":{"name":"pathscope-experiments","version":9},"experiments":7}"#;
        assert!(ExperimentsDocument::is_one(later));
        let error = ExperimentsDocument::from_json(later).expect_err("too new").to_string();
        assert!(error.contains("version 9") && error.contains("use a newer one"), "{error}");
        assert!(!ExperimentsDocument::is_one(
            r#"{"schema":{"name":"pathscope-document","version":1}}"#
        ));
        assert!(!ExperimentsDocument::is_one("hello"));
    }

    #[test]
    fn a_state_of_a_later_version_is_read_and_is_no_fault() {
        let text = r#"{"schema":{"name":"pathscope-experiments","version":1},
            "experiments":[{"steps":[{"figures":[{"figure":"x","of":"nobody","state":"shiny"}]}]}]}"#;
        let document = ExperimentsDocument::from_json(text).expect("a document");
        let figure = &document.experiments[0].steps[0].figures[0];
        assert_eq!((figure.state, &figure.of), (State::Unknown, &Whose::Unknown));
        assert_eq!(document.faults(), [""; 0]);
        let again = serde_json::to_string(&document).expect("plain data");
        assert_eq!(ExperimentsDocument::from_json(&again).expect("its own text"), document);
    }

    #[test]
    fn the_last_attempt_of_each_repetition_counts() {
        let attempt =
            |repetition, duration_ns| Attempt { repetition, duration_ns, ..Attempt::default() };
        let attempts =
            vec![attempt(0, 1), attempt(0, 2), attempt(1, 3), attempt(2, 4), attempt(2, 5)];
        let step = StepResult { attempts, ..StepResult::default() };
        let counted: Vec<u64> = step.counted().map(|attempt| attempt.duration_ns).collect();
        assert_eq!(counted, [2, 3, 5]);
    }
}
