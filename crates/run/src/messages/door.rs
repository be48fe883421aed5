//! By what connections that are a session's by being of its client come to it, until it is closed: none is let in that would be lost.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

const CLOSED: u64 = u64::MAX;

/// Shared by who lets them in and the session.
#[derive(Clone, Debug, Default)]
pub(crate) struct Door(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    entered: AtomicU64,
    /// Of those, of whom the session has heard.
    heard: AtomicU64,
    /// Whether flows of datagrams come in, too.
    is_for_datagrams: AtomicBool,
}

impl Door {
    /// One more is let in, and word of it follows. Not where it is closed.
    pub fn enter(&self) -> bool {
        let more = |entered| (entered != CLOSED).then(|| entered + 1);
        self.0.entered.fetch_update(Ordering::SeqCst, Ordering::SeqCst, more).is_ok()
    }

    /// Flows of datagrams come in from now on, too: they begin by themselves.
    pub fn open_for_datagrams(&self) {
        self.0.is_for_datagrams.store(true, Ordering::SeqCst);
    }

    /// Whether they do, or did before it was closed.
    pub fn is_for_datagrams(&self) -> bool {
        self.0.is_for_datagrams.load(Ordering::SeqCst)
    }

    /// The session has heard of so many who are in.
    pub fn hear(&self, known: u64) {
        self.0.heard.store(known, Ordering::Relaxed);
    }

    /// So many are in, and the session has not heard of them yet.
    pub fn on_the_way(&self) -> u64 {
        match self.0.entered.load(Ordering::SeqCst) {
            CLOSED => 0,
            entered => entered.saturating_sub(self.0.heard.load(Ordering::Relaxed)),
        }
    }

    /// Closes it, if those of whom there was word are all who were let in. Whether it is closed.
    pub fn close(&self, known: u64) -> bool {
        let before =
            self.0.entered.compare_exchange(known, CLOSED, Ordering::SeqCst, Ordering::SeqCst);
        matches!(before, Ok(_) | Err(CLOSED))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_not_closed_on_somebody_who_is_in_and_nobody_gets_in_then() {
        let door = Door::default();
        assert!(door.enter() && door.enter());
        assert_eq!(door.on_the_way(), 2);
        door.hear(2);
        assert_eq!(door.on_the_way(), 0);
        assert!(!door.close(1), "word of one is still to come");
        assert!(door.close(2) && door.close(2), "it stays closed");
        assert!(!door.enter());
    }
}
