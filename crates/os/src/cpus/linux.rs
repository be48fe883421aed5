//! Linux: affinity masks, `RUSAGE_THREAD`, timer slack.

use std::mem::MaybeUninit;
use std::num::NonZeroU64;

use rustix::io::Errno;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity, set_current_timer_slack};
use rustix::time::{ClockId, clock_gettime};

use super::{HostCpu, ThreadUsage};
use crate::OsError;

pub fn allowed() -> Vec<u32> {
    let Ok(set) = sched_getaffinity(None) else { return Vec::new() };
    (0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).map(|cpu| cpu as u32).collect()
}

/// Not checked against what is allowed now: a thread may have been started by one that is pinned.
pub fn pin_thread(cpu: u32) -> Result<(), OsError> {
    keep_thread_on(&[cpu])
}

/// The same of several processors.
pub fn keep_thread_on(cpus: &[u32]) -> Result<(), OsError> {
    let refused = |cpu| OsError::Processor { cpu, allowed: format!("{:?}", allowed()) };
    let mut set = CpuSet::new();
    for &cpu in cpus {
        if cpu as usize >= CpuSet::MAX_CPU {
            return Err(refused(cpu));
        }
        set.set(cpu as usize);
    }
    sched_setaffinity(None, &set).map_err(|errno| match (errno, cpus) {
        (Errno::INVAL, [cpu, ..]) => refused(*cpu),
        (errno, _) => OsError::call("keep a thread on its processors")(errno),
    })
}

pub fn thread_usage() -> Option<ThreadUsage> {
    let mut usage = MaybeUninit::<libc::rusage>::uninit();
    // SAFETY: the pointer is to memory of the size of `rusage`, which the call fills.
    let status = unsafe { libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr()) };
    if status != 0 {
        return None;
    }
    // SAFETY: the call succeeded, so it filled the whole structure.
    let usage = unsafe { usage.assume_init() };
    Some(ThreadUsage {
        user_ns: nanoseconds(usage.ru_utime),
        system_ns: nanoseconds(usage.ru_stime),
        preempted: usage.ru_nivcsw as u64,
        waited_ns: waited_ns(),
    })
}

#[expect(clippy::unnecessary_wraps, reason = "the same signature on every system")]
pub fn process_cpu_ns() -> Option<u64> {
    let used = clock_gettime(ClockId::ProcessCPUTime);
    Some(used.tv_sec as u64 * 1_000_000_000 + used.tv_nsec as u64)
}

/// `schedstat` of the calling thread: time on a processor, time waiting for one, turns.
fn waited_ns() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_ascii_whitespace().nth(1)?.parse().ok()
}

fn nanoseconds(time: libc::timeval) -> u64 {
    time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1_000
}

/// The first line of `/proc/stat` (proc(5)): user, nice, system, idle, iowait, irq, softirq, steal, in
/// ticks of `USER_HZ`. What guests used is in user and nice already.
pub fn host() -> Option<HostCpu> {
    const IDLE: [usize; 2] = [3, 4];
    let stat = std::fs::read_to_string("/proc/stat").ok()?;
    let ticks = stat.lines().next()?.strip_prefix("cpu ")?.split_ascii_whitespace().take(8);
    let tick_ns = 1_000_000_000 / rustix::param::clock_ticks_per_second().max(1);
    let mut host = HostCpu { busy_ns: 0, total_ns: 0 };
    for (index, ticks) in ticks.enumerate() {
        let time_ns = ticks.parse::<u64>().ok()? * tick_ns;
        host.total_ns += time_ns;
        host.busy_ns += if IDLE.contains(&index) { 0 } else { time_ns };
    }
    Some(host)
}

pub fn set_precise_timers() -> Result<(), OsError> {
    set_current_timer_slack(NonZeroU64::new(1)).map_err(OsError::call("set the timer slack"))
}
