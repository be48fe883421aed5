//! Linux: epoll, level-triggered.

use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use rustix::buffer::spare_capacity;
use rustix::event::Timespec;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::io::Errno;

use super::{Interest, Ready};
use crate::OsError;

/// Anything with a descriptor.
pub trait Source: AsFd {}

impl<T: AsFd> Source for T {}

/// Events taken from the kernel at once.
const EVENTS: usize = 256;

#[derive(Debug)]
pub struct Poller(OwnedFd);

impl Poller {
    pub fn new() -> Result<Self, OsError> {
        epoll::create(CreateFlags::CLOEXEC).map(Self).map_err(OsError::call("wait for sockets"))
    }

    pub fn add(&self, source: &impl Source, key: u64, interest: Interest) -> Result<(), OsError> {
        epoll::add(&self.0, source, EventData::new_u64(key), flags(interest))
            .map_err(OsError::call("wait for a socket"))
    }

    pub fn change(
        &self,
        source: &impl Source,
        key: u64,
        interest: Interest,
    ) -> Result<(), OsError> {
        epoll::modify(&self.0, source, EventData::new_u64(key), flags(interest))
            .map_err(OsError::call("wait for a socket"))
    }

    pub fn remove(&self, source: &impl Source) -> Result<(), OsError> {
        epoll::delete(&self.0, source).map_err(OsError::call("stop waiting for a socket"))
    }

    pub fn wait(&self, ready: &mut Vec<Ready>, timeout: Option<Duration>) -> Result<(), OsError> {
        let timeout = timeout.map(|timeout| Timespec {
            // Longer than anybody waits.
            tv_sec: timeout.as_secs().min(1 << 31) as i64,
            tv_nsec: timeout.subsec_nanos().into(),
        });
        let mut events = Vec::with_capacity(EVENTS);
        match epoll::wait(&self.0, spare_capacity(&mut events), timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(OsError::call("wait for sockets")(errno)),
        }
        ready.extend(events.iter().map(|event| {
            let flags = event.flags;
            let broken = flags.intersects(EventFlags::ERR | EventFlags::HUP);
            Ready {
                key: event.data.u64(),
                input: broken || flags.intersects(EventFlags::IN | EventFlags::RDHUP),
                output: broken || flags.contains(EventFlags::OUT),
            }
        }));
        Ok(())
    }
}

fn flags(interest: Interest) -> EventFlags {
    let mut flags = EventFlags::empty();
    flags.set(EventFlags::IN | EventFlags::RDHUP, interest.input);
    flags.set(EventFlags::OUT, interest.output);
    flags
}
