//! `pathscope server`: answers until it is told to stop.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use pathscope_core::error::Failure;
use pathscope_core::journal::Scribes;
use pathscope_core::quantity::{Bytes, Period, shown};
use pathscope_core::record::Host;
use pathscope_dialects::screen::{Beginning, End, Ending, Screen};
use pathscope_modes::command::JournalSubject;
use pathscope_os::readiness::Poller;
use pathscope_os::{clock, cpus, memory};
use pathscope_peers::limits::{Limits, Withheld};
use pathscope_peers::operator::Said;
use pathscope_peers::peer::Listener;
use pathscope_peers::registry::PeerKind;
use pathscope_run::server::{Descriptors, LogLimit, Server, Settings, Stated, Threads, Totals};
use pathscope_run::stop::{self, Stop};

use crate::args::ServerArgs;
use crate::background::Background;
use crate::daemon::{self, Role};
use crate::files;
use crate::journal::{self, Further, Verbosity};
use crate::lab::presence::{Presence, here};
use crate::{Trouble, labels, terminal};

/// Why a server stops whose time is over.
const TIME_LIMIT: &str = "--time-limit";

/// Serves until a signal comes; then tells every client, hands in every report, and ends. With a screen, that shows what it serves.
pub fn serve(args: &ServerArgs, screen: Option<Box<dyn Screen>>) -> Result<(), Trouble> {
    let trouble = |error: pathscope_run::RunError| Trouble::new(error.failure(), error.to_string());
    check(args)?;
    let stated = stated(args)?;
    let labels = labels::labels(&args.labels).map_err(Trouble::usage)?;
    let of_screen = screen.as_ref().map(|screen| screen.files()).unwrap_or_default();
    let of_screen = of_screen.iter().map(|(option, path)| (*option, Some(path.as_path())));
    let totals_file = args.totals_file.clone().map(|path| ("--totals-file", path));
    let of_all = totals_file.as_ref().map(|(option, path)| (*option, Some(path.as_path())));
    let named = args.journal.named().into_iter().chain(of_all).chain(of_screen);
    let named: Vec<_> = named.collect();
    files::must_differ(&args.daemon.with_log(&named))?;
    if daemon::enter(&args.daemon, &named)? == Role::Ends {
        return Ok(());
    }
    memory::keep_little();
    keep_on(&args.cpus)?;
    // Before signals are heard: opening a pipe may wait for its reader.
    let log_limit = Arc::new(LogLimit::new(args.verbosity.verbose > 0));
    let lines = Some(Arc::clone(&log_limit));
    let wants = screen.as_ref().map(|screen| screen.wants());
    let verbosity = match wants {
        Some(_) => Verbosity::Nothing,
        None => Verbosity::of(args.verbosity, Verbosity::Connections),
    };
    let totals = totals_file.as_ref().map(|file| Further::Totals(file, args.report_every));
    let own = (&args.journal, JournalSubject::Served, totals);
    let kept = journal::keep(own, (verbosity, lines, None), wants)?;
    let stop = Stop::default();
    let is_quiet = args.verbosity.quiet;
    let tell = move |line: &str| {
        if !is_quiet {
            terminal::say(line);
        }
    };
    stop.on_signals(tell).map_err(trouble)?;
    let totals = Arc::<Totals>::default();
    let asked = Arc::clone(&totals);
    stop::on_question(move || asked.ask()).map_err(trouble)?;
    let here = Host { labels, ..here(Presence::find().as_ref()) };
    let settings = Settings {
        listen: addresses(&args.listen),
        port: args.port,
        limits: limits(args),
        descriptors: Descriptors {
            session: args.limit_descriptors,
            address: args.limit_descriptors_per_address,
        },
        threads: Threads { all: args.limit_threads, address: args.limit_threads_per_address },
        here: here.clone(),
        journal: kept.journal(),
        exit_after: args.exit_after,
        exit_after_tests: args.exit_after_tests,
        exit_after_idle: args.exit_after_idle,
        log_limit: Arc::clone(&log_limit),
        totals: Arc::clone(&totals),
        warn: is_quiet.then_some(terminal::say),
        own_listeners_alone: !args.accept.iter().any(|kind| kind.listener() == Listener::Shared),
        allow: args.allow.clone(),
        stated,
        scribes: scribes(&args.accept, screen.as_deref(), &here),
    };
    let server = Server::bind(settings).map_err(trouble)?;
    if let Some(screen) = screen {
        let own = args.accept.iter().flat_map(|kind| server.addresses_of(*kind));
        let addresses: Vec<SocketAddr> = server.addresses().chain(own).collect();
        let end = End::Server { addresses: &addresses };
        kept.show(screen, &here, end)?;
    }
    end_after(args.time_limit, &stop)?;
    let quiet = args.verbosity.quiet;
    // Whoever does not read what is said keeps no client waiting. The first line is where it listens.
    let log = daemon::TellsReady(io::stderr());
    let log_output = Mutex::new(Background::new(log).map_err(Trouble::no_thread)?);
    let served = server.serve(&stop, &|line: &str| {
        if quiet {
            return daemon::ready();
        }
        let mut log_output = log_output.lock().unwrap_or_else(PoisonError::into_inner);
        // Nobody listens any more: that is no reason to stop serving.
        let _ = log_output
            .write_all(format!("{}\n", terminal::shown(&terminal::spelled(line))).as_bytes());
    });
    stop.end_at_once();
    drop(log_output);
    // What a file lacks was told when it was given up.
    let (incomplete, shown) = kept.finish();
    log_limit.tell_rest(&mut |line| tell(line));
    let served = served.map_err(trouble).err();
    let failure = served.as_ref().map(|trouble| (trouble.failure, trouble.text.as_str()));
    let ending = Ending { document: None, failure, wall_unix_ns: clock::wall_unix_ns() };
    let (unseen, is_told) = shown.map_or((None, false), |shown| shown.finish(&ending));
    // A screen has told of each.
    let served = served.or_else(|| failures(&stop, &totals));
    Trouble::conclude(served.map(|trouble| trouble.told(is_told)), unseen.or(incomplete))
}

