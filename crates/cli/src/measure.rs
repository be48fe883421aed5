//! The commands that measure: from words to tests, from events to outputs, from the outcome to the exit
//! code.

use std::cell::OnceCell;
use std::io::{self, Write};
use std::net::IpAddr;
use std::path::Path;

use pathscope_core::error::Failure;
use pathscope_core::quantity::{self, Bytes, Period};
use pathscope_core::record::{Caveat, Host};
use pathscope_dialects::screen::{End, Ending, Screen};
use pathscope_modes::command::{Facts, Machine, Prepared, Refusal, Servers};
use pathscope_modes::commands::Commands;
use pathscope_modes::document::Document;
use pathscope_modes::follow_up::Tests;
use pathscope_modes::presentation::presentation;
use pathscope_os::{OsError, address, routes};
use pathscope_peers::peer::KnownBy;
use pathscope_peers::registry::PeerKind;
use pathscope_run::client::{self, Request};
use pathscope_run::stop::Stop;
use pathscope_run::target;
use pathscope_views::Format;

use crate::args::{PeerChoice, RunArgs};
use crate::background::Background;
use crate::backgrounds::{self, BackgroundFile};
use crate::daemon::{self, Role};
use crate::files::{self, Files, samples_trouble};
use crate::frequencies::FrequencyFile;
use crate::journal;
use crate::junit::JunitFile;
use crate::lab::presence::{self, Presence};
use crate::output::{self, Outputs};
use crate::plot::PlotFile;
use crate::shown::Shown;
use crate::{Trouble, junit, labels, terminal, variants, words};

/// A subcommand that measures, whichever it is.
///
/// With a screen, that shows it instead of the view that the words ask for.
pub fn measure(command: Commands<RunArgs>, screen: Option<Box<dyn Screen>>) -> Result<(), Trouble> {
    let (kind, command, args) = command.split();
    let report_every = args.report_every;
    let server = ServerKind { args: &args, command: kind, found: OnceCell::new() };
    let facts = Facts {
        report_every,
        random: &random,
        interfaces: &interfaces,
        machine: &Here,
        servers: &server,
    };
    let prepared = variants::repeated(&args, command.prepare(&facts)?, &facts)?;
    let Prepared { hosts, mut tests, announcement, probe_server, files: own } = prepared;
    let peer = server.of(&hosts)?;
    tests.remarks = args.remarks.told_to(peer)?;
    if hosts.is_empty() && args.port.is_some() {
        let text = "--port has no effect without HOST, since the server is then inside this process; name \
                    the server, or leave it out";
        return Err(Trouble::usage(text));
    }
    let (least, most) = (Period::from_millis(1), Period::from_secs(3_600));
    if !(least..=most).contains(&args.connect_within) {
        let typed = args.connect_within;
        let text = format!("--connect-within {typed} is out of range: {least} to {most}");
        return Err(Trouble::usage(text));
    }
    let is_quiet = args.verbosity.quiet || args.dry_run;
    announcement.iter().filter(|_| !is_quiet).for_each(|text| terminal::say(text));
    // What goes to a program is kept by it, and a daemon has no folder of its own.
    let is_for_people = args.output.form.format() == Format::default() && !args.daemon.daemon;
    let left_behind = (own.leaves_result && is_for_people)
        .then(|| format!("pathscope-{kind}-{}", pathscope_run::timestamp::file_stamp()));
    let backgrounds = backgrounds::asked(&args);
    let (result, plot) = (args.output.output.clone(), args.plot.named());
    let files = Files { result, left_behind, own, backgrounds, plot };
    run((kind, screen), (peer, hosts, probe_server), tests, &args, &files)
}

/// Which kind of server it is that is measured with: the one that was named, or that is found once.
struct ServerKind<'words> {
    args: &'words RunArgs,
    command: &'static str,
    found: OnceCell<PeerKind>,
}

