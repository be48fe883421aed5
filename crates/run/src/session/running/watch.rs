//! What is looked at while a test runs: what its senders wait for, by a thread beside it. Whether this program runs at all is
//! `records::lookout`'s.
//!
//! The thread is no measuring thread: it sleeps, wakes some twenty times a second, and asks the system about a few sockets. A
//! test whose flows send no bytes has none.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::records::ledger::Ledger;

/// From one look to the next.
const EVERY: Duration = Duration::from_millis(50);
/// What its few calls need.
const STACK_BYTES: usize = 64 << 10;

/// The thread that looks at sockets. It ends with this.
pub(super) struct Watch {
    quit: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    /// Of flows that send bytes, which are in these ledgers. None where there are none, or where the system gives no
    /// thread: then nobody looks.
    pub fn begin(ledgers: Vec<Ledger>) -> Option<Self> {
        if ledgers.is_empty() {
            return None;
        }
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

impl Drop for Watch {
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
        let watch = Watch::begin(vec![Ledger::default()]).expect("a thread");
        drop(watch);
    }
}
