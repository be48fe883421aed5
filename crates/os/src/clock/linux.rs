//! Linux: `clock_gettime` through the vDSO.

use pathscope_core::Tick;
use rustix::time::{ClockId, Timespec, clock_gettime};

pub const NAME: &str = "CLOCK_MONOTONIC";

#[inline]
pub fn now() -> Tick {
    Tick::from_nanos(nanoseconds(clock_gettime(ClockId::Monotonic)))
}

pub fn wall_unix_ns() -> u64 {
    nanoseconds(clock_gettime(ClockId::Realtime))
}

pub fn source() -> Option<String> {
    let path = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    Some(std::fs::read_to_string(path).ok()?.trim().to_owned())
}

pub fn local_offset_s(unix_s: i64) -> i64 {
    let mut broken = std::mem::MaybeUninit::<libc::tm>::zeroed();
    let time: libc::time_t = unix_s;
    // SAFETY: both pointers are to values of ours that outlive the call; a `tm` of zeros is a valid one, so that it is initialized whether
    // the call fills it or not.
    let broken = unsafe {
        libc::localtime_r(&raw const time, broken.as_mut_ptr());
        broken.assume_init()
    };
    broken.tm_gmtoff
}

#[inline]
fn nanoseconds(time: Timespec) -> u64 {
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
