//! The document of a comparison: whose runs there were, what differs around them, and every figure of both sides with what its
//! difference comes to.
//!
//! A promise like the document of one run: numbers in base units, absent is null, fields are added and none changes its meaning.

use pathscope_core::figure::{Better, Unit};
use pathscope_core::record::{Caveat, Check, Tool};
use pathscope_core::stats::{Difference, Order};
use schemars::{JsonSchema, Schema, schema_for};
use serde::{Deserialize, Serialize};

use crate::amount::told;
use crate::schema::{SchemaError, SchemaId};

/// The version that this program writes.
pub const SCHEMA_VERSION: u32 = 1;
/// The name that says whose schema it is.
pub const SCHEMA_NAME: &str = "pathscope-comparison";

/// Runs before and after a change.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct ComparisonDocument {
    /// Whose schema this is, and which version of it.
    pub schema: SchemaId,
    /// The program that wrote it.
    pub tool: Tool,
    /// The command line, word by word.
    pub command: Vec<String>,
    /// What the others are compared with.
    pub before: Side,
    /// What is compared.
    pub after: Side,
    /// What is not the same on both sides besides figures: settings, machines, programs.
    pub differing: Vec<Differing>,
    /// The measurements that both sides have, by their names.
    pub measurements: Vec<ComparedMeasurement>,
    /// What was to hold.
    pub checks: Vec<Check>,
    /// What to mind in all of it.
    pub caveats: Vec<Caveat>,
}

impl Default for ComparisonDocument {
    fn default() -> Self {
        Self {
            schema: SchemaId { name: SCHEMA_NAME.to_owned(), version: SCHEMA_VERSION },
            tool: Tool::default(),
            command: Vec::new(),
            before: Side::default(),
            after: Side::default(),
            differing: Vec::new(),
            measurements: Vec::new(),
            checks: Vec::new(),
            caveats: Vec::new(),
        }
    }
}

/// The results of one side.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct Side {
    /// What it is called: `before`, or `A` of a run whose sides took turns; empty of what an earlier version wrote.
    pub name: String,
    /// Where they were read, as they were named.
    pub results: Vec<String>,
    /// When the first and the last of them began, RFC 3339, UTC; absent where none says.
    pub began: Option<[String; 2]>,
}

/// Something that is not the same on both sides.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct Differing {
    /// What it is of: a measurement's name, `client`, `server`, or `run`.
    pub of: String,
    /// Its id: that of a setting, or the place of a fact about a machine.
    pub id: String,
    /// What its values are numbers of, in base units, where they are numbers.
    pub unit: Unit,
    /// What it was before, each value once.
    pub before: Vec<String>,
    /// What it was after.
    pub after: Vec<String>,
}

/// One measurement, as often as each side has it.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct ComparedMeasurement {
    /// What it is called: `goodput up`.
    pub name: String,
    /// In which order its runs were.
    pub order: Order,
    /// Its runs before, and after.
    pub runs: [u32; 2],
    /// Every figure that both sides have, first those that its result begins with.
    pub figures: Vec<ComparedFigure>,
}

/// One figure of both sides.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct ComparedFigure {
    /// Its id: `goodput.rate.up`, `latency.rtt.p99`.
    pub figure: String,
    /// Which one of several that share the id: an interface, an address, a policy, a processor.
    #[serde(default)]
    pub entry: Option<String>,
    /// What people call it.
    pub label: String,
    /// What it is a number of. Numbers are in its base unit: bit/s, nanoseconds, shares of 1.
    pub unit: Unit,
    /// Which direction is the better one.
    pub better: Better,
    /// Of a percentile: the distribution that it is of, by its id, …
    #[serde(default)]
    pub percentile_of: Option<String>,
    /// … and which one it is: 99.9.
    #[serde(default)]
    pub percent: Option<f64>,
    /// With which others it is judged.
    pub tier: Tier,
    /// A number of each run before, in the order of time; runs without it have none.
    pub before: Vec<f64>,
    /// The same of runs after.
    pub after: Vec<f64>,
    /// The median before.
    pub before_median: f64,
    /// The median after.
    pub after_median: f64,
    /// How the runs after lie to those before.
    pub difference: Difference,
    /// The probability of the difference, held to more because all figures of the tier are looked at (Benjamini and Hochberg); absent
    /// where the runs are too few.
    #[serde(default)]
    pub p_among_all: Option<f64>,
    /// What it comes to among them.
    pub outcome: Outcome,
}

/// With which others a figure is judged: the more there are, the surer each has to be.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Tier {
    /// What the test is for: a rate, the median and the 99th percentile of round trips, what was lost.
    Primary,
    /// What its result begins with, and the percentiles of its distributions.
    Leading,
    /// Everything else, and what has no better direction.
    Other,
}

