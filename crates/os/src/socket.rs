//! An open socket, as all that have to do with sockets share it. Opening and setting one is `sockets`'.

#[cfg(not(all(target_os = "linux", not(pathscope_other))))]
use std::convert::Infallible;
#[cfg(all(target_os = "linux", not(pathscope_other)))]
use std::os::fd::OwnedFd;

/// What the system knows it by.
#[cfg(all(target_os = "linux", not(pathscope_other)))]
pub(crate) type Handle = OwnedFd;
/// What the system knows it by: there is none yet.
#[cfg(not(all(target_os = "linux", not(pathscope_other))))]
pub(crate) type Handle = Infallible;

/// An open socket. Closed when dropped: it has one owner.
#[derive(Debug)]
pub struct Socket(pub(crate) Handle);
