//! A thread beside a test that runs: looks at what senders wait for, and sees whether this program runs at all.
//!
//! It is no measuring thread: it sleeps, wakes some twenty times a second, and asks the system about a few sockets. A program
//! that is stopped wakes too late, and so does one whose machine stands still. The session's thread could not tell: it may
//! wait for a disk or a reader.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use pathscope_core::Tick;
use pathscope_core::record::{StoodStill, Stretch};
use pathscope_os::{clock, cpus};

use crate::ledger::Ledger;

/// From one look to the next.
const EVERY: Duration = Duration::from_millis(50);
/// An interval that begins so soon after a stretch holds what had waited in buffers meanwhile: workers and the session
/// wake one after the other.
const SOON_NS: u64 = 100_000_000;
/// What its few calls need.
const STACK_BYTES: usize = 64 << 10;

/// The thread that watches one test. It ends with this.
#[derive(Debug)]
pub(super) struct Watch {
    standstill: Arc<Mutex<Standstill>>,
    quit: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    /// Of a test that starts now, in whose ledgers are the flows that send. None where the system gives no thread: then nobody
    /// looks.
    pub fn begin(start: Tick, ledgers: Vec<Ledger>) -> Option<Self> {
        let standstill = Arc::new(Mutex::new(Standstill::new(start, Account::read())));
        let (quit, heard) = channel::<()>();
        let seen = Arc::clone(&standstill);
        let watch = move || {
            while heard.recv_timeout(EVERY) == Err(RecvTimeoutError::Timeout) {
                lock(&seen).woke(clock::now(), Account::read());
                ledgers.iter().for_each(Ledger::look);
            }
        };
        let thread = std::thread::Builder::new().name("watch".to_owned()).stack_size(STACK_BYTES);
        let thread = thread.spawn(watch).ok()?;
        Some(Self { standstill, quit: Some(quit), thread: Some(thread) })
    }

    /// When this program stood still, where it did.
    pub fn stood_still(&self) -> Option<StoodStill> {
        self.seen_now().stood_still()
    }

    /// For how long it did, in an interval or right before it.
    pub fn still_about(&self, start_ns: u64, end_ns: u64) -> Option<u64> {
        self.seen_now().still_about(start_ns, end_ns)
    }

    /// What was seen. Of all threads that go on after a stretch, this one may be the first.
    fn seen_now(&self) -> MutexGuard<'_, Standstill> {
        let mut seen = lock(&self.standstill);
        seen.catch_up(clock::now(), || Account {
            used_ns: cpus::process_cpu_ns(),
            waited_ns: None,
        });
        seen
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

fn lock(standstill: &Mutex<Standstill>) -> MutexGuard<'_, Standstill> {
    standstill.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether a program wakes when it should.
#[derive(Debug)]
struct Standstill {
    start: Tick,
    /// When it wakes next.
    due: Tick,
    /// As it was when it last woke.
    account: Account,
    still: StoodStill,
}

/// What becomes of the time of a process that runs.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
struct Account {
    /// Processor time of all its threads.
    pub used_ns: Option<u64>,
    /// Time that the session's thread was ready and had no processor.
    pub waited_ns: Option<u64>,
}

impl Account {
    /// As the system has it now.
    pub fn read() -> Self {
        let waited_ns = cpus::thread_usage().and_then(|usage| usage.waited_ns);
        Self { used_ns: cpus::process_cpu_ns(), waited_ns }
    }

    /// How much of the time since then this process ran, or would have.
    fn ran_since(self, earlier: Self) -> u64 {
        let since = |now: Option<u64>, before: Option<u64>| {
            now.zip(before).map_or(0, |(now, before)| now.saturating_sub(before))
        };
        since(self.used_ns, earlier.used_ns).max(since(self.waited_ns, earlier.waited_ns))
    }
}

impl Standstill {
    fn new(start: Tick, account: Account) -> Self {
        Self { start, due: start + EVERY, account, still: StoodStill::default() }
    }

