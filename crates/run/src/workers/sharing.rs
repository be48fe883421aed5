//! Threads of this process that run flows of many tests at a server: those of light tests, where there are more of them than threads
//! that each could have for itself. Which tests those are is `placement`'s.

use std::sync::{Arc, Mutex, Weak};

use pathscope_engines::SharedThread;
use pathscope_os::cpus;

use crate::error::RunError;
use crate::threads::{self, lock};

/// So many there are at the most: they have little to do, and are among the eight that a server has of its own.
const MOST: usize = 2;

/// Those that there are. Each ends with the last test that has a part of it.
static THREADS: Mutex<Vec<Weak<SharedThread>>> = Mutex::new(Vec::new());

/// A thread for one more test: the one that the fewest have a part of, or another as long as there are processors for it.
pub(super) fn thread() -> Result<Arc<SharedThread>, RunError> {
    let mut threads = lock(&THREADS);
    threads.retain(|thread| thread.strong_count() > 0);
    let least = threads.iter().filter_map(Weak::upgrade).min_by_key(Arc::strong_count);
    if let Some(thread) = least.filter(|_| threads.len() >= cpus::allowed().len().clamp(1, MOST)) {
        return Ok(thread);
    }
    let (thread, own) = SharedThread::new()?;
    threads::spawn("flows-of-many", move || own.run())?;
    let thread = Arc::new(thread);
    threads.push(Arc::downgrade(&thread));
    Ok(thread)
}
