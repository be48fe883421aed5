//! The versioned document that a run ends with.
//!
//! A promise: numbers are numbers, in base units, with the unit in the name and full precision; absent
//! is null. Fields may be added; none changes its meaning. Its JSON Schema is generated and committed,
//! and a fixture of each released version is read by a test for ever.

pub mod servers;

use pathscope_core::quantity::duration_ns;
use pathscope_core::record::{Caveat, Check, Substitution, Tool, Verdict};
use schemars::{JsonSchema, Schema, schema_for};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use self::servers::{ServerResult, Together};
use crate::compared::ComparisonDocument;
use crate::end::Hosts;
use crate::groups::Test;
use crate::rate_search::RateSearch;
pub use crate::registry::Interval;
use crate::registry::{EndReport, Summary};
use crate::runs::{Rounds, Run};
use crate::schema::unmarked;
pub use crate::schema::{SchemaError, SchemaId};

/// The schema that this version writes. What changed in each stands in `docs/method/latency.md`:
///
/// - 2: the round trip of an open loop counts from the first attempt to send, and not from the schedule.
pub const SCHEMA_VERSION: u32 = 2;
/// The name that says whose schema it is.
pub const SCHEMA_NAME: &str = "pathscope-document";

/// A whole run.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct Document {
    /// Whose schema this is, and which version of it.
    pub schema: SchemaId,
    /// The program that wrote it.
    pub tool: Tool,
    /// The command line, word by word.
    pub command: Vec<String>,
    /// What was asked for: `survey`, `goodput`, `latency`, `media`.
    pub kind: String,
    /// The server, as it was named; absent where it was embedded.
    pub target: Option<String>,
    /// When the run began, RFC 3339, UTC.
    pub started_at: String,
    /// From its begin to its end.
    pub duration_ns: u64,
    /// How it ended.
    pub outcome: Outcome,
    /// The machines.
    pub hosts: Hosts,
    /// What was measured, in order.
    pub measurements: Vec<Measurement>,
    /// The highest rate without loss, where that was asked for; the measurements are its trials.
    pub rate_search: Option<RateSearch>,
    /// How often all of it was to be done, on which sides and at which points; absent where it was done once. Each measurement says
    /// which run it is.
    pub rounds: Option<Rounds>,
    /// What the two sides of a run differ by that took turns: worked out at its end, by the program that wrote this. Absent of any
    /// other run, and of one that ended before both sides had a run.
    pub comparison: Option<Box<ComparisonDocument>>,
    /// Of a run of several servers that start at one instant: each of them, with what was measured there. Then the server's machine,
    /// the peer and the measurements of the document itself are absent. Absent of a run of one server.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub servers: Vec<ServerResult>,
    /// What those servers came to together; absent of a run of one server, and where nothing was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub together: Option<Box<Together>>,
    /// What to mind in all of it.
    pub caveats: Vec<Caveat>,
}

impl Default for SchemaId {
    fn default() -> Self {
        Self { name: SCHEMA_NAME.to_owned(), version: SCHEMA_VERSION }
    }
}

/// How a run ended.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct Outcome {
    /// Whether it came to its planned end.
    pub state: OutcomeState,
    /// If not, why: a sentence.
    pub reason: Option<String>,
    /// Of a run that was cut off: the measurement that was under way; absent where it was between two.
    pub measurement: Option<String>,
}

impl Outcome {
    /// It ended before its planned end, and this is why.
    pub fn ended(state: OutcomeState, reason: impl Into<String>) -> Self {
        Self { state, reason: Some(reason.into()), measurement: None }
    }

    /// Of a run that goes on and is saved between two measurements: all that a kill leaves is this. `last`: the
    /// measurement that has ended, if one has.
    pub fn cut_off_after(last: Option<&str>) -> Self {
        let place = last.map_or_else(
            || "before anything was measured".to_owned(),
            |last| format!("after '{last}'"),
        );
        Self::ended(OutcomeState::CutOff, format!("cut off {place}{WITHOUT_AN_END}"))
    }

    /// The same, in a measurement that has lasted so long.
    pub fn cut_off_in(measurement: &str, elapsed_ns: u64) -> Self {
        let elapsed = duration_ns(elapsed_ns);
        let reason = format!(
            "cut off in '{measurement}', saved last {elapsed} after its begin{WITHOUT_AN_END}"
        );
        let measurement = Some(measurement.to_owned());
        Self { measurement, ..Self::ended(OutcomeState::CutOff, reason) }
    }
}

/// Why a run has no end. Whoever reads this knows which of the two it is.
const WITHOUT_AN_END: &str = ": the program was killed, or still ran when this was read";

/// Whether a run came to its planned end.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OutcomeState {
    /// It did.
    #[default]
    Complete,
    /// The user ended it; what was measured until then is here.
    Interrupted,
    /// Something failed; what was measured until then is here.
    Failed,
    /// It had not ended when this was written. A run writes this from its begin on, so that what a kill leaves says so.
    CutOff,
    /// A state that this version does not know.
    #[serde(other)]
    Unknown,
}

