//! The file of a result: what was measured so far at any time, and all of it at the end.

use pathscope_core::quantity::named;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use pathscope_core::event::{Layout, Record};
use pathscope_os::outlets::explain;

use super::whole::{Destination, WholeFile};
use crate::{Trouble, terminal};

/// The option that names it.
pub const OPTION: &str = "--output";
/// So many files of one second are told apart by a number.
const MOST_OF_ONE_SECOND: u32 = 1_000;

/// A file that holds the result so far at any time: a kill costs what came after the last interval.
///
/// One that held something before is kept until the result is whole; what there is so far is beside it.
#[derive(Debug)]
pub struct ResultFile {
    /// As it was named.
    name: PathBuf,
    destination: Destination,
    /// Where the result so far goes, if not into its own file; none: nowhere.
    meanwhile: Option<WholeFile>,
    /// Whether anything of this run was saved.
    is_saved: bool,
    /// Whether the result so far could not be saved, and that was told.
    is_failing: bool,
    /// An empty file that keeps a name for this run.
    reserved: Option<PathBuf>,
}

impl ResultFile {
    /// Makes sure before anything is measured that the file can be written. What it holds stays until there is a
    /// result.
    pub fn create(path: &Path) -> Result<Self, Trouble> {
        if path == Path::new("-") {
            let text = "--output - is no file; for the document on standard output give --json, and a \
                        file of that name is ./-";
            return Err(Trouble::usage(text));
        }
        Ok(Self::to(path, Destination::prepare(OPTION, path)?))
    }

    /// A file that nobody asked for by name, beside all that are there; why there is none.
    pub fn create_default(stem: &str) -> Result<Self, String> {
        let reserved = reserve(stem);
        let path = reserved.map_err(|(path, error)| format!("{}: {error}", named(&path)))?;
        let file = WholeFile::at(&path);
        if let Err(why) = file.try_it() {
            // An empty file helps nobody; that it cannot be removed changes nothing.
            let _ = fs::remove_file(&path);
            return Err(format!("{}: {why}", named(&path)));
        }
        let mut file = Self::to(&path, Destination::File(file));
        file.reserved = Some(path);
        Ok(file)
    }

    fn to(path: &Path, destination: Destination) -> Self {
        let meanwhile = match &destination {
            Destination::File(file) if file.holds_something() => Some(file.for_the_time_being()),
            _ => None,
        };
        let name = path.to_owned();
        Self { name, destination, meanwhile, is_saved: false, is_failing: false, reserved: None }
    }

    /// The file that holds the result at the end, as it was named; none where a pipe or a device takes it.
    pub fn kept_at(&self) -> Option<&Path> {
        matches!(self.destination, Destination::File(_)).then_some(&*self.name)
    }

    /// Saves the result so far. Where that fails it is told once, and tried again next time.
    pub fn keep(&mut self, record: &dyn Record) {
        let file = match (&self.meanwhile, &self.destination) {
            (Some(file), _) | (None, Destination::File(file)) => file,
            // It gets one result, and not its parts.
            (None, Destination::Stream(_)) => return,
        };
        let written = text(record, Layout::Indented).and_then(|text| file.replace(&text));
        let Err(error) = written else {
            self.is_saved = true;
            return;
        };
        if !std::mem::replace(&mut self.is_failing, true) {
            terminal::complain(&format!(
                "cannot save what was measured so far to {}: {}; the run goes on, and it is tried again",
                named(file.path()),
                explain(&error)
            ));
        }
    }

    /// Saves the whole result, or says why not and what there is.
    pub fn finish(&mut self, record: &dyn Record) -> Result<(), String> {
        let mut written = self.write(record, Layout::Indented);
        if written.as_ref().is_err_and(is_out_of_room)
            && matches!(self.destination, Destination::File(_))
        {
            // Without its indentation it takes half as much.
            written = self.write(record, Layout::Line);
        }
        let Err(error) = written else {
            self.is_saved = true;
            if let Some(meanwhile) = &self.meanwhile {
                // It says nothing that is not in the whole.
                let _ = fs::remove_file(meanwhile.path());
            }
            return Ok(());
        };
        let kept = self.what_is_left();
        let (name, why) = (named(&self.name), explain(&error));
        Err(format!("cannot write the result to {name}: {why}{kept}"))
    }

