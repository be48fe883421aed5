//! One JSON object a line, each with `event` as its first member: `started`, `interval`, `trial`,
//! `note`, `finished`. The members of the record follow in the same object; the line `finished` is the
//! document with `event` in front. An interval has the name of its measurement between the two, and of several servers the
//! `target` that it is of.

use std::io::{self, Write};

use pathscope_core::event::{Event, Layout, Record};

use crate::view::View;

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
            Event::Started { record, .. } => line(&[("event", "started")], record),
            Event::Interval { measurement, server, record, .. } => {
                // Not `server`: that is an end of the interval.
                let named = server.map(|server| ("target", server));
                let first = [("event", "interval"), ("measurement", measurement)];
                line(&first.into_iter().chain(named).collect::<Vec<_>>(), record)
            }
            Event::Trial { record, .. } => line(&[("event", "trial")], record),
            Event::Note(caveat) => line(&[("event", "note")], caveat),
            Event::AllServers { .. } | Event::Checkpoint { .. } => return Ok(()),
            Event::Finished { record, .. } => line(&[("event", "finished")], record),
        }?;
        // One write a line: where several processes share a pipe, lines stay whole.
        self.out.write_all(line.as_bytes())?;
        self.out.flush()
    }
}

/// The record's object with these as its first members; what is no object becomes the member `record`.
fn line(first: &[(&str, &str)], record: &dyn Record) -> Result<String, serde_json::Error> {
    let mut members = Vec::with_capacity(first.len() + 1);
    for (name, text) in first {
        members.push(format!("\"{name}\":{}", serde_json::to_string(text)?));
    }
    let json = record.to_json(Layout::Line)?;
    match json.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
        Some("") => {}
        Some(own) => members.push(own.to_owned()),
        None => members.push(format!("\"record\":{json}")),
    }
    Ok(format!("{{{}}}\n", members.join(",")))
}
