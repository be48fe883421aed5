//! The command line: which words there are. Those of what measures are the modes' own, and only what all have in common is
//! here.

mod server;

use std::fmt;
use std::path::PathBuf;
use std::slice;
use std::str::FromStr;

use clap::{ArgAction, Args, Parser, Subcommand};
use pathscope_core::quantity::Period;
use pathscope_dialects::registry::NAMES;
use pathscope_modes::assertion::Assertion;
use pathscope_modes::commands::Commands;
use pathscope_modes::condition::Condition;
use pathscope_modes::repeats::RepeatArgs;
use pathscope_peers::registry::{DEFAULT_PORT, PeerKind, Words};
use pathscope_run::client::CONNECT_WITHIN;
use pathscope_run::target::Family;
use pathscope_views::Format;

pub use self::server::ServerArgs;
use crate::daemon::DaemonArgs;
use crate::form::FormArgs;
use crate::labels::Label;
use crate::plot::PlotArgs;
use crate::remarks::RemarkArgs;
use crate::verbosity::{ColorArgs, VerbosityArgs};

/// A calibrated instrument for network paths: goodput with every byte verified, round-trip latency to
/// the last percentile, and what limited them.
#[derive(Debug, Parser)]
#[command(
    name = "pathscope", version, max_term_width = 100, arg_required_else_help = true,
    after_help = other_tools(),
)]
pub struct CommandLine {
    /// What to do
    #[command(subcommand)]
    pub command: Command,
}

/// Which kind of server is spoken to.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum PeerChoice {
    /// This one.
    Kind(PeerKind),
    /// Whichever answers.
    Auto,
}

impl fmt::Display for PeerChoice {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kind(kind) => kind.fmt(formatter),
            Self::Auto => formatter.write_str("auto"),
        }
    }
}

impl FromStr for PeerChoice {
    type Err = String;

    fn from_str(typed: &str) -> Result<Self, String> {
        if typed.eq_ignore_ascii_case("auto") {
            return Ok(Self::Auto);
        }
        typed.parse().map(Self::Kind).map_err(|error: String| format!("{error}, auto"))
    }
}

/// The kinds of peers, as they are typed.
fn kinds() -> String {
    in_words(PeerKind::ALL.iter())
}

/// Those of them whose clients a server serves: with nothing said of its clients, a kind is refused only where it has none of its own.
fn served_kinds() -> String {
    in_words(PeerKind::ALL.iter().filter(|kind| Words::default().of(**kind).is_ok()))
}

fn in_words<'kinds>(kinds: impl Iterator<Item = &'kinds PeerKind>) -> String {
    kinds.map(|kind| kind.name()).collect::<Vec<_>>().join(", ")
}

/// The command lines of other tools that are understood, as help lists them.
fn other_tools() -> String {
    let widest = NAMES.iter().map(|(name, _)| name.len()).max().unwrap_or_default();
    let lines = NAMES.iter().map(|(name, about)| format!("\n  {name:widest$} {about}"));
    let lines: String = lines.collect();
    format!(
        "Command lines of other tools, also where pathscope is started under their name:{lines}"
    )
}

/// What can be done.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Answer every test of many clients at once, on one TCP and one UDP port
    Server(Box<ServerArgs>),
    /// Measure
    #[command(flatten)]
    Measure(Box<Commands<RunArgs>>),
    /// Show a result again
    Show(ShowArgs),
    /// Make a page of results, with charts, for a browser
    Report(ReportArgs),
    /// Tell whether results after a change differ from those before it
    Compare(CompareArgs),
    /// Networks of known rate, delay, queue and loss, on this machine
    Lab(crate::lab::LabArgs),
}

