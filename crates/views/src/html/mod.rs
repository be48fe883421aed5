//! For a browser: the result as one file that needs no network, with charts that can be looked into. Written when the run has
//! ended, and nothing before.
//!
//! What a line is drawn from stands in a table below it, too, and percentiles are among the figures: without scripts the page
//! lacks its charts alone. Charts are drawn by Apache
//! `ECharts` (`echarts/README.md`), from numbers that the page holds as JSON; `page.js` lays them out and computes no figure, but for
//! the statistics of a range that a reader selects.

mod charts;
mod page;
#[cfg(test)]
mod tests;

use std::io::{self, Write};

use pathscope_core::event::Event;

use crate::view::View;

/// Writes the result as a page when the run has ended.
pub struct Html<'out> {
    out: &'out mut dyn Write,
}

impl<'out> Html<'out> {
    /// A view that writes to `out`.
    pub fn new(out: &'out mut dyn Write) -> Self {
        Self { out }
    }
}

impl View for Html<'_> {
    fn event(&mut self, event: Event<'_>) -> io::Result<()> {
        let Event::Finished { presentation, failure, .. } = event else { return Ok(()) };
        self.out.write_all(page::page(presentation, failure).into_string().as_bytes())?;
        self.out.flush()
    }
}
