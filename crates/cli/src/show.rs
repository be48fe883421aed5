//! `pathscope show`: a result again, from its file.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use pathscope_calibration::document::CalibrationDocument;
use pathscope_core::error::Failure;
use pathscope_core::event::Event;
use pathscope_core::presentation::Presentation;
use pathscope_core::quantity::{self, named};
use pathscope_experiments::document::ExperimentsDocument;
use pathscope_modes::document::{Document, OutcomeState};
use pathscope_modes::presentation;

use crate::args::ShowArgs;
use crate::output::Outputs;
use crate::{Trouble, lab, terminal};

/// The longest result that is read: that of some days at an interval of a second.
const MOST_BYTES: u64 = 1 << 30;
/// What is read of it before the rest.
const BEGINNING: u64 = 4_096;

/// Shows what the file holds as it was shown when it was measured.
pub fn show(args: &ShowArgs) -> Result<(), Trouble> {
    let is_standard_input = args.result == Path::new("-");
    let refused = |error: &dyn std::fmt::Display| {
        let name = named(&args.result);
        let name = if is_standard_input { "standard input".to_owned() } else { name };
        Trouble::usage(format!("{name}: {error}"))
    };
    let text = if is_standard_input {
        read(io::stdin().lock())
    } else {
        File::open(&args.result).map_err(|error| error.to_string()).and_then(read)
    };
    let text = text.map_err(|error| refused(&error))?;
    let mut stdout = io::stdout().lock();
    let options = terminal::options(args.color.color, true, args.verbose);
    let mut outputs = Outputs::new(args.form.format(), options, &mut stdout, None);
    if ExperimentsDocument::is_one(&text) {
        let document = ExperimentsDocument::from_json(&text).map_err(|error| refused(&error))?;
        let trouble = lab::verdict(&document);
        let failure = trouble.as_ref().map(|trouble| (trouble.failure, trouble.text.as_str()));
        let presentation = pathscope_experiments::presentation::presentation(&document);
        outputs.event(Event::Finished { presentation: &presentation, record: &document, failure });
        return outputs.into_trouble().map_or(Ok(()), Err);
    }
    if CalibrationDocument::is_one(&text) {
        let document = CalibrationDocument::from_json(&text).map_err(|error| refused(&error))?;
        let trouble = lab::calibration_verdict(&document);
        let failure = trouble.as_ref().map(|trouble| (trouble.failure, trouble.text.as_str()));
        let presentation = pathscope_calibration::presentation::presentation(&document);
        outputs.event(Event::Finished { presentation: &presentation, record: &document, failure });
        return outputs.into_trouble().map_or(Ok(()), Err);
    }
    let document = Document::from_json(&text).map_err(|error| refused(&error))?;
    let presentation = presentation::presentation(&document);
    let failure = document
        .outcome
        .reason
        .as_deref()
        .map(|reason| (failure(&document, &presentation), reason));
    outputs.event(Event::Finished { presentation: &presentation, record: &document, failure });
    outputs.into_trouble().map_or(Ok(()), Err)
}

/// All of a result, or why it is none: of something that never ends no more than its beginning is read.
fn read(mut input: impl Read) -> Result<String, String> {
    let mut bytes = Vec::new();
    let mut read = |most: u64, bytes: &mut Vec<u8>| {
        input.by_ref().take(most).read_to_end(bytes).map_err(|error| error.to_string())
    };
    read(BEGINNING, &mut bytes)?;
    judge(&bytes)?;
    read(MOST_BYTES + 1 - bytes.len() as u64, &mut bytes)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(format!(
            "not shown: it is longer than {}, which is the most that is read",
            quantity::bytes(MOST_BYTES)
        ));
    }
    String::from_utf8(bytes)
        .map_err(|error| format!("not a pathscope result: {}", error.utf8_error()))
}

/// Whether it may be a result that begins so.
fn judge(beginning: &[u8]) -> Result<(), String> {
    let compressed = [(&b"\x1f\x8b"[..], "gunzip -c"), (&b"\x28\xb5\x2f\xfd"[..], "zstd -dc")];
    if let Some((_, program)) = compressed.iter().find(|(magic, _)| beginning.starts_with(magic)) {
        return Err(format!("it is compressed: {program} FILE | pathscope show -"));
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
        _ if checks.any(|check| !check.passed) => Failure::Check,
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
        let blank = read(io::repeat(b' ')).expect_err("no result");
        assert!(blank.contains("does not begin with '{'"), "{blank}");
        assert!(read(io::empty()).expect_err("no result").contains("it is empty"));
        assert_eq!(read(&b"\n {}"[..]), Ok("\n {}".to_owned()));
    }

    #[test]
    fn what_is_as_long_as_a_result_may_be_is_read_whole() {
        let text = format!("{{{}}}", " ".repeat(3 * BEGINNING as usize));
        assert_eq!(read(text.as_bytes()), Ok(text.clone()));
    }
}