/// What failed of all that was served, where the server has ended by itself: whoever ends it has not waited for how it goes.
fn failures(stop: &Stop, totals: &Totals) -> Option<Trouble> {
    let by_itself = stop.reason().is_none_or(|reason| reason == TIME_LIMIT);
    let failures = by_itself.then(|| totals.failures()).flatten();
    failures.map(|text| Trouble::new(Failure::Check, text))
}

/// Who makes what clients of each kind are told that this server prints: what a screen shows, or what such a tool's own server would.
fn scribes(
    kinds: &[PeerKind],
    screen: Option<&dyn Screen>,
    here: &Host,
) -> Vec<(PeerKind, Scribes)> {
    let of_kind = |kind: &PeerKind| {
        let of_tool = || pathscope_dialects::registry::scribes(kind.name());
        let make = screen.map_or_else(of_tool, |screen| screen.scribes())?;
        let here = here.clone();
        let begin = move |wall_unix_ns| {
            let local_offset_s = clock::local_offset_s(wall_unix_ns);
            let end = End::Server { addresses: &[] };
            make(&Beginning { wall_unix_ns, local_offset_s, host: &here, end })
        };
        Some((*kind, Scribes::new(begin)))
    };
    kinds.iter().filter_map(of_kind).collect()
}

/// How clients of other programs are served.
fn stated(args: &ServerArgs) -> Result<Vec<Stated>, Trouble> {
    let is_unserved =
        |kind: &&PeerKind| args.words.is_said_of(**kind) && !args.accept.contains(*kind);
    if let Some(kind) = PeerKind::ALL.iter().find(is_unserved) {
        let text = format!(
            "options of {kind} clients have no effect, since none are served; add {kind} to --accept"
        );
        return Err(Trouble::usage(text));
    }
    let mut stated: Vec<Stated> = Vec::new();
    for &peer in &args.accept {
        let is_known = stated.iter().any(|known| known.peer == peer);
        if peer == PeerKind::OWN || is_known {
            continue;
        }
        let Said { tests, port, ports, rate, is_of_several } =
            args.words.of(peer).map_err(Trouble::usage)?;
        stated.push(Stated { peer, tests, port, ports, rate, is_of_several });
    }
    Ok(stated)
}

