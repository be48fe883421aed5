//! Threads that a run cannot do without: each has a name, and where the system has none left that is an error. And what
//! threads share under a lock: all of it is taken here, so that tests can count how often a thread does so.

#[cfg(test)]
pub(crate) mod taken;
#[cfg(not(test))]
mod taken {
    //! Outside of tests nobody counts.

    pub const fn note() {}
}

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};

use crate::error::RunError;

/// Starts a thread of this name.
pub(crate) fn spawn<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<JoinHandle<T>, RunError> {
    let thread = Builder::new().name(name.to_owned());
    thread.spawn(work).map_err(RunError::system("cannot start a thread"))
}

/// What threads share. Who holds it must leave nothing half done behind where it may panic: the others go on with it.
pub(crate) fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    taken::note();
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
