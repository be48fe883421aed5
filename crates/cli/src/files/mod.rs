//! The files that a measuring command leaves, and what it says meanwhile: which, and whether they can be had.

mod names;
mod open;
mod result;
mod whole;

use std::path::{Path, PathBuf};

use pathscope_core::error::Failure;
use pathscope_modes::document::Document;
use pathscope_run::records::samples::{self, SampleFile};

use crate::args::DaemonArgs;
use crate::journal::{JournalArgs, Of, Verbosity};
use crate::{Trouble, terminal};
pub use names::must_differ;
pub use open::{open, refused};
pub use result::ResultFile;
pub use whole::Destination;

/// The option that names a daemon's log.
pub const LOG_FILE: &str = "--log-file";

/// The files that are wanted.
#[derive(Debug)]
pub struct Files {
    /// The document.
    pub result: Option<PathBuf>,
    /// Where no file is named: one is left behind, whose name begins so.
    pub left_behind: Option<String>,
    /// A row for each ping.
    pub samples: Option<PathBuf>,
    /// A row for each frame.
    pub jitter: Option<PathBuf>,
    /// How often each latency was met, in lagscope's layout.
    pub frequencies: Option<PathBuf>,
    /// What grows while it runs.
    pub journal: JournalArgs,
    /// What that is about.
    pub of: Of,
    /// What is said unless more or less is asked for.
    pub usual: Verbosity,
}

impl Files {
    /// A document alone, and word of connections that failed.
    pub fn result(result: Option<PathBuf>) -> Self {
        Self {
            result,
            left_behind: None,
            samples: None,
            jitter: None,
            frequencies: None,
            journal: JournalArgs::default(),
            of: Of::Connections,
            usual: Verbosity::Failures,
        }
    }

    /// What is shown in the background is seen by nobody.
    pub fn must_hold_a_result(&self, daemon: &DaemonArgs) -> Result<(), Trouble> {
        if daemon.daemon && daemon.log_file.is_none() && self.result.is_none() {
            return Err(Trouble::usage(
                "--daemon would lose the result: give --output FILE, --log-file FILE or both",
            ));
        }
        Ok(())
    }

    /// Each with its option.
    pub fn named(&self) -> Vec<(&'static str, Option<&Path>)> {
        let mut named = vec![
            ("--output", self.result.as_deref()),
            ("--samples", self.samples.as_deref()),
            ("--jitter-file", self.jitter.as_deref()),
            ("--frequency-file", self.frequencies.as_deref()),
        ];
        named.extend(self.journal.named());
        named
    }

    /// Makes sure that the result can be written. Where a file that nobody asked for cannot be, that is said, and the
    /// result is shown all the same: whoever wants it kept names a place.
    pub fn open_result(&self) -> Result<Option<ResultFile>, Trouble> {
        if let Some(path) = &self.result {
            return ResultFile::create(path).map(Some);
        }
        let Some(stem) = &self.left_behind else { return Ok(None) };
        let file = ResultFile::create_default(stem);
        if let Err(why) = &file {
            terminal::say(&format!(
                "the result will be shown and not be kept: cannot create {why}; to keep it, name a file with --output"
            ));
        }
        Ok(file.ok())
    }

    /// Opened before anything is measured, so that what cannot be written is told then.
    pub fn open_samples(&self) -> Result<Option<SampleFile>, Trouble> {
        let samples = self.samples.as_ref().map(|path| ("--samples", path));
        let jitter = self.jitter.as_ref().map(|path| ("--jitter-file", path));
        let opened = samples.or(jitter).map(|(option, path)| {
            let outlet = open(option, path)?;
            Ok(SampleFile::new(path, outlet))
        });
        opened.transpose()
    }
}

/// Samples that could not be written are an output that failed.
pub fn samples_trouble(document: &Document) -> Option<Trouble> {
    let mut caveats = document.measurements.iter().flat_map(|it| &it.client.caveats);
    let unwritten = caveats.find(|caveat| caveat.name == samples::UNWRITTEN)?;
    Some(Trouble::new(Failure::Output, unwritten.text.clone()))
}
