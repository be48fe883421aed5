//! Entries of a journal as lines on standard error.

use std::io::{self, Write};
use std::sync::Arc;

use pathscope_core::journal::Entry;
use pathscope_os::clock;
use pathscope_run::server::LogLimit;
use pathscope_views::journal::{self as rows, Form, Table};

use super::Verbosity;
use crate::background::Background;
use crate::terminal;

/// Rows of status between two headers.
const ROWS_PER_HEADER: u64 = 40;

/// Standard error.
#[derive(Debug)]
pub struct Console {
    out: Background,
    verbosity: Verbosity,
    /// What holds back lines where there are too many; none at a client, whose connections are its own.
    log_limit: Option<Arc<LogLimit>>,
    status_rows: u64,
    /// Which table the last row of status was of.
    status_table: Option<Table>,
}

impl Console {
    /// Standard error, for this verbosity.
    pub fn new(verbosity: Verbosity, log_limit: Option<Arc<LogLimit>>) -> io::Result<Self> {
        let out = Background::new(io::stderr())?;
        Ok(Self { out, verbosity, log_limit, status_rows: 0, status_table: None })
    }

    /// Whether it says so much.
    pub fn tells(&self, verbosity: Verbosity) -> bool {
        self.verbosity >= verbosity
    }

    /// Says an entry, if so much is said.
    pub fn hear(&mut self, entry: &Entry) {
        let least = match entry {
            Entry::Closed(connection) if connection.facts.error.is_some() => Verbosity::Failures,
            Entry::StreamClosed(stream) if stream.facts.error.is_some() => Verbosity::Failures,
            Entry::Closed(_) | Entry::StreamClosed(_) => Verbosity::Connections,
            Entry::Opened(_)
            | Entry::Status(_)
            | Entry::StreamOpened(_)
            | Entry::StreamStatus(_)
            | Entry::Path(_) => Verbosity::Status,
            Entry::Step(_) => Verbosity::Steps,
            // Told by whoever found it, and at the end of the whole.
            Entry::Each(_)
            | Entry::Trouble(_)
            | Entry::Activity(_)
            | Entry::Sender(_)
            | Entry::TestBegan(_)
            | Entry::TestOver(_)
            | Entry::Progress(_) => {
                return;
            }
        };
        if self.verbosity < least {
            return;
        }
        let mut text = String::new();
        let status = match entry {
            Entry::Status(_) => Some(Table::Status),
            Entry::StreamStatus(_) => Some(Table::StreamStatus),
            _ => None,
        };
        if let Some(table) = status {
            if self.status_rows.is_multiple_of(ROWS_PER_HEADER) || self.status_table != Some(table)
            {
                text = rows::header(table, Form::Text);
                self.status_rows = 0;
            }
            self.status_table = Some(table);
            self.status_rows += 1;
        }
        text.extend(rows::line(entry));
        let out = &mut self.out;
        // Nobody listens any more: that is no reason to stop measuring.
        let mut say = |text: &str| drop(out.write_all(terminal::shown(text).as_bytes()));
        match &self.log_limit {
            // A row ends its line by itself, and the number of those that were left out does not.
            Some(log_limit) => {
                log_limit.say(clock::now(), text.trim_end_matches('\n'), &mut |line| {
                    say(&format!("{line}\n"));
                });
            }
            None => say(&text),
        }
    }
}
