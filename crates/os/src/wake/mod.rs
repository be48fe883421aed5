//! A way for one thread to wake another that waits for sockets, cheap to look at while spinning.

mod many;

#[cfg(all(target_os = "linux", not(pathscope_other)))]
mod linux;
#[cfg(all(target_os = "linux", not(pathscope_other)))]
use linux as imp;
#[cfg(not(all(target_os = "linux", not(pathscope_other))))]
mod other;
#[cfg(not(all(target_os = "linux", not(pathscope_other))))]
use other as imp;

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

pub use many::Wakers;

use self::many::Called;
use crate::OsError;

/// Wakes a thread: a flag for one that spins, and a descriptor for one that sleeps.
///
/// Put the message where the other thread finds it, then [`wake`](Self::wake); the other thread calls
/// [`drain`](Self::drain), then takes every message. In this order none is missed. Clones wake the
/// same thread.
///
/// A thread that looks at the flag before it sleeps may [say so](Self::stays_awake): as long as it does, nobody pays for its
/// descriptor.
#[derive(Clone, Debug)]
pub struct Waker {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    state: AtomicU8,
    signal: Signal,
}

/// Somebody called, and nobody has heard it.
const RAISED: u8 = 1;
/// Whoever is called is awake, and looks before it sleeps.
const AWAKE: u8 = 2;

/// What wakes a thread that sleeps.
#[derive(Debug)]
enum Signal {
    /// A descriptor of its own.
    Own(imp::Signal),
    /// That of a thread which serves many, and is told who is called.
    Shared { key: u64, called: Arc<Called>, waker: Waker },
}

impl Signal {
    fn raise(&self) {
        match self {
            Self::Own(signal) => signal.raise(),
            Self::Shared { key, called, waker } => {
                called.note(*key);
                waker.wake();
            }
        }
    }

    /// That of a thread which serves many is lowered by that thread.
    fn lower(&self) {
        match self {
            Self::Own(signal) => signal.lower(),
            Self::Shared { .. } => {}
        }
    }
}

impl Waker {
    /// A waker that is not raised.
    pub fn new() -> Result<Self, OsError> {
        Ok(Self::signalling(Signal::Own(imp::Signal::new()?)))
    }

    fn signalling(signal: Signal) -> Self {
        Self { inner: Arc::new(Inner { state: AtomicU8::new(0), signal }) }
    }

    /// Wakes the thread that waits, or the next that would. Costs a system call only where nobody has
    /// called since the last [`drain`](Self::drain), and the thread has not said that it looks.
    pub fn wake(&self) {
        if self.inner.state.fetch_or(RAISED, Ordering::SeqCst) == 0 {
            self.inner.signal.raise();
        }
    }

    /// Whether somebody called [`wake`](Self::wake) since the last [`drain`](Self::drain). No system
    /// call.
    #[inline]
    pub fn is_raised(&self) -> bool {
        self.inner.state.load(Ordering::Acquire) & RAISED != 0
    }

    /// What has the descriptor that this one is heard by: itself, or that of a thread which serves many.
    pub fn base(&self) -> &Self {
        match &self.inner.signal {
            Signal::Own(_) => self,
            Signal::Shared { waker, .. } => waker.base(),
        }
    }

    /// Whether both are heard by the same descriptor.
    pub fn shares_descriptor(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.base().inner, &other.base().inner)
    }

    /// Forgets all calls so far. Never blocks.
    pub fn drain(&self) {
        self.take_calls();
    }

    /// The same, and whether there were any.
    fn take_calls(&self) -> bool {
        // The descriptor first: a call in between finds the flag still set and its message is read
        // by whoever drains; the other way round, its signal would be swallowed.
        self.inner.signal.lower();
        self.inner.state.fetch_and(!RAISED, Ordering::SeqCst) & RAISED != 0
    }

    /// The same without its descriptor, which may stay readable. For a thread that drains it where it has woken by it.
    pub fn clear(&self) {
        self.inner.state.fetch_and(!RAISED, Ordering::SeqCst);
    }

    /// The thread that is called is awake from now on, and asks whether it [may sleep](Self::may_sleep) before it does.
    pub fn stays_awake(&self) {
        self.inner.state.fetch_or(AWAKE, Ordering::SeqCst);
    }

    /// Whether nobody has called: then whoever does from now on wakes it by its descriptor.
    pub fn may_sleep(&self) -> bool {
        self.inner.state.fetch_and(!AWAKE, Ordering::SeqCst) & RAISED == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_waker_is_raised_until_drained() {
        let waker = Waker::new().expect("a waker");
        assert!(!waker.is_raised());
        waker.clone().wake();
        waker.wake();
        assert!(waker.is_raised());
        waker.drain();
        assert!(!waker.is_raised());
        waker.drain();
    }

    #[test]
    #[cfg(all(target_os = "linux", not(pathscope_other)))]
    fn nobody_pays_for_the_descriptor_of_a_thread_that_is_awake() {
        let waker = Waker::new().expect("a waker");
        waker.stays_awake();
        waker.wake();
        assert!(waker.is_raised() && !imp::is_signalled(&waker));
        assert!(!waker.may_sleep(), "somebody has called");
        waker.stays_awake();
        waker.clear();
        assert!(waker.may_sleep());
        waker.wake();
        assert!(imp::is_signalled(&waker));
        // Its descriptor is drained by who woke by it.
        waker.stays_awake();
        waker.clear();
        assert!(!waker.is_raised() && imp::is_signalled(&waker));
        waker.drain();
        assert!(waker.may_sleep() && !imp::is_signalled(&waker));
    }

    #[test]
    fn no_call_is_missed_by_a_thread_that_looks_before_it_sleeps() {
        let waker = Waker::new().expect("a waker");
        let (sender, receiver) = std::sync::mpsc::channel();
        let caller = waker.clone();
        let thread = std::thread::spawn(move || {
            for number in 0..50_000 {
                sender.send(number).expect("the receiver outlives the sender");
                caller.wake();
            }
        });
        let mut seen = 0;
        while seen < 50_000 {
            if waker.may_sleep() {
                assert!(imp::await_signal(&waker), "a call was missed after {seen} messages");
                waker.stays_awake();
                waker.drain();
            } else {
                waker.stays_awake();
                waker.clear();
            }
            seen += receiver.try_iter().count();
        }
        thread.join().expect("the caller does not panic");
    }

    #[test]
    fn no_call_is_missed() {
        let waker = Waker::new().expect("a waker");
        let (sender, receiver) = std::sync::mpsc::channel();
        let caller = waker.clone();
        let thread = std::thread::spawn(move || {
            for number in 0..10_000 {
                sender.send(number).expect("the receiver outlives the sender");
                caller.wake();
            }
        });
        let mut seen = 0;
        while seen < 10_000 {
            assert!(imp::await_signal(&waker), "a call was missed after {seen} messages");
            waker.drain();
            seen += receiver.try_iter().count();
        }
        thread.join().expect("the caller does not panic");
    }
}