    /// What there is where the whole result could not be written.
    fn what_is_left(&self) -> String {
        let is_there = |file: &WholeFile| self.is_saved && file.holds_something();
        match (&self.meanwhile, &self.destination) {
            (Some(meanwhile), _) if is_there(meanwhile) => {
                let beside = named(meanwhile.path());
                format!(
                    "; what it held before is still there, and what was saved last is in {beside}"
                )
            }
            (Some(_), _) => "; what it held before is still there".to_owned(),
            (None, Destination::File(file)) if is_there(file) => {
                "; what was saved last is still there".to_owned()
            }
            (None, _) => String::new(),
        }
    }

    fn write(&mut self, record: &dyn Record, layout: Layout) -> io::Result<()> {
        let text = text(record, layout)?;
        self.destination.write(&text)
    }
}

impl Drop for ResultFile {
    fn drop(&mut self) {
        // An empty file helps nobody; that it cannot be removed changes nothing.
        if let Some(path) = self.reserved.as_ref().filter(|_| !self.is_saved) {
            let _ = fs::remove_file(path);
        }
    }
}

fn text(record: &dyn Record, layout: Layout) -> io::Result<String> {
    record.to_json(layout).map_err(io::Error::from)
}

/// Whether less could be written where this was not.
fn is_out_of_room(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge
    )
}

/// A new file of this name, or with a number where another has it already.
fn reserve(stem: &str) -> Result<PathBuf, (PathBuf, io::Error)> {
    let mut number = 1;
    loop {
        let path = match number {
            1 => PathBuf::from(format!("{stem}.json")),
            _ => PathBuf::from(format!("{stem}-{number}.json")),
        };
        match File::create_new(&path) {
            Ok(_) => return Ok(path),
            Err(error)
                if error.kind() == ErrorKind::AlreadyExists && number < MOST_OF_ONE_SECOND =>
            {
                number += 1;
            }
            Err(error) => return Err((path, error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_taken_gets_a_number() {
        let folder = tempfile::tempdir().expect("a folder");
        let stem = folder.path().join("pathscope-survey-20261122-181102");
        let stem = stem.to_str().expect("plain");
        for name in [format!("{stem}.json"), format!("{stem}-2.json"), format!("{stem}-3.json")] {
            assert_eq!(reserve(stem).expect("a folder of ours"), PathBuf::from(name));
        }
    }

    #[test]
    fn a_name_that_was_kept_for_a_run_that_measured_nothing_is_given_back() {
        let folder = tempfile::tempdir().expect("a folder");
        let stem = folder.path().join("run");
        let stem = stem.to_str().expect("plain");
        let entries = || fs::read_dir(folder.path()).expect("a folder").count();
        let mut file = ResultFile::create_default(stem).expect("a folder of ours");
        assert_eq!(entries(), 1);
        file.keep(&"so far");
        drop(file);
        assert_eq!(entries(), 1, "something was measured");
        drop(ResultFile::create_default(stem).expect("a folder of ours"));
        assert_eq!(entries(), 1);
    }

    #[test]
    fn a_result_that_cannot_be_written_says_what_is_left() {
        let folder = tempfile::tempdir().expect("a folder");
        let inner = folder.path().join("inner");
        fs::create_dir(&inner).expect("a folder of ours");
        let mut file = ResultFile::create(&inner.join("run.json")).expect("a folder of ours");
        file.keep(&"so far");
        fs::remove_dir_all(&inner).expect("a folder of ours");
        let text = file.finish(&"all").expect_err("its folder is gone");
        assert!(text.ends_with("No such file or directory (os error 2)"), "{text}");
    }
}
