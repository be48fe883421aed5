//! Leaving the terminal: a process that goes on when whoever started it has gone.
//!
//! Not here: starting such a process. It starts itself anew and leaves first of all, before it has threads, so
//! that nothing is ever forked with threads alive.

#[cfg(all(target_os = "linux", not(pathscope_other)))]
mod linux;
#[cfg(all(target_os = "linux", not(pathscope_other)))]
use linux as imp;
#[cfg(not(all(target_os = "linux", not(pathscope_other))))]
mod other;
#[cfg(not(all(target_os = "linux", not(pathscope_other))))]
use other as imp;

use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

use crate::OsError;

/// Begins a session of its own, without a terminal, in the root of the file system, so that no file system is
/// kept from being unmounted.
pub fn leave_terminal() -> Result<(), OsError> {
    imp::leave_terminal()
}

/// Two ends for word between a process and the one it starts, which gets the second as its standard input.
pub fn channel() -> Result<(UnixStream, OwnedFd), OsError> {
    let pair = UnixStream::pair();
    let (here, there) =
        pair.map_err(|source| OsError::Call { what: "make a pair of sockets", source })?;
    Ok((here, there.into()))
}

/// From now on what goes to standard output and standard error goes to this file.
pub fn show_in(file: &File) -> Result<(), OsError> {
    imp::show_in(file)
}

/// Standard error as it is now, to be kept when something else takes its place.
pub fn said_to() -> Result<File, OsError> {
    imp::said_to()
}

/// Standard input as something to write to: the other end of [`channel`].
pub fn to_starter() -> Result<File, OsError> {
    imp::to_starter()
}
