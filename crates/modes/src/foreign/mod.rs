//! Files in which other tools keep what they measured, read as results: figures by our ids and from our own statistics,
//! as far as such a file tells. A file for each tool, and a line in the list.
//!
//! Which it is, is told from its text and never from its name. Not here: what figures there are (the modes), and the wire
//! formats of those tools.

mod ctstraffic;
pub(crate) mod findings;
mod iperf3;
mod lagscope;
mod multipath_latency_analyzer;
mod ntttcp;

use pathscope_core::presentation::{Figure, Presentation, Section};
use pathscope_core::record::Caveat;
use serde::Serialize;
use serde_json::{Value, json};
use thiserror::Error;

use self::findings::ForeignCaveat;
use crate::finding::caveats;
use crate::latency::KeptPings;

/// A form in which a tool keeps what it measured.
struct Form {
    /// The tool.
    tool: &'static str,
    /// What is in the file.
    holds: &'static str,
    /// Whether a text is one, as far as its first line tells.
    is_one: fn(&str) -> bool,
    /// Reads one.
    read: fn(&str) -> Result<Read, Fault>,
}

/// All of them, tool by tool.
const FORMS: [&[&Form]; 5] = [
    &ctstraffic::FORMS,
    &[&iperf3::DOCUMENT, &iperf3::EVENTS],
    &[&lagscope::FREQUENCIES, &lagscope::LATENCIES],
    &[&multipath_latency_analyzer::STAMPS],
    &[&ntttcp::RESULT],
];

/// What was read.
struct Read {
    /// What it is, as a measurement of ours is called: `latency`.
    name: &'static str,
    /// What views show of it.
    section: Section,
    /// What documents have in the place of the same name.
    summary: Value,
    /// What the client said, the same.
    client: Value,
}

/// What another tool measured, as a file of its has it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ForeignResult {
    /// Whose file it is.
    pub file: ForeignFile,
    /// What it holds, in the places that documents have; what the file does not tell is not there.
    pub measurements: [ForeignMeasurement; 1],
}

/// Whose file it is.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct ForeignFile {
    /// The tool.
    pub tool: &'static str,
    /// What it wrote.
    pub holds: &'static str,
}

/// What was measured.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ForeignMeasurement {
    /// What it is: `latency`.
    pub name: &'static str,
    /// As in documents.
    pub summary: Value,
    /// As in documents.
    pub client: Value,
    /// What to mind.
    pub caveats: Vec<Caveat>,
    /// What views show of it.
    #[serde(skip)]
    section: Section,
}

/// What is wrong in a file.
#[derive(Debug, Error)]
enum Fault {
    /// Of a file of lines.
    #[error("line {line}: {why}")]
    Line {
        /// Which, from 1.
        line: usize,
        /// A sentence.
        why: String,
    },
    /// Of JSON, which says where.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// Of the whole.
    #[error("{0}")]
    Whole(String),
}

/// Why a file of another tool is none.
#[derive(Debug, Error)]
#[error("not a whole file of {tool}: {fault}")]
pub struct ForeignError {
    tool: &'static str,
    fault: Fault,
}

/// Whether a text may be a file of another tool that is read here, as far as its beginning tells.
pub fn is_one(beginning: &str) -> bool {
    form(beginning).is_some()
}

fn form(text: &str) -> Option<&'static Form> {
    let text = unmarked(text);
    FORMS.iter().copied().flatten().copied().find(|form| (form.is_one)(text))
}

/// Without the mark that some editors put in front of every text.
fn unmarked(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

impl ForeignResult {
    /// Reads a file; none where it is of no tool that is known.
    pub fn read(text: &str) -> Option<Result<Self, ForeignError>> {
        let form = form(text)?;
        let read = (form.read)(unmarked(text));
        Some(read.map(|read| Self::of(form, read)).map_err(|fault| {
            let tool = form.tool;
            ForeignError { tool, fault }
        }))
    }

    fn of(form: &Form, read: Read) -> Self {
        let Read { name, section, summary, client } = read;
        let section =
            Section { place: "measurements[0]".to_owned(), title: name.to_owned(), ..section };
        let caveats = section.caveats.clone();
        Self {
            file: ForeignFile { tool: form.tool, holds: form.holds },
            measurements: [ForeignMeasurement { name, summary, client, caveats, section }],
        }
    }

    /// Of a file of samples, ours or another's of the same form.
    pub fn of_pings(pings: &KeptPings) -> Self {
        const OURS: Form = Form {
            tool: "pathscope",
            holds: "samples of pings",
            is_one: |_| false,
            read: |_| Err(Fault::Whole(String::new())),
        };
        let text = "a file of samples has pings and nothing besides: hosts, settings, checks and what limited them are in the \
            result of the run";
        let summary = pings.summary();
        let told = json!({
            "sent": summary.sent, "received": summary.received, "lost": summary.lost, "corrupt": summary.corrupt,
            "rtt": summary.rtt,
        });
        let section = Section {
            caveats: caveats([(ForeignCaveat::NotInTheFile, Some(text.to_owned()))]),
            ..pings.section()
        };
        let distributions = section.distributions.first().map(|shape| &shape.distribution);
        let client = json!({ "latency": { "rtt": distributions } });
        let summary = json!({ "latency": told });
        Self::of(&OURS, Read { name: "latency", section, summary, client })
    }

    /// What views lay out of it.
    pub fn presentation(&self) -> Presentation {
        let ForeignFile { tool, holds } = self.file;
        let [measurement] = &self.measurements;
        Presentation {
            title: format!("{} as {tool} has it", measurement.name),
            context: vec![Figure::setting("file", format!("{holds}, of {tool}"))],
            sections: vec![measurement.section.clone()],
            ..Presentation::default()
        }
    }
}

/// The lines of a file behind the first, each with its number from 1. The last one has to end: of one that was cut off
/// nobody knows how much of a number is missing.
fn rows(text: &str) -> Result<impl Iterator<Item = (usize, &str)>, Fault> {
    if !text.ends_with('\n') {
        let line = text.lines().count();
        let why = "it ends in the middle: the file was cut off".to_owned();
        return Err(Fault::Line { line, why });
    }
    Ok(text.lines().enumerate().skip(1).map(|(index, line)| (index + 1, line)))
}

/// The columns of a first line.
fn columns(text: &str) -> impl Iterator<Item = &str> {
    text.lines().next().unwrap_or_default().split(',').map(str::trim)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// What is wrong with a text that is told to be of a tool.
    pub(crate) fn fault(text: &str) -> String {
        let read = ForeignResult::read(text).expect("it is of a tool");
        read.expect_err("it is not whole").to_string()
    }

    /// What a text holds.
    pub(crate) fn read(text: &str) -> ForeignResult {
        ForeignResult::read(text).expect("it is of a tool").expect("it is whole")
    }

    #[test]
    fn what_is_of_nobody_is_left_to_others() {
        for text in ["", "{", "{\"schema\": {}}", "Index\n0\n", "flow,ping\n0,1\n", "\u{feff}{}"] {
            assert!(ForeignResult::read(text).is_none(), "{text}");
        }
    }
}
