//! A screen of another tool, on standard output. Whoever does not read it keeps nobody waiting.

use std::io::{self, Write};

use pathscope_core::journal::Entry;
use pathscope_dialects::screen::{Beginning, Ending, Screen};

use crate::background::Background;
use crate::{Trouble, output};

/// A screen and where it is shown.
pub struct Shown {
    screen: Box<dyn Screen>,
    out: Background,
    /// What it could not write, once: nothing is written after that.
    error: Option<io::Error>,
}

impl std::fmt::Debug for Shown {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Shown").field("error", &self.error).finish_non_exhaustive()
    }
}

impl Shown {
    /// This one, which shows at once that the run begins.
    pub fn begin(screen: Box<dyn Screen>, beginning: &Beginning<'_>) -> Result<Self, Trouble> {
        let out = Background::new(io::stdout()).map_err(Trouble::no_thread)?;
        let mut shown = Self { screen, out, error: None };
        shown.write(|screen, text| screen.begin(beginning, text));
        Ok(shown)
    }

    /// Something was written down.
    pub fn entry(&mut self, entry: &Entry) {
        self.write(|screen, text| screen.entry(entry, text));
    }

    /// The run is over. What could not be shown.
    pub fn finish(mut self, ending: &Ending<'_>) -> Option<Trouble> {
        self.write(|screen, text| screen.finished(ending, text));
        let finished = self.out.finish().err();
        self.error.or(finished).as_ref().and_then(output::trouble)
    }

    /// What is said at once is written at once.
    fn write(&mut self, show: impl FnOnce(&mut dyn Screen, &mut Vec<u8>) -> io::Result<()>) {
        if self.error.is_some() {
            return;
        }
        let mut text = Vec::new();
        let shown = show(&mut *self.screen, &mut text);
        self.error = shown.and_then(|()| self.out.write_all(&text)).err();
    }
}
