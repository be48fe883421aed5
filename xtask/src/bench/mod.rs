//! How fast we are, against a bare loop and against other tools on this machine, over loopback.
//!
//! A claim is a ratio: at least 15 pairs of runs, ours and theirs next to each other in alternating
//! order, since a shared machine's speed wanders by tens of percent within minutes. Both ends are
//! pinned, to one core each, and use the same congestion control, sizes and way of waiting. What a
//! tool cannot be told to do, it is not compared in. No number here says anything about a network.
//! Beside that stand how punctual the lab's relay is, what a report of very many samples takes and, where it is asked for, what very many
//! connections, flows or sessions take, which are no comparisons.

mod bare;
mod case;
mod conditions;
mod contenders;
mod ends;
mod outputs;
mod reading;
mod relay;
mod report;
mod scale;
mod statistics;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use clap::Args;

use crate::console::say;
use crate::sessions::{self, Sessions};
pub use bare::{Loop, run as play};
use case::Case;
use conditions::Conditions;
use contenders::Contender;
use ends::Run;
use report::Comparison;
use scale::{Kind, Scale};
use statistics::RatioSummary;

/// A case of sessions lasts so long at the least: each has a few pings then.
const LEAST_SECONDS: u32 = 10;

/// Pairs from which a claim may be made.
const PAIRS_FOR_A_CLAIM: usize = 15;

/// What to compare, and how.
#[derive(Args, Clone, Debug)]
pub struct Arguments {
    /// Only cases whose name contains this: `goodput-8`, `latency-udp`, `relay`, `report`;
    /// `scale`, `scale-latency-tcp`, `scale-latency-udp`, `scale-goodput-udp`, `scale-media` and `sessions` only where they are named
    /// so
    #[arg(long)]
    case: Option<String>,
    /// Only these opponents
    #[arg(long, value_delimiter = ',')]
    against: Vec<String>,
    /// Who is compared with them: `pathscope`, `recording` (with a row for each ping), or `bare` to judge the method
    /// itself
    #[arg(long, default_value = "pathscope")]
    subject: String,
    /// The binary to measure
    #[arg(long, default_value = "target/release/pathscope")]
    pathscope: PathBuf,
    /// Another build of it, for `--against earlier`
    #[arg(long)]
    earlier: Option<PathBuf>,
    /// Pairs of runs for each comparison, runs of the lab's relay, and reports (5 at most)
    #[arg(long, default_value_t = PAIRS_FOR_A_CLAIM)]
    pairs: usize,
    /// Seconds of each run
    #[arg(long, default_value_t = 2)]
    seconds: u32,
    /// Congestion control of every TCP connection
    #[arg(long, default_value = "cubic")]
    congestion: String,
    /// The core that holds the server
    #[arg(long, default_value_t = 0)]
    server_core: usize,
    /// The core that holds the client
    #[arg(long, default_value_t = 1)]
    client_core: usize,
    /// Connections, flows or streams of a case of scale [default: 1000000 of `scale`, 100000 of the others]
    #[arg(long)]
    connections: Option<u64>,
    /// Clients of the case `sessions`
    #[arg(long, default_value_t = 10_000)]
    sessions: u64,
    /// Write the figures, those of single runs too, as JSON to this file
    #[arg(long)]
    json: Option<PathBuf>,
}

/// Compares, prints a table, and answers whether every comparison could be made.
pub fn run(root: &Path, arguments: &Arguments) -> Result<bool> {
    let conditions = Conditions::of(root, arguments)?;
    let subject = contenders::named(&arguments.subject)?;
    ensure!(
        subject.program.is_there(&conditions),
        "find {}: build it with `cargo build --release`, or name it with --pathscope",
        conditions.pathscope.display()
    );
    let matches = planned(subject, arguments, &conditions)?;
    if !matches.is_empty() {
        announce(&matches, &conditions, arguments.pairs)?;
    }
    let mut comparisons = Vec::new();
    let mut complete = true;
    for (case, opponent) in matches {
        match compare(&case, subject, opponent, &conditions, arguments.pairs) {
            Ok(comparison) => {
                say(comparison.row())?;
                comparisons.push(comparison);
            }
            Err(error) => {
                complete = false;
                let (case, opponent) = (case.name(), opponent.name);
                say(format_args!("{case}: failed to compare with {opponent}: {error:#}"))?;
            }
        }
    }
    if !comparisons.is_empty() {
        say(format_args!("\n{}", report::memory_head()))?;
        comparisons.iter().try_for_each(|comparison| say(comparison.memory_row()))?;
        say(format_args!("\n{}", conditions.size_in_words()))?;
    }
    let mut relay = Vec::new();
    if arguments.case.as_ref().is_none_or(|part| relay::NAME.contains(part.as_str())) {
        match relay::run(&conditions, arguments.pairs) {
            Ok(repetitions) => relay = repetitions,
            Err(error) => {
                complete = false;
                say(format_args!("{}: failed to {error:#}", relay::NAME))?;
            }
        }
    }
    let mut readings = Vec::new();
    if arguments.case.as_ref().is_none_or(|part| reading::NAME.contains(part.as_str())) {
        match reading::run(&conditions, arguments.pairs) {
            Ok(all) => readings = all,
            Err(error) => {
                complete = false;
                say(format_args!("{}: failed to {error:#}", reading::NAME))?;
            }
        }
    }
    let (scaled, sessions) = large(root, arguments, &conditions, &mut complete)?;
    if let Some(path) = &arguments.json {
        let readings = (relay.as_slice(), readings.as_slice());
        let json = report::json(&comparisons, readings, (scaled.as_ref(), &sessions), &conditions)?;
        std::fs::write(path, json).with_context(|| format!("write {}", path.display()))?;
    }
    Ok(complete)
}

