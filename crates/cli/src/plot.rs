//! The file of `--plot`: the main chart of a result, as its name ends. Opens and writes it; what is drawn is the views' business.

use std::path::{Path, PathBuf};

use clap::Args;
use pathscope_core::error::Failure;
use pathscope_core::presentation::Presentation;
use pathscope_core::quantity::named;
use pathscope_modes::command::NamedFile;
use pathscope_os::outlets::explain;
use pathscope_views::Picture;

use crate::files::Destination;
use crate::{Trouble, terminal, words};

/// The option that names it.
const OPTION: &str = "--plot";

/// A picture of the result.
#[derive(Args, Debug)]
pub struct PlotArgs {
    /// Also draw the main chart of the result to this file, as SVG or PNG as its name ends
    #[arg(long, value_name = "FILE.svg|FILE.png")]
    pub plot: Option<PathBuf>,
}

/// A file for a picture that can be written. What it held before stays until there is something to draw.
#[derive(Debug)]
pub struct PlotFile {
    path: PathBuf,
    picture: Picture,
    destination: Destination,
}

impl PlotArgs {
    /// The file that is wanted, if any, with its option.
    pub fn named(&self) -> Option<NamedFile> {
        self.plot.clone().map(|path| (OPTION, path))
    }

    /// Whether the name says which picture is wanted, where one is.
    pub fn check(&self) -> Result<(), Trouble> {
        self.plot.as_deref().map_or(Ok(()), |path| picture(path).map(|_| ()))
    }

    /// The file that is wanted, if any: makes sure before anything is measured that it can be written.
    pub fn create(&self) -> Result<Option<PlotFile>, Trouble> {
        let create = |path: &PathBuf| {
            let picture = picture(path)?;
            let destination = Destination::prepare(OPTION, path)?;
            Ok(PlotFile { path: path.clone(), picture, destination })
        };
        self.plot.as_ref().map(create).transpose()
    }
}

impl PlotFile {
    /// Draws what was shown, and says that it did.
    pub fn draw(
        self,
        presentation: &Presentation,
        trouble: Option<&Trouble>,
    ) -> Result<(), Trouble> {
        let failure = trouble.map(|trouble| (trouble.failure, trouble.text.as_str()));
        let path = self.write(presentation, failure)?;
        terminal::say(&format!("plot written: {}", words::quoted(&path)));
        Ok(())
    }

    /// Draws the result, and what went wrong in measuring it, if anything.
    pub fn write(
        mut self,
        presentation: &Presentation,
        failure: Option<(Failure, &str)>,
    ) -> Result<PathBuf, Trouble> {
        let failed = |why: &str| {
            let path = named(&self.path);
            Trouble::new(Failure::Output, format!("cannot write {OPTION} {path}: {why}"))
        };
        let drawn = self.picture.drawn(presentation, failure).ok_or_else(|| {
            failed("there is nothing to draw, neither a figure over time nor a distribution")
        })?;
        self.destination.write_bytes(&drawn).map_err(|error| failed(&explain(&error)))?;
        Ok(self.path)
    }
}

fn picture(path: &Path) -> Result<Picture, Trouble> {
    Picture::of(path).map_err(|error| Trouble::usage(format!("{OPTION} {}: {error}", named(path))))
}
