//! Waiting for many sockets at once, for threads that talk: listeners and control connections. Flows
//! are waited for by the engines, each in its own way.

#[cfg(all(target_os = "linux", not(pathscope_other)))]
mod linux;
#[cfg(all(target_os = "linux", not(pathscope_other)))]
use linux as imp;
#[cfg(not(all(target_os = "linux", not(pathscope_other))))]
mod other;
#[cfg(not(all(target_os = "linux", not(pathscope_other))))]
use other as imp;

use std::time::Duration;

use crate::OsError;
pub use imp::Source;

/// Waits for many sources at once. What is ready stays ready until it is read or written.
#[derive(Debug)]
pub struct Poller(imp::Poller);

/// What a source is waited for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Interest {
    /// Something to read, or the other end's close.
    pub input: bool,
    /// Room to write.
    pub output: bool,
}

impl Interest {
    /// Something to read.
    pub const INPUT: Self = Self { input: true, output: false };
    /// Something to read, or room to write.
    pub const BOTH: Self = Self { input: true, output: true };
}

/// A source that is ready. One that broke is ready for both.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Ready {
    /// The key that the source was added with.
    pub key: u64,
    /// Whether there is something to read.
    pub input: bool,
    /// Whether there is room to write.
    pub output: bool,
}

impl Poller {
    /// A poller that waits for nothing yet.
    pub fn new() -> Result<Self, OsError> {
        imp::Poller::new().map(Self)
    }

    /// Waits for `source` too, and calls it `key`.
    pub fn add(&self, source: &impl Source, key: u64, interest: Interest) -> Result<(), OsError> {
        self.0.add(source, key, interest)
    }

    /// Waits for something else of a source that was added.
    pub fn change(
        &self,
        source: &impl Source,
        key: u64,
        interest: Interest,
    ) -> Result<(), OsError> {
        self.0.change(source, key, interest)
    }

    /// Waits for `source` no longer. One that is closed everywhere removes itself.
    pub fn remove(&self, source: &impl Source) -> Result<(), OsError> {
        self.0.remove(source)
    }

    /// Waits until some source is ready, or for `timeout` (`None`: for ever), and puts those that are
    /// in the place of what `ready` held. A signal ends the wait early.
    pub fn wait(&self, ready: &mut Vec<Ready>, timeout: Option<Duration>) -> Result<(), OsError> {
        ready.clear();
        self.0.wait(ready, timeout)
    }
}

#[cfg(test)]
#[cfg(not(pathscope_other))]
mod tests {
    use super::*;
    use crate::Waker;

    #[test]
    fn what_is_ready_is_told_by_its_key() {
        let (poller, waker) = (Poller::new().expect("a poller"), Waker::new().expect("a waker"));
        poller.add(&waker, 7, Interest::INPUT).expect("a valid source");
        let mut ready = vec![Ready { key: 1, input: true, output: true }];
        poller.wait(&mut ready, Some(Duration::ZERO)).expect("a wait");
        assert_eq!(ready, []);
        waker.wake();
        poller.wait(&mut ready, None).expect("a wait");
        assert_eq!(ready, [Ready { key: 7, input: true, output: false }]);
        poller.remove(&waker).expect("it was added");
        poller.wait(&mut ready, Some(Duration::ZERO)).expect("a wait");
        assert_eq!(ready, []);
    }
}
