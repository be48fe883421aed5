//! The commands that measure: from words to tests, from events to outputs, from the outcome to the exit
//! code.

use std::io::{self, Write};
use std::path::Path;

use pathscope_core::error::Failure;
use pathscope_core::quantity::{self, Frequency};
use pathscope_core::record::{Caveat, Host, Tool};
use pathscope_modes::document::Document;
use pathscope_modes::follow_up::FollowUp;
use pathscope_modes::latency::LatencyPlan;
use pathscope_modes::mode::Mode as _;
use pathscope_modes::registry::{Plan, Test};
use pathscope_modes::search::Search;
use pathscope_modes::survey::{self, SurveyOptions};
use pathscope_os::{OsError, host, routes};
use pathscope_peers::native::DEFAULT_PORT;
use pathscope_run::client::{self, Request};
use pathscope_run::stop::Stop;
use pathscope_run::target;
use pathscope_views::Format;

use crate::args::{
    GoodputCommand, LatencyCommand, MediaCommand, MultipathCommand, RunArgs, SurveyArgs,
};
use crate::background::Background;
use crate::daemon::{self, Role};
use crate::files::{self, Files, samples_trouble};
use crate::frequencies::FrequencyFile;
use crate::journal::{Of, Verbosity};
use crate::lab::Presence;
use crate::output::{self, Outputs};
use crate::{Trouble, terminal, words};

/// `pathscope survey`.
pub fn survey(args: SurveyArgs) -> Result<(), Trouble> {
    if args.host.is_none() && args.run.port.is_some() {
        let text = "--port has no effect without HOST, since the server is then inside this process; name \
                    the server, or leave it out";
        return Err(Trouble::usage(text));
    }
    let options = SurveyOptions {
        connections: args.connections,
        duration: args.duration,
        probe_rate: probe_rate(args.probe_rate, "leave the option out for what is usual")?,
        report_every: args.run.report_every,
        congestion_control: args.congestion,
    };
    let tests = survey::tests(&options);
    if !args.run.verbosity.quiet && !args.run.dry_run {
        terminal::say(&survey::announcement(&options, &tests));
    }
    let output = &args.run.output;
    // What goes to a program is kept by it, and a daemon has no folder of its own.
    let is_left = output.form.format() == Format::Text && !args.run.daemon.daemon;
    let files =
        Files { left_behind: is_left.then(default_stem), ..Files::result(output.output.clone()) };
    measure("survey", args.host, Tests::list(tests), &args.run, &files)
}

/// `pathscope goodput`.
pub fn goodput(args: GoodputCommand) -> Result<(), Trouble> {
    let probe = if args.no_probe {
        None
    } else {
        Some(LatencyPlan::probe(probe_rate(args.probe_rate, "leave probes out with --no-probe")?))
    };
    let mut mode = args.mode;
    if mode.seed.is_none() && mode.draws() {
        mode.seed = Some(fresh_seed()?);
    }
    let find_rate = args.datagrams.find_rate;
    let plan = if args.datagrams.is_udp().map_err(Trouble::usage)? {
        args.datagrams.into_plan(mode).map(Plan::Datagrams)
    } else {
        mode.into_plan().map(Plan::Goodput)
    };
    let plan = plan.map_err(Trouble::usage)?;
    if let (Plan::Datagrams(_), Some(option)) = (&plan, args.journal.named_first()) {
        let text = "has no effect over UDP: such files are of connections; leave it out";
        return Err(Trouble::usage(format!("{option} {text}")));
    }
    let test = Test { plan, probe, report_every_ns: args.run.report_every };
    let files = Files {
        journal: args.journal,
        usual: Verbosity::Connections,
        ..Files::result(args.run.output.output.clone())
    };
    let tests = if find_rate {
        let (search, first) = Search::begin(&test).map_err(Trouble::usage)?;
        Tests { list: vec![first], follow_up: Some(Box::new(search)) }
    } else {
        Tests::list(vec![("goodput".to_owned(), test)])
    };
    measure("goodput", args.hosts, tests, &args.run, &files)
}

