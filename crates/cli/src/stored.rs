//! A result that was stored: which kind of document a file holds, of ours or of another tool, and how each becomes a
//! presentation. What shows, reports or compares results reads them here.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use pathscope_calibration::document::CalibrationDocument;
use pathscope_calibration::presentation as of_calibration;
use pathscope_core::error::Failure;
use pathscope_core::event::Record;
use pathscope_core::presentation::Presentation;
use pathscope_core::quantity::{self, named};
use pathscope_core::record::Check;
use pathscope_experiments::document::ExperimentsDocument;
use pathscope_experiments::presentation as of_experiments;
use pathscope_modes::compared::ComparisonDocument;
use pathscope_modes::comparison::presentation as of_comparison;
use pathscope_modes::document::{Document, OutcomeState};
use pathscope_modes::foreign::{self, ForeignResult};
use pathscope_modes::presentation as of_measurements;
use pathscope_run::records::samples::reading;
use pathscope_views::journal::{self as rows, Form, Table};

use crate::{Trouble, lab};

/// The longest result that is read: that of some days at an interval of a second.
const MOST_BYTES: u64 = 1 << 30;
/// What is in front of text in words of 16 bits (UTF-16, the least byte first), as ctsTraffic writes its files.
const WIDE_MARK: &[u8] = b"\xff\xfe";
/// What is read of it before the rest.
const BEGINNING: u64 = 4_096;

/// What a run may leave beside its result.
const TABLES: [Table; 10] = [
    Table::Status,
    Table::ServedStatus,
    Table::Totals,
    Table::Connections,
    Table::Served,
    Table::StreamStatus,
    Table::Streams,
    Table::Errors,
    Table::Counters,
    Table::Senders,
];

/// What a file holds.
pub enum Stored {
    /// What a command measured.
    Measured(Box<Document>),
    /// What experiments came to.
    Experiments(ExperimentsDocument),
    /// What a calibration came to.
    Calibration(CalibrationDocument),
    /// What a comparison came to.
    Compared(ComparisonDocument),
    /// What another tool measured.
    Foreign(ForeignResult),
}

impl Stored {
    /// Reads a file; `-`: standard input. Errors name it.
    pub fn open(path: &Path) -> Result<Self, Trouble> {
        let is_standard_input = path == Path::new("-");
        // However many pings there are, they are read one by one.
        let pings = if is_standard_input { None } else { reading::pings_of(path) };
        if let Some(read) = pings {
            let said = |error| Trouble::usage(format!("{}: {error}", named(path)));
            return read.map(Self::Foreign).map_err(said);
        }
        let text = if is_standard_input {
            read(io::stdin().lock())
        } else {
            File::open(path).map_err(|error| error.to_string()).and_then(read)
        };
        text.and_then(|text| Self::from_text(&text)).map_err(|error| {
            let name = if is_standard_input { "standard input".to_owned() } else { named(path) };
            Trouble::usage(format!("{name}: {error}"))
        })
    }

    fn from_text(text: &str) -> Result<Self, String> {
        if let Some(read) = ForeignResult::read(text) {
            return read.map(Self::Foreign).map_err(|error| error.to_string());
        }
        if ExperimentsDocument::is_one(text) {
            let document = ExperimentsDocument::from_json(text);
            return document.map(Self::Experiments).map_err(|error| error.to_string());
        }
        if CalibrationDocument::is_one(text) {
            let document = CalibrationDocument::from_json(text);
            return document.map(Self::Calibration).map_err(|error| error.to_string());
        }
        if ComparisonDocument::is_one(text) {
            let document = ComparisonDocument::from_json(text);
            return document.map(Self::Compared).map_err(|error| error.to_string());
        }
        let document = Document::from_json(text).map_err(|error| error.to_string())?;
        Ok(Self::Measured(Box::new(document)))
    }

