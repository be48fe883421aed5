//! Lines as they leave: each with the title and the time that were asked for before it. Not here: what they say.

use std::io::{self, Write};

use super::clock::Time;

/// What stands before each line.
#[derive(Clone, Debug, Default)]
pub(super) struct Printer {
    /// As `strftime` has it.
    pub timestamps: Option<String>,
    pub title: Option<String>,
    /// When times began, and by how many seconds local time is ahead of UTC then.
    pub began_unix_ns: u64,
    pub local_offset_s: i64,
}

impl Printer {
    /// A line of text, at a time since times began.
    pub fn line(&self, at_ns: u64, text: &str, out: &mut dyn Write) -> io::Result<()> {
        if let Some(form) = &self.timestamps {
            let unix_s = (self.began_unix_ns.saturating_add(at_ns) / 1_000_000_000) as i64;
            let time = Time { unix_s, offset_s: self.local_offset_s };
            out.write_all(time.formatted(form).as_bytes())?;
        }
        if let Some(title) = &self.title {
            write!(out, "{title}:  ")?;
        }
        writeln!(out, "{text}")
    }
}
