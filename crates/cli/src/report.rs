//! `pathscope report`: stored results as a page for a browser, or in another form. Reads and writes; what a page looks like is
//! the views' business.

use std::io::{self, Write};
use std::path::Path;

use pathscope_core::error::Failure;
use pathscope_core::event::Event;
use pathscope_core::quantity::named;
use pathscope_core::side_by_side::side_by_side;
use pathscope_os::outlets::explain;

use crate::args::ReportArgs;
use crate::files::Destination;
use crate::stored::Stored;
use crate::{Trouble, output, terminal, words};

/// Writes the report.
pub fn report(args: &ReportArgs) -> Result<(), Trouble> {
    if args.results.iter().filter(|path| *path == Path::new("-")).count() > 1 {
        return Err(Trouble::usage("-: standard input holds one result, and is named twice"));
    }
    let stored: Vec<Stored> =
        args.results.iter().map(|path| Stored::open(path)).collect::<Result<_, _>>()?;
    let presentations: Vec<_> = stored.iter().map(Stored::presentation).collect();
    let troubles: Vec<String> = stored
        .iter()
        .zip(&presentations)
        .zip(&args.results)
        .filter_map(|((stored, presentation), path)| {
            let trouble = stored.trouble(presentation)?;
            let is_one = args.results.len() == 1;
            Some(if is_one { trouble.text } else { format!("{}: {}", named(path), trouble.text) })
        })
        .collect();
    let results = names(&args.results).into_iter().zip(presentations).collect();
    let presentation = side_by_side(results);
    let sentence = troubles.join("; ");
    // A report of a run that failed is no failure of its own; the page says what was.
    let failure = (!sentence.is_empty()).then_some((Failure::Check, sentence.as_str()));
    let mut text = Vec::new();
    let options = terminal::options(crate::verbosity::Color::Never, true, 0);
    let record = stored[0].record();
    let mut view = args.format.view(options, &mut text);
    let written = view.event(Event::Finished { presentation: &presentation, record, failure });
    drop(view);
    written.map_err(|error| Trouble::new(Failure::Output, error.to_string()))?;
    write(args.output.as_deref(), &text)
}

fn write(output: Option<&Path>, text: &[u8]) -> Result<(), Trouble> {
    let Some(path) = output else {
        let mut stdout = io::stdout().lock();
        let written = stdout.write_all(text).and_then(|()| stdout.flush());
        return written
            .map_err(|error| output::trouble(&error))
            .or_else(|trouble| trouble.map_or(Ok(()), Err));
    };
    let failed = |error: &io::Error| {
        Trouble::new(Failure::Output, format!("cannot write {}: {}", named(path), explain(error)))
    };
    let text = String::from_utf8_lossy(text);
    let mut destination = Destination::prepare("--output", path)?;
    destination.write(text.trim_end()).map_err(|error| failed(&error))?;
    terminal::say(&format!("report written: {}", words::quoted(path)));
    Ok(())
}

/// What each result is called: its file's name without the folder, or the whole path where two are called alike.
fn names(paths: &[std::path::PathBuf]) -> Vec<String> {
    let short = |path: &Path| {
        let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        stem.unwrap_or_else(|| named(path))
    };
    let all: Vec<String> = paths.iter().map(|path| short(path)).collect();
    let is_alone = |name: &String| all.iter().filter(|other| *other == name).count() == 1;
    let name = |(path, name): (&std::path::PathBuf, &String)| {
        if is_alone(name) { name.clone() } else { named(path) }
    };
    paths.iter().zip(&all).map(name).collect()
}
