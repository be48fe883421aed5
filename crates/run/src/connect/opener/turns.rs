//! The turns of an opener's thread: what it does, and how it waits in between.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use pathscope_core::Tick;
use pathscope_os::readiness::{Poller, Ready};
use pathscope_os::{OsError, clock};

use super::Opener;
use crate::messages::inbox::SessionMessage;
use crate::threads::lock;

/// Its thread, which waits without holding it: whoever tells of a vacancy may do its work meanwhile.
pub(super) fn run(opener: &Mutex<Opener>) {
    let mut ready = Vec::new();
    loop {
        let Some((poller, timeout)) = lock(opener).next_wait() else { return };
        let waited = poller.wait(&mut ready, timeout);
        if !lock(opener).look(waited.map(|()| ready.as_slice())) {
            return;
        }
    }
}

impl Opener {
    /// Begins what there is room for, and says what to wait with and for how long; nothing when all is done.
    fn next_wait(&mut self) -> Option<(Arc<Poller>, Option<Duration>)> {
        // A session that is gone wants no sockets.
        if !self.orders.inbox.is_read() {
            return None;
        }
        self.begin_all();
        if self.is_finished() {
            let group = self.orders.group;
            if group.replaces() {
                self.orders.inbox.post(SessionMessage::NoMoreFlows { group: group.id });
            }
            return None;
        }
        Some((Arc::clone(&self.poller), self.patience()))
    }

    /// Goes on with those that are ready. Whether there may be more to do.
    fn look(&mut self, ready: Result<&[Ready], OsError>) -> bool {
        let ready = match ready {
            Ok(ready) => ready,
            Err(error) => {
                self.orders.inbox.post(SessionMessage::AttachFailed(error.into()));
                return false;
            }
        };
        self.waker.drain();
        if !self.hear() {
            return false;
        }
        for &Ready { key, .. } in ready {
            if let Ok(number) = u32::try_from(key) {
                self.go_on(number);
            }
        }
        self.expire();
        true
    }

    /// For how long there is nothing to do but to wait for words.
    fn patience(&mut self) -> Option<Duration> {
        let now = clock::now();
        let pause = Some(self.pause_until).filter(|&until| until > now);
        let end = Some(self.begin_until).filter(|&end| !self.is_stopped && end != Tick::NEVER);
        // When it is past, what is in the making is waited for.
        let end = end.filter(|&end| end > now);
        // Others that there is room for have their turn when word was heard.
        let next = self.may_begin().then_some(now);
        let until = [self.making.next_deadline(), end, pause, next].into_iter().flatten().min();
        until.map(|until| until.since(now))
    }
}