impl ServerKind<'_> {
    fn of(&self, hosts: &[String]) -> Result<PeerKind, Refusal> {
        let RunArgs { peer, port, dry_run, verbosity, .. } = self.args;
        let unfit = |why: &str| {
            let text = format!("--peer {peer}: {why}");
            Err(Refusal { failure: Failure::Usage, text })
        };
        match (peer, hosts) {
            (PeerChoice::Kind(PeerKind::OWN), _) => Ok(PeerKind::OWN),
            (_, []) => unfit("name the server, as HOST"),
            (PeerChoice::Kind(kind), _) => Ok(*kind),
            (PeerChoice::Auto, [first, ..]) => {
                if port.is_some() || hosts.iter().any(|host| target::names_port(host)) {
                    return unfit(
                        "each kind is asked at the port that it has by itself; name the kind of the one at this port, or no port",
                    );
                }
                if *dry_run {
                    return unfit("with --dry-run nobody is asked; name the kind");
                }
                if let Some(found) = self.found.get() {
                    return Ok(*found);
                }
                let mut tell = |line: &str| {
                    if !verbosity.quiet {
                        terminal::say(line);
                    }
                };
                let found =
                    client::kind_of_server(first, self.command, &Stop::default(), &mut tell);
                let found = found.map_err(|error| Refusal {
                    failure: error.failure(),
                    text: error.to_string(),
                })?;
                Ok(*self.found.get_or_init(|| found))
            }
        }
    }
}

impl Servers for ServerKind<'_> {
    fn have_probes(&self, hosts: &[String]) -> Result<bool, Refusal> {
        // Others know a connection by nothing that would tell that it is a probe.
        Ok(self.of(hosts)?.known_by() == KnownBy::Seat)
    }

    fn ping_bytes(&self, host: &str) -> Result<Option<Bytes>, Refusal> {
        Ok(self.of(&[host.to_owned()])?.conventions().pings.usual_bytes())
    }
}

/// The machine on which this runs.
struct Here;

impl Machine for Here {
    fn addresses(&self, name: &str) -> Result<Vec<IpAddr>, Refusal> {
        // It is of this machine: a name that has none was typed wrong.
        let unknown = |error: OsError| Refusal { failure: Failure::Usage, text: error.to_string() };
        let addresses = address::resolve(name, 0).map_err(unknown)?;
        let all: Vec<IpAddr> = addresses.into_iter().map(|address| address.ip()).collect();
        // Those of a link alone lead nowhere else, and a name says no link.
        let is_of_link = |address: &IpAddr| match address {
            IpAddr::V4(address) => address.is_link_local(),
            IpAddr::V6(address) => address.is_unicast_link_local(),
        };
        let wide: Vec<IpAddr> = all.iter().copied().filter(|it| !is_of_link(it)).collect();
        Ok(if wide.is_empty() { all } else { wide })
    }

    fn interface(&self, number: &str) -> Result<String, Refusal> {
        address::interface_name(number).map_err(|error| refusal(&error))
    }
}

fn random() -> Result<u64, Refusal> {
    pathscope_os::random::bytes().map(u64::from_ne_bytes).map_err(|error| refusal(&error))
}

fn interfaces() -> Result<usize, Refusal> {
    let all = routes::interfaces().map_err(|error| refusal(&error))?;
    Ok(all.iter().filter(|interface| !interface.is_loopback).count())
}

fn refusal(error: &OsError) -> Refusal {
    Refusal { failure: error.failure(), text: error.to_string() }
}

