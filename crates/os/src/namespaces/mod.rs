//! Namespaces: networks of their own, and what makes a process feel at home in one: root without
//! privileges, a name, mounts.
//!
//! A network namespace needs no name in the file system: it lives as long as a descriptor, a process
//! or a device in it, and whoever may look at the process that holds the descriptor can open it
//! through that. So nothing is left when the holder ends, however it ends. See namespaces(7).
//!
//! Not here: devices and addresses in a network (`lab`).

#[cfg(all(target_os = "linux", not(pathscope_other)))]
mod linux;
#[cfg(all(target_os = "linux", not(pathscope_other)))]
use linux as imp;
#[cfg(not(all(target_os = "linux", not(pathscope_other))))]
mod other;
#[cfg(not(all(target_os = "linux", not(pathscope_other))))]
use other as imp;
#[cfg(test)]
#[cfg(not(pathscope_other))]
mod tests;

use std::path::Path;

use crate::OsError;

/// A network namespace, held open.
#[derive(Debug)]
pub struct Network(imp::Network);

/// What tells one namespace from every other that lives at the same time.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Identity {
    /// The device of the file that stands for it.
    pub device: u64,
    /// The inode of that file.
    pub inode: u64,
}

impl Network {
    /// A new one, with nothing in it but a loopback device that is down. The calling thread stays
    /// where it is. Takes root, or a user namespace of our own: [`become_root`].
    pub fn create() -> Result<Self, OsError> {
        imp::Network::create().map(Self)
    }

    /// The one that the calling thread is in.
    pub fn current() -> Result<Self, OsError> {
        imp::Network::current().map(Self)
    }

    /// The one that `process` holds by this number of a descriptor. Takes leave to look at the process,
    /// as a debugger does; one in another user namespace than ours is entered first
    /// ([`enter_user_namespace`]).
    pub fn held_by(process: u32, descriptor: i32) -> Result<Self, OsError> {
        imp::Network::held_by(process, descriptor).map(Self)
    }

    /// What tells it from others.
    pub fn identity(&self) -> Result<Identity, OsError> {
        self.0.identity()
    }

    /// Moves the calling thread there, for good. Sockets and files that it has open stay where they
    /// are; those it opens from now on, and the threads and processes it starts, are in the namespace.
    pub fn enter(&self) -> Result<(), OsError> {
        self.0.enter()
    }

    /// Does something there, in a thread of its own, and waits for it. Sockets opened there can be
    /// brought back and stay bound to the namespace.
    pub fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> Result<T, OsError> {
        std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().name("in a namespace".to_owned());
            let inside = || self.enter().map(|()| work());
            let thread = thread
                .spawn_scoped(scope, inside)
                .map_err(|source| OsError::Call { what: "start a thread", source })?;
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }
}

/// Becomes root of a new user namespace: whoever we were is root inside, with every capability over
/// the namespaces made from now on, and with no more right than before over what is outside. Only
/// while the process has one thread.
pub fn become_root() -> Result<(), OsError> {
    imp::become_root()
}

/// Enters the user namespace of another process, so that its networks can be entered; false where we
/// are in it already. Only while the process has one thread.
pub fn enter_user_namespace(process: u32) -> Result<bool, OsError> {
    imp::enter_user_namespace(process)
}

/// Gives the calling thread, and what it starts, a host name of its own: what a shell's prompt shows.
/// At most 64 bytes.
pub fn rename_host(name: &str) -> Result<(), OsError> {
    imp::rename_host(name)
}

/// Gives the calling thread, and what it starts, mounts of its own: what it mounts, nobody else sees.
pub fn separate_mounts() -> Result<(), OsError> {
    imp::separate_mounts()
}

/// Shows the file `shown` in the place of the file `path`, `/etc/hosts` say. Call
/// [`separate_mounts`] before, or all of the machine sees it.
pub fn cover_file(shown: &Path, path: &Path) -> Result<(), OsError> {
    imp::cover_file(shown, path)
}

/// Mounts a `/sys` that shows the devices of the calling thread's network, for programs that look for
/// them there. Call [`separate_mounts`] and [`Network::enter`] before. Refused in many containers, where
/// programs then see the devices of the network outside.
pub fn mount_sysfs() -> Result<(), OsError> {
    imp::mount_sysfs()
}
