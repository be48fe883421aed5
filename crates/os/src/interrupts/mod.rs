//! How often this machine's processors were interrupted, and by what: each row of the kernel's own table. Read twice by who wants to know,
//! and told as the difference. Not what they cost (`counters`).

#[cfg(all(target_os = "linux", not(pathscope_other)))]
mod linux;
#[cfg(all(target_os = "linux", not(pathscope_other)))]
use linux as imp;
#[cfg(not(all(target_os = "linux", not(pathscope_other))))]
mod other;
#[cfg(not(all(target_os = "linux", not(pathscope_other))))]
use other as imp;

/// The kernel's table at one moment.
#[derive(Debug)]
pub struct Reading(imp::Reading);

impl Reading {
    /// Reads it now: as long as the machine has processors and devices, so that it is read for who asks alone.
    pub fn now() -> Self {
        Self(imp::Reading::now())
    }

    /// How often each row was counted between `earlier` and this, on all processors, by its name and description as the kernel writes
    /// them; those that were not are left out. Nothing where this system has no such table.
    pub fn since(&self, earlier: &Self) -> Vec<(String, u64)> {
        self.0.since(&earlier.0)
    }
}