/// One test of a run.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Measurement {
    /// What it is: `goodput up`.
    pub name: String,
    /// The test as it ran.
    pub test: Test,
    /// Which run it is, where tests are repeated; absent of one that did not come to its planned end.
    #[serde(default)]
    pub run: Option<Run>,
    /// What was asked for and came out otherwise, or was left open and chosen.
    #[serde(default)]
    pub substitutions: Vec<Substitution>,
    /// Its begin, in time since the begin of the document.
    pub start_ns: u64,
    /// From the start of its flows to the last report.
    pub duration_ns: u64,
    /// The report intervals, in order.
    #[serde(default)]
    pub intervals: Vec<Interval>,
    /// What the client's end said.
    #[serde(default)]
    pub client: EndReport,
    /// What the server's end said; absent where it was lost.
    #[serde(default)]
    pub server: Option<EndReport>,
    /// What it came to.
    #[serde(default)]
    pub summary: Summary,
    /// What limited it.
    #[serde(default)]
    pub verdict: Option<Verdict>,
    /// What had to hold.
    #[serde(default)]
    pub checks: Vec<Check>,
    /// What to mind.
    #[serde(default)]
    pub caveats: Vec<Caveat>,
}

/// Why a text is no document.
#[derive(Debug, Error)]
pub enum DocumentError {
    /// Not JSON, or not of this shape.
    #[error("not a pathscope result: {0}")]
    Malformed(#[from] serde_json::Error),
    /// Text, or JSON that is no object.
    #[error("not a pathscope result: that is one JSON object, and begins with '{{'")]
    NotAnObject,
    /// JSON of something else.
    #[error("not a pathscope result: its schema is '{0}' and not '{SCHEMA_NAME}'")]
    Foreign(String),
    /// Written by a later version.
    #[error(
        "this result has schema version {found}, and this pathscope reads up to {SCHEMA_VERSION}; use a newer one"
    )]
    TooNew {
        /// The version found.
        found: u32,
    },
}

impl Document {
    /// Reads a document of this or any earlier version. It keeps the version that it was written in, since figures that
    /// changed their meaning keep the one that they had.
    pub fn from_json(text: &str) -> Result<Self, DocumentError> {
        let text = unmarked(text);
        if !text.trim_start().starts_with('{') {
            return Err(DocumentError::NotAnObject);
        }
        let schema = SchemaId::of(text)?;
        if schema.name != SCHEMA_NAME {
            return Err(DocumentError::Foreign(schema.name));
        }
        if schema.version > SCHEMA_VERSION {
            return Err(DocumentError::TooNew { found: schema.version });
        }
        Ok(serde_json::from_str(text)?)
    }

    /// All checks that failed: of all measurements, and of what several servers came to together.
    pub fn failed_checks(&self) -> impl Iterator<Item = &Check> {
        let of_measurements = self.all_measurements().flat_map(|measurement| &measurement.checks);
        let together = self.together.iter().flat_map(|together| &together.checks);
        of_measurements.chain(together).filter(|check| check.has_failed())
    }
}

/// The JSON Schema of what this version writes.
pub fn schema() -> Schema {
    schema_for!(Document)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_document_is_told_apart() {
        let error = |text: &str| Document::from_json(text).expect_err("no document").to_string();
        for text in ["hello", "", "[]", "3", "\u{feff}", "\u{feff}null"] {
            assert!(error(text).contains("one JSON object, and begins with '{'"), "{text}");
        }
        assert!(error("{").contains("not a pathscope result"));
        assert!(error(r#"{"schema":{"name":"iperf","version":1}}"#).contains("'iperf'"));
        let later = error(r#"{"schema":{"name":"pathscope-document","version":9}}"#);
        assert!(later.contains("version 9") && later.contains("use a newer one"), "{later}");
    }

    #[test]
    fn a_state_is_complete_where_none_is_told_and_unknown_where_a_later_version_tells_it() {
        let state = |outcome: &str| {
            let text =
                format!(r#"{{"schema":{{"name":"pathscope-document","version":1}}{outcome}}}"#);
            Document::from_json(&text).expect("a document").outcome.state
        };
        assert_eq!(state(""), OutcomeState::Complete);
        assert_eq!(state(r#","outcome":{"reason":null}"#), OutcomeState::Complete);
        assert_eq!(state(r#","outcome":{"state":"cut_off"}"#), OutcomeState::CutOff);
        assert_eq!(state(r#","outcome":{"state":"evaporated"}"#), OutcomeState::Unknown);
    }

    #[test]
    fn a_run_that_was_cut_off_says_where() {
        let outcome = Outcome::cut_off_in("goodput up", 2_000_000_000);
        assert_eq!(outcome.measurement.as_deref(), Some("goodput up"));
        let reason = outcome.reason.expect("a sentence");
        assert!(
            reason.starts_with("cut off in 'goodput up', saved last 2 s after its begin: "),
            "{reason}"
        );
        let after = |last| Outcome::cut_off_after(last).reason.expect("a sentence");
        assert!(after(Some("latency idle")).starts_with("cut off after 'latency idle': "));
        assert!(after(None).starts_with("cut off before anything was measured: "));
    }

    #[test]
    fn an_empty_document_is_read_back() {
        let document = Document::default();
        let text = serde_json::to_string(&document).expect("plain data");
        assert_eq!(Document::from_json(&text).expect("its own text"), document);
        let marked = format!("\u{feff}\n{text}");
        assert_eq!(Document::from_json(&marked).expect("with a mark before it"), document);
    }
}
