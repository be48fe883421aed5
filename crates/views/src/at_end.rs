//! A view for people that says nothing while a run goes on, and all at its end.

use std::io::{self, Write};

use pathscope_core::error::Failure;
use pathscope_core::event::Event;
use pathscope_core::presentation::Presentation;

use crate::view::View;

/// Lays out a whole result, and what went wrong, if anything.
type LayOut = fn(&Presentation, Option<(Failure, &str)>) -> String;

/// Writes what it lays out when the run has ended, and nothing before.
pub struct AtEnd<'out> {
    out: &'out mut dyn Write,
    lay_out: LayOut,
}

impl<'out> AtEnd<'out> {
    /// A view that writes to `out`.
    pub fn new(out: &'out mut dyn Write, lay_out: LayOut) -> Self {
        Self { out, lay_out }
    }
}

impl View for AtEnd<'_> {
    fn event(&mut self, event: Event<'_>) -> io::Result<()> {
        let Event::Finished { presentation, failure, .. } = event else { return Ok(()) };
        self.out.write_all((self.lay_out)(presentation, failure).as_bytes())?;
        self.out.flush()
    }
}
