//! Where results go: standard output through a view, and a file through JSON. Neither may cost the other
//! anything: what cannot be written is remembered, and told at the end.

use std::io::{self, ErrorKind, Write};

use pathscope_core::error::Failure;
use pathscope_core::event::{Event, Record};
use pathscope_os::outlets::explain;
use pathscope_views::{Format, Options, View};

use crate::files::ResultFile;
use crate::{Trouble, terminal};

/// Everything that a run's events go to.
pub struct Outputs<'out> {
    /// None where something else shows what happens.
    view: Option<Box<dyn View + 'out>>,
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
        Self { view: Some(format.view(options, out)), ..Self::to_file(file) }
    }

    /// A file alone, if one is wanted.
    pub fn to_file(file: Option<ResultFile>) -> Self {
        Self { view: None, file, trouble: None, has_measured: false, closed: false }
    }

    /// Passes an event on to every output.
    pub fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Checkpoint { record } => {
                self.has_measured = true;
                self.file.iter_mut().for_each(|file| file.keep(record));
            }
            Event::Finished { record, .. } => {
                // A run that measured nothing leaves alone what an earlier one saved.
                if self.has_measured {
                    self.save(record);
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
        let Some(view) = self.view.as_mut().filter(|_| !self.closed) else { return };
        match view.event(event) {
            Ok(()) => {}
            Err(error) => {
                self.closed = true;
                if let Some(trouble) = trouble(&error) {
                    self.trouble.get_or_insert(trouble);
                }
            }
        }
    }

    fn save(&mut self, record: &dyn Record) {
        let Some(file) = &mut self.file else { return };
        if let Err(text) = file.finish(record) {
            self.trouble.get_or_insert(Trouble::new(Failure::Output, text));
        }
    }
}

/// What it means that standard output, or the log in its place, took no more: nothing, where nobody reads any more.
pub fn trouble(error: &io::Error) -> Option<Trouble> {
    let text = || format!("cannot write to {}: {}", terminal::output(), explain(error));
    (error.kind() != ErrorKind::BrokenPipe).then(|| Trouble::new(Failure::Output, text()))
}
