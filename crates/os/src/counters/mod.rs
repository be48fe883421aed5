//! What this machine's kernel counts beside a test: processors, interfaces, protocols, memory. Read twice,
//! by the thread of the session, and told as the difference.

#[cfg(all(target_os = "linux", not(pathscope_other)))]
mod linux;
#[cfg(all(target_os = "linux", not(pathscope_other)))]
use linux as imp;
#[cfg(not(all(target_os = "linux", not(pathscope_other))))]
mod other;
#[cfg(not(all(target_os = "linux", not(pathscope_other))))]
use other as imp;

use pathscope_core::counters::HostCounters;

/// The kernel's counters at one moment.
#[derive(Debug)]
pub struct Reading(imp::Reading);

impl Reading {
    /// Reads them now; what this system does not tell is left out.
    pub fn now() -> Self {
        Self(imp::Reading::now())
    }

    /// What was counted between `earlier` and this; `None` where this system counts nothing.
    pub fn since(&self, earlier: &Self) -> Option<HostCounters> {
        self.0.since(&earlier.0)
    }
}
