//! The turns of an opener's thread: what it does, and how it waits in between.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use pathscope_core::Tick;
use pathscope_os::readiness::{Interest, Poller, Ready};
use pathscope_os::{OsError, clock};
use pathscope_peers::attach::StreamProgress;

use super::Opener;
use crate::connect::handshake::Handshake;
use crate::error::RunError;
use crate::messages::handing::Handing;
use crate::messages::inbox::SessionMessage;
use crate::threads::lock;

/// So many that were begun in a turn are looked at again at its end: of fewer, the first answers are not there yet.
const FRESH_LEAST: usize = 8;

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
        self.hand_over();
        true
    }

    /// Where many were begun, a server that is near has answered most of them by now: they are never waited for.
    pub(super) fn look_after_fresh(&mut self) {
        let is_early = self.fresh.len() < FRESH_LEAST;
        // One that comes damaged is begun again.
        while !self.fresh.is_empty() {
            for (number, mut making) in std::mem::take(&mut self.fresh) {
                let begun = making.asking.begun;
                let progress = if is_early { Ok(StreamProgress::Waiting) } else { making.go_on() };
                match progress {
                    Ok(StreamProgress::Waiting) => {
                        if let Err(error) = self.await_more(number, making) {
                            self.failed(number, begun, error);
                        }
                    }
                    progress => self.settle(number, making, progress),
                }
            }
        }
    }

    /// Waits for what comes of a connection in the making.
    pub(super) fn await_more(&mut self, number: u32, making: Handshake) -> Result<(), RunError> {
        let awaited = if making.is_connected() { Interest::INPUT } else { Interest::BOTH };
        self.poller.add(&making.stream, number.into(), awaited)?;
        self.making.enter(number.into(), making, clock::now());
        Ok(())
    }

    /// Those that were made go to those who hold them.
    pub(super) fn hand_over(&mut self) {
        self.handing.iter_mut().for_each(Handing::go);
    }

    /// For how long there is nothing to do but to wait for words.
    fn patience(&mut self) -> Option<Duration> {
        // Others that there is room for have their turn when word was heard.
        let may_begin = self.may_begin();
        let end = if self.is_stopped { Tick::NEVER } else { self.begin_until };
        patience(clock::now(), may_begin, self.making.next_deadline(), [self.pause_until, end])
    }
}

/// Until there is something to do: at once where one may be begun or `deadline` is past, else at the first of `moments` that is
/// still to come; nothing where only words are waited for. One that is past has had its effect: waiting for it again would keep
/// the thread from ever sleeping.
fn patience(
    now: Tick,
    may_begin: bool,
    deadline: Option<Tick>,
    moments: [Tick; 2],
) -> Option<Duration> {
    let next = may_begin.then_some(now);
    let to_come = moments.into_iter().filter(|&moment| moment > now && moment != Tick::NEVER);
    let until = to_come.chain(next).chain(deadline).min();
    until.map(|until| until.since(now))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Tick = Tick::from_nanos(5_000);
    const PAST: Tick = Tick::from_nanos(4_000);

    fn at(after_ns: u64) -> Tick {
        NOW.plus_nanos(after_ns)
    }

    fn waits(may_begin: bool, deadline: Option<Tick>, [pause, end]: [Tick; 2]) -> Option<Duration> {
        patience(NOW, may_begin, deadline, [pause, end])
    }

    #[test]
    fn who_begins_no_more_sleeps_until_what_is_in_the_making_is_late() {
        let in_the_making = Some(at(10_000));
        let ten = Some(Duration::from_micros(10));
        // Until the time for beginning is over, that is looked at when it is.
        let three = Some(Duration::from_micros(3));
        assert_eq!(waits(false, in_the_making, [Tick::ZERO, at(3_000)]), three);
        for over in [NOW, PAST] {
            assert_eq!(waits(false, in_the_making, [Tick::ZERO, over]), ten);
            // Nothing but words: of those that workers carry through they tell.
            assert_eq!(waits(false, None, [PAST, over]), None);
        }
        assert_eq!(waits(false, in_the_making, [Tick::ZERO, Tick::NEVER]), ten);
    }

    #[test]
    fn nobody_sleeps_while_there_is_something_to_do() {
        let at_once = Some(Duration::ZERO);
        assert_eq!(waits(true, None, [Tick::ZERO, Tick::NEVER]), at_once);
        assert_eq!(waits(true, Some(at(9)), [PAST, at(9)]), at_once);
        assert_eq!(waits(false, Some(PAST), [Tick::ZERO, Tick::NEVER]), at_once);
        // After one that could not be begun.
        let pause = Some(Duration::from_nanos(7));
        assert_eq!(waits(false, Some(at(9)), [at(7), at(8)]), pause);
    }
}
