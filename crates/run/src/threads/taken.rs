//! How often locks are taken by threads of each name, for tests that hold a run to it.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::thread;

/// By the name of the thread.
static TAKEN: Mutex<Option<HashMap<String, u64>>> = Mutex::new(None);

/// The thread that runs takes one.
pub fn note() {
    let mut taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
    let name = thread::current().name().unwrap_or_default().to_owned();
    *taken.get_or_insert_default().entry(name).or_default() += 1;
}

/// So many were taken so far by threads whose names begin so.
pub fn by(start: &str) -> u64 {
    let taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
    let counts = taken.iter().flatten();
    counts.filter(|(name, _)| name.starts_with(start)).map(|(_, count)| count).sum()
}
