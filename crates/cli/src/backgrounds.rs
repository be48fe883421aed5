//! Files of what was seen beside the flows, over time: CSV, written from the document when a run has ended.
//!
//! Not here: the rows and how they look. A run that is killed has them in its document all the same.

use pathscope_core::error::Failure;
use pathscope_core::quantity::named;
use pathscope_modes::backgrounds;
use pathscope_modes::command::NamedFile;
use pathscope_modes::document::Document;
use pathscope_os::outlets::explain;
use pathscope_views::journal::{self as rows, Form, Table};

use crate::Trouble;
use crate::args::RunArgs;
use crate::files::Destination;

/// Each option, and what its file holds.
const TABLES: [(&str, Table); 2] =
    [("--counters-file", Table::Counters), ("--tcp-info-file", Table::Senders)];

/// Those that are asked for, each with its option.
pub fn asked(args: &RunArgs) -> Vec<NamedFile> {
    let paths = [&args.counters_file, &args.tcp_info_file];
    let named = TABLES.into_iter().zip(paths);
    named.filter_map(|((option, _), path)| Some((option, path.clone()?))).collect()
}

/// One that can be written. What it held before stays until there is something to write.
#[derive(Debug)]
pub struct BackgroundFile {
    named: NamedFile,
    destination: Destination,
}

impl BackgroundFile {
    /// Makes sure before anything is measured that it can be written.
    pub fn create(named: &NamedFile) -> Result<Self, Trouble> {
        let destination = Destination::prepare(named.0, &named.1)?;
        Ok(Self { named: named.clone(), destination })
    }

    /// Writes what the document has; nothing where nothing was measured.
    pub fn write(mut self, document: &Document) -> Result<(), Trouble> {
        let (option, path) = &self.named;
        let table = TABLES.into_iter().find_map(|(name, table)| (name == *option).then_some(table));
        let Some(table) = table.filter(|_| document.all_measurements().next().is_some()) else {
            return Ok(());
        };
        let entries = backgrounds::rows(document);
        let rows = entries.iter().filter_map(|entry| rows::row(table, Form::Csv, entry));
        let text = rows.fold(rows::header(table, Form::Csv), |text, row| text + &row);
        // The end of the last line is put there with it.
        let text = text.strip_suffix('\n').unwrap_or(&text);
        self.destination.write(text).map_err(|error| {
            let why = explain(&error);
            Trouble::new(Failure::Output, format!("cannot write {option} {}: {why}", named(path)))
        })
    }
}
