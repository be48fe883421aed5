//! The files that a measuring command leaves, and what it says meanwhile: which, and whether they can be had.

use std::path::{Path, PathBuf};

use pathscope_core::error::Failure;
use pathscope_modes::document::Document;
use pathscope_run::samples::{self, SampleFile};

use crate::Trouble;
use crate::args::DaemonArgs;
use crate::journal::{JournalArgs, Of, Talk};

/// The files that are wanted.
#[derive(Debug)]
pub struct Files {
    /// The document.
    pub result: Option<PathBuf>,
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
    pub usual: Talk,
}

impl Files {
    /// A document alone, and word of connections that failed.
    pub fn result(result: Option<PathBuf>) -> Self {
        Self {
            result,
            samples: None,
            jitter: None,
            frequencies: None,
            journal: JournalArgs::default(),
            of: Of::Connections,
            usual: Talk::Failures,
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

    /// Opened before anything is measured, so that what cannot be written is told then.
    pub fn open_samples(&self) -> Result<Option<SampleFile>, Trouble> {
        let open = |(option, path): (&str, &PathBuf)| {
            SampleFile::create(path).map_err(|error| {
                let file = path.display();
                Trouble::usage(format!("{option} {file}: {error}; nothing was measured"))
            })
        };
        let samples = self.samples.as_ref().map(|path| ("--samples", path));
        let jitter = self.jitter.as_ref().map(|path| ("--jitter-file", path));
        samples.or(jitter).map(open).transpose()
    }
}

/// Samples that could not be written are an output that failed.
pub fn samples_trouble(document: &Document) -> Option<Trouble> {
    let mut caveats = document.measurements.iter().flat_map(|it| &it.client.caveats);
    let unwritten = caveats.find(|caveat| caveat.name == samples::UNWRITTEN)?;
    Some(Trouble::new(Failure::Output, unwritten.text.clone()))
}
