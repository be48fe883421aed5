//! The two queues that a thread and the kernel share, and the one call that moves both on.

use std::collections::VecDeque;
use std::io;
use std::time::Duration;

use io_uring::squeue::Entry;
use io_uring::types::{SubmitArgs, Timespec};
use io_uring::{EnterFlags, IoUring, Submitter};
use rustix::io::Errno;

use crate::Trouble;

/// Operations that are handed over with one call at most.
const SUBMISSIONS: u32 = 256;
/// Room for what came of them, before the kernel has to keep it elsewhere.
const COMPLETIONS: std::ops::RangeInclusive<usize> = 1_024..=1 << 16;

/// What came of an operation.
#[derive(Clone, Copy, Debug)]
pub struct Landed {
    /// As it was named.
    pub name: u64,
    /// A count, or an error's number below zero.
    pub result: i32,
    /// More about it.
    pub flags: u32,
}

/// A ring that one thread uses.
pub struct Ring {
    ring: IoUring,
    /// Given with each call that sleeps.
    sleeping: EnterFlags,
}

impl Ring {
    /// One for about so many operations at a time. To be used by the thread that calls this.
    pub fn new(operations: usize) -> io::Result<Self> {
        let completions = operations.clamp(*COMPLETIONS.start(), *COMPLETIONS.end());
        let ring = IoUring::builder()
            .setup_single_issuer()
            .setup_defer_taskrun()
            .setup_taskrun_flag()
            .setup_submit_all()
            .setup_clamp()
            .setup_cqsize(completions.next_power_of_two() as u32)
            .build(SUBMISSIONS)?;
        let mut sleeping = EnterFlags::GETEVENTS;
        if ring.params().is_feature_no_iowait() {
            // Whoever waits for a socket does not wait for a disk.
            sleeping |= EnterFlags::NO_IOWAIT;
        }
        Ok(Self { ring, sleeping })
    }

    /// For what is registered and asked once.
    pub fn submitter(&self) -> Submitter<'_> {
        self.ring.submitter()
    }

    /// Whether the kernel can wait for so long as it is told in the same call, and loses nothing where a queue is full.
    pub fn has_what_it_takes(&self) -> bool {
        let kernel = self.ring.params();
        kernel.is_feature_ext_arg() && kernel.is_feature_nodrop()
    }

    /// Puts an operation where the next call hands it over. Where the queue is full, what is in it goes first.
    ///
    /// # Safety
    ///
    /// What the operation points to has to stay where it is, and be left alone, until it has landed; its descriptor has to stay open until
    /// then.
    pub unsafe fn push(&mut self, entry: &Entry) -> Result<(), Trouble> {
        // SAFETY: the caller promises it.
        while unsafe { self.ring.submission().push(entry) }.is_err() {
            self.enter(0, EnterFlags::empty(), None)?;
        }
        Ok(())
    }

    /// Hands over what was put there, and looks for nothing.
    pub fn hand_over(&mut self) -> Result<(), Trouble> {
        self.enter(0, EnterFlags::empty(), None)
    }

    /// Hands over, and has the kernel bring what is complete. No call where neither is needed.
    pub fn look(&mut self) -> Result<(), Trouble> {
        let queue = self.ring.submission();
        let is_idle = queue.is_empty() && !queue.taskrun() && !queue.cq_overflow();
        drop(queue);
        if is_idle {
            return Ok(());
        }
        self.enter(0, EnterFlags::GETEVENTS, None)
    }

    /// Hands over, and sleeps until something is complete or the time is up.
    pub fn sleep(&mut self, timeout: Option<Duration>) -> Result<(), Trouble> {
        self.enter(1, self.sleeping, timeout)
    }

    /// What is complete, in the order in which the kernel said so.
    pub fn take(&mut self, landed: &mut VecDeque<Landed>) {
        let complete = self.ring.completion().map(|entry| Landed {
            name: entry.user_data(),
            result: entry.result(),
            flags: entry.flags(),
        });
        landed.extend(complete);
    }

    fn enter(
        &mut self,
        at_least: u32,
        flags: EnterFlags,
        timeout: Option<Duration>,
    ) -> Result<(), Trouble> {
        let queued = self.ring.submission().len() as u32;
        let submitter = self.ring.submitter();
        let entered = if let Some(timeout) = timeout {
            let timeout = Timespec::from(timeout);
            let arguments = SubmitArgs::new().timespec(&timeout);
            let flags = (flags | EnterFlags::EXT_ARG).bits();
            // SAFETY: the kernel is told of an argument of this kind, which outlives the call; what the operations point to is there
            // as `push` asks.
            unsafe { submitter.enter(queued, at_least, flags, Some(&arguments)) }
        } else {
            // SAFETY: there is no argument; what the operations point to is there as `push` asks.
            unsafe { submitter.enter::<()>(queued, at_least, flags.bits(), None) }
        };
        match entered.as_ref().err().and_then(Errno::from_io_error) {
            None if entered.is_ok() => Ok(()),
            // The time is up.
            Some(Errno::TIME) => Ok(()),
            // The kernel keeps what has no room, or has no memory for the moment.
            Some(Errno::BUSY | Errno::AGAIN) => Err(Trouble::Blocked),
            Some(errno) => Err(errno.into()),
            None => Err(Trouble::Failed(0)),
        }
    }
}
