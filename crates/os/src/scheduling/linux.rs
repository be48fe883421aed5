//! Linux: `SCHED_FIFO`, see sched(7), timerfd(2), and the quality of service that power management
//! keeps to, see `Documentation/power/pm_qos_interface.rst` of the kernel.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use pathscope_core::Tick;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};

use crate::OsError;

/// By the system call itself: musl refuses to make it.
pub fn run_first() -> Result<(), OsError> {
    let priority = libc::c_int::from(1_u8);
    // SAFETY: 0 is the calling thread; the pointer is to a `sched_param`, which is one `c_int`.
    let status = unsafe {
        libc::syscall(
            libc::SYS_sched_setscheduler,
            0,
            libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK,
            &raw const priority,
        )
    };
    if status == 0 { Ok(()) } else { Err(refusal(io::Error::last_os_error())) }
}

fn refusal(source: io::Error) -> OsError {
    const WHAT: &str = "run before other threads";
    match source.kind() {
        io::ErrorKind::PermissionDenied => OsError::Refused {
            what: WHAT,
            takes: "the capability CAP_SYS_NICE, and real-time runtime in the control group",
            remedy: "run it as root, or raise the limit RLIMIT_RTPRIO (ulimit -r) to 1",
            source,
        },
        _ => OsError::Call { what: WHAT, source },
    }
}

/// The request holds while the file is open.
pub type Awake = File;

pub fn keep_awake() -> Result<Awake, OsError> {
    const LONGEST_WAKING_US: i32 = 0;
    let ask = || -> io::Result<File> {
        let mut file = File::options().write(true).open("/dev/cpu_dma_latency")?;
        file.write_all(&LONGEST_WAKING_US.to_ne_bytes())?;
        Ok(file)
    };
    ask().map_err(|source| OsError::Refused {
        what: "keep processors awake",
        takes: "root, and the device /dev/cpu_dma_latency",
        remedy: "run it as root, outside of a container",
        source,
    })
}

/// Whether the calling thread is of the ordinary class.
#[cfg(test)]
pub fn is_ordinary() -> bool {
    // SAFETY: no pointer is involved; 0 is the calling thread.
    let class = unsafe { libc::syscall(libc::SYS_sched_getscheduler, 0) };
    class == libc::c_long::from(libc::SCHED_OTHER)
}

#[derive(Debug)]
pub struct Alarm(OwnedFd);

/// Readable once the tick has come, until the alarm is set again.
impl AsFd for super::Alarm {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.0.as_fd()
    }
}

impl Alarm {
    pub fn new() -> Result<Self, OsError> {
        timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC)
            .map(Self)
            .map_err(OsError::call("open an alarm"))
    }

    pub fn set(&self, at: Tick) -> Result<(), OsError> {
        let zero = Timespec { tv_sec: 0, tv_nsec: 0 };
        let it_value = match at {
            Tick::NEVER => zero,
            // Zero would be never.
            at => timespec(at.as_nanos().max(1)),
        };
        let time = Itimerspec { it_interval: zero, it_value };
        timerfd_settime(&self.0, TimerfdTimerFlags::ABSTIME, &time)
            .map(drop)
            .map_err(OsError::call("set an alarm"))
    }
}

fn timespec(nanoseconds: u64) -> Timespec {
    const SECOND: u64 = 1_000_000_000;
    Timespec { tv_sec: (nanoseconds / SECOND) as i64, tv_nsec: (nanoseconds % SECOND) as _ }
}