fn run(
    (kind, screen): (&str, Option<Box<dyn Screen>>),
    (peer, hosts, probe_server): (PeerKind, Vec<String>, Option<String>),
    tests: Tests,
    args: &RunArgs,
    files: &Files,
) -> Result<(), Trouble> {
    check_names((&hosts, probe_server.as_deref()), args.port)?;
    args.plot.check()?;
    tests.list.iter().try_for_each(|(_, test)| test.validate()).map_err(Trouble::usage)?;
    let labels = labels::labels(&args.labels).map_err(Trouble::usage)?;
    if args.dry_run {
        return show_plan(&tests);
    }
    files.must_hold_a_result(&args.daemon)?;
    let mut named = files.named();
    named.push(("--junit", args.junit.as_deref()));
    let of_screen = screen.as_ref().map(|screen| screen.files()).unwrap_or_default();
    named.extend(of_screen.iter().map(|(option, path)| (*option, Some(path.as_path()))));
    files::must_differ(&args.daemon.with_log(&named))?;
    if daemon::enter(&args.daemon, &named)? == Role::Ends {
        return Ok(());
    }
    let result_file = files.open_result().map_err(unmeasured)?;
    let result_name = result_file.as_ref().and_then(files::ResultFile::kept_at).map(Path::to_owned);
    let frequency_file = files.own.frequencies.as_ref().map(FrequencyFile::create).transpose();
    let mut frequency_file = frequency_file.map_err(unmeasured)?;
    let backgrounds = files.backgrounds.iter().map(BackgroundFile::create);
    let backgrounds = backgrounds.collect::<Result<Vec<_>, Trouble>>().map_err(unmeasured)?;
    let plot = args.plot.create().map_err(unmeasured)?;
    let samples = files.open_samples().map_err(unmeasured)?;
    let junit = JunitFile::prepare(args.junit.as_deref()).map_err(unmeasured)?;
    let wants = screen.as_ref().map(|screen| screen.wants());
    let own = (files.own.journal.as_ref(), &files.own.each);
    let said = (args.verbosity, args.output.form.format());
    let kept = journal::keep_of_command(own, said, wants);
    let kept = kept.map_err(unmeasured)?;
    daemon::ready();
    let stop = stop_on_signals(args.verbosity.quiet)?;
    let presence = Presence::find();
    let here = Host { labels, ..presence::here(presence.as_ref()) };
    let afterwards: Box<dyn FnOnce() -> Vec<Caveat>> = match presence {
        Some(presence) => Box::new(presence.watch()),
        None => Box::new(Vec::new),
    };
    let port = args.port.unwrap_or(peer.port());
    let is_shown = screen.is_some();
    if let Some(screen) = screen {
        let addresses = destinations(&hosts, (port, args), &tests, &stop);
        let end = End::Client { hosts: &hosts, addresses: &addresses, port, tests: &tests.list };
        kept.show(screen, &here, end).map_err(unmeasured)?;
    }
    let request = Request {
        kind: kind.to_owned(),
        command: words::as_typed(std::env::args_os()),
        here,
        peer,
        hosts,
        port,
        probe_server,
        family: args.family(),
        connect_within: args.connect_within,
        tests,
        assertions: args.assertions.clone(),
        afterwards,
        journal: kept.journal(),
        samples,
        wall_unix_ns: pathscope_os::clock::wall_unix_ns,
    };
    let format = args.output.form.format();
    let options = terminal::options(args.color.color, args.verbosity.quiet, args.verbosity.verbose);
    let mut stdout = Background::new(io::stdout()).map_err(Trouble::no_thread)?;
    let mut outputs = if is_shown {
        Outputs::to_file(result_file)
    } else {
        Outputs::new(format, options, &mut stdout, result_file)
    };
    let (document, trouble) = client::run(request, &stop, &mut |event| outputs.event(event));
    let output_trouble = outputs.into_trouble();
    stop.end_at_once();
    // Before anything is waited for, unless a screen has counted what it holds.
    let counted_here = if is_shown { None } else { frequency_file.take() };
    let frequency_trouble = counted_here.and_then(|file| file.write(&document, None).err());
    let written = backgrounds.into_iter().filter_map(|file| file.write(&document).err());
    // Each is written, whatever becomes of another.
    let background_trouble = written.collect::<Vec<_>>().into_iter().next();
    let failure = trouble.as_ref().map(|(failure, text)| (*failure, text.as_str()));
    let plot_trouble = plot.and_then(|plot| draw(plot, &document, failure).err());
    let output_trouble =
        output_trouble.or(stdout.finish().err().as_ref().and_then(output::trouble));
    let junit_trouble = junit.and_then(|file| file.write(&junit::of_run(&document)).err());
    let (incomplete, shown) = kept.finish();
    let wall_unix_ns = pathscope_os::clock::wall_unix_ns();
    let ending = Ending { document: Some(&document), failure, wall_unix_ns };
    let counted = shown.as_ref().and_then(Shown::frequencies);
    let counted_there = frequency_file.and_then(|file| file.write(&document, counted).err());
    let (screen_trouble, is_told) = shown.map_or((None, false), |shown| shown.finish(&ending));
    let output_trouble = output_trouble.or(screen_trouble).or(incomplete).or(junit_trouble);
    if let (Some(file), None, false) = (result_name, &output_trouble, args.verbosity.quiet) {
        terminal::say(&what_became_of(&file, &document));
    }
    let output_trouble = output_trouble
        .or(frequency_trouble)
        .or(counted_there)
        .or(background_trouble)
        .or(plot_trouble)
        .or_else(|| samples_trouble(&document));
    let trouble = trouble.map(|(failure, text)| Trouble::new(failure, text).told(is_told));
    Trouble::conclude(trouble, output_trouble)
}

