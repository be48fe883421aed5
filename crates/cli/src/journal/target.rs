//! One file of rows, until it takes no more. Not here: the thread that writes it, and how rows look.

use std::path::{Path, PathBuf};

use pathscope_core::Tick;
use pathscope_core::journal::Entry;
use pathscope_core::journal::totals::Totals;
use pathscope_core::quantity::named;
use pathscope_os::outlets::{Outlet, explain};
use pathscope_views::journal::{self as rows, Form, Table};

use crate::{Trouble, files};

/// A file that took no more.
#[derive(Clone, Debug)]
pub struct GivenUp {
    /// Its option and its name.
    pub name: String,
    /// What was said.
    pub sentence: String,
}

/// One file of rows.
#[derive(Debug)]
pub struct Target {
    /// Of all clients together, where its rows are of those, and when times began.
    totals: Option<(Totals, Tick)>,
    option: &'static str,
    path: PathBuf,
    /// Until it takes no more.
    file: Option<Outlet>,
    pub table: Table,
    pub form: Form,
}

impl Target {
    /// A file that is open.
    pub fn new(option: &'static str, path: &Path, file: Outlet, table: Table, form: Form) -> Self {
        Self { totals: None, option, path: path.to_owned(), file: Some(file), table, form }
    }

    /// The same with a row for all clients together every so many milliseconds, also while there are none.
    pub fn of_all_clients(self, every_ms: u64, began: Tick) -> Self {
        Self { totals: Some((Totals::new(every_ms, true), began)), ..self }
    }

    /// The row that it has for an entry, if it has one.
    pub fn row(&mut self, entry: &Entry) -> Option<String> {
        let Some((totals, _)) = &mut self.totals else {
            return rows::row(self.table, self.form, entry);
        };
        totals.hear(entry).map(|slice| rows::totals(self.form, &slice))
    }

    /// When a row is due of a time in which nothing is told, if one is.
    pub fn wakes_at(&self) -> Option<Tick> {
        let (totals, began) = self.totals.as_ref()?;
        totals.idle_at_ns().map(|at_ns| began.plus_nanos(at_ns))
    }

    /// That row, if it is due now.
    pub fn idle_row(&mut self, now: Tick) -> Option<String> {
        let (totals, began) = self.totals.as_mut()?;
        totals.idle(now.nanos_since(*began)).map(|slice| rows::totals(self.form, &slice))
    }

    /// The row that ends it, where it has one.
    pub fn last_row(&mut self) -> Option<String> {
        let last = self.totals.as_mut().and_then(|(totals, _)| totals.last());
        last.map(|slice| rows::totals(self.form, &slice))
    }

    /// Takes out what it held before.
    pub fn empty(&self) -> Result<(), Trouble> {
        let emptied = self.file.iter().try_for_each(Outlet::empty);
        emptied.map_err(|error| files::refused(self.option, &self.path, &error))
    }

    /// Writes whole rows, or gives the file up and says so.
    pub fn write(&mut self, text: &str) -> Result<(), GivenUp> {
        let Some(file) = self.file.as_mut() else { return Ok(()) };
        let Err(unwritten) = file.write_rows(text.as_bytes()) else { return Ok(()) };
        self.file = None;
        let name = format!("{} {}", self.option, named(&self.path));
        let why = explain(&unwritten.error);
        let sentence = format!(
            "cannot write to {name}: {why}; it is given up and lacks every later row, the run goes on"
        );
        Err(GivenUp { name, sentence })
    }
}
