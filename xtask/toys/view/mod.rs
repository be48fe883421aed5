//! A view that was added as people are told to add one: a folder and its line. It lists all that a result is made of, whatever
//! was measured, a line for each thing, in no format that anybody else writes.

use std::io::{self, Write};

use pathscope_core::event::Event;
use pathscope_core::presentation::{Presentation, Section};

use crate::view::View;

/// Lists the result when the run has ended.
pub struct Toy<'out> {
    out: &'out mut dyn Write,
}

impl<'out> Toy<'out> {
    /// A view that writes to `out`.
    pub fn new(out: &'out mut dyn Write) -> Self {
        Self { out }
    }

    fn section(&mut self, section: &Section) -> io::Result<()> {
        writeln!(self.out, "section {}", section.title)?;
        for setting in &section.settings {
            writeln!(self.out, "  setting {}: {:?}", setting.id, setting.value)?;
        }
        for figure in &section.figures {
            writeln!(self.out, "  figure {} {}: {:?}", figure.id, figure.label, figure.value)?;
        }
        for table in &section.tables {
            writeln!(self.out, "  table {}: {:?}", table.title, table.columns)?;
            for row in &table.rows {
                writeln!(self.out, "    row {row:?}")?;
            }
        }
        for series in &section.series {
            writeln!(self.out, "  series {series:?}")?;
        }
        for distribution in &section.distributions {
            writeln!(self.out, "  distribution {distribution:?}")?;
        }
        for check in &section.checks {
            writeln!(self.out, "  check {}: {}", check.name, check.has_held())?;
        }
        for caveat in &section.caveats {
            writeln!(self.out, "  caveat {}", caveat.name)?;
        }
        match &section.verdict {
            Some(verdict) => writeln!(self.out, "  verdict {verdict:?}"),
            None => Ok(()),
        }
    }

    fn result(&mut self, presentation: &Presentation) -> io::Result<()> {
        writeln!(self.out, "result {}", presentation.title)?;
        for setting in &presentation.context {
            writeln!(self.out, "setting {}: {:?}", setting.label, setting.value)?;
        }
        for section in &presentation.sections {
            self.section(section)?;
        }
        for caveat in &presentation.caveats {
            writeln!(self.out, "caveat {}", caveat.name)?;
        }
        self.out.flush()
    }
}

impl View for Toy<'_> {
    fn event(&mut self, event: Event<'_>) -> io::Result<()> {
        match event {
            Event::Finished { presentation, .. } => self.result(presentation),
            _ => Ok(()),
        }
    }
}
