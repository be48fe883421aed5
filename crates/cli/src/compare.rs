//! `pathscope compare`: stored results before a change beside those after it. Reads, and writes what comes of it; whether a difference
//! means anything is `modes/comparison`'s to say.

use std::io;
use std::path::{Path, PathBuf};

use pathscope_core::error::Failure;
use pathscope_core::event::{Event, Layout, Record as _};
use pathscope_core::presentation::Presentation;
use pathscope_core::quantity::named;
use pathscope_modes::compared::ComparisonDocument;
use pathscope_modes::comparison::{self, Compared, Named, presentation};
use pathscope_modes::document::Document;
use pathscope_os::outlets::explain;

use crate::args::CompareArgs;
use crate::files::{self, Destination, same};
use crate::junit::{self, JunitFile};
use crate::output::Outputs;
use crate::stored::{self, Stored};
use crate::{Trouble, lab, terminal, words};

/// Compares two results, or all results before with all results after.
pub fn compare(args: &CompareArgs) -> Result<(), Trouble> {
    args.plot.check()?;
    let compared = if let Some(path) = args.interleaved() {
        must_keep(args, &[path])?;
        of_one(args, path)?
    } else {
        let read = args.sides().concat();
        must_keep(args, &read.iter().map(PathBuf::as_path).collect::<Vec<_>>())?;
        of_several(args)?
    };
    let destination = args.output.output.as_deref();
    let destination = destination.map(|path| Destination::prepare("--output", path)).transpose()?;
    let junit = JunitFile::prepare(args.junit.as_deref())?;
    let plot = args.plot.create()?;
    let document = ComparisonDocument {
        tool: lab::presence::tool(),
        command: words::as_typed(std::env::args_os()),
        ..compared
    };
    let presentation = presentation::presentation(&document);
    let shown = show(args, &document, &presentation);
    let drawn =
        plot.map_or(Ok(()), |plot| plot.draw(&presentation, stored::moved(&document).as_ref()));
    let cases = junit.map_or(Ok(()), |file| file.write(&junit::of_comparison(&document)));
    let saved = destination.map_or(Ok(()), |file| save(args, file, &document));
    Trouble::conclude(stored::moved(&document), shown.and(saved).and(cases).and(drawn).err())
}

/// Makes sure that nothing that is read is written over.
fn must_keep(args: &CompareArgs, read: &[&Path]) -> Result<(), Trouble> {
    let plot = args.plot.named();
    let plot = plot.as_ref().map(|(option, path)| (*option, Some(path.as_path())));
    let own = [("--output", args.output.output.as_deref()), ("--junit", args.junit.as_deref())];
    let written: Vec<_> = own.into_iter().chain(plot).collect();
    files::must_keep(read, &written)
}

/// What all results before and all after come to.
fn of_several(args: &CompareArgs) -> Result<ComparisonDocument, Trouble> {
    let [before, after] = args.sides();
    let paths = [before, after].concat();
    stored::only_one_standard_input(&paths)?;
    let results: Vec<Opened> = paths.iter().map(|path| open(path)).collect::<Result<_, _>>()?;
    let compared = results.iter().map(|result| match result {
        Opened::Measured(document) => Compared::Measured(document),
        Opened::Shown(presentation) => Compared::Shown(presentation),
    });
    let names = stored::names(&paths).into_iter().zip(same::numbered(&paths));
    let named: Vec<Named<'_>> =
        names.zip(compared).map(|((name, file), holds)| Named { name, file, holds }).collect();
    let (before, after) = named.split_at(before.len());
    comparison::compare(before, after, &args.fail_on).map_err(Trouble::usage)
}

/// What both sides of one result come to.
fn of_one(args: &CompareArgs, path: &Path) -> Result<ComparisonDocument, Trouble> {
    let name = stored::names(&[path.to_owned()]).concat();
    let compared = match open(path)? {
        Opened::Measured(document) => comparison::compare_sides(&document, &name, &args.fail_on),
        Opened::Shown(_) => None,
    };
    let compared = compared.ok_or_else(|| {
        let text = format!(
            "{}: it has one side; name two results, or one of a run with --interleave-with",
            named(path)
        );
        Trouble::usage(text)
    })?;
    compared.map_err(Trouble::usage)
}

/// A result that can be compared.
enum Opened {
    /// What a command measured.
    Measured(Box<Document>),
    /// What another tool has kept.
    Shown(Box<Presentation>),
}

/// A result of a command that measures, or of another tool; others hold many, of which none is the one.
fn open(path: &Path) -> Result<Opened, Trouble> {
    match Stored::open(path)? {
        Stored::Measured(document) => Ok(Opened::Measured(document)),
        Stored::Foreign(result) => Ok(Opened::Shown(Box::new(result.presentation()))),
        other => {
            let text = format!(
                "{}: it holds {}; compare takes results of commands that measure",
                named(path),
                other.kind()
            );
            Err(Trouble::usage(text))
        }
    }
}

fn show(
    args: &CompareArgs,
    document: &ComparisonDocument,
    presentation: &Presentation,
) -> Result<(), Trouble> {
    let mut stdout = io::stdout().lock();
    let options = terminal::options(args.color.color, true, args.verbose);
    let mut outputs = Outputs::new(args.output.form.format(), options, &mut stdout, None);
    let trouble = stored::moved(document);
    let failure = trouble.as_ref().map(|trouble| (trouble.failure, trouble.text.as_str()));
    outputs.event(Event::Finished { presentation, record: document, failure });
    outputs.into_trouble().map_or(Ok(()), Err)
}

fn save(
    args: &CompareArgs,
    mut file: Destination,
    document: &ComparisonDocument,
) -> Result<(), Trouble> {
    let name = args.output.output.as_deref().map_or_else(String::new, named);
    let failed = |why: &str| Trouble::new(Failure::Output, format!("cannot write {name}: {why}"));
    let text = document.to_json(Layout::Indented).map_err(|error| failed(&error.to_string()))?;
    file.write(&text).map_err(|error| failed(&explain(&error)))
}
