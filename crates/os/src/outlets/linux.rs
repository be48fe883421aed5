//! Linux: `O_NONBLOCK`, which files on disks do not mind, and `poll`.

use std::fs::File;
use std::io;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;

pub fn return_at_once(file: &File) -> io::Result<()> {
    let flags = fcntl_getfl(file)?;
    Ok(fcntl_setfl(file, flags | OFlags::NONBLOCK)?)
}

/// Whether there is room to write, or an error to be had by it, before `patience` is over.
pub fn wait_for_room(file: &File, patience: Duration) -> io::Result<bool> {
    let timeout = Timespec {
        // Longer than anybody waits.
        tv_sec: patience.as_secs().min(1 << 31) as i64,
        tv_nsec: patience.subsec_nanos().into(),
    };
    match poll(&mut [PollFd::new(file, PollFlags::OUT)], Some(&timeout)) {
        // A signal: whoever writes tries again, and waits anew.
        Err(Errno::INTR) => Ok(true),
        ready => Ok(ready? > 0),
    }
}