/// What no server could do anything with.
fn check(args: &ServerArgs) -> Result<(), Trouble> {
    const LEAST: Period = Period::from_millis(10);
    if let Some(limit) = args.limit_duration.filter(|limit| (1..LEAST.0).contains(&limit.0)) {
        let text = format!(
            "--limit-duration {limit} would refuse every test, since the shortest lasts {LEAST}; 0 lifts the limit"
        );
        return Err(Trouble::usage(text));
    }
    for (option, limit) in
        [("--time-limit", args.time_limit), ("--exit-after-idle", args.exit_after_idle)]
    {
        if let Some(limit) = limit.filter(|limit| *limit < LEAST) {
            let text = format!("{option} {limit} is out of range: {LEAST} or more");
            return Err(Trouble::usage(text));
        }
    }
    if args.report_every < LEAST {
        let text = format!("--report-every {} is out of range: {LEAST} or more", args.report_every);
        return Err(Trouble::usage(text));
    }
    for address in &args.listen {
        let refused = |why: &str| {
            let text = format!("--listen '{}': {why}", shown(address));
            Err(Trouble::usage(text))
        };
        if address.is_empty() || address.contains(|it: char| it.is_control() || it.is_whitespace())
        {
            return refused(
                "give an address or a name of this machine, as 127.0.0.1 or fe80::1%eth0",
            );
        }
        if has_port(address) {
            return refused("give the address alone, and its port with --port");
        }
    }
    Ok(())
}

/// What to listen on; a star is every address, as is nothing.
fn addresses(typed: &[String]) -> Vec<String> {
    if typed.iter().any(|address| address == "*") { Vec::new() } else { typed.to_vec() }
}

/// Keeps this thread on these processors, and with it all that are started from now on.
fn keep_on(cpus: &[u32]) -> Result<(), Trouble> {
    if cpus.is_empty() {
        return Ok(());
    }
    let allowed = cpus::allowed();
    if let Some(cpu) = cpus.iter().find(|cpu| !allowed.contains(cpu)) {
        let allowed: Vec<String> = allowed.iter().map(u32::to_string).collect();
        let text = format!("--cpu {cpu}: this process may use {}", allowed.join(", "));
        return Err(Trouble::usage(text));
    }
    let kept = cpus::keep_thread_on(cpus);
    kept.map_err(|error| Trouble::new(error.failure(), format!("--cpu: {error}")))
}

/// Lets a server end by itself after so long. A thread waits for that, which nobody waits for.
fn end_after(limit: Option<Period>, stop: &Stop) -> Result<(), Trouble> {
    let Some(limit) = limit else { return Ok(()) };
    let poller = Poller::new().map_err(|error| Trouble::new(error.failure(), error.to_string()))?;
    let stop = stop.clone();
    let wait = move || {
        // Where it cannot wait, it ends sooner.
        let _ = poller.wait(&mut Vec::new(), Some(limit.duration()));
        stop.request(TIME_LIMIT);
    };
    let waiting = thread::Builder::new().name("time limit".to_owned()).spawn(wait);
    waiting.map(drop).map_err(Trouble::no_thread)
}

/// Whether this is an address with a port behind it. One of IPv6 has colons of its own.
fn has_port(address: &str) -> bool {
    let behind = address.rsplit_once(']').map_or(address, |(_, behind)| behind);
    behind.matches(':').count() == 1
}

/// The limits that were asked for; zero lifts one.
fn limits(args: &ServerArgs) -> Limits {
    let usual = Limits::default();
    let number =
        |asked: Option<u32>, usual| asked.map_or(usual, |limit| (limit > 0).then_some(limit));
    let size =
        |asked: Option<Bytes>, usual| asked.map_or(usual, |limit| (limit.0 > 0).then_some(limit));
    let memory_bytes = size(args.limit_memory, usual.memory_bytes);
    let share = memory_bytes.map(|most| Bytes(most.0 / 2));
    Limits {
        memory_bytes,
        memory_bytes_per_address: size(args.limit_memory_per_address, share),
        sessions: number(args.limit_sessions, usual.sessions),
        sessions_per_address: number(args.limit_sessions_per_address, usual.sessions_per_address),
        connections: number(args.limit_connections, usual.connections),
        datagram_rate_bps: args
            .limit_datagram_rate
            .map_or(usual.datagram_rate_bps, |limit| (limit.0 > 0).then_some(limit)),
        duration_ns: args
            .limit_duration
            .map_or(usual.duration_ns, |limit| (limit.0 > 0).then_some(limit)),
        withheld: Withheld {
            spinning: !args.allow_spin,
            pinning: !args.allow_pinning,
            congestion: !args.allow_congestion,
        },
        ..usual
    }
}
