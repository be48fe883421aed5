//! The document that a calibration ends with: each cell with what it showed, and a row for each figure and truth.
//!
//! A promise like the document of one run: numbers in base units, absent is null, fields are added and none changes its
//! meaning.

use pathscope_core::record::{Caveat, Host, Tool};
use pathscope_experiments::plan::Tolerance;
use pathscope_modes::document::{Outcome, SchemaError, SchemaId};
use pathscope_modes::figures::Unit;
use schemars::{JsonSchema, Schema, schema_for};
use serde::{Deserialize, Serialize};

use crate::cell::Setting;
use crate::grid::Extent;
use crate::rule::Against;

/// The version that this program writes.
pub const SCHEMA_VERSION: u32 = 1;
/// The name that says whose schema it is.
pub const SCHEMA_NAME: &str = "pathscope-calibration";

/// A calibration, done once.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct CalibrationDocument {
    /// Whose schema this is, and which version of it.
    pub schema: SchemaId,
    /// The program that wrote it.
    pub tool: Tool,
    /// The command line, word by word.
    pub command: Vec<String>,
    /// When it began, RFC 3339, UTC.
    pub started_at: String,
    /// From its begin to its end.
    pub duration_ns: u64,
    /// How it ended.
    pub outcome: Outcome,
    /// The machine.
    pub host: Host,
    /// How much was done.
    pub extent: Extent,
    /// What the chances of the links were drawn from.
    pub seed: u64,
    /// How many cells there are to be.
    pub planned_cells: u64,
    /// In the order in which they were measured.
    pub cells: Vec<CellResult>,
    /// A row for each figure and truth.
    pub rows: Vec<RowResult>,
    /// Figures that no row is about; of a distribution those of its numbers.
    pub without_row: Vec<String>,
    /// Why there is none of whole figures; absent in earlier documents.
    pub without_reasons: Vec<WithoutRow>,
    /// Truths that no cell had for any figure, though every cell was to be measured.
    pub unseen: Vec<String>,
    /// What to mind.
    pub caveats: Vec<Caveat>,
}

/// Figures that no row is about, and why.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct WithoutRow {
    /// A figure's id; with a point at its end how the ids of several begin.
    pub figures: String,
    /// Why.
    pub reason: String,
}

impl Default for CalibrationDocument {
    fn default() -> Self {
        Self {
            schema: SchemaId { name: SCHEMA_NAME.to_owned(), version: SCHEMA_VERSION },
            tool: Tool::default(),
            command: Vec::new(),
            started_at: String::new(),
            duration_ns: 0,
            outcome: Outcome::default(),
            host: Host::default(),
            extent: Extent::default(),
            seed: 0,
            planned_cells: 0,
            cells: Vec::new(),
            rows: Vec::new(),
            without_row: Vec::new(),
            without_reasons: Vec::new(),
            unseen: Vec::new(),
            caveats: Vec::new(),
        }
    }
}

/// One cell.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct CellResult {
    /// Its name, unique among all.
    pub name: String,
    /// How it was set.
    pub settings: Vec<Setting>,
    /// What its links did, in the words of `lab set`: towards the other host and back, of each link.
    pub links: Vec<String>,
    /// What became of them in mid-run.
    pub later: Vec<String>,
    /// The command on the measuring host, word by word.
    pub command: Vec<String>,
    /// Its begin, in time since the begin of the document.
    pub start_ns: u64,
    /// How long it took.
    pub duration_ns: u64,
    /// How often it was done: once more where the lab itself had spoilt it, or links that lose had kept it from being measured.
    pub attempts: u32,
    /// Why earlier attempts do not count: a sentence for each.
    pub earlier: Vec<String>,
    /// What the lab, and not the path, did to packets meanwhile, the last time: sentences. With any of these it does not count.
    pub shortcomings: Vec<String>,
    /// Why it shows nothing: a sentence.
    pub fault: Option<String>,
    /// Figures beside truths.
    pub observations: Vec<Observation>,
    /// What pathscope measured, as its document has it: where something of it is not as it must be.
    pub measurement: Option<serde_json::Value>,
}

impl CellResult {
    /// Whether rows are made of it.
    pub fn counts(&self) -> bool {
        self.fault.is_none() && self.shortcomings.is_empty()
    }
}

/// One figure beside one truth.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct Observation {
    /// Which rule, by its place among those of the program that wrote this.
    pub rule: u32,
    /// Which number, without its side.
    pub figure: String,
    /// `up`, `down`, `client` or `server`, where there is one for each.
    pub side: Option<String>,
    /// Which entry of a list, where there is one for each.
    pub entry: Option<u32>,
    /// What it is.
    pub truth: f64,
    /// What pathscope says.
    pub measured: f64,
    /// Whether the rule would have noticed if its source had said something else; absent where that leaves the truth as it is.
    pub noticed: Option<bool>,
}

