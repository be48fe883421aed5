//! Wakers of many that one thread serves: all of them share its descriptor, and each says who is called.

use std::sync::{Arc, Mutex, PoisonError};

use super::{Signal, Waker};
use crate::OsError;

/// What a thread waits with that serves many: whoever calls one of them wakes it and leaves its key.
///
/// The thread calls [`take`](Self::take) when it is woken, and then, of each that was called, [`Waker::drain`] before it looks
/// for messages.
#[derive(Clone, Debug)]
pub struct Wakers {
    /// Wakes the thread.
    waker: Waker,
    called: Arc<Called>,
}

/// Who was called and not looked after since.
#[derive(Debug, Default)]
pub(super) struct Called(Mutex<Vec<u64>>);

impl Called {
    pub fn note(&self, key: u64) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(key);
    }
}

impl Wakers {
    /// For a thread that serves nobody yet.
    pub fn new() -> Result<Self, OsError> {
        Ok(Self { waker: Waker::new()?, called: Arc::default() })
    }

    /// What wakes the thread, for the sake of nobody in particular. Its descriptor is what the thread waits for.
    pub fn thread(&self) -> &Waker {
        &self.waker
    }

    /// A waker of one that is called `key`. It costs no descriptor.
    pub fn one(&self, key: u64) -> Waker {
        let Self { waker, called } = self.clone();
        Waker::signalling(Signal::Shared { key, called, waker })
    }

    /// Puts the keys of those that were called in the place of what `keys` held. Where nobody has called it takes no lock: a thread that
    /// moves bytes asks that in every turn. Else it blocks for no longer than a key takes to be noted.
    pub fn take(&self, keys: &mut Vec<u64>) {
        keys.clear();
        if !self.waker.take_calls() {
            // A key that is noted by now is that of somebody who is about to wake the thread: it is taken then.
            return;
        }
        let mut called = self.called.0.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::swap(&mut *called, keys);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(wakers: &Wakers) -> Vec<u64> {
        let mut keys = vec![99];
        wakers.take(&mut keys);
        keys
    }

    #[test]
    fn who_is_called_is_named_once_until_it_is_drained() {
        let wakers = Wakers::new().expect("a waker");
        let [one, other] = [5, 6].map(|key| wakers.one(key));
        assert!(!wakers.thread().is_raised());
        one.wake();
        one.clone().wake();
        other.wake();
        assert!(wakers.thread().is_raised());
        assert_eq!(taken(&wakers), [5, 6]);
        assert!(one.is_raised() && !wakers.thread().is_raised());
        // Its thread was told, and has not looked yet.
        one.wake();
        assert!(taken(&wakers).is_empty());
        one.drain();
        one.wake();
        assert_eq!(taken(&wakers), [5]);
    }

    #[test]
    fn where_nobody_has_called_nothing_is_locked() {
        let wakers = Wakers::new().expect("a waker");
        let held = wakers.called.0.lock().expect("nobody panics with it");
        // It would wait for ever.
        assert!(taken(&wakers).is_empty());
        drop(held);
        wakers.one(3).wake();
        assert_eq!(taken(&wakers), [3]);
    }

    #[test]
    fn no_call_of_any_is_missed() {
        const EACH: u64 = 5_000;
        let wakers = Wakers::new().expect("a waker");
        let (sender, receiver) = std::sync::mpsc::channel();
        let ours = [0, 1].map(|key| wakers.one(key));
        let callers = ours.clone().map(|caller| {
            let sender = sender.clone();
            std::thread::spawn(move || {
                for number in 0..EACH {
                    sender.send(number).expect("the receiver outlives the sender");
                    caller.wake();
                }
            })
        });
        let (mut seen, mut keys) = (0, Vec::new());
        while seen < 2 * EACH as usize {
            assert!(super::super::imp::await_signal(wakers.thread()), "missed after {seen}");
            wakers.take(&mut keys);
            for key in &keys {
                ours[*key as usize].drain();
                seen += receiver.try_iter().count();
            }
        }
        for caller in callers {
            caller.join().expect("the caller does not panic");
        }
    }
}
