//! A line on standard output for each thing that is measured one by one (`--each`): for people, or of JSON beside the events of a run.

use std::io::{self, Write};

use pathscope_core::journal::Entry;
use pathscope_views::Format;
use pathscope_views::journal::{each_as_json, each_as_text};

use crate::Trouble;
use crate::background::Background;

/// Standard output, for them. What else is written there comes from elsewhere, in whole lines as well.
#[derive(Debug)]
pub struct EachLines {
    out: Background,
    line: fn(&Entry) -> Option<String>,
}

impl EachLines {
    /// Beside a result of this format.
    pub fn new(format: Format) -> Result<Self, Trouble> {
        let line = match format.name() {
            "json-stream" => each_as_json,
            _ if format == Format::default() => each_as_text,
            name => {
                let text = format!(
                    "--each and --format {name} exclude each other, since standard output holds one document then: give \
                     --json-stream, or leave one of them out"
                );
                return Err(Trouble::usage(text));
            }
        };
        let out = Background::new(io::stdout()).map_err(Trouble::no_thread)?;
        Ok(Self { out, line })
    }

    /// Shows what an entry has of them. Nobody reads any more: that is no reason to stop measuring.
    pub fn hear(&mut self, entry: &Entry) {
        if let Some(text) = (self.line)(entry) {
            drop(self.out.write_all(text.as_bytes()));
        }
    }
}