/// What the difference of a figure comes to.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "ComparedOutcome")]
pub enum Outcome {
    /// It is better than before.
    Better,
    /// It is worse.
    Worse,
    /// It is more, which is neither better nor worse.
    More,
    /// It is less, which is neither.
    Less,
    /// No difference is shown: there is none, or it is too small for so few runs.
    NotShown,
    /// So few runs can show none.
    TooFewRuns,
    /// What this version does not know.
    #[serde(other)]
    Unknown,
}

impl ComparisonDocument {
    /// Whether a text is one, as far as its head tells; whatever else it is, it is not.
    pub fn is_one(text: &str) -> bool {
        SchemaId::is_named(text, SCHEMA_NAME)
    }

    /// Reads a document of this or any earlier version.
    pub fn from_json(text: &str) -> Result<Self, SchemaError> {
        SchemaId::read(text, "a comparison of results", SCHEMA_VERSION)
    }

    /// The figures that are judged together, each with its measurement's name.
    pub fn of_tier(&self, tier: Tier) -> impl Iterator<Item = (&str, &ComparedFigure)> {
        self.measurements.iter().flat_map(move |measurement| {
            let own = measurement.figures.iter().filter(move |figure| figure.tier == tier);
            own.map(|figure| (measurement.name.as_str(), figure))
        })
    }
}

impl ComparisonDocument {
    /// What the two sides are called.
    pub fn names(&self) -> [&str; 2] {
        let called = |side: &'_ Side| !side.name.is_empty();
        [(&self.before, "before"), (&self.after, "after")]
            .map(|(side, otherwise)| if called(side) { &*side.name } else { otherwise })
    }
}

impl Differing {
    /// What it is of and what it was on both sides, in words.
    pub fn sentence(&self) -> String {
        format!("{} ({})", self.name(), self.values())
    }

    /// What it was on both sides, in words.
    pub fn values(&self) -> String {
        let values = |values: &[String]| match values {
            [] => "nothing".to_owned(),
            values => self.words(values).join(" and "),
        };
        format!("{}, then {}", values(&self.before), values(&self.after))
    }

    /// Values of one side, each in its unit.
    pub fn words(&self, values: &[String]) -> Vec<String> {
        let word = |value: &String| match (self.unit, value.parse::<f64>()) {
            (Unit::Number, _) | (_, Err(_)) => value.clone(),
            (unit, Ok(number)) => told(unit, number),
        };
        values.iter().map(word).collect()
    }

    /// What it is called.
    pub fn name(&self) -> String {
        called(&self.of, &self.id)
    }

    /// The label that it is, where it is one of `--label`: by these people tell sides apart, and nothing is the matter where they do.
    pub fn label(&self) -> Option<&str> {
        self.id.strip_prefix("labels.")
    }
}

/// What a setting, or a fact about a machine, is called. A setting's id says what it is of.
pub(crate) fn called(of: &str, id: &str) -> String {
    id.strip_prefix("setting.").map_or_else(|| format!("{of} {id}"), str::to_owned)
}

impl ComparedFigure {
    /// What people call it, with its entry.
    pub fn full_label(&self) -> String {
        self.entry.as_ref().map_or_else(|| self.label.clone(), |it| format!("{} {it}", self.label))
    }

    /// Its id with its entry.
    pub(crate) fn full_id(&self) -> String {
        self.entry
            .as_ref()
            .map_or_else(|| self.figure.clone(), |it| format!("{} {it}", self.figure))
    }

    /// How far it moved as a share of what it was before, never below -1; `None` where it was or is nothing in any run, or less: then the
    /// shift is what can be told.
    pub fn relative(&self) -> Option<f64> {
        self.difference.ratio.map(|ratio| ratio.change)
    }
}

/// The JSON Schema of what this version writes.
pub fn schema() -> Schema {
    schema_for!(ComparisonDocument)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_version_is_told_apart_from_what_is_none() {
        let later = r#"{"schema":{"name":"pathscope-comparison","version":9},"measurements":7}"#;
        assert!(ComparisonDocument::is_one(later));
        let error = ComparisonDocument::from_json(later).expect_err("too new").to_string();
        assert!(error.contains("version 9") && error.contains("use a newer one"), "{error}");
        let other = r#"{"schema":{"name":"pathscope-document","version":1}}"#;
        assert!(!ComparisonDocument::is_one(other));
        assert!(!ComparisonDocument::is_one("hello"));
    }

    #[test]
    fn an_empty_comparison_is_read_back() {
        let document = ComparisonDocument::default();
        let text = serde_json::to_string(&document).expect("plain data");
        assert_eq!(ComparisonDocument::from_json(&text).expect("its own text"), document);
    }
}