    /// What it holds, in words.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Measured(_) => "measurements",
            Self::Experiments(_) => "experiments",
            Self::Calibration(_) => "a calibration",
            Self::Compared(_) => "a comparison",
            Self::Foreign(_) => "what another tool measured",
        }
    }

    /// What views lay out of it.
    pub fn presentation(&self) -> Presentation {
        match self {
            Self::Measured(document) => of_measurements::presentation(document),
            Self::Experiments(document) => of_experiments::presentation(document),
            Self::Calibration(document) => of_calibration::presentation(document),
            Self::Compared(document) => of_comparison::presentation(document),
            Self::Foreign(result) => result.presentation(),
        }
    }

    /// What it is as JSON.
    pub fn record(&self) -> &dyn Record {
        match self {
            Self::Measured(document) => document.as_ref(),
            Self::Experiments(document) => document,
            Self::Calibration(document) => document,
            Self::Compared(document) => document,
            Self::Foreign(result) => result,
        }
    }

    /// Why it did not end as it should, as far as it tells. `presentation`: its own.
    pub fn trouble(&self, presentation: &Presentation) -> Option<Trouble> {
        match self {
            Self::Measured(document) => {
                let reason = document.outcome.reason.as_deref()?;
                Some(Trouble::new(failure(document, presentation), reason))
            }
            Self::Experiments(document) => lab::verdict(document),
            Self::Calibration(document) => lab::calibration_verdict(document),
            Self::Compared(document) => moved(document),
            Self::Foreign(_) => None,
        }
    }
}

/// What moved further than a comparison says that it may, as a sentence.
pub fn moved(document: &ComparisonDocument) -> Option<Trouble> {
    let failed = document.checks.iter().filter(|check| check.has_failed());
    let failed: Vec<&str> = failed.map(|check| check.text.as_str()).collect();
    (!failed.is_empty()).then(|| Trouble::new(Failure::Check, failed.join("; ")))
}

/// Standard input is named once at the most.
pub fn only_one_standard_input(paths: &[PathBuf]) -> Result<(), Trouble> {
    match paths.iter().filter(|path| *path == Path::new("-")).count() {
        0 | 1 => Ok(()),
        _ => Err(Trouble::usage("-: standard input holds one result, and is named twice")),
    }
}

/// What each result is called: its file's name without the folder, or the whole path where two are called alike.
pub fn names(paths: &[PathBuf]) -> Vec<String> {
    let short = |path: &Path| {
        let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        stem.unwrap_or_else(|| named(path))
    };
    let all: Vec<String> = paths.iter().map(|path| short(path)).collect();
    let is_alone = |name: &String| all.iter().filter(|other| *other == name).count() == 1;
    let name = |(path, name): (&PathBuf, &String)| {
        if is_alone(name) { name.clone() } else { named(path) }
    };
    paths.iter().zip(&all).map(name).collect()
}

/// All of a result, or why it is none: of something that never ends no more than its beginning is read.
fn read(mut input: impl Read) -> Result<String, String> {
    let mut bytes = Vec::new();
    let mut read = |most: u64, bytes: &mut Vec<u8>| {
        input.by_ref().take(most).read_to_end(bytes).map_err(|error| error.to_string())
    };
    read(BEGINNING, &mut bytes)?;
    let is_wide = bytes.starts_with(WIDE_MARK);
    if is_wide { judge(narrowed(&bytes).as_bytes()) } else { judge(&bytes) }?;
    read(MOST_BYTES + 1 - bytes.len() as u64, &mut bytes)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(format!(
            "not shown: it is longer than {}, which is the most that is read",
            quantity::bytes(MOST_BYTES)
        ));
    }
    if is_wide {
        return Ok(narrowed(&bytes));
    }
    String::from_utf8(bytes)
        .map_err(|error| format!("not a pathscope result: {}", error.utf8_error()))
}

