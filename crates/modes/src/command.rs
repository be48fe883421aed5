//! What is asked of a subcommand that measures: what its words come to, and which files they name. Not the words of the
//! binary itself, nor how files are written. A mode's own subcommand is in its folder; `commands` lists them all.

use std::net::IpAddr;
use std::path::{Path, PathBuf};

use clap::Args;
use pathscope_core::error::Failure;
use pathscope_core::quantity::{Bytes, Period};

use crate::limits::PlanError;

/// A subcommand that measures: what was typed behind its name.
pub trait Command: Args {
    /// What it measures: [`Plans`] of its mode, or tests of several modes.
    type Tests;

    /// What the words come to.
    fn prepare(self, facts: &Facts<'_>) -> Result<Prepared<Self::Tests>, Refusal>;
}

/// Plans of a mode with the names of their tests, in order.
pub type Plans<P> = Vec<(String, P)>;

/// What a subcommand's own words leave open.
pub struct Facts<'binary> {
    /// From one live report to the next.
    pub report_every: Period,
    /// Draws 64 random bits.
    pub random: &'binary dyn Fn() -> Result<u64, Refusal>,
    /// Counts the interfaces that could be a path.
    pub interfaces: &'binary dyn Fn() -> Result<usize, Refusal>,
    /// This machine, where it is to be asked what names of its own stand for.
    pub machine: &'binary dyn Machine,
    /// What is known of servers before they are measured.
    pub servers: &'binary dyn Servers,
}

/// What is known of servers by their kind.
pub trait Servers {
    /// Whether these can tell connections that are probes from those of a load.
    fn have_probes(&self, hosts: &[String]) -> Result<bool, Refusal>;
    /// How long pings are that this one is prepared for, where it has to be.
    fn ping_bytes(&self, host: &str) -> Result<Option<Bytes>, Refusal>;
}

/// A machine that knows what its own names stand for.
pub trait Machine {
    /// All addresses of a name; none never.
    fn addresses(&self, name: &str) -> Result<Vec<IpAddr>, Refusal>;
    /// The name of the interface that has this number.
    fn interface(&self, number: &str) -> Result<String, Refusal>;
}

/// Why a subcommand cannot begin.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Refusal {
    /// What kind of trouble that is.
    pub failure: Failure,
    /// What is wrong, and what to do.
    pub text: String,
}

impl Refusal {
    /// The same, of what this option was given.
    #[must_use]
    pub fn of(self, option: &str) -> Self {
        Self { text: format!("{option}: {}", self.text), ..self }
    }
}

impl From<PlanError> for Refusal {
    fn from(error: PlanError) -> Self {
        Self { failure: Failure::Usage, text: error.to_string() }
    }
}

/// What the words of a subcommand come to.
#[derive(Debug)]
pub struct Prepared<T> {
    /// The server as it was named, by one name or several, or several servers; none: a server inside this process.
    pub hosts: Vec<String>,
    /// What is measured.
    pub tests: T,
    /// What is said before it begins.
    pub announcement: Option<String>,
    /// A server of ours, as it was named, that answers the probes beside a load at another kind; none: the load's own server does.
    pub probe_server: Option<String>,
    /// What is written beside the result.
    pub files: Files,
}

/// A file and the option that names it.
pub type NamedFile = (&'static str, PathBuf);

/// The files of a subcommand, as far as they are its own affair.
#[derive(Debug, Default)]
pub struct Files {
    /// A row for each of what the mode measures one by one.
    pub samples: Option<NamedFile>,
    /// How often each value of the mode's first distribution was measured.
    pub frequencies: Option<NamedFile>,
    /// What grows while it runs; none where the subcommand has no words for it.
    pub journal: Option<(JournalSubject, JournalArgs)>,
    /// What is told of each thing that the mode measures one by one, while it runs.
    pub each: Each,
    /// Whether a result for people is left in a file where none is named.
    pub leaves_result: bool,
}

/// What is told of each ping or frame while it is measured.
#[derive(Clone, Debug, Default)]
pub struct Each {
    /// Whether it is a line on standard output.
    pub is_shown: bool,
    /// Where the latencies of pings go, as lagscope writes them.
    pub latencies: Option<NamedFile>,
}

/// What the files of status and of connections are about.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum JournalSubject {
    /// Connections.
    #[default]
    Connections,
    /// Whatever a server serves, connections and streams.
    Served,
    /// Streams of frames.
    Streams,
}

/// The files that a run writes while it goes on.
#[derive(Args, Clone, Debug, Default)]
pub struct JournalArgs {
    /// Rates and counts of each report interval go to this file: as CSV where its name ends in .csv, as
    /// text otherwise
    #[arg(long, value_name = "FILE")]
    pub status_file: Option<PathBuf>,
    /// A row for each connection that ends goes to this file; form as above
    #[arg(long, value_name = "FILE")]
    pub connection_file: Option<PathBuf>,
    /// A row for each error goes to this file; form as above
    #[arg(long, value_name = "FILE")]
    pub error_file: Option<PathBuf>,
}

impl JournalArgs {
    /// Each file with its option.
    pub fn named(&self) -> [(&'static str, Option<&Path>); 3] {
        [
            ("--status-file", self.status_file.as_deref()),
            ("--connection-file", self.connection_file.as_deref()),
            ("--error-file", self.error_file.as_deref()),
        ]
    }
}
