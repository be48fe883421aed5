//! What is written while a run goes on: files of status, connections and errors, and lines on standard error.
//!
//! Here: which words ask for what. [`writer`] is the thread that writes.

mod writer;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use pathscope_core::error::Failure;
use pathscope_run::records::journal::Journal;
use pathscope_run::server::LogLimit;
use pathscope_views::journal::{Form, Table};

use crate::Trouble;
use crate::files;
use crate::verbosity::VerbosityArgs;
use writer::{Console, Target, Writer};

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

/// How much is said on standard error while a run goes on. Each says what those before it say.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Verbosity {
    /// Nothing.
    Nothing,
    /// Connections that failed.
    Failures,
    /// Connections that ended.
    Connections,
    /// Connections that began, and status.
    Status,
    /// Steps of the session.
    Steps,
}

impl Verbosity {
    /// What `args` ask for, where `usual` is said unless they do.
    pub fn of(args: VerbosityArgs, usual: Self) -> Self {
        match (args.quiet, args.verbose) {
            (true, _) => Self::Nothing,
            (_, 0) => usual,
            (_, 1) => Self::Status,
            _ => Self::Steps,
        }
    }
}

/// What the files of status and of connections are about.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Of {
    /// Connections, and at a server whatever else it serves.
    Connections,
    /// Streams of frames.
    Streams,
}

/// A journal that is kept.
#[derive(Debug)]
pub struct Kept {
    writer: Writer,
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

    /// The option of the first file that was named.
    pub fn named_first(&self) -> Option<&'static str> {
        self.named().into_iter().find_map(|(option, file)| file.map(|_| option))
    }

    /// Opens the files, empties them once all are open, and begins. At a server, what is said of its clients' connections
    /// is held back with all else that strangers cause.
    pub fn keep(
        &self,
        verbosity: Verbosity,
        log_limit: Option<Arc<LogLimit>>,
        of: Of,
    ) -> Result<Kept, Trouble> {
        let (status, ends) = match of {
            Of::Connections => (Table::Status, Table::Connections),
            Of::Streams => (Table::StreamStatus, Table::Streams),
        };
        let asked = [
            ("--status-file", &self.status_file, status),
            ("--connection-file", &self.connection_file, ends),
            ("--error-file", &self.error_file, Table::Errors),
        ];
        let asked: Vec<(&'static str, &Path, Table)> = asked
            .into_iter()
            .filter_map(|(option, path, table)| Some((option, path.as_deref()?, table)))
            .collect();
        let open = |&(option, path, table): &(&'static str, &Path, Table)| {
            let file = files::open(option, path)?;
            Ok(Target::new(option, path, file, table, Form::of_path(path)))
        };
        let targets = asked.iter().map(open).collect::<Result<Vec<_>, Trouble>>()?;
        targets.iter().try_for_each(Target::empty)?;
        let console = (verbosity > Verbosity::Nothing)
            .then(|| Console::new(verbosity, log_limit))
            .transpose();
        let console = console.map_err(Trouble::no_thread)?;
        let writer = Writer::start(targets, console).map_err(Trouble::no_thread)?;
        Ok(Kept { writer })
    }
}

impl Kept {
    /// For whoever runs.
    pub fn journal(&self) -> Journal {
        Journal::begin(self.writer.sink())
    }

    /// Waits until all is written, and says what could not be.
    pub fn finish(self) -> Option<Trouble> {
        let incomplete = self.writer.finish();
        incomplete.map(|text| Trouble::new(Failure::Output, text))
    }
}
