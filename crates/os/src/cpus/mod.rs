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
    /// Time it was ready to run and had no processor; `None` where the kernel does not count it.
    pub waited_ns: Option<u64>,
}

impl ThreadUsage {
    /// What was used since `earlier`.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Self {
        Self {
            user_ns: self.user_ns.saturating_sub(earlier.user_ns),
            system_ns: self.system_ns.saturating_sub(earlier.system_ns),
            preempted: self.preempted.saturating_sub(earlier.preempted),
            waited_ns: match (self.waited_ns, earlier.waited_ns) {
                (Some(now), Some(before)) => Some(now.saturating_sub(before)),
                _ => None,
            },
        }
    }
}

/// What all processors of the machine have done since it started.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct HostCpu {
    /// Time that some processor had something to do, soft interrupts and stolen time included.
    pub busy_ns: u64,
    /// Time of all processors together.
    pub total_ns: u64,
}

impl HostCpu {
    /// Of the time since `earlier`, the share that was not idle; `None` where none has passed.
    pub fn busy_share_since(&self, earlier: &Self) -> Option<f64> {
        let total = self.total_ns.saturating_sub(earlier.total_ns);
        let busy = self.busy_ns.saturating_sub(earlier.busy_ns);
        (total > 0).then(|| busy as f64 / total as f64)
    }
}

/// What all processors have done so far; `None` where that is not known. Steps of 10 ms or so.
pub fn host() -> Option<HostCpu> {
    imp::host()
}

/// The processors this thread may use, in ascending order; empty where that is not known.
pub fn allowed() -> Vec<u32> {
    imp::allowed()
}

/// Keeps the calling thread, and threads it starts later, on one processor.
pub fn pin_thread(cpu: u32) -> Result<(), OsError> {
    imp::pin_thread(cpu)
}

/// Keeps the calling thread, and threads it starts later, on these processors.
pub fn keep_thread_on(cpus: &[u32]) -> Result<(), OsError> {
    imp::keep_thread_on(cpus)
}

/// What the calling thread has used so far; `None` where that is not known.
pub fn thread_usage() -> Option<ThreadUsage> {
    imp::thread_usage()
}

/// The processor time that all threads of this process have used; `None` where that is not known.
pub fn process_cpu_ns() -> Option<u64> {
    imp::process_cpu_ns()
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
            for &cpu in &all {
                pin_thread(cpu).expect("it is allowed");
                assert_eq!(allowed(), [cpu]);
            }
            keep_thread_on(&all).expect("they are allowed");
            assert_eq!(allowed(), all);
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
        assert!(process_cpu_ns().is_some_and(|used| used > 0));
    }

    #[test]
    fn the_machine_is_busy_for_a_share_of_its_time() {
        let first = HostCpu { busy_ns: 10, total_ns: 100 };
        let second = HostCpu { busy_ns: 60, total_ns: 200 };
        assert_eq!(second.busy_share_since(&first), Some(0.5));
        assert_eq!(second.busy_share_since(&second), None);
        let now = host().expect("known here");
        assert!(now.busy_ns > 0 && now.busy_ns <= now.total_ns, "{now:?}");
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
