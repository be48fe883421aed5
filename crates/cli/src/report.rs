//! `pathscope report`: stored results as a page for a browser, or in another form. Reads and writes; what a page looks like is
//! the views' business.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use pathscope_core::error::Failure;
use pathscope_core::event::Event;
use pathscope_core::quantity::named;
use pathscope_core::side_by_side::side_by_side;
use pathscope_modes::across::by_two_settings;
use pathscope_os::outlets::explain;
use pathscope_views::Format;

use crate::args::ReportArgs;
use crate::files::{self, Destination};
use crate::output::Outputs;
use crate::stored::{self, Stored};
use crate::verbosity::Color;
use crate::{Trouble, terminal, words};

/// Writes the report.
pub fn report(args: &ReportArgs) -> Result<(), Trouble> {
    args.plot.check()?;
    stored::only_one_standard_input(&args.results)?;
    let read: Vec<&Path> = args.results.iter().map(PathBuf::as_path).collect();
    let plot = args.plot.named();
    let plot = plot.as_ref().map(|(option, path)| (*option, Some(path.as_path())));
    let written: Vec<_> = [("--output", args.output.as_deref())].into_iter().chain(plot).collect();
    files::must_keep(&read, &written)?;
    let stored: Vec<Stored> =
        args.results.iter().map(|path| Stored::open(path)).collect::<Result<_, _>>()?;
    let names = stored::names(&args.results);
    let mut troubles = Vec::new();
    let mut results = Vec::new();
    for (stored, name) in stored.iter().zip(names) {
        let presentation = stored.presentation();
        troubles.extend(stored.trouble(&presentation).map(|trouble| (name.clone(), trouble)));
        results.push((name, presentation));
    }
    let sentences = troubles.iter().map(|(name, trouble)| match stored.len() {
        1 => trouble.text.clone(),
        _ => format!("{name}: {}", trouble.text),
    });
    let sentence = sentences.collect::<Vec<_>>().join("; ");
    // A report of a run that failed is no failure of its own; it says what was.
    let gravest = Failure::gravest(troubles.iter().map(|(_, trouble)| trouble.failure));
    let failure = gravest.map(|gravest| (gravest, sentence.as_str()));
    // None of the forms that hold several results shows a document.
    let record = stored[0].record();
    let measured = stored.iter().filter_map(|stored| match stored {
        Stored::Measured(document) => Some(document.as_ref()),
        _ => None,
    });
    let by_settings = by_two_settings(&measured.collect::<Vec<_>>());
    let several = results.len() > 1;
    let mut presentation = side_by_side(results);
    if several {
        presentation.sections.splice(0..0, by_settings);
    }
    let event = Event::Finished { presentation: &presentation, record, failure };
    let written = lay_out_all(args, event);
    let plot = args.plot.create()?;
    let trouble = failure.map(|(failure, text)| Trouble::new(failure, text));
    let drawn = plot.map_or(Ok(()), |plot| plot.draw(&presentation, trouble.as_ref()));
    written.and(drawn)
}

/// Lays the report out, to its file or standard output.
fn lay_out_all(args: &ReportArgs, event: Event<'_>) -> Result<(), Trouble> {
    let Some(path) = &args.output else {
        return lay_out(args.format, event, &mut io::stdout().lock());
    };
    let mut text = Vec::new();
    lay_out(args.format, event, &mut text)?;
    write(path, &text)
}

fn lay_out(format: Format, event: Event<'_>, out: &mut dyn Write) -> Result<(), Trouble> {
    let mut outputs = Outputs::new(format, terminal::options(Color::Never, true, 0), out, None);
    outputs.event(event);
    outputs.into_trouble().map_or(Ok(()), Err)
}

fn write(path: &Path, text: &[u8]) -> Result<(), Trouble> {
    let failed =
        |why: &str| Trouble::new(Failure::Output, format!("cannot write {}: {why}", named(path)));
    let mut destination = Destination::prepare("--output", path)?;
    let written = destination.write(String::from_utf8_lossy(text).trim_end());
    written.map_err(|error| failed(&explain(&error)))?;
    terminal::say(&format!("report written: {}", words::quoted(path)));
    Ok(())
}
