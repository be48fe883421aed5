//! Processors: which this process may use, keeping a thread on one, and what a thread used.

#[cfg(all(target_os = "linux", not(pathscope_other)))]
mod linux;
#[cfg(all(target_os = "linux", not(pathscope_other)))]
use linux as imp;
#[cfg(not(all(target_os = "linux", not(pathscope_other))))]
mod other;
#[cfg(not(all(target_os = "linux", not(pathscope_other))))]
use other as imp;

use crate::OsError;

/// What the calling thread has used of its processors.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct ThreadUsage {
    /// Processor time in user mode.
    pub user_ns: u64,
    /// Processor time in the kernel.
    pub system_ns: u64,
    /// Times it was taken off its processor against its will.
    pub preempted: u64,
}

impl ThreadUsage {
    /// What was used since `earlier`.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Self {
        Self {
            user_ns: self.user_ns.saturating_sub(earlier.user_ns),
            system_ns: self.system_ns.saturating_sub(earlier.system_ns),
            preempted: self.preempted.saturating_sub(earlier.preempted),
        }
    }
}

/// The processors this thread may use, in ascending order; empty where that is not known.
pub fn allowed() -> Vec<u32> {
    imp::allowed()
}

/// Keeps the calling thread, and threads it starts later, on one processor.
pub fn pin_thread(cpu: u32) -> Result<(), OsError> {
    imp::pin_thread(cpu)
}

/// What the calling thread has used so far; `None` where that is not known.
pub fn thread_usage() -> Option<ThreadUsage> {
    imp::thread_usage()
}

/// Asks the kernel to wake the calling thread when its timers are due and not, to save power, up to
/// 50 µs later. Leaving a real-time scheduling class undoes it: call this last.
pub fn set_precise_timers() -> Result<(), OsError> {
    imp::set_precise_timers()
}

#[cfg(test)]
#[cfg(not(pathscope_other))]
mod tests {
    use super::*;

    #[test]
    fn a_thread_stays_where_it_was_put() {
        let all = allowed();
        let thread = std::thread::spawn(move || {
            // Also from where it was put before.
            for cpu in all {
                pin_thread(cpu).expect("it is allowed");
                assert_eq!(allowed(), [cpu]);
            }
        });
        thread.join().expect("no panic");
    }

    #[test]
    fn a_processor_that_is_not_there_is_a_sentence() {
        let error = pin_thread(100_000).expect_err("too many").to_string();
        assert!(error.contains("100000") && error.contains("may use"), "{error}");
    }

    #[test]
    fn work_takes_time() {
        let before = thread_usage().expect("known here");
        let mut after = before;
        let deadline = crate::clock::now().plus_nanos(10_000_000_000);
        while after.user_ns + after.system_ns == before.user_ns + before.system_ns {
            assert!(crate::clock::now() < deadline, "ten seconds of spinning took no time");
            after = thread_usage().expect("known here");
        }
        assert!(after.since(before).user_ns + after.since(before).system_ns > 0);
    }

    #[test]
    fn timers_can_be_made_precise() {
        let slack = std::thread::spawn(|| {
            set_precise_timers().expect("any thread may");
            rustix::thread::current_timer_slack()
        });
        assert_eq!(slack.join().expect("no panic"), Ok(1));
    }
}
