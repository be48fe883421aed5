//! The commands that measure: from words to tests, from events to outputs, from the outcome to the exit
//! code.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use pathscope_core::error::Failure;
use pathscope_core::quantity::Frequency;
use pathscope_core::record::Tool;
use pathscope_modes::latency::LatencyPlan;
use pathscope_modes::registry::{Plan, Test};
use pathscope_run::client::{self, Request};
use pathscope_run::stop::Stop;
use pathscope_run::survey::{self, SurveyOptions};

use crate::args::{GoodputCommand, LatencyCommand, RunArgs, SurveyArgs};
use crate::background::Background;
use crate::output::{self, Outputs, ResultFile};
use crate::{Trouble, terminal};

/// `pathscope survey`.
pub fn survey(args: SurveyArgs) -> Result<(), Trouble> {
    let tests = survey::tests(&SurveyOptions {
        connections: args.connections,
        duration: args.duration,
        probe_rate: probe_rate(args.probe_rate)?,
        report_every: args.run.report_every,
        congestion_control: args.congestion,
    });
    let file = args.run.output.output.clone().unwrap_or_else(default_file);
    measure("survey", args.host, tests, &args.run, Some(&file))
}

/// `pathscope goodput`.
pub fn goodput(args: GoodputCommand) -> Result<(), Trouble> {
    let probe =
        if args.no_probe { None } else { Some(LatencyPlan::probe(probe_rate(args.probe_rate)?)) };
    let mut mode = args.mode;
    if mode.seed.is_none() {
        mode.seed = Some(fresh_seed()?);
    }
    let plan = mode.into_plan().map_err(Trouble::usage)?;
    let test = Test { plan: Plan::Goodput(plan), probe, report_every_ns: args.run.report_every };
    let file = args.run.output.output.clone();
    measure(
        "goodput",
        Some(args.host),
        vec![("goodput".to_owned(), test)],
        &args.run,
        file.as_deref(),
    )
}

/// `pathscope latency`.
pub fn latency(args: LatencyCommand) -> Result<(), Trouble> {
    let plan = args.mode.into_plan().map_err(Trouble::usage)?;
    let test =
        Test { plan: Plan::Latency(plan), probe: None, report_every_ns: args.run.report_every };
    let file = args.run.output.output.clone();
    measure(
        "latency",
        Some(args.host),
        vec![("latency".to_owned(), test)],
        &args.run,
        file.as_deref(),
    )
}

fn measure(
    kind: &str,
    host: Option<String>,
    tests: Vec<(String, Test)>,
    args: &RunArgs,
    file: Option<&Path>,
) -> Result<(), Trouble> {
    tests.iter().try_for_each(|(_, test)| test.validate()).map_err(Trouble::usage)?;
    if args.dry_run {
        return show_plan(&tests);
    }
    let result_file = file.map(ResultFile::create).transpose()?;
    let stop = Stop::default();
    stop.on_signals().map_err(|error| Trouble::new(error.failure(), error.to_string()))?;
    let request = Request {
        kind: kind.to_owned(),
        command: std::env::args().collect(),
        tool: tool(),
        host,
        port: args.port,
        tests,
    };
    let format = args.output.form.format();
    let options = terminal::options(args.talk.color.color, args.talk.quiet);
    let mut stdout = Background::new(io::stdout())
        .map_err(|error| Trouble::new(Failure::Unsupported, format!("cannot start: {error}")))?;
    let mut outputs = Outputs::new(format, options, &mut stdout, result_file);
    let (document, trouble) = client::run(request, &stop, &mut |event| outputs.event(event));
    let output_trouble = outputs.into_trouble();
    let output_trouble =
        output_trouble.or(stdout.finish().err().as_ref().and_then(output::trouble));
    if let (Some(file), None, false) =
        (file, &output_trouble, args.talk.quiet || document.measurements.is_empty())
    {
        terminal::say(&format!(
            "result saved: {}; show it again with: pathscope show {0}",
            file.display()
        ));
    }
    conclude(trouble.map(|(failure, text)| Trouble::new(failure, text)), output_trouble)
}

/// Of what went wrong in measuring and in writing, both are told and the graver one is the exit code.
fn conclude(measuring: Option<Trouble>, writing: Option<Trouble>) -> Result<(), Trouble> {
    match (measuring, writing) {
        (None, None) => Ok(()),
        (Some(trouble), None) | (None, Some(trouble)) => Err(trouble),
        (Some(measuring), Some(writing)) => {
            terminal::complain(&writing.text);
            let gravest = Failure::gravest([measuring.failure, writing.failure]);
            Err(Trouble::new(gravest.unwrap_or(measuring.failure), measuring.text))
        }
    }
}

/// `--dry-run`: the tests as they would run, as JSON.
fn show_plan(tests: &[(String, Test)]) -> Result<(), Trouble> {
    use pathscope_core::event::{Layout, Record};
    let mut stdout = io::stdout().lock();
    let written = tests.iter().try_for_each(|(name, test)| {
        writeln!(
            stdout,
            "{name}: {}\n{}",
            pathscope_modes::sheet::subtitle(test),
            test.to_json(Layout::Indented)?
        )
    });
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Trouble::new(Failure::Output, format!("cannot write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// A seed of 48 bits, which every reader of JSON reads exactly.
fn fresh_seed() -> Result<u64, Trouble> {
    let bytes = pathscope_os::random::bytes()
        .map_err(|error| Trouble::new(error.failure(), error.to_string()))?;
    Ok(u64::from_be_bytes(bytes) >> 16)
}

fn probe_rate(rate: Frequency) -> Result<Frequency, Trouble> {
    const MOST: Frequency = Frequency(10_000);
    match rate {
        Frequency(0) => {
            Err(Trouble::usage("--probe-rate 0/s is no rate; leave probes out with --no-probe"))
        }
        rate if rate > MOST => {
            Err(Trouble::usage(format!("--probe-rate {rate} is out of range: 1/s to {MOST}")))
        }
        rate => Ok(rate),
    }
}

/// This program, as results name it.
pub fn tool() -> Tool {
    Tool { name: "pathscope".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() }
}

/// A survey leaves its result behind, in a file of its own.
fn default_file() -> PathBuf {
    PathBuf::from(format!("pathscope-survey-{}.json", pathscope_run::wall::file_stamp()))
}
