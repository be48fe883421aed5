//! One JSON object a line, each with `event` as its first member: `started`, `interval`, `trial`,
//! `note`, `finished`. The members of the record follow in the same object; the line `finished` is the
//! document with `event` in front.

use std::io::{self, Write};

use pathscope_core::event::{Event, Layout, Record};

use crate::registry::View;

/// Writes a line for each event, at once.
pub struct Stream<'out> {
    out: &'out mut dyn Write,
}

impl<'out> Stream<'out> {
    /// A view that writes to `out`.
    pub fn new(out: &'out mut dyn Write) -> Self {
        Self { out }
    }
}

impl View for Stream<'_> {
    fn event(&mut self, event: Event<'_>) -> io::Result<()> {
        let line = match event {
            Event::Started { record, .. } => line("started", record),
            Event::Interval { record, .. } => line("interval", record),
            Event::Trial { record, .. } => line("trial", record),
            Event::Note(caveat) => line("note", caveat),
            Event::Checkpoint { .. } => return Ok(()),
            Event::Finished { record, .. } => line("finished", record),
        }?;
        // One write a line: where several processes share a pipe, lines stay whole.
        self.out.write_all(line.as_bytes())?;
        self.out.flush()
    }
}

/// The record's object with `event` as its first member; what is no object becomes the member `record`.
fn line(event: &str, record: &dyn Record) -> Result<String, serde_json::Error> {
    let json = record.to_json(Layout::Line)?;
    Ok(match json.strip_prefix('{') {
        Some("}") => format!("{{\"event\":\"{event}\"}}\n"),
        Some(members) => format!("{{\"event\":\"{event}\",{members}\n"),
        None => format!("{{\"event\":\"{event}\",\"record\":{json}}}\n"),
    })
}
