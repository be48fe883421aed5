//! Linux: an eventfd.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::event::{EventfdFlags, eventfd};

use super::{self as wake, Waker};
use crate::OsError;

#[derive(Debug)]
pub struct Signal(OwnedFd);

impl Signal {
    pub fn new() -> Result<Self, OsError> {
        eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)
            .map(Self)
            .map_err(OsError::call("open an eventfd"))
    }

    pub fn raise(&self) {
        // It can fail only where the counter is full: then the descriptor is readable all the same.
        let _ = rustix::io::write(&self.0, &1_u64.to_ne_bytes());
    }

    pub fn lower(&self) {
        // It fails only where nothing was raised.
        let _ = rustix::io::read(&self.0, &mut [0; 8]);
    }
}

/// Readable while the waker is raised.
impl AsFd for Waker {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match &self.inner.signal {
            wake::Signal::Own(signal) => signal.0.as_fd(),
            wake::Signal::Shared { waker, .. } => waker.as_fd(),
        }
    }
}

/// Waits until the waker's descriptor is readable, ten seconds at most.
#[cfg(test)]
pub fn await_signal(waker: &Waker) -> bool {
    is_signalled_within(waker, 10)
}

/// Whether it is now.
#[cfg(test)]
pub fn is_signalled(waker: &Waker) -> bool {
    is_signalled_within(waker, 0)
}

#[cfg(test)]
fn is_signalled_within(waker: &Waker, seconds: i64) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let patience = Timespec { tv_sec: seconds, tv_nsec: 0 };
    poll(&mut [PollFd::new(waker, PollFlags::IN)], Some(&patience)) == Ok(1)
}