    /// It woke. Where this process ran meanwhile, or was ready to and had no processor, only this thread was late, or a
    /// processor is what it lacked.
    fn woke(&mut self, now: Tick, account: Account) {
        let before = std::mem::replace(&mut self.account, account);
        let late_ns = now.nanos_since(self.due);
        if late_ns >= StoodStill::SEEN_FROM_NS && account.ran_since(before) < late_ns / 2 {
            let [start_ns, end_ns] = [self.due, now].map(|time| time.nanos_since(self.start));
            self.still.add(Stretch { start_ns, end_ns });
        }
        self.due = now + EVERY;
    }

    /// Somebody else is here and it is not, though it should have been long ago.
    fn catch_up(&mut self, now: Tick, read: impl FnOnce() -> Account) {
        if now.nanos_since(self.due) >= StoodStill::SEEN_FROM_NS {
            self.woke(now, read());
        }
    }

    fn stood_still(&self) -> Option<StoodStill> {
        (self.still.times > 0).then(|| self.still.clone())
    }

    fn still_about(&self, start_ns: u64, end_ns: u64) -> Option<u64> {
        let is_about = |stretch: &&Stretch| {
            stretch.end_ns.saturating_add(SOON_NS) >= start_ns && stretch.start_ns <= end_ns
        };
        let about = self.still.stretches.iter().filter(is_about);
        about
            .map(|stretch| stretch.end_ns.saturating_sub(stretch.start_ns))
            .reduce(u64::saturating_add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(milliseconds: u64) -> Tick {
        Tick::from_nanos(milliseconds * 1_000_000)
    }

    fn used(milliseconds: u64) -> Account {
        Account { used_ns: Some(milliseconds * 1_000_000), waited_ns: Some(0) }
    }

    #[test]
    fn a_program_that_wakes_too_late_and_used_nothing_stood_still() {
        let mut seen = Standstill::new(at(1_000), used(0));
        seen.woke(at(1_051), used(40));
        // Its threads ran, and only this one did not.
        seen.woke(at(1_501), used(400));
        // A quota kept its processors from it.
        let waited = Account { waited_ns: Some(300_000_000), ..used(410) };
        seen.woke(at(1_900), waited);
        assert_eq!(seen.stood_still(), None);
        seen.woke(at(2_950), Account { used_ns: Some(2_000_000_000), ..waited });
        seen.woke(at(6_000), Account { used_ns: Some(2_001_000_000), ..waited });
        let still = seen.stood_still().expect("three seconds");
        let lengths = (still.times, still.total_ns, still.longest_ns);
        assert_eq!(lengths, (1, 3_000_000_000, 3_000_000_000));
        let stretch = Stretch { start_ns: 2_000_000_000, end_ns: 5_000_000_000 };
        assert_eq!(still.stretches, [stretch]);
    }

    #[test]
    fn whoever_comes_first_after_a_stretch_sees_it_and_it_counts_once() {
        let mut seen = Standstill::new(at(0), used(0));
        seen.catch_up(at(299), || panic!("it is not late yet"));
        seen.catch_up(at(1_050), || used(1));
        seen.woke(at(1_060), used(2));
        let still = seen.stood_still().expect("a second");
        assert_eq!((still.times, still.total_ns), (1, 1_000_000_000));
    }

    #[test]
    fn intervals_that_hold_what_waited_meanwhile_are_told() {
        let mut seen = Standstill::new(at(0), used(0));
        seen.woke(at(1_950), used(1_900));
        seen.woke(at(5_400), used(1_900));
        let about = |start: u64, end: u64| seen.still_about(start * 1_000_000, end * 1_000_000);
        let still = Some(3_400_000_000);
        // The last before it, the one that it made long, and the one in which the buffers were emptied.
        assert_eq!(about(0, 1_000), None);
        assert_eq!(about(1_000, 5_401), still);
        assert_eq!(about(5_401, 6_000), still);
        assert_eq!(about(6_000, 7_000), None);
    }

    #[test]
    fn a_watch_ends_when_it_is_let_go() {
        let watch = Watch::begin(clock::now(), vec![Ledger::default()]).expect("a thread");
        drop(watch);
    }
}
