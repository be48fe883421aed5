//! `pathscope show`: a result again, from its file.

use std::fs;
use std::io;

use pathscope_core::error::Failure;
use pathscope_core::event::Event;
use pathscope_core::sheet::Sheet;
use pathscope_modes::document::{Document, OutcomeState};
use pathscope_modes::sheet;

use crate::args::ShowArgs;
use crate::output::Outputs;
use crate::{Trouble, terminal};

/// Shows what the file holds as it was shown when it was measured.
pub fn show(args: &ShowArgs) -> Result<(), Trouble> {
    let refused = |error: &dyn std::fmt::Display| {
        Trouble::usage(format!("{}: {error}", args.result.display()))
    };
    let text = fs::read_to_string(&args.result).map_err(|error| refused(&error))?;
    let document = Document::from_json(&text).map_err(|error| refused(&error))?;
    let mut stdout = io::stdout().lock();
    let options = terminal::options(args.color.color, true, args.verbose);
    let mut outputs = Outputs::new(args.form.format(), options, &mut stdout, None);
    let sheet = sheet::sheet(&document);
    let failure =
        document.outcome.reason.as_deref().map(|reason| (failure(&document, &sheet), reason));
    outputs.event(Event::Finished { sheet: &sheet, record: &document, failure });
    outputs.into_trouble().map_or(Ok(()), Err)
}

/// Why a run did not end as it should, as far as its result tells.
fn failure(document: &Document, sheet: &Sheet) -> Failure {
    let mut checks = sheet.sections.iter().flat_map(|section| &section.checks);
    if document.outcome.state == OutcomeState::Interrupted {
        Failure::Interrupted
    } else if checks.any(|check| !check.passed) {
        Failure::Check
    } else {
        Failure::Peer
    }
}
