//! Opening a file that a run writes to while it goes on, or a pipe or device that gets a whole result: before anything
//! is measured, and without waiting for ever for the reader of a pipe.

use pathscope_core::quantity::named;
use std::fmt::Display;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use pathscope_os::outlets::Outlet;

use crate::{Trouble, terminal};

/// How long the reader of a pipe may stay away before the run, and take nothing in it and at its end.
const PATIENCE: Duration = Duration::from_secs(10);
/// A reader that comes by then is not spoken of.
const WITHOUT_A_WORD: Duration = Duration::from_millis(200);

/// Opens what `option` names. What it holds stays: whoever writes empties it first.
pub fn open(option: &str, path: &Path) -> Result<Outlet, Trouble> {
    let file = if fs::metadata(path).is_ok_and(|there| there.file_type().is_fifo()) {
        await_reader(option, path)?
    } else {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false);
        options.open(path).map_err(|error| refused(option, path, &error))?
    };
    Outlet::new(file, PATIENCE).map_err(|error| refused(option, path, &error))
}

/// A file that cannot be written to, which is told before anything is done.
pub fn refused(option: &str, path: &Path, why: &dyn Display) -> Trouble {
    Trouble::usage(format!("{option} {}: {why}", named(path)))
}

/// Opening a pipe waits for its reader. That is left to a thread, which may wait longer than we do.
fn await_reader(option: &str, path: &Path) -> Result<File, Trouble> {
    let (opened, outcome) = mpsc::channel::<io::Result<File>>();
    let pipe = path.to_owned();
    let open = move || {
        // Nobody waits for it any more where this fails.
        let _ = opened.send(OpenOptions::new().write(true).open(pipe));
    };
    thread::Builder::new().name("pipe".to_owned()).spawn(open).map_err(Trouble::no_thread)?;
    let outcome = outcome.recv_timeout(WITHOUT_A_WORD).or_else(|_| {
        let (path, seconds) = (named(path), PATIENCE.as_secs());
        terminal::say(&format!(
            "{option} {path}: waiting up to {seconds} s for somebody to read from this pipe"
        ));
        outcome.recv_timeout(PATIENCE)
    });
    match outcome {
        Ok(file) => file.map_err(|error| refused(option, path, &error)),
        Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
            let seconds = PATIENCE.as_secs();
            let why =
                format!("nobody read from this pipe within {seconds} s: start its reader first");
            Err(refused(option, path, &why))
        }
    }
}