/// `pathscope latency`.
pub fn latency(mut args: LatencyCommand) -> Result<(), Trouble> {
    if args.mode.wants_seed() {
        args.mode.seed = Some(random_seed()?);
    }
    let plan = args.mode.into_plan().map_err(Trouble::usage)?;
    let test =
        Test { plan: Plan::Latency(plan), probe: None, report_every_ns: args.run.report_every };
    let files = Files {
        samples: args.samples,
        frequencies: args.frequency_file,
        ..Files::result(args.run.output.output.clone())
    };
    let tests = Tests::list(vec![("latency".to_owned(), test)]);
    measure("latency", Some(args.host), tests, &args.run, &files)
}

/// `pathscope media`.
pub fn media(args: MediaCommand) -> Result<(), Trouble> {
    let plan = args.mode.into_plan().map_err(Trouble::usage)?;
    if args.jitter_file.is_some() && !plan.is_down() {
        let text = "--jitter-file holds the frames that this end receives, and with --direction up it \
                    receives none; leave one of them out";
        return Err(Trouble::usage(text));
    }
    if !args.run.verbosity.quiet && !args.run.dry_run {
        terminal::say(&format!("media: {}", plan.subtitle()));
    }
    let test =
        Test { plan: Plan::Media(plan), probe: None, report_every_ns: args.run.report_every };
    let name = |number| match args.iterations {
        1 => "media".to_owned(),
        all => format!("media {number} of {all}"),
    };
    let tests = (1..=args.iterations).map(|number| (name(number), test.clone())).collect();
    let files = Files {
        journal: args.journal,
        of: Of::Streams,
        usual: Verbosity::Connections,
        jitter: args.jitter_file,
        ..Files::result(args.run.output.output.clone())
    };
    measure("media", Some(args.host), Tests::list(tests), &args.run, &files)
}

/// `pathscope multipath`.
pub fn multipath(args: MultipathCommand) -> Result<(), Trouble> {
    let failed = |error: OsError| Trouble::new(error.failure(), error.to_string());
    let could_be = |interface: &routes::Interface| !interface.is_loopback;
    let interfaces = routes::interfaces().map_err(failed)?.iter().filter(|it| could_be(it)).count();
    let plan = args.mode.into_plan(interfaces).map_err(Trouble::usage)?;
    let test =
        Test { plan: Plan::Multipath(plan), probe: None, report_every_ns: args.run.report_every };
    let files = Files { samples: args.samples, ..Files::result(args.run.output.output.clone()) };
    let tests = Tests::list(vec![("multipath".to_owned(), test)]);
    measure("multipath", Some(args.host), tests, &args.run, &files)
}

/// A seed that reads well in a document: 32 bits.
fn random_seed() -> Result<u64, Trouble> {
    let bytes = pathscope_os::random::bytes();
    let bytes = bytes.map_err(|error| Trouble::new(Failure::Unsupported, error.to_string()))?;
    Ok(u32::from_ne_bytes(bytes).into())
}

/// What is measured: the tests that are known when it begins, and what follows from them.
struct Tests {
    list: Vec<(String, Test)>,
    follow_up: Option<Box<dyn FollowUp>>,
}

impl Tests {
    /// Nothing follows.
    fn list(list: Vec<(String, Test)>) -> Self {
        Self { list, follow_up: None }
    }
}