/// What every measuring command has in common.
#[derive(Args, Debug)]
pub struct RunArgs {
    #[arg(
        short = 'p', long, value_name = "PORT",
        value_parser = clap::value_parser!(u16).range(1..),
        help = format!("The server's port, where HOST names none [default: {DEFAULT_PORT}, or that of --peer]")
    )]
    pub port: Option<u16>,
    #[arg(
        long, value_name = "KIND", default_value_t = PeerChoice::Kind(PeerKind::OWN), hide_default_value = true,
        help = format!(
            "Which program the server is, whose protocol is spoken: {}; what that carries is measured, and what it cannot \
             tell is absent. auto: the first of them that answers at its own port [default: {}]", kinds(), PeerKind::OWN
        )
    )]
    pub peer: PeerChoice,
    /// What the server is told beside
    #[command(flatten)]
    pub remarks: RemarkArgs,
    /// Addresses of IPv4 alone, where HOST is a name that has others
    #[arg(short = '4', long = "ipv4", conflicts_with = "six")]
    pub four: bool,
    /// Addresses of IPv6 alone, where HOST is a name that has others
    #[arg(short = '6', long = "ipv6")]
    pub six: bool,
    /// For how long a server may let the control connection wait, at each of its addresses, before it is given up
    #[arg(long, value_name = "TIME", default_value_t = CONNECT_WITHIN)]
    pub connect_within: Period,
    /// From one live row to the next
    #[arg(long, value_name = "TIME", default_value_t = Period::from_secs(1))]
    pub report_every: Period,
    /// What each machine did in each report interval, processors, interfaces, segments sent again and drops, goes to
    /// this file as CSV when the run has ended
    #[arg(long, value_name = "FILE")]
    pub counters_file: Option<PathBuf>,
    /// How the first TCP connections on which each end sends stood at the end of each report interval, windows, round
    /// trips, timeouts and what was sent again, goes to this file as CSV when the run has ended
    #[arg(long, value_name = "FILE")]
    pub tcp_info_file: Option<PathBuf>,
    /// Fails (exit code 5) unless this figure of the result is so, by its id in docs/figures.md; may be given
    /// several times: --assert 'goodput.rate.up>900Mbit' --assert 'latency.rtt.p99<20ms'
    #[arg(long = "assert", value_name = "FIGURE>VALUE")]
    pub assertions: Vec<Assertion>,
    /// How often
    #[command(flatten)]
    pub repeat: RepeatArgs,
    /// What this end or this run is, kept in the result: --label build=1234; may be given several times
    #[arg(long = "label", value_name = "NAME=VALUE")]
    pub labels: Vec<Label>,
    #[arg(
        long,
        value_name = "FILE",
        help = "Also write every check as a test case of JUnit, for CI systems, to this file"
    )]
    pub junit: Option<PathBuf>,
    /// Show the plan and stop
    #[arg(long)]
    pub dry_run: bool,
    /// Where it runs
    #[command(flatten)]
    pub daemon: DaemonArgs,
    /// Where results go
    #[command(flatten)]
    pub output: OutputArgs,
    /// A picture of them
    #[command(flatten)]
    pub plot: PlotArgs,
    /// How much is said
    #[command(flatten)]
    pub verbosity: VerbosityArgs,
    /// With which colors
    #[command(flatten)]
    pub color: ColorArgs,
}

/// `pathscope show`.
#[derive(Args, Debug)]
pub struct ShowArgs {
    /// A file that pathscope wrote with --output, or one that another tool keeps its results in (docs/guide/results.md), of
    /// at most 1 GiB; -: standard input
    pub result: PathBuf,
    /// In which form
    #[command(flatten)]
    pub form: FormArgs,
    /// A picture of it
    #[command(flatten)]
    pub plot: PlotArgs,
    /// Show more: all evidence of each verdict, what to do about each finding, the shapes of distributions, and the command line
    #[arg(short = 'v', long, action = ArgAction::Count)]
    pub verbose: u8,
    /// With which colors
    #[command(flatten)]
    pub color: ColorArgs,
}

