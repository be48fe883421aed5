//! The files that a measuring command leaves, and what it says meanwhile: which, and whether they can be had.

mod names;
mod open;
mod result;
pub mod same;
mod whole;

use std::path::{Path, PathBuf};

use pathscope_core::error::Failure;
use pathscope_core::finding::Finding as _;
use pathscope_modes::command::{self, NamedFile};
use pathscope_modes::document::Document;
use pathscope_run::findings::RunCaveat;
use pathscope_run::records::samples::SampleFile;

use crate::daemon::DaemonArgs;
use crate::{Trouble, terminal};
pub use names::{must_differ, must_keep};
pub use open::{open, refused};
pub use result::ResultFile;
pub use whole::Destination;

/// The files that are wanted.
#[derive(Debug)]
pub struct Files {
    /// The document.
    pub result: Option<PathBuf>,
    /// Where no file is named: one is left behind, whose name begins so.
    pub left_behind: Option<String>,
    /// Those of the subcommand.
    pub own: command::Files,
    /// What was seen beside the flows, over time.
    pub backgrounds: Vec<NamedFile>,
    /// A picture.
    pub plot: Option<NamedFile>,
}

impl Files {
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
        let command::Files { samples, frequencies, journal, each, .. } = &self.own;
        let own = [samples, frequencies, &each.latencies].into_iter().flatten();
        let own = own.map(|(option, file)| (*option, Some(file.as_path())));
        let journal = journal.iter().flat_map(|(_, journal)| journal.named());
        let backgrounds =
            self.backgrounds.iter().map(|(option, path)| (*option, Some(path.as_path())));
        let all = [("--output", self.result.as_deref())].into_iter().chain(own).chain(journal);
        let plot = self.plot.iter().map(|(option, path)| (*option, Some(path.as_path())));
        all.chain(backgrounds).chain(plot).collect()
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
        let opened = self.own.samples.as_ref().map(|(option, path)| {
            let outlet = open(option, path)?;
            Ok(SampleFile::new(path, outlet))
        });
        opened.transpose()
    }
}

/// Samples that could not be written are an output that failed.
pub fn samples_trouble(document: &Document) -> Option<Trouble> {
    let of_measurements = document.all_measurements().flat_map(|it| &it.client.caveats);
    let mut caveats = of_measurements.chain(&document.caveats);
    let unwritten = caveats.find(|caveat| caveat.name == RunCaveat::SamplesUnwritten.name())?;
    Some(Trouble::new(Failure::Output, unwritten.text.clone()))
}
