//! Any other system: nothing is known, and nothing can be chosen.

use super::{HostCpu, ThreadUsage};
use crate::OsError;

pub fn allowed() -> Vec<u32> {
    Vec::new()
}

pub fn pin_thread(_cpu: u32) -> Result<(), OsError> {
    Err(OsError::Unsupported {
        what: "keeping a thread on one processor",
        why: "only Linux so far",
    })
}

pub fn keep_thread_on(_cpus: &[u32]) -> Result<(), OsError> {
    pin_thread(0)
}

pub fn process_cpu_ns() -> Option<u64> {
    None
}

pub fn thread_usage() -> Option<ThreadUsage> {
    None
}

/// Nothing to ask for: other systems do not put timers together by default.
#[expect(clippy::unnecessary_wraps, reason = "the same signature on every system")]
pub fn set_precise_timers() -> Result<(), OsError> {
    Ok(())
}

pub fn host() -> Option<HostCpu> {
    None
}