/// `pathscope report`.
#[derive(Args, Debug)]
pub struct ReportArgs {
    /// Files that pathscope wrote with --output, or that `show` reads of other tools; several are shown side by side;
    /// -: standard input
    #[arg(required = true, value_name = "RESULT")]
    pub results: Vec<PathBuf>,
    /// The file to write [default: standard output]
    #[arg(short = 'o', long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// html: one file that opens without a network; md: Markdown, for a ticket or a wiki; or text
    #[arg(long, value_name = "FORM", default_value_t = Format::REPORT, value_parser = report_form)]
    pub format: Format,
    /// A picture of them
    #[command(flatten)]
    pub plot: PlotArgs,
}

/// `pathscope compare`.
#[derive(Args, Debug)]
#[command(
    override_usage = "pathscope compare A B [OPTIONS]\n       pathscope compare --before A… --after B… [OPTIONS]\n       pathscope compare INTERLEAVED [OPTIONS]"
)]
pub struct CompareArgs {
    /// A result before the change, and one after it: of single runs no difference can be told; or one of
    /// --interleave-with, which holds both sides
    #[arg(
        value_name = "RESULT", num_args = 1..=2, required_unless_present_all = ["before", "after"],
        conflicts_with_all = ["before", "after"]
    )]
    pair: Vec<PathBuf>,
    /// Results before the change: five, or better fifteen
    #[arg(long, value_name = "RESULT", num_args = 1.., requires = "after")]
    before: Vec<PathBuf>,
    /// Results after it
    #[arg(long, value_name = "RESULT", num_args = 1.., requires = "before")]
    after: Vec<PathBuf>,
    /// Fails (exit code 5) where this figure moved further than that, and the runs show it; - down, + up, ± either way; may
    /// be given several times: --fail-on 'goodput.rate.up -5%' --fail-on 'latency.rtt.p99 +2ms'
    #[arg(long, value_name = "FIGURE -SHARE")]
    pub fail_on: Vec<Condition>,
    #[arg(
        long,
        value_name = "FILE",
        requires = "fail_on",
        help = "Also write every --fail-on as a test case of JUnit, for CI systems, to this file"
    )]
    pub junit: Option<PathBuf>,
    /// Where it goes
    #[command(flatten)]
    pub output: OutputArgs,
    /// A picture of it
    #[command(flatten)]
    pub plot: PlotArgs,
    /// Show more
    #[arg(short = 'v', long, action = ArgAction::Count)]
    pub verbose: u8,
    /// With which colors
    #[command(flatten)]
    pub color: ColorArgs,
}

impl RunArgs {
    /// Which addresses of a server are taken, where not all are.
    pub const fn family(&self) -> Option<Family> {
        match (self.four, self.six) {
            (true, _) => Some(Family::Four),
            (_, true) => Some(Family::Six),
            _ => None,
        }
    }
}

impl CompareArgs {
    /// The result that holds both sides, where one alone is named.
    pub fn interleaved(&self) -> Option<&PathBuf> {
        self.pair.first().filter(|_| self.pair.len() == 1)
    }

    /// The results before, and those after.
    pub fn sides(&self) -> [&[PathBuf]; 2] {
        match &self.pair[..] {
            [before, after] => [slice::from_ref(before), slice::from_ref(after)],
            _ => [&self.before, &self.after],
        }
    }
}

/// Where results go.
#[derive(Args, Debug)]
pub struct OutputArgs {
    /// In which form
    #[command(flatten)]
    pub form: FormArgs,
    /// Also write the result, as JSON, to this file
    #[arg(short = 'o', long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// A form that several results have: JSON is of one, and a run's events are over.
fn report_form(typed: &str) -> Result<Format, String> {
    let form = typed.parse::<Format>().ok().filter(|form| form.holds_several());
    form.ok_or_else(|| format!("'{typed}' is no form of a report; choose html, md or text"))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        CommandLine::command().debug_assert();
    }
}