/// Whether all servers are named as they can be.
fn check_names(
    (hosts, probe_server): (&[String], Option<&str>),
    port: Option<u16>,
) -> Result<(), Trouble> {
    hosts.iter().try_for_each(|host| target::check(host, port)).map_err(Trouble::usage)?;
    let checked = probe_server.map_or(Ok(()), |host| target::check(host, None));
    checked.map_err(|error| Trouble::usage(format!("--probe-server: {error}")))
}

/// Where connections to these servers will go, to be shown before.
fn destinations(
    hosts: &[String],
    (port, args): (u16, &RunArgs),
    tests: &Tests,
    stop: &Stop,
) -> Vec<std::net::SocketAddr> {
    let plan = tests.list.first().map(|(_, test)| &test.plan);
    let local = plan.and_then(|plan| Some(plan.asks().sockets?.bind.clone()));
    target::destinations(hosts, &local.unwrap_or_default(), (port, args.family()), stop)
}

/// What ends a run early, as signals say.
fn stop_on_signals(is_quiet: bool) -> Result<Stop, Trouble> {
    let stop = Stop::default();
    let tell = move |line: &str| {
        if !is_quiet {
            terminal::say(line);
        }
    };
    let heard = stop.on_signals(tell);
    heard.map_err(|error| Trouble::new(error.failure(), error.to_string()))?;
    Ok(stop)
}

/// What a file that cannot be had costs a command that measures.
fn unmeasured(Trouble { failure, text, is_told }: Trouble) -> Trouble {
    Trouble { failure, text: format!("{text}; nothing was measured"), is_told }
}

/// Draws a result; nothing where nothing was measured.
fn draw(
    plot: PlotFile,
    document: &Document,
    failure: Option<(Failure, &str)>,
) -> Result<(), Trouble> {
    if document.all_measurements().next().is_none() {
        return Ok(());
    }
    plot.write(&presentation(document), failure).map(|_| ())
}

/// What stands in the file that the result was to be written to.
fn what_became_of(file: &Path, document: &Document) -> String {
    let name = quantity::named(file);
    if document.all_measurements().next().is_some() {
        let quoted = words::quoted(file);
        return format!("result saved: {name}; show it again with: pathscope show {quoted}");
    }
    if file.exists() {
        format!("nothing was measured; {name} is left as it was before this run")
    } else {
        format!("nothing was measured, so {name} is not written")
    }
}

/// `--dry-run`: the tests as they would run, as JSON.
fn show_plan(tests: &Tests) -> Result<(), Trouble> {
    use pathscope_core::event::{Layout, Record};
    let mut stdout = io::stdout().lock();
    let ahead = tests.follow_up.as_ref().map(|follow_up| follow_up.ahead());
    let planned = tests.follow_up.as_ref().map_or_else(Vec::new, |follow_up| follow_up.planned());
    let planned = if planned.is_empty() { &tests.list } else { &planned };
    let written = planned.iter().try_for_each(|(name, test)| {
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
