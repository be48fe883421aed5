//! `pathscope lab run`: the experiments of a topology file.

use std::fs;
use std::io;

use pathscope_core::error::Failure;
use pathscope_core::event::Event;
use pathscope_core::presentation::{Figure, Row, Value};
use pathscope_core::quantity::{Period, named};
use pathscope_experiments::document::{ExperimentsDocument, StepResult};
use pathscope_experiments::plan::Plan;
use pathscope_experiments::presentation;
use pathscope_experiments::programs::is_installed;
use pathscope_experiments::runner::{self, Request, Told};
use pathscope_lab::harness;
use pathscope_lab::running::{Registry, Shaper};
use pathscope_modes::document::OutcomeState;
use pathscope_run::stop::Stop;
use pathscope_run::timestamp;

use super::args::RunArgs;
use super::counts;
use super::presence;
use crate::files::ResultFile;
use crate::output::Outputs;
use crate::{Trouble, files, terminal, words};

/// Does the experiments.
pub fn run(registry: &Registry, args: &RunArgs) -> Result<(), Trouble> {
    files::must_keep(&[&args.file], &[("--output", args.output.as_deref())])?;
    let plan = plan(args)?;
    check_programs(&plan)?;
    let binary = std::env::current_exe()
        .map_err(|error| Trouble::new(Failure::Internal, format!("where am I? {error}")))?;
    let file = args.output.as_deref().map(ResultFile::create).transpose()?;
    // Of its own, so that it is in nobody's way, and two of them are not in each other's.
    let name = format!("run-{}", std::process::id());
    let stop = Stop::default();
    let is_quiet = args.quiet;
    let say = move |line: &str| {
        if !is_quiet {
            terminal::say(line);
        }
    };
    stop.experiments(runner::LAST_WORDS);
    stop.on_signals(say).map_err(|error| Trouble::new(error.failure(), error.to_string()))?;
    let lab = harness::Plan {
        binary: &binary,
        registry,
        name: &name,
        network: &plan.network,
        seed: args.seed,
        shaper: Shaper::Relay,
    };
    let request = Request {
        plan: &plan,
        lab,
        host: presence::here(None),
        command: words::as_typed(std::env::args_os()),
        started_at: timestamp::rfc3339(pathscope_os::clock::wall_unix_ns()),
        stop: &|| stop.reason(),
        sentence: counts::sentence,
    };
    let options = terminal::options(args.color.color, args.quiet, 0);
    let mut stdout = io::stdout().lock();
    let mut outputs = Outputs::new(args.form.format(), options, &mut stdout, file);
    let all = plan.experiments.iter().map(|experiment| experiment.steps.len()).sum();
    let mut progress = Progress { all, done: 0 };
    let document = runner::run(&request, &mut |told| match told {
        Told::Began(document) => {
            let presentation = presentation::announcement(document);
            outputs.event(Event::Started { presentation: &presentation, record: document });
        }
        Told::Step(document) => {
            outputs.event(Event::Checkpoint { record: document });
            if let Some(step) = document.experiments.last().and_then(|it| it.steps.last()) {
                outputs.event(Event::Trial { row: &progress.row(document, step), record: step });
            }
        }
    });
    let document = document.map_err(|error| match stop.reason() {
        // A Ctrl-C is heard by the keeper, too.
        Some(reason) => Trouble::new(Failure::Interrupted, reason),
        None => super::not_up(&name, &error),
    })?;
    stop.end_at_once();
    finish(&document, outputs, args)
}

fn plan(args: &RunArgs) -> Result<Plan, Trouble> {
    let text = fs::read_to_string(&args.file)
        .map_err(|error| Trouble::usage(format!("cannot read {}: {error}", named(&args.file))))?;
    let plan = Plan::read(&named(&args.file), &text).map_err(Trouble::usage)?;
    let plan = plan.only(&args.only).map_err(Trouble::usage)?;
    match args.duration {
        Some(duration) if !(Period::from_secs(1)..=Plan::LONGEST).contains(&duration) => {
            let text = format!("--duration {duration} is out of range: 1s to {}", Plan::LONGEST);
            Err(Trouble::usage(text))
        }
        Some(duration) => Ok(plan.lasting(duration)),
        None => Ok(plan),
    }
}

/// What is to be started has to be there before anything is built.
fn check_programs(plan: &Plan) -> Result<(), Trouble> {
    plan.programs().into_iter().try_for_each(check_program)
}

/// One of these programs.
pub(super) fn check_program(program: &str) -> Result<(), Trouble> {
    if is_installed(program) {
        return Ok(());
    }
    Err(Trouble::new(
        Failure::Unsupported,
        format!(
            "there is no program '{program}' on this machine; install it, or leave out with --only what starts it"
        ),
    ))
}

/// The steps, counted as they end.
struct Progress {
    all: usize,
    done: usize,
}

impl Progress {
    fn row(&mut self, document: &ExperimentsDocument, step: &StepResult) -> Row {
        self.done += 1;
        let name = document.experiments.last().map_or("", |it| it.name.as_str());
        let faults = document.faults_of_last();
        let text = match faults {
            0 => "as expected".to_owned(),
            1 => "1 fault".to_owned(),
            faults => format!("{faults} faults"),
        };
        let cell = |label: &str, text: String| Figure::new(label, Value::Text(text));
        Row {
            section: "experiments".to_owned(),
            cells: vec![
                cell("done", format!("{} of {}", self.done, self.all)),
                cell("experiment", name.to_owned()),
                cell("step", step.name.clone()),
                cell("came out", text),
            ],
        }
    }
}

fn finish(
    document: &ExperimentsDocument,
    mut outputs: Outputs<'_>,
    args: &RunArgs,
) -> Result<(), Trouble> {
    let presentation = presentation::presentation(document);
    let trouble = verdict(document);
    let failure = trouble.as_ref().map(|trouble| (trouble.failure, trouble.text.as_str()));
    outputs.event(Event::Finished { presentation: &presentation, record: document, failure });
    let writing = outputs.into_trouble();
    let has_result = document.experiments.iter().any(|experiment| !experiment.steps.is_empty());
    if let (Some(file), None, true, false) = (&args.output, &writing, has_result, args.quiet) {
        let quoted = words::quoted(file);
        terminal::say(&format!(
            "result saved: {}; show it again with: pathscope show {quoted}",
            named(file)
        ));
    }
    Trouble::conclude(trouble, writing)
}

/// What the exit code says of them.
pub fn verdict(document: &ExperimentsDocument) -> Option<Trouble> {
    if document.outcome.state != OutcomeState::Complete {
        let reason = document.outcome.reason.clone();
        let reason = reason.unwrap_or_else(|| "they did not come to their end".to_owned());
        return Some(Trouble::new(Failure::Interrupted, reason));
    }
    let faults = document.faults();
    let text = match &faults[..] {
        [] => return None,
        [one] => one.clone(),
        [first, ..] => format!("{} things are not as expected, first: {first}", faults.len()),
    };
    Some(Trouble::new(Failure::Check, text))
}