fn measure(
    kind: &str,
    hosts: impl IntoIterator<Item = String>,
    tests: Tests,
    args: &RunArgs,
    files: &Files,
) -> Result<(), Trouble> {
    let Tests { list: tests, follow_up } = tests;
    let hosts: Vec<String> = hosts.into_iter().collect();
    let checked = hosts.iter().try_for_each(|host| target::check(host, args.port));
    checked.map_err(Trouble::usage)?;
    tests.iter().try_for_each(|(_, test)| test.validate()).map_err(Trouble::usage)?;
    if args.dry_run {
        return show_plan(&tests, follow_up.map(|follow_up| follow_up.ahead()));
    }
    files.must_hold_a_result(&args.daemon)?;
    let named = files.named();
    files::must_differ(&args.daemon.with_log(&named))?;
    if daemon::enter(&args.daemon, &named)? == Role::Ends {
        return Ok(());
    }
    let result_file = files.open_result()?;
    let result_name = result_file.as_ref().and_then(files::ResultFile::kept_at).map(Path::to_owned);
    let frequency_file = files.frequencies.as_deref().map(FrequencyFile::create).transpose()?;
    let samples = files.open_samples()?;
    let kept = files.journal.keep(Verbosity::of(args.verbosity, files.usual), None, files.of)?;
    daemon::ready();
    let stop = Stop::default();
    let is_quiet = args.verbosity.quiet;
    let tell = move |line: &str| {
        if !is_quiet {
            terminal::say(line);
        }
    };
    stop.on_signals(tell).map_err(|error| Trouble::new(error.failure(), error.to_string()))?;
    let presence = Presence::find();
    let here = here(presence.as_ref());
    let afterwards: Box<dyn FnOnce() -> Vec<Caveat>> = match presence {
        Some(presence) => Box::new(presence.watch()),
        None => Box::new(Vec::new),
    };
    let request = Request {
        kind: kind.to_owned(),
        command: words::as_typed(std::env::args_os()),
        here,
        hosts,
        port: args.port.unwrap_or(DEFAULT_PORT),
        tests,
        follow_up,
        afterwards,
        journal: kept.journal(),
        samples,
        wall_unix_ns: pathscope_os::clock::wall_unix_ns,
    };
    let format = args.output.form.format();
    let options = terminal::options(args.color.color, args.verbosity.quiet, args.verbosity.verbose);
    let mut stdout = Background::new(io::stdout()).map_err(Trouble::no_thread)?;
    let mut outputs = Outputs::new(format, options, &mut stdout, result_file);
    let (document, trouble) = client::run(request, &stop, &mut |event| outputs.event(event));
    let output_trouble = outputs.into_trouble();
    stop.end_at_once();
    let frequency_trouble = frequency_file.and_then(|file| file.write(&document).err());
    let output_trouble =
        output_trouble.or(stdout.finish().err().as_ref().and_then(output::trouble));
    let output_trouble = output_trouble.or(kept.finish());
    if let (Some(file), None, false) = (result_name, &output_trouble, args.verbosity.quiet) {
        terminal::say(&what_became_of(&file, &document));
    }
    let output_trouble =
        output_trouble.or(frequency_trouble).or_else(|| samples_trouble(&document));
    conclude(trouble.map(|(failure, text)| Trouble::new(failure, text)), output_trouble)
}

/// What stands in the file that the result was to be written to.
fn what_became_of(file: &Path, document: &Document) -> String {
    let name = quantity::named(file);
    if !document.measurements.is_empty() {
        let quoted = words::quoted(file);
        return format!("result saved: {name}; show it again with: pathscope show {quoted}");
    }
    if file.exists() {
        format!("nothing was measured; {name} is left as it was before this run")
    } else {
        format!("nothing was measured, so {name} is not written")
    }
}

/// Of what went wrong in measuring and in writing, both are told and the graver one is the exit code.
pub fn conclude(measuring: Option<Trouble>, writing: Option<Trouble>) -> Result<(), Trouble> {
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
fn show_plan(tests: &[(String, Test)], ahead: Option<String>) -> Result<(), Trouble> {
    use pathscope_core::event::{Layout, Record};
    let mut stdout = io::stdout().lock();
    let written = tests.iter().try_for_each(|(name, test)| {
        writeln!(stdout, "{name}: {}\n{}", test.plan.subtitle(), test.to_json(Layout::Indented)?)
    });
    let ahead = ahead.map_or_else(String::new, |ahead| format!("{ahead}\n"));
    match written.and_then(|()| write!(stdout, "{ahead}")) {
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

fn probe_rate(rate: Frequency, instead: &str) -> Result<Frequency, Trouble> {
    const MOST: Frequency = Frequency(10_000);
    match rate {
        Frequency(0) => Err(Trouble::usage(format!("--probe-rate 0/s is no rate; {instead}"))),
        rate if rate > MOST => {
            Err(Trouble::usage(format!("--probe-rate {rate} is out of range: 1/s to {MOST}")))
        }
        rate => Ok(rate),
    }
}

/// This end, as results describe it.
pub fn here(presence: Option<&Presence>) -> Host {
    let tool = Tool { name: "pathscope".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() };
    Host { tool, lab: presence.map(Presence::node), ..host::facts() }
}

/// A survey leaves its result behind, in a file of its own, whose name begins so.
fn default_stem() -> String {
    format!("pathscope-survey-{}", pathscope_run::timestamp::file_stamp())
}