/// What takes most of a machine, and so only where it is named: nobody is to meet it by chance.
fn large(
    root: &Path,
    arguments: &Arguments,
    conditions: &Conditions,
    complete: &mut bool,
) -> Result<(Option<Scale>, Vec<Sessions>)> {
    let (mut scaled, mut all) = (None, Vec::new());
    let named = arguments.case.as_deref();
    if let Some(kind) = named.and_then(Kind::named) {
        let flows = arguments.connections.unwrap_or(kind.usual_flows());
        match scale::run(conditions, kind, flows) {
            Ok(scale) => scaled = Some(scale),
            Err(error) => {
                *complete = false;
                say(format_args!("{}: failed to {error:#}", kind.name()))?;
            }
        }
    }
    if named == Some(sessions::NAME) {
        let (count, seconds) = (arguments.sessions, arguments.seconds.max(LEAST_SECONDS));
        match sessions::run(root, &conditions.pathscope, count, seconds) {
            Ok(sessions) => all = sessions,
            Err(error) => {
                *complete = false;
                say(format_args!("{}: failed to {error:#}", sessions::NAME))?;
            }
        }
    }
    Ok((scaled, all))
}

/// Which case is run against whom; the subject is its own first opponent, which tells the noise.
fn planned(
    subject: &'static Contender,
    arguments: &Arguments,
    conditions: &Conditions,
) -> Result<Vec<(Case, &'static Contender)>> {
    let wanted: Vec<&Contender> = if arguments.against.is_empty() {
        contenders::ALL.iter().filter(|other| !other.program.is_pathscope()).collect()
    } else {
        arguments.against.iter().map(|name| contenders::named(name)).collect::<Result<_>>()?
    };
    let mut opponents: Vec<&Contender> = vec![subject];
    for other in wanted.into_iter().filter(|other| other.name != subject.name) {
        if other.program.is_there(conditions) {
            opponents.push(other);
        } else {
            say(format_args!("{} is not on this machine: not compared", other.name))?;
        }
    }
    let chosen = |case: &Case| {
        arguments.case.as_ref().is_none_or(|part| case.name().contains(part.as_str()))
    };
    let pairs = case::all().into_iter().filter(chosen).flat_map(|case| {
        let able = opponents.iter().filter(|other| (other.measure)(&case, conditions).is_some());
        able.map(|other| (case, *other)).collect::<Vec<_>>()
    });
    Ok(pairs.filter(|(case, _)| (subject.measure)(case, conditions).is_some()).collect())
}

fn announce(matches: &[(Case, &Contender)], conditions: &Conditions, pairs: usize) -> Result<()> {
    let runs = matches.len() * pairs * 2;
    let minutes = runs as f64 * (f64::from(conditions.seconds) + 0.5) / 60.0;
    let comparisons = matches.len();
    say(format_args!("{comparisons} comparisons, {runs} runs, about {minutes:.0} minutes"))?;
    say(conditions.in_words())?;
    say(format_args!("\n{}", report::head()))
}

/// Runs the pairs. Who goes first alternates, so that what wears off or builds up favours nobody.
fn compare(
    case: &Case,
    subject: &'static Contender,
    opponent: &'static Contender,
    conditions: &Conditions,
    pairs: usize,
) -> Result<Comparison> {
    // We tell whatever another tool tells; in two ways of running us, the subject says what differs.
    let teller = if opponent.program.is_pathscope() { subject } else { opponent };
    let measure = (teller.measure)(case, conditions).context("find a figure both can tell")?;
    let run = |contender: &Contender| ends::run(contender, case, measure, conditions);
    let mut runs: Vec<(Run, Run)> = Vec::with_capacity(pairs);
    for index in 0..pairs {
        runs.push(if index % 2 == 0 {
            let ours = run(subject)?;
            (ours, run(opponent)?)
        } else {
            let theirs = run(opponent)?;
            (run(subject)?, theirs)
        });
    }
    let ratios: Vec<f64> = runs.iter().map(|(ours, theirs)| ours.figure / theirs.figure).collect();
    let summary = RatioSummary::of(&ratios);
    let cpu_ratios: Option<Vec<f64>> = runs
        .iter()
        .map(|(ours, theirs)| Some(ours.cpu_ns_per_gigabyte? / theirs.cpu_ns_per_gigabyte?))
        .collect();
    Ok(Comparison {
        case: *case,
        measure,
        subject: subject.name,
        opponent: opponent.name,
        runs,
        summary,
        cpu: cpu_ratios.map(|ratios| RatioSummary::of(&ratios)),
    })
}
