//! Linux: `setsid`, which fails where this process leads a group: then a session is its own already, or a
//! shell waits for it in the foreground and means it.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use rustix::io::Errno;

use crate::OsError;

pub fn leave_terminal() -> Result<(), OsError> {
    match rustix::process::setsid() {
        Ok(_) | Err(Errno::PERM) => {}
        Err(errno) => return Err(OsError::call("begin a session")(errno)),
    }
    rustix::process::chdir("/").map_err(OsError::call("go to the root of the file system"))
}

pub fn show_in(file: &File) -> Result<(), OsError> {
    let what = "show what is said in a file";
    rustix::stdio::dup2_stdout(file).map_err(OsError::call(what))?;
    rustix::stdio::dup2_stderr(file).map_err(OsError::call(what))
}

pub fn to_starter() -> Result<File, OsError> {
    kept(io::stdin().as_fd(), "keep standard input")
}

pub fn said_to() -> Result<File, OsError> {
    kept(io::stderr().as_fd(), "keep standard error")
}

fn kept(handle: BorrowedFd<'_>, what: &'static str) -> Result<File, OsError> {
    let handle = handle.try_clone_to_owned();
    Ok(File::from(handle.map_err(|source| OsError::Call { what, source })?))
}
