//! Where results go: standard output through a view, and a file through JSON. Neither may cost the other
//! anything: what cannot be written is remembered, and told at the end.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

use pathscope_core::error::Failure;
use pathscope_core::event::{Event, Layout, Record};
use pathscope_views::{Format, Options, View};

use crate::Trouble;

/// Everything that a run's events go to.
pub struct Outputs<'out> {
    view: Box<dyn View + 'out>,
    file: Option<ResultFile>,
    trouble: Option<Trouble>,
    /// Whether there is anything to save.
    has_measured: bool,
    /// Nobody reads any more: a normal end of a pipe.
    closed: bool,
}

impl<'out> Outputs<'out> {
    /// A view of this format on `out`, and a file if one is wanted.
    pub fn new(
        format: Format,
        options: Options,
        out: &'out mut dyn Write,
        file: Option<ResultFile>,
    ) -> Self {
        Self {
            view: format.view(options, out),
            file,
            trouble: None,
            has_measured: false,
            closed: false,
        }
    }

    /// Passes an event on to every output.
    pub fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Checkpoint { record } => {
                self.has_measured = true;
                self.save(record, Moment::Meanwhile);
            }
            Event::Finished { record, .. } => {
                // A run that measured nothing leaves alone what an earlier one saved.
                if self.has_measured {
                    self.save(record, Moment::End);
                }
                self.show(event);
            }
            _ => self.show(event),
        }
    }

    /// What could not be written, if anything.
    pub fn into_trouble(self) -> Option<Trouble> {
        self.trouble
    }

    fn show(&mut self, event: Event<'_>) {
        if self.closed {
            return;
        }
        match self.view.event(event) {
            Ok(()) => {}
            Err(error) => {
                self.closed = true;
                if let Some(trouble) = trouble(&error) {
                    self.trouble.get_or_insert(trouble);
                }
            }
        }
    }

    fn save(&mut self, record: &dyn Record, moment: Moment) {
        let Some(file) = self.file.as_ref().filter(|file| moment == Moment::End || file.keeps())
        else {
            return;
        };
        if let Err(error) = file.write(record) {
            let text = format!("cannot write the result to {}: {error}", file.path.display());
            self.file = None;
            self.remember(text);
        }
    }

    fn remember(&mut self, text: String) {
        self.trouble.get_or_insert(Trouble::new(Failure::Output, text));
    }
}

/// What it means that standard output took no more: nothing, where nobody reads any more.
pub fn trouble(error: &io::Error) -> Option<Trouble> {
    let text = || format!("cannot write to standard output: {error}");
    (error.kind() != ErrorKind::BrokenPipe).then(|| Trouble::new(Failure::Output, text()))
}

/// When a result is saved.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Moment {
    /// While it is measured.
    Meanwhile,
    /// When it is whole.
    End,
}

/// A file that holds the result so far at any time: a kill costs what came after the last interval.
#[derive(Debug)]
pub struct ResultFile {
    path: PathBuf,
    place: Place,
}

/// What the result is written to.
#[derive(Debug)]
enum Place {
    /// A file: written beside it and moved over it.
    File { beside: PathBuf },
    /// A pipe or a device: gets the whole result, once. Opened before anything is measured, since its
    /// reader may wait for that.
    Stream(File),
}

impl ResultFile {
    /// Makes sure before anything is measured that the file can be written. What it holds stays until
    /// there is a result.
    pub fn create(path: &Path) -> Result<Self, Trouble> {
        let refused = |error: io::Error| {
            Trouble::usage(format!("--output {}: {error}; nothing was measured", path.display()))
        };
        if path == Path::new("-") {
            let text = "--output - is no file; for the document on standard output give --json, and a \
                        file of that name is ./-";
            return Err(Trouble::usage(text));
        }
        if fs::metadata(path).is_ok_and(|there| !there.is_file()) {
            let stream = OpenOptions::new().write(true).open(path).map_err(refused)?;
            return Ok(Self { path: path.to_owned(), place: Place::Stream(stream) });
        }
        // A link is followed: what it names is replaced, and not the link.
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        if path.exists() {
            OpenOptions::new().append(true).open(&path).map_err(refused)?;
        }
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{}.partial", std::process::id()));
        let beside = path.with_file_name(name);
        File::create(&beside).and_then(|_| fs::remove_file(&beside)).map_err(refused)?;
        Ok(Self { path, place: Place::File { beside } })
    }

    /// Whether it holds the result so far while that grows.
    fn keeps(&self) -> bool {
        matches!(self.place, Place::File { .. })
    }

    fn write(&self, record: &dyn Record) -> io::Result<()> {
        let text = record.to_json(Layout::Indented)?;
        let beside = match &self.place {
            Place::File { beside } => beside,
            Place::Stream(stream) => return writeln!(&*stream, "{text}"),
        };
        let written = write_whole(beside, &text).and_then(|()| fs::rename(beside, &self.path));
        if written.is_err() {
            // What is left of it helps nobody; that it cannot be removed changes nothing.
            let _ = fs::remove_file(beside);
        }
        written
    }
}

fn write_whole(path: &Path, text: &str) -> io::Result<()> {
    let mut out = BufWriter::new(File::create(path)?);
    writeln!(out, "{text}")?;
    out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_data()
}