/// A figure and a truth, over all cells.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct RowResult {
    /// The figure's id, without its side.
    pub figure: String,
    /// What it is a number of.
    pub unit: Unit,
    /// Where the truth comes from.
    pub against: Against,
    /// How far below the truth it may be; absent: any distance.
    pub below: Option<Allowed>,
    /// How far above.
    pub above: Option<Allowed>,
    /// Why so far.
    pub reason: String,
    /// Whether that holds on a busy machine, too.
    pub holds_when_busy: bool,
    /// Cells that have it.
    pub cells: u64,
    /// Numbers that were compared: a cell may have it for both ways, and for several paths.
    pub observations: u64,
    /// The greatest of the truths: where it is 0, nothing but 0 was to be found.
    pub greatest_truth: f64,
    /// Measured less truth: the least.
    pub least_error: f64,
    /// The middle one.
    pub median_error: f64,
    /// The greatest.
    pub greatest_error: f64,
    /// How many are outside what is allowed.
    pub outside_count: u64,
    /// The first of those.
    pub outside: Vec<Outside>,
    /// Numbers whose truth is another one where the source says something else.
    pub moved: u64,
    /// Of those, numbers for which that was noticed.
    pub noticed: u64,
}

/// A distance from a truth.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Allowed {
    /// In the figure's base unit.
    Absolute(f64),
    /// A share of the truth.
    Relative(f64),
}

impl From<Tolerance> for Allowed {
    fn from(tolerance: Tolerance) -> Self {
        match tolerance {
            Tolerance::Absolute(distance) => Self::Absolute(distance),
            Tolerance::Relative(share) => Self::Relative(share),
        }
    }
}

/// A number that is not within what is allowed.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct Outside {
    /// Of which cell.
    pub cell: String,
    /// `up`, `down`, `client` or `server`.
    pub side: Option<String>,
    /// Which entry of a list.
    pub entry: Option<u32>,
    /// What it is.
    pub truth: f64,
    /// What pathscope says.
    pub measured: f64,
}

impl CalibrationDocument {
    /// Whether a text is one, as far as its head tells; whatever else it is, it is not.
    pub fn is_one(text: &str) -> bool {
        SchemaId::is_named(text, SCHEMA_NAME)
    }

    /// Reads a document of this or any earlier version.
    pub fn from_json(text: &str) -> Result<Self, SchemaError> {
        SchemaId::read(text, "a result of a calibration", SCHEMA_VERSION)
    }

    /// What did not come out as it should, as sentences.
    pub fn faults(&self) -> Vec<String> {
        let cells = self.cells.iter().filter_map(|cell| {
            let why = cell.fault.as_ref().or_else(|| cell.shortcomings.first())?;
            Some(format!("{}: {why}", cell.name))
        });
        let rows = self.rows.iter().filter(|row| row.outside_count > 0).map(RowResult::sentence);
        let unseen = self.unseen.iter().map(|it| format!("no cell has shown {it}"));
        cells.chain(rows).chain(unseen).collect()
    }
}

impl RowResult {
    /// What of it is not as it should be.
    pub fn sentence(&self) -> String {
        let first = self.outside.first().map_or_else(String::new, |it| {
            let side = it.side.as_ref().map_or_else(String::new, |side| format!(" {side}"));
            let entry = it.entry.map_or_else(String::new, |entry| format!(" of entry {entry}"));
            format!(
                ": {}{side}{entry} says {} where {} is true",
                it.cell,
                crate::amount::number(self.unit, it.measured),
                crate::amount::number(self.unit, it.truth)
            )
        });
        format!(
            "{} against {} is out of its allowed error in {} of {}{first}",
            self.figure,
            self.against.words(),
            self.outside_count,
            self.observations
        )
    }
}

/// The JSON Schema of what this version writes.
pub fn schema() -> Schema {
    schema_for!(CalibrationDocument)
}

#[cfg(test)]
mod tests {
    use super::CalibrationDocument;

    #[test]
    fn a_later_version_is_told_apart_from_what_is_none() {
        let later = r#"{"schema":{"name":"pathscope-calibration","version":9},"cells":7}"#;
        assert!(CalibrationDocument::is_one(later));
        let error = CalibrationDocument::from_json(later).expect_err("too new").to_string();
        assert!(error.contains("version 9") && error.contains("use a newer one"), "{error}");
        assert!(!CalibrationDocument::is_one("hello"));
    }
}
