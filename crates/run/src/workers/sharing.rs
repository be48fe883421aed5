//! Threads of this process that run flows of many tests at a server: those of light tests, where there are more of them than threads
//! that each could have for itself. Which tests those are is `placement`'s.
//!
//! Each is of one thread that holds sessions, and runs flows of those alone: what it uses of what that one has open is what wakes it.

use std::sync::{Arc, Mutex, Weak};

use pathscope_engines::{Part, SharedThread};
use pathscope_os::Waker;

use crate::error::RunError;
use crate::threads::lock;

/// Those that there are. Each ends with the last test that has a part of it.
static THREADS: Mutex<Vec<Weak<SharedThread>>> = Mutex::new(Vec::new());

/// A part for one more test of a session that is woken so.
pub(crate) fn part(session: &Waker) -> Result<Part, RunError> {
    let mut threads = lock(&THREADS);
    threads.retain(|thread| thread.strong_count() > 0);
    let mut running = threads.iter().filter_map(Weak::upgrade);
    if let Some(thread) = running.find(|thread| thread.wakes(session)) {
        return Ok(thread.part());
    }
    let thread = Arc::new(SharedThread::start("flows-of-many", session.base().clone())?);
    threads.push(Arc::downgrade(&thread));
    Ok(thread.part())
}
