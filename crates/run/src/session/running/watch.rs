//! What is watched while a test runs: what its senders wait for, by a thread beside it, and whether this program runs at all.
//!
//! The thread is no measuring thread: it sleeps, wakes some twenty times a second, and asks the system about a few sockets. A
//! test whose flows send no bytes has none.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use pathscope_core::Tick;
use pathscope_core::record::StoodStill;
use pathscope_modes::registry::Plan;

use crate::records::ledger::Ledger;
use crate::records::lookout::Watched;

/// From one look to the next.
const EVERY: Duration = Duration::from_millis(50);
/// What its few calls need.
const STACK_BYTES: usize = 64 << 10;

/// What watches one test. It ends with this.
#[derive(Debug)]
pub(super) struct Watch {
    program: Option<Watched>,
    /// Where flows send bytes.
    _looks: Option<Looks>,
}

impl Watch {
    /// Of a test that starts now, in whose ledgers are the flows that send bytes.
    pub fn begin(start: Tick, plan: &Plan, ledgers: Vec<Ledger>) -> Self {
        // A single late one of those is their longest.
        let seen_from_ns = if plan.is_of_times() {
            StoodStill::SEEN_FROM_BY_PINGS_NS
        } else {
            StoodStill::SEEN_FROM_NS
        };
        let looks = if ledgers.is_empty() { None } else { Looks::begin(ledgers) };
        Self { program: Watched::begin(start, seen_from_ns), _looks: looks }
    }

    /// When this program stood still, where it did.
    pub fn stood_still(&self) -> Option<StoodStill> {
        self.program.as_ref()?.stood_still()
    }

    /// For how long it did, in an interval or right before it.
    pub fn still_about(&self, start_ns: u64, end_ns: u64) -> Option<u64> {
        self.program.as_ref()?.still_about(start_ns, end_ns)
    }
}

/// The thread that looks at sockets.
#[derive(Debug)]
struct Looks {
    quit: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Looks {
    /// None where the system gives no thread: then nobody looks.
    fn begin(ledgers: Vec<Ledger>) -> Option<Self> {
        let (quit, heard) = channel::<()>();
        let look = move || {
            while heard.recv_timeout(EVERY) == Err(RecvTimeoutError::Timeout) {
                ledgers.iter().for_each(Ledger::look);
            }
        };
        let thread = std::thread::Builder::new().name("watch".to_owned()).stack_size(STACK_BYTES);
        let thread = thread.spawn(look).ok()?;
        Some(Self { quit: Some(quit), thread: Some(thread) })
    }
}

impl Drop for Looks {
    fn drop(&mut self) {
        self.quit = None;
        if let Some(thread) = self.thread.take() {
            // It has nothing to say.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_looks_ends_when_it_is_let_go() {
        let looks = Looks::begin(vec![Ledger::default()]).expect("a thread");
        drop(looks);
    }
}
