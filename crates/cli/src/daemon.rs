//! `--daemon`: this program starts itself anew, without a terminal, and ends when the new one has said that it
//! is ready or why it is not. The new one is told by its environment, and leaves its session before it has a
//! thread.

use pathscope_core::quantity::named;
use std::env;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Args;
use pathscope_core::error::Failure;
use pathscope_os::{OsError, background};

use crate::{Trouble, terminal};

/// Set for the one in the background, to the process that started it.
const STARTED_BY: &str = "PATHSCOPE_STARTED_BY";
/// What the one in the background says when it is ready.
const READY: &[u8] = b"ready\n";

/// Whether the starter has been told how the start went.
static IS_TOLD: AtomicBool = AtomicBool::new(false);

/// The option that names a daemon's log.
pub const LOG_FILE: &str = "--log-file";

/// The option that names the file of its number.
const PID_FILE: &str = "--pid-file";

/// Where a command runs.
#[derive(Args, Clone, Debug, Default)]
pub struct DaemonArgs {
    /// Go on in the background, without a terminal
    #[arg(long)]
    pub daemon: bool,
    /// What is said and shown is added to this file
    #[arg(long, value_name = "FILE")]
    pub log_file: Option<PathBuf>,
    /// The number of the process that does the work is written to this file
    #[arg(long, value_name = "FILE")]
    pub pid_file: Option<PathBuf>,
}

impl DaemonArgs {
    /// The files that a command writes to, each with its option, and the log.
    pub fn with_log<'a>(
        &'a self,
        files: &[(&'static str, Option<&'a Path>)],
    ) -> Vec<(&'static str, Option<&'a Path>)> {
        let log = (LOG_FILE, self.log_file.as_deref());
        let number = (PID_FILE, self.pid_file.as_deref());
        files.iter().copied().chain([log, number]).collect()
    }
}

/// What becomes of this process.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Role {
    /// It does the work: in the foreground, or it is the one in the background.
    Works,
    /// It has started the one that does, and has nothing more to do.
    Ends,
}

/// Goes to the background, where that was asked for. `files` are those that the command line names, and the
/// option of each. To be called before there are threads.
pub fn enter<'a>(
    args: &'a DaemonArgs,
    files: &[(&'static str, Option<&'a Path>)],
) -> Result<Role, Trouble> {
    let unsupported = |error: OsError| Trouble::new(Failure::Unsupported, error.to_string());
    let log = args.log_file.as_deref().map(|path| format!("{LOG_FILE} {}", named(path)));
    if !args.daemon {
        if let Some(path) = args.log_file.as_deref() {
            terminal::show_in(&open_log(Some(path))?.0).map_err(unsupported)?;
        }
        log.into_iter().for_each(terminal::is_shown_in);
        return works(args);
    }
    for (option, file) in args.with_log(files) {
        if let Some(file) = file.filter(|file| !file.is_absolute()) {
            let file = named(file);
            let text = format!(
                "{option} {file}: with --daemon give the whole path, from / on: it runs in the root of the file system"
            );
            return Err(Trouble::usage(text));
        }
    }
    if is_in_background() {
        background::leave_terminal().map_err(unsupported)?;
        log.into_iter().for_each(terminal::is_shown_in);
        return works(args);
    }
    start(args.log_file.as_deref()).map(|()| Role::Ends)
}

/// This process does the work, and says its number where that was asked for.
fn works(args: &DaemonArgs) -> Result<Role, Trouble> {
    if let Some(path) = &args.pid_file {
        let written = fs::write(path, format!("{}\n", std::process::id()));
        written.map_err(|error| Trouble::usage(format!("{PID_FILE} {}: {error}", named(path))))?;
    }
    Ok(Role::Works)
}

/// The one in the background is ready: whoever started it may go.
pub fn ready() {
    tell(READY);
}

/// The log of the one in the background. Once its first line is written the starter is told, and not before:
/// whoever reads the log when the starter has ended finds that line there.
#[derive(Debug)]
pub struct TellsReady<W>(pub W);

impl<W: Write> Write for TellsReady<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.0.write(bytes);
        // Be it that the disk is full: that keeps nobody from working.
        ready();
        written
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// What this process ends with: its user's code, but to whoever started it in the background ours, which is understood there.
pub fn exit_code(failure: Failure) -> u8 {
    if is_in_background() { failure.exit_code() } else { terminal::exit_code(failure) }
}

/// It could not start, and why.
pub fn failed(text: &str) {
    tell(text.as_bytes());
}

fn is_in_background() -> bool {
    env::var_os(STARTED_BY).is_some()
}

fn tell(words: &[u8]) {
    if is_in_background() && !IS_TOLD.swap(true, Ordering::SeqCst) {
        // A starter that is gone needs no word.
        let _ = background::to_starter().map(|mut starter| starter.write_all(words));
    }
}

fn start(log_file: Option<&Path>) -> Result<(), Trouble> {
    let unsupported = |what: &str, error: &dyn std::fmt::Display| {
        Trouble::new(Failure::Unsupported, format!("cannot {what}: {error}"))
    };
    let (mut here, there) =
        background::channel().map_err(|error| unsupported("start in the background", &error))?;
    let (log, path) = open_log(log_file)?;
    let errors = log.try_clone().map_err(|error| unsupported("share the log file", &error))?;
    let binary = env::current_exe().map_err(|error| unsupported("find this program", &error))?;
    // Under the name that it was started by: it may be another tool's.
    let name = env::args_os().next().unwrap_or_default();
    let mut child = Command::new(binary)
        .arg0(name)
        .args(env::args_os().skip(1))
        .env(STARTED_BY, std::process::id().to_string())
        .stdin(Stdio::from(there))
        .stdout(log)
        .stderr(errors)
        .spawn()
        .map_err(|error| unsupported("start in the background", &error))?;
    // The other end is with the new process alone: its end, if it says nothing, ends this as well.
    let mut said = [0; 1_024];
    let count = here.read(&mut said).unwrap_or(0);
    if &said[..count] == READY {
        terminal::say(&format!("runs in the background as process {}; log: {path}", child.id()));
        return Ok(());
    }
    let code = child.wait().ok().and_then(|status| status.code());
    let failure = code.and_then(|code| u8::try_from(code).ok()).and_then(Failure::of_exit_code);
    let why = String::from_utf8_lossy(&said[..count]);
    Err(Trouble::new(failure.unwrap_or(Failure::Internal), why.trim()))
}

/// The log, and what it is called. What it held stays; a server's life is longer than a process.
fn open_log(path: Option<&Path>) -> Result<(File, String), Trouble> {
    let nowhere = PathBuf::from("/dev/null");
    let opened = path.unwrap_or(&nowhere);
    let log = OpenOptions::new().create(true).append(true).open(opened);
    let log =
        log.map_err(|error| Trouble::usage(format!("--log-file {}: {error}", named(opened))))?;
    Ok((log, path.map_or_else(|| "none".to_owned(), named)))
}
