//! A command that is done again and again: with the values of `--sweep`, and with the words of `--interleave-with`. Each of them is the same
//! command line with a few words more, where what is said last holds.
//!
//! Not here: how often, in which order and until when (`modes/repeats`).

use std::ffi::OsString;
use std::fmt::Display;
use std::path::{Path, PathBuf};

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgMatches, Args as _, CommandFactory as _, FromArgMatches as _};
use pathscope_modes::command::{Facts, Files, Prepared};
use pathscope_modes::follow_up::Tests;
use pathscope_modes::groups::Test;
use pathscope_modes::repeats::{Repeats, Times, Variant, Wish};
use pathscope_modes::runs::{RunSide, Swept};

use crate::Trouble;
use crate::args::{Command, CommandLine, RunArgs};

/// The tests of a command as often as they are to be done; those that were typed where that is once.
pub fn repeated(
    args: &RunArgs,
    prepared: Prepared<Tests>,
    facts: &Facts<'_>,
) -> Result<Prepared<Tests>, Trouble> {
    let repeat = &args.repeat;
    if !repeat.is_asked_for() {
        return Ok(prepared);
    }
    let follows = "a search for a rate (--find-rate) decides by itself what comes next, and is not repeated; start it \
                   several times";
    if prepared.tests.follow_up.is_some() {
        return Err(Trouble::usage(follows));
    }
    let sides: Vec<(Option<RunSide>, Vec<String>)> = match &repeat.interleave_with {
        None => vec![(None, Vec::new())],
        Some(words) => {
            let split = shlex::split(words).filter(|words| !words.is_empty());
            let split = split.ok_or_else(|| {
                let text = format!(
                    "--interleave-with '{words}': no words, or a quote that is not closed; write what the other side has besides, as in \
                     --interleave-with '--congestion reno'"
                );
                Trouble::usage(text)
            })?;
            vec![(Some(RunSide::A), Vec::new()), (Some(RunSide::B), split)]
        }
    };
    let wish = Wish {
        times: repeat.repeat.unwrap_or(Times { least: 1, most: 1 }),
        until: repeat.until.clone(),
        sweep: repeat.sweep.clone(),
        interleaved_with: repeat.interleave_with.clone(),
    };
    let mut options: Vec<&str> = repeat.sweep.iter().map(|it| it.option.as_str()).collect();
    options.sort_unstable();
    if let Some((option, _)) =
        options.iter().zip(options.iter().skip(1)).find(|(one, next)| one == next)
    {
        let text = format!("--sweep {option}: an option is swept once, with all its values");
        return Err(Trouble::usage(text));
    }
    let values = repeat.sweep.iter().map(|it| it.values.len());
    let each = values.fold(sides.len(), usize::saturating_mul);
    wish.bounded(each).map_err(Trouble::usage)?;
    let typed = Typed::now(&prepared)?;
    let mut variants = Vec::new();
    for point in points(args) {
        for (side, words) in &sides {
            let swept = point
                .iter()
                .flat_map(|Swept { option, value }| [format!("--{option}"), value.clone()]);
            let words: Vec<String> = swept.chain(words.iter().cloned()).collect();
            let tests = typed.with(&words, facts)?;
            variants.push(Variant { point: point.clone(), side: *side, tests });
        }
    }
    let (repeats, first) = Repeats::begin(wish, variants).map_err(Trouble::usage)?;
    let are_compared = prepared.tests.are_compared;
    let tests = Tests { follow_up: Some(Box::new(repeats)), are_compared, ..vec![first].into() };
    Ok(Prepared { tests, ..prepared })
}

/// Every combination of the values that are swept.
fn points(args: &RunArgs) -> Vec<Vec<Swept>> {
    let mut points = vec![Vec::new()];
    for sweep in &args.repeat.sweep {
        let with = |point: &Vec<Swept>, value: &String| {
            let swept = Swept { option: sweep.option.clone(), value: value.clone() };
            point.iter().cloned().chain([swept]).collect()
        };
        points = points
            .iter()
            .flat_map(|point| sweep.values.iter().map(move |value| with(point, value)))
            .collect();
    }
    points
}

