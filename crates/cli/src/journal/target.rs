//! One file of rows, until it takes no more. Not here: the thread that writes it, and how rows look.

use std::path::{Path, PathBuf};

use pathscope_core::quantity::named;
use pathscope_os::outlets::{Outlet, explain};
use pathscope_views::journal::{Form, Table};

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
        Self { option, path: path.to_owned(), file: Some(file), table, form }
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