/// Text that a tool of Windows wrote in words of 16 bits, the least byte first; what is no text in it is marked.
fn narrowed(bytes: &[u8]) -> String {
    let words = bytes.chunks_exact(2).map(|word| u16::from_le_bytes([word[0], word[1]]));
    char::decode_utf16(words).map(|read| read.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}

/// Whether it may be a result that begins so.
fn judge(beginning: &[u8]) -> Result<(), String> {
    let compressed = [(&b"\x1f\x8b"[..], "gunzip -c"), (&b"\x28\xb5\x2f\xfd"[..], "zstd -dc")];
    if let Some((_, program)) = compressed.iter().find(|(magic, _)| beginning.starts_with(magic)) {
        return Err(format!("it is compressed: {program} FILE | pathscope show -"));
    }
    // A character may be cut in two at its end.
    let valid = std::str::from_utf8(beginning).map_or_else(|it| it.valid_up_to(), str::len);
    if foreign::is_one(&String::from_utf8_lossy(&beginning[..valid])) {
        return Ok(());
    }
    let samples = [&b"PAR1"[..], b"flow,ping,", b"SequenceNumber,SenderQpc,"];
    if samples.iter().any(|head| beginning.starts_with(head)) {
        let text = "these are samples and no result: those of pings are read from a file that is named, \
            docs/guide/analysis.md says what opens others";
        return Err(text.to_owned());
    }
    let heads = TABLES.map(|table| rows::header(table, Form::Csv));
    if heads.iter().any(|head| beginning.starts_with(head.trim_end().as_bytes())) {
        let text = "these are rows that a run left beside its result, and no result: name the result itself, \
            of which reports are made";
        return Err(text.to_owned());
    }
    // Some editors put a mark in front of every text.
    let text = beginning.strip_prefix(b"\xef\xbb\xbf").unwrap_or(beginning);
    match text.trim_ascii_start().first() {
        Some(b'{') => Ok(()),
        None if (beginning.len() as u64) < BEGINNING => {
            Err("not a pathscope result: it is empty".to_owned())
        }
        _ => Err("not a pathscope result: it does not begin with '{'".to_owned()),
    }
}

/// Why a run did not end as it should, as far as its result tells.
fn failure(document: &Document, presentation: &Presentation) -> Failure {
    let mut checks = presentation.sections.iter().flat_map(|section| &section.checks);
    match document.outcome.state {
        OutcomeState::Interrupted | OutcomeState::CutOff | OutcomeState::Unknown => {
            Failure::Interrupted
        }
        _ if checks.any(Check::has_failed) => Failure::Check,
        _ => Failure::Peer,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_result_is_told_from_its_beginning() {
        let refused = |bytes: &[u8]| read(bytes.chain(io::repeat(0))).expect_err("no result");
        assert!(refused(b"").contains("does not begin with '{'"));
        assert!(refused(b"\n\x01").contains("does not begin with '{'"));
        assert!(refused(b"\x1f\x8b\x08").contains("gunzip -c"));
        assert!(refused(b"PAR1\x15").contains("these are samples"));
        assert!(refused(b"flow,ping,scheduled_ns,").contains("these are samples"));
        for table in TABLES {
            let head = rows::header(table, Form::Csv);
            assert!(refused(head.as_bytes()).contains("name the result itself"), "{head}");
        }
        let blank = read(io::repeat(b' ')).expect_err("no result");
        assert!(blank.contains("does not begin with '{'"), "{blank}");
        assert!(read(io::empty()).expect_err("no result").contains("it is empty"));
        assert_eq!(read(&b"\n {}"[..]), Ok("\n {}".to_owned()));
        let rows = "Index, Latency(us)\n0, 5\n";
        assert_eq!(read(rows.as_bytes()), Ok(rows.to_owned()));
        // As ctsTraffic writes it: in words of 16 bits, with a mark.
        let rows =
            "TimeSlice,SendBps,RecvBps,In-Flight,Completed,NetError,DataError\r\n1,2,3,4,5,6,7\r\n";
        let marked = format!("\u{feff}{rows}");
        let wide: Vec<u8> = marked.encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(read(&wide[..]), Ok(marked));
    }

    #[test]
    fn what_is_as_long_as_a_result_may_be_is_read_whole() {
        let text = format!("{{{}}}", " ".repeat(3 * BEGINNING as usize));
        assert_eq!(read(text.as_bytes()), Ok(text.clone()));
    }
}
