//! A command that is done again and again: with the values of `--sweep`, and with the words of `--interleave-with`. Each of them is the same
//! command line with a few words more, where what is said last holds.
//!
//! Not here: how often, in which order and until when (`modes/repeats`).

use std::ffi::OsString;

use clap::{CommandFactory, FromArgMatches};
use pathscope_modes::command::{Facts, Prepared};
use pathscope_modes::follow_up::Tests;
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
    let mut variants = Vec::new();
    for point in points(args) {
        for (side, words) in &sides {
            let swept = point
                .iter()
                .flat_map(|Swept { option, value }| [format!("--{option}"), value.clone()]);
            let words: Vec<String> = swept.chain(words.iter().cloned()).collect();
            let tests = tests(&words, &prepared.hosts, facts)?;
            variants.push(Variant { point: point.clone(), side: *side, tests });
        }
    }
    let (repeats, first) = Repeats::begin(wish, variants).map_err(Trouble::usage)?;
    let are_compared = prepared.tests.are_compared;
    let tests = Tests { list: vec![first], follow_up: Some(Box::new(repeats)), are_compared };
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

/// The tests of the command line with these words more.
fn tests(
    words: &[String],
    hosts: &[String],
    facts: &Facts<'_>,
) -> Result<Vec<(String, pathscope_modes::groups::Test)>, Trouble> {
    let typed: Vec<OsString> =
        std::env::args_os().chain(words.iter().map(OsString::from)).collect();
    let said = words.join(" ");
    let of_words = |error: &dyn std::fmt::Display| {
        let text = error.to_string();
        let text = text.trim_start_matches("error: ").lines().next().unwrap_or_default();
        Trouble::usage(format!("with {said}: {text}"))
    };
    // What is said last holds: a value that is swept stands before what was typed besides.
    let parser = CommandLine::command().args_override_self(true);
    let line = parser.try_get_matches_from(typed).and_then(|it| CommandLine::from_arg_matches(&it));
    let Command::Measure(command) = line.map_err(|error| of_words(&error))?.command else {
        return Err(of_words(&"that is another command"));
    };
    let (_, command, _) = command.split();
    let prepared = command.prepare(facts).map_err(|refusal| of_words(&refusal.text))?;
    if prepared.hosts != hosts {
        let text = "that is another server: both sides are measured against one; start a run for each, and see \
                    pathscope compare";
        return Err(of_words(&text));
    }
    if prepared.tests.follow_up.is_some() {
        return Err(of_words(&"a search for a rate is not repeated"));
    }
    Ok(prepared.tests.list)
}
