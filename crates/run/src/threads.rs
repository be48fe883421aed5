//! Threads that a run cannot do without: each has a name, and where the system has none left that is an error.

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