/// The command line as it was typed.
struct Typed<'prepared> {
    words: ArgMatches,
    hosts: &'prepared [String],
    files: &'prepared Files,
}

impl<'prepared> Typed<'prepared> {
    fn now(prepared: &'prepared Prepared<Tests>) -> Result<Self, Trouble> {
        let words = matches(&[]).map_err(|error| refused(&[], &error))?;
        Ok(Self { words, hosts: &prepared.hosts, files: &prepared.files })
    }

    /// The tests of the command line with these words more.
    fn with(&self, words: &[String], facts: &Facts<'_>) -> Result<Vec<(String, Test)>, Trouble> {
        let matches = matches(words).map_err(|error| match error.kind() {
            ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
                refused(words, &"that is shown, and measures nothing")
            }
            _ => refused(words, &error),
        })?;
        if let Some(option) = common_to_all(&self.words, &matches) {
            let text = format!(
                "--{option} says nothing of the test, and is the same for all runs of one result: write it beside them"
            );
            return Err(refused(words, &text));
        }
        let line = CommandLine::from_arg_matches(&matches);
        let line = line.map_err(|error| refused(words, &error))?;
        let Command::Measure(command) = line.command else {
            return Err(refused(words, &"that is another command"));
        };
        let (_, command, _) = command.split();
        let prepared = command.prepare(facts);
        let prepared = prepared.map_err(|refusal| refused(words, &refusal.text))?;
        if prepared.hosts != self.hosts {
            let text = "that is another server: both sides are measured against one; start a run for each, and see \
                        pathscope compare";
            return Err(refused(words, &text));
        }
        if named(&prepared.files) != named(self.files) {
            let text = "what is written beside the result is the same for all runs of it: name files beside these words";
            return Err(refused(words, &text));
        }
        if prepared.tests.follow_up.is_some() {
            return Err(refused(words, &"a search for a rate is not repeated"));
        }
        Ok(prepared.tests.list)
    }
}

/// What the command line comes to with these words more.
fn matches(words: &[String]) -> Result<ArgMatches, clap::Error> {
    let typed = std::env::args_os().chain(words.iter().map(OsString::from));
    // What is said last holds: a value that is swept stands before what was typed besides.
    CommandLine::command().args_override_self(true).try_get_matches_from(typed)
}

/// An option of the words that were added which every command that measures has: how it is run, and not what.
fn common_to_all(before: &ArgMatches, with: &ArgMatches) -> Option<String> {
    /// In the plan of every test.
    const OF_THE_TEST: &str = "report_every";
    let [before, with] = [before, with].map(|matches| matches.subcommand().map(|it| it.1));
    let (before, with) = before.zip(with)?;
    let common = RunArgs::augment_args(clap::Command::new("common"));
    let is_added = |id: &str| {
        let place = |matches: &ArgMatches| matches.indices_of(id).and_then(Iterator::last);
        let is_typed = with.value_source(id) == Some(ValueSource::CommandLine);
        is_typed
            && (place(with) > place(before) || before.value_source(id) != with.value_source(id))
    };
    let mut options = common.get_arguments().filter(|it| it.get_id() != OF_THE_TEST);
    let option = options.find(|it| is_added(it.get_id().as_str()))?;
    option.get_long().map(str::to_owned)
}

/// The files that are named.
fn named(files: &Files) -> Vec<PathBuf> {
    let own = [&files.samples, &files.frequencies].into_iter().flatten();
    let own = own.map(|(_, path)| path.clone());
    let journal = files.journal.iter().flat_map(|(_, journal)| journal.named());
    own.chain(journal.filter_map(|(_, path)| path.map(Path::to_owned))).collect()
}

/// That a command with these words more cannot be, and why.
fn refused(words: &[String], why: &dyn Display) -> Trouble {
    let text = why.to_string();
    let text = text.trim_start_matches("error: ").lines().next().unwrap_or_default();
    Trouble::usage(format!("with {}: {text}", words.join(" ")))
}
