//! The file of samples while rows are written to it: in which form, how far, and what went wrong.
//!
//! Not here: whose rows they are and when they come.

use std::ffi::OsStr;
use std::path::Path;
use std::{fmt, io};

use pathscope_os::outlets::{Outlet, explain};

use super::layout::Layout;
use super::parquet_file::ParquetFile;

/// Why no more was written, and how many rows there are.
pub(super) type Unwritten = (String, u64);

/// The file, and how far it is.
#[derive(Debug)]
pub(super) struct RowFile {
    form: Form,
    /// Rows that are in it.
    rows: u64,
    /// What could not be written: half a row may stand there, and nothing comes behind it.
    broken: Option<String>,
}

/// In which form it is written, and how far that is.
enum Form {
    /// As the rows are worded, once there is something to write.
    NoText(Outlet),
    /// With the first row.
    Text(Outlet),
    /// As Parquet, once there is something to write.
    NoColumns(Outlet),
    /// Without its footer.
    Columns(Box<ParquetFile<Gate>>),
    /// With it, or given up.
    Ended,
}

impl fmt::Debug for Form {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::NoText(_) | Self::Text(_) => "text",
            Self::NoColumns(_) | Self::Columns(_) | Self::Ended => "columns",
        })
    }
}

/// What columns are written to. What a writer still holds when it is given up must not come behind what was emptied.
enum Gate {
    Open(Outlet),
    Shut,
}

impl Gate {
    /// Takes nothing more, and what is there goes. A pipe or a device keeps what it has.
    fn shut(&mut self) {
        if let Self::Open(file) = std::mem::replace(self, Self::Shut) {
            let _ = file.empty();
        }
    }
}

impl io::Write for Gate {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Open(file) => file.write(bytes),
            Self::Shut => Ok(bytes.len()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Open(file) => file.flush(),
            Self::Shut => Ok(()),
        }
    }
}

impl RowFile {
    /// Nothing yet, in the form that the file's name asks for.
    pub fn new(path: &Path, file: Outlet) -> Self {
        let ending = path.extension().map(OsStr::to_ascii_lowercase);
        let is_parquet = ending.is_some_and(|ending| ending == "parquet");
        let form = if is_parquet { Form::NoColumns(file) } else { Form::NoText(file) };
        Self { form, rows: 0, broken: None }
    }

    /// Writes whole rows, behind the head if they are the first.
    pub fn write(&mut self, layout: &Layout, text: &[u8]) -> Result<(), Unwritten> {
        self.attempt(|rows| rows.try_to_write(layout, text))
    }

    /// Writes what the form has at its end, where anything was written.
    pub fn end(&mut self) -> Result<(), Unwritten> {
        if self.broken.is_some() {
            return Ok(());
        }
        self.attempt(|rows| match &mut rows.form {
            Form::Columns(file) => file.end(),
            _ => Ok(()),
        })
    }

    /// Once something went wrong, nothing more is tried.
    fn attempt(
        &mut self,
        write: impl FnOnce(&mut Self) -> io::Result<()>,
    ) -> Result<(), Unwritten> {
        if self.broken.is_none() {
            self.broken = write(self).err().map(|error| explain(&error));
            if self.broken.is_some() {
                self.give_up();
            }
        }
        self.broken.clone().map_or(Ok(()), |error| Err((error, self.rows)))
    }

    /// Columns without a footer are no file that anybody reads: what is there of them goes.
    fn give_up(&mut self) {
        if let Form::Columns(file) = &mut self.form {
            file.out().shut();
            (self.form, self.rows) = (Form::Ended, 0);
        }
    }

    /// The file is emptied before the first of it is written.
    fn try_to_write(&mut self, layout: &Layout, text: &[u8]) -> io::Result<()> {
        self.form = match std::mem::replace(&mut self.form, Form::Ended) {
            Form::NoText(mut file) => {
                file.empty()?;
                let begun = file.write_rows(layout.head.as_bytes());
                begun.map_err(|unwritten| unwritten.error)?;
                Form::Text(file)
            }
            Form::NoColumns(file) => {
                file.empty()?;
                Form::Columns(Box::new(ParquetFile::begin(Gate::Open(file), layout)?))
            }
            begun => begun,
        };
        match &mut self.form {
            Form::Text(file) => {
                let result = file.write_rows(text);
                self.rows += *result.as_ref().unwrap_or_else(|unwritten| &unwritten.rows);
                result.map(drop).map_err(|unwritten| unwritten.error)
            }
            Form::Columns(file) => {
                let text = String::from_utf8_lossy(text);
                self.rows += text.lines().count() as u64;
                file.add(&text)
            }
            // All that was written is in it, or nothing was.
            Form::NoText(_) | Form::NoColumns(_) | Form::Ended => Ok(()),
        }
    }
}
