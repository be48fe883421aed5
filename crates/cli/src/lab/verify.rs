//! `pathscope lab verify`: every figure against known truth.

use std::io;

use pathscope_calibration::document::{CalibrationDocument, CellResult};
use pathscope_calibration::runner::{self, Request, Told};
use pathscope_calibration::{Extent, presentation};
use pathscope_core::error::Failure;
use pathscope_core::event::Event;
use pathscope_core::presentation::{Figure, Row, Value};
use pathscope_core::quantity::named;
use pathscope_experiments::runner::LAST_WORDS;
use pathscope_lab::harness;
use pathscope_lab::running::{Registry, Shaper};
use pathscope_modes::document::OutcomeState;
use pathscope_peers::registry::DEFAULT_PORT;
use pathscope_run::stop::Stop;
use pathscope_run::timestamp;

use super::args::VerifyArgs;
use super::counts;
use super::presence;
use crate::files::ResultFile;
use crate::output::Outputs;
use crate::{Trouble, terminal, words};

/// Measures all cells.
pub fn verify(registry: &Registry, args: &VerifyArgs) -> Result<(), Trouble> {
    let extent = match (args.quick, args.long) {
        (true, _) => Extent::Quick,
        (_, true) => Extent::Long,
        _ => Extent::Usual,
    };
    check_names(extent, &args.only)?;
    super::run::check_program("ping")?;
    let internal = |what: String| Trouble::new(Failure::Internal, what);
    let network = runner::network().map_err(internal)?;
    let binary =
        std::env::current_exe().map_err(|error| internal(format!("where am I? {error}")))?;
    let file = args.output.as_deref().map(ResultFile::create).transpose()?;
    let folder = tempfile::tempdir().map_err(|error| {
        Trouble::new(Failure::Output, format!("cannot make a folder for samples: {error}"))
    })?;
    // Of its own, so that it is in nobody's way, and two of them are not in each other's.
    let name = format!("verify-{}", std::process::id());
    let stop = Stop::default();
    let is_quiet = args.quiet;
    let say = move |line: &str| {
        if !is_quiet {
            terminal::say(line);
        }
    };
    stop.experiments(LAST_WORDS);
    stop.on_signals(say).map_err(|error| Trouble::new(error.failure(), error.to_string()))?;
    let request = Request {
        extent,
        only: &args.only,
        lab: harness::Plan {
            binary: &binary,
            registry,
            name: &name,
            network: &network,
            seed: args.seed,
            shaper: Shaper::Relay,
        },
        folder: folder.path(),
        port: DEFAULT_PORT,
        host: presence::here(None),
        command: words::as_typed(std::env::args_os()),
        started_at: timestamp::rfc3339(pathscope_os::clock::wall_unix_ns()),
        stop: &|| stop.reason(),
        sentence: counts::sentence,
    };
    let options = terminal::options(args.color.color, args.quiet, 0);
    let mut stdout = io::stdout().lock();
    let mut outputs = Outputs::new(args.form.format(), options, &mut stdout, file);
    let document = runner::run(&request, &mut |told| match told {
        Told::Began(document) => {
            let presentation = presentation::announcement(document);
            outputs.event(Event::Started { presentation: &presentation, record: document });
        }
        Told::Cell(document) => {
            if let Some(cell) = document.cells.last() {
                outputs.event(Event::Trial { row: &row(document, cell), record: cell });
            }
        }
        Told::Kept(document) => outputs.event(Event::Checkpoint { record: document }),
    });
    let document = document.map_err(|error| match stop.reason() {
        // A Ctrl-C is heard by the keeper, too.
        Some(reason) => Trouble::new(Failure::Interrupted, reason),
        None => super::not_up(&name, &error),
    })?;
    stop.end_at_once();
    finish(&document, outputs, args)
}

fn check_names(extent: Extent, only: &[String]) -> Result<(), Trouble> {
    let names = runner::names(extent);
    let is_there = |wanted: &&String| {
        !wanted.trim().is_empty() && names.iter().any(|name| name.starts_with(*wanted))
    };
    match only.iter().find(|wanted| !is_there(wanted)) {
        None => Ok(()),
        Some(wanted) => Err(Trouble::usage(format!(
            "no cell's name begins with '{wanted}'; the first is '{}', the last '{}'",
            names.first().map_or("", String::as_str),
            names.last().map_or("", String::as_str)
        ))),
    }
}

/// A cell, as it ends.
fn row(document: &CalibrationDocument, cell: &CellResult) -> Row {
    let figure = |label: &str, text: String| Figure::new(label, Value::Text(text));
    let why = cell.fault.as_ref().or_else(|| cell.shortcomings.first());
    let named = why.map_or_else(|| cell.name.clone(), |why| format!("{}: {why}", cell.name));
    Row {
        section: "calibration".to_owned(),
        cells: vec![
            figure("done", format!("{} of {}", document.cells.len(), document.planned_cells)),
            Figure::new("compared", Value::Count(cell.observations.len() as u64)),
            figure("cell", named),
        ],
    }
}

fn finish(
    document: &CalibrationDocument,
    mut outputs: Outputs<'_>,
    args: &VerifyArgs,
) -> Result<(), Trouble> {
    let presentation = presentation::presentation(document);
    let trouble = verdict(document);
    let failure = trouble.as_ref().map(|trouble| (trouble.failure, trouble.text.as_str()));
    outputs.event(Event::Finished { presentation: &presentation, record: document, failure });
    let writing = outputs.into_trouble();
    let has_result = !document.cells.is_empty();
    if let (Some(file), None, true, false) = (&args.output, &writing, has_result, args.quiet) {
        let quoted = words::quoted(file);
        terminal::say(&format!(
            "result saved: {}; show it again with: pathscope show {quoted}",
            named(file)
        ));
    }
    Trouble::conclude(trouble, writing)
}

/// What the exit code says of it.
pub fn verdict(document: &CalibrationDocument) -> Option<Trouble> {
    let is_whole = document.cells.len() as u64 >= document.planned_cells;
    if document.outcome.state != OutcomeState::Complete || !is_whole {
        let reason = document.outcome.reason.clone();
        let reason = reason.unwrap_or_else(|| "it did not come to its end".to_owned());
        return Some(Trouble::new(Failure::Interrupted, reason));
    }
    let faults = document.faults();
    let text = match &faults[..] {
        [] => return None,
        [one] => one.clone(),
        [first, ..] => format!("{} things are not as they must be, first: {first}", faults.len()),
    };
    Some(Trouble::new(Failure::Check, text))
}
