//! What is written while a run goes on: files of status, connections and errors, and lines on standard error.
//!
//! Here: what the words ask for. [`writer`] is the thread that writes, to standard error as [`console`] says and to standard output as [`each`]
//! does.

mod console;
mod each;
mod target;
mod writer;

use std::path::Path;
use std::sync::Arc;

use pathscope_core::Tick;
use pathscope_core::error::Failure;
use pathscope_core::quantity::Period;
use pathscope_core::record::Host;
use pathscope_dialects::screen::{Beginning, End, Screen, Wants};
use pathscope_modes::command::{Each, JournalArgs, JournalSubject, NamedFile};
use pathscope_os::clock;
use pathscope_run::records::journal::Journal;
use pathscope_run::server::LogLimit;
use pathscope_views::Format;
use pathscope_views::journal::{Form, Table};

use crate::Trouble;
use crate::files;
use crate::shown::Shown;
use crate::verbosity::VerbosityArgs;
use console::Console;
use each::EachLines;
use target::Target;
use writer::Writer;

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

/// A journal that is kept.
#[derive(Debug)]
pub struct Kept {
    writer: Writer,
    /// When times of entries begin.
    began: Tick,
    /// Whether anything of it is written, said or shown.
    is_read: bool,
}

/// A file beside those that every command has.
#[derive(Clone, Copy, Debug)]
pub enum Further<'words> {
    /// Of the latencies of pings.
    Latencies(&'words NamedFile),
    /// Of all clients of a server together, with a row every so often.
    Totals(&'words NamedFile, Period),
}

/// Begins what is written and said while a subcommand measures. Where connections or streams are its subject, word of each
/// that ended is usual, unless a screen is to show it.
pub fn keep_of_command(
    (asked, each): (Option<&(JournalSubject, JournalArgs)>, &Each),
    (verbosity, format): (VerbosityArgs, Format),
    screen: Option<Wants>,
) -> Result<Kept, Trouble> {
    let lines = each.is_shown.then(|| EachLines::new(format)).transpose()?;
    let usual = asked.map_or(Verbosity::Failures, |_| Verbosity::Connections);
    let verbosity = match screen {
        Some(_) => Verbosity::Nothing,
        None => Verbosity::of(verbosity, usual),
    };
    let (subject, args) = asked.cloned().unwrap_or_default();
    let own = (&args, subject, each.latencies.as_ref().map(Further::Latencies));
    keep(own, (verbosity, None, lines), screen)
}

/// Opens the files, empties them once all are open, and begins. At a server, what is said of its clients' connections
/// is held back with all else that strangers cause. `screen` is what the one wants to which [`Kept::show`] will show entries.
pub fn keep(
    (args, subject, further): (&JournalArgs, JournalSubject, Option<Further<'_>>),
    (verbosity, log_limit, lines): (Verbosity, Option<Arc<LogLimit>>, Option<EachLines>),
    screen: Option<Wants>,
) -> Result<Kept, Trouble> {
    let (status, ends) = match subject {
        JournalSubject::Connections => (Table::Status, Table::Connections),
        JournalSubject::Served => (Table::ServedStatus, Table::Served),
        JournalSubject::Streams => (Table::StreamStatus, Table::Streams),
    };
    let began = clock::now();
    let open = |((option, path), table): ((&'static str, Option<&Path>), Table)| {
        let path = path?;
        let file = files::open(option, path);
        Some(file.map(|file| Target::new(option, path, file, table, Form::of_path(path))))
    };
    let asked = args.named().into_iter().zip([status, ends, Table::Errors]);
    let mut targets = asked.filter_map(open).collect::<Result<Vec<_>, Trouble>>()?;
    targets.extend(match further {
        Some(Further::Latencies((option, path))) => {
            open(((*option, Some(path.as_path())), Table::Latencies)).transpose()?
        }
        Some(Further::Totals((option, path), every)) => {
            let target = open(((*option, Some(path.as_path())), Table::Totals)).transpose()?;
            target.map(|target| target.of_all_clients(every.0 / 1_000_000, began))
        }
        None => None,
    });
    targets.iter().try_for_each(Target::empty)?;
    let console =
        (verbosity > Verbosity::Nothing).then(|| Console::new(verbosity, log_limit)).transpose();
    let console = console.map_err(Trouble::no_thread)?;
    let is_said = console.is_some() || lines.is_some() || screen.is_some();
    let is_read = is_said || !targets.is_empty();
    let shown = screen.unwrap_or_default();
    let writer = Writer::start(targets, (console, lines), shown).map_err(Trouble::no_thread)?;
    Ok(Kept { writer, began, is_read })
}

impl Kept {
    /// For whoever runs. Where nobody reads it, nothing is written down: that takes time for each connection, at both ends.
    pub fn journal(&self) -> Journal {
        if self.is_read {
            Journal::begin(self.writer.sink(), self.began)
        } else {
            Journal::default()
        }
    }

    /// Shows on a screen that this end begins. Entries that come from now on are shown there, too.
    pub fn show(&self, screen: Box<dyn Screen>, host: &Host, end: End<'_>) -> Result<(), Trouble> {
        // When times of entries began.
        let wall_unix_ns =
            clock::wall_unix_ns().saturating_sub(clock::now().nanos_since(self.began));
        let local_offset_s = clock::local_offset_s(wall_unix_ns);
        let beginning = Beginning { wall_unix_ns, local_offset_s, host, end };
        self.writer.show(Shown::begin(screen, &beginning, self.began)?);
        Ok(())
    }

    /// Waits until all is written. What could not be, and where entries were shown.
    pub fn finish(self) -> (Option<Trouble>, Option<Shown>) {
        let (incomplete, shown) = self.writer.finish();
        (incomplete.map(|text| Trouble::new(Failure::Output, text)), shown)
    }
}
