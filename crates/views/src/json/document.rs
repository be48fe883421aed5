//! The document, indented, at the end of a run: valid JSON alone, so that `jq` can read all of stdout.

use std::io::{self, Write};

use pathscope_core::event::{Event, Layout};

use crate::view::View;

/// Writes the document when the run has ended, and nothing before.
pub struct Document<'out> {
    out: &'out mut dyn Write,
}

impl<'out> Document<'out> {
    /// A view that writes to `out`.
    pub fn new(out: &'out mut dyn Write) -> Self {
        Self { out }
    }
}

impl View for Document<'_> {
    fn event(&mut self, event: Event<'_>) -> io::Result<()> {
        // A failure needs no word here: the document of a failed run says what became of it.
        let Event::Finished { record, .. } = event else { return Ok(()) };
        writeln!(self.out, "{}", record.to_json(Layout::Indented)?)?;
        self.out.flush()
    }
}
