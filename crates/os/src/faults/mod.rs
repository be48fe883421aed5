//! Calls of the system that fail when a test wants them to, as where there is no memory or no descriptor left: for tests of what
//! becomes of a program then. No program of ours runs with it.
//!
//! The kernel stops a thread at each call of one kind and asks what becomes of it: it goes on as ever, or fails.

#[cfg(all(target_os = "linux", not(pathscope_other)))]
mod linux;
#[cfg(all(target_os = "linux", not(pathscope_other)))]
use linux as imp;
#[cfg(not(all(target_os = "linux", not(pathscope_other))))]
mod other;
#[cfg(not(all(target_os = "linux", not(pathscope_other))))]
use other as imp;
#[cfg(test)]
#[cfg(not(pathscope_other))]
mod tests;

use std::io;
use std::ops::RangeInclusive;
use std::panic::resume_unwind;
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;

pub use rustix::io::Errno;

use crate::OsError;

/// A kind of call.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Call {
    /// A connection is accepted.
    Accept,
    /// A socket gets an address of its own.
    Bind,
    /// A connection is begun.
    Connect,
    /// A descriptor is opened a second time.
    Duplicate,
    /// What waits for many sockets is made.
    MakePoller,
    /// What one thread wakes another by is made.
    MakeWaker,
    /// A socket is made.
    MakeSocket,
    /// A socket's option is set.
    SetOption,
    /// A thread or a process begins.
    Begin,
    /// A socket is watched by what waits for many.
    Watch,
    /// Bytes, a datagram, or descriptors are sent.
    Send,
}

/// Which calls fail, and what was seen of them.
#[derive(Debug)]
struct Plan {
    failing: RangeInclusive<u64>,
    errno: Errno,
    /// Calls since it was said which fail.
    calls: u64,
    failed: u64,
}

/// Who is filtered.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Whose {
    /// Processes that are started: this one goes on as ever.
    Others,
    /// The thread itself.
    Own,
}

/// Calls of one kind, which may fail. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Faults {
    call: Call,
    plan: Arc<Mutex<Plan>>,
}

impl Faults {
    /// None yet.
    pub fn new(call: Call) -> Self {
        let plan =
            Plan { failing: RangeInclusive::new(1, 0), errno: Errno::NOMEM, calls: 0, failed: 0 };
        Self { call, plan: Arc::new(Mutex::new(plan)) }
    }

    /// From now on these fail, the first that comes being 1, with this error of the system.
    pub fn fail(&self, failing: RangeInclusive<u64>, errno: Errno) {
        *self.plan() = Plan { failing, errno, calls: 0, failed: 0 };
    }

    /// From now on none fails. How many have.
    pub fn stop(&self) -> u64 {
        let mut plan = self.plan();
        plan.failing = RangeInclusive::new(1, 0);
        plan.failed
    }

    /// Has this start processes, whose calls of this kind are those that may fail. An error where this system has no such filter.
    pub fn start<T: Send + 'static>(
        &self,
        start: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, OsError> {
        self.filtered(Whose::Others, start)
    }

    /// Does this work, whose own calls of this kind may fail, on a thread of its own. Panics where the work does.
    pub fn within<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, OsError> {
        self.filtered(Whose::Own, work)
    }

    fn filtered<T: Send + 'static>(
        &self,
        whose: Whose,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, OsError> {
        let call = self.call;
        // With room of its own, so that a filtered thread needs no memory to tell.
        let (tell, told) = sync_channel(1);
        let thread = Builder::new().name("filtered".to_owned()).spawn(move || {
            let filter = imp::filter(call);
            let is_filtered = filter.is_ok();
            let _ = tell.send(filter);
            is_filtered.then(work)
        });
        let thread = thread.map_err(OsError::call::<io::Error>("start a thread"))?;
        let filter = told.recv().map_err(|_| ended())??;
        let faults = self.clone();
        let judge = move || {
            // Ends with the last thread that is filtered.
            while let Ok(asked) = imp::next(&filter) {
                let is_meant = whose == Whose::Own || !imp::is_of_this_process(&asked);
                imp::answer(&filter, &asked, faults.judge(is_meant));
            }
        };
        let judge = Builder::new().name("judge".to_owned()).spawn(judge);
        judge.map_err(OsError::call::<io::Error>("start a thread"))?;
        // What is wrong with the work is no matter of the filter.
        let done = thread.join().unwrap_or_else(|panic| resume_unwind(panic));
        done.ok_or_else(ended)
    }

    /// The error of a call that is made, if it is to fail.
    fn judge(&self, is_meant: bool) -> Option<Errno> {
        let mut plan = self.plan();
        plan.calls += u64::from(is_meant);
        let fails = is_meant && plan.failing.contains(&plan.calls);
        plan.failed += u64::from(fails);
        fails.then_some(plan.errno)
    }

    fn plan(&self) -> MutexGuard<'_, Plan> {
        self.plan.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn ended() -> OsError {
    OsError::Call { what: "filter the calls of a thread", source: io::ErrorKind::Other.into() }
}
