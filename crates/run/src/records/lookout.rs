//! Whether this program runs at all, and what its senders wait for: one thread for all tests of the process, and what each
//! test has to know of it.
//!
//! It is no measuring thread: it sleeps, wakes some twenty times a second, notes when it did so too late, and has the workers of each
//! test that sends bytes ask the system about a few of their sockets, for some microseconds. A program
//! that is stopped wakes too late, and so does one whose machine stands still. A session's thread could not tell: it may wait
//! for a disk or a reader. One for each session would cost a server more memory than a light session has.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use pathscope_core::Tick;
use pathscope_core::record::{StoodStill, Stretch};
use pathscope_engines::{Command, Remote};
use pathscope_modes::registry::Plan;
use pathscope_os::{clock, cpus};

use crate::records::ledger::Ledger;
use crate::threads::lock;

/// From one look to the next.
const EVERY: Duration = Duration::from_millis(50);
/// An interval that begins so soon after a stretch holds what had waited in buffers meanwhile: workers and the session
/// wake one after the other.
const SOON_NS: u64 = 100_000_000;
/// What its few calls need.
const STACK_BYTES: usize = 64 << 10;
/// Stretches that are kept for the rows of intervals that are not told yet. Of more the last grows.
const RECENT: usize = 64;

/// What is seen of this process.
static PROCESS: Mutex<Lookout> = Mutex::new(Lookout::new());
/// What the thread hears when there is no test any more.
static LAST_IS_OVER: Condvar = Condvar::new();

/// Flows of a group that send bytes: where they are written down, and who runs them.
#[derive(Debug)]
pub(crate) struct Senders {
    pub ledger: Ledger,
    pub workers: Vec<Remote>,
}

impl Senders {
    /// Has those who run them look at the first that still send.
    fn have_looked_at(&self, now: Tick) {
        if self.ledger.ask(now) {
            self.workers.iter().for_each(|worker| worker.send(Command::Look));
        }
    }
}

/// A test that is told when this program stood still, and whose senders are looked at. It is forgotten with this.
#[derive(Debug)]
pub(crate) struct Watched(u64);

impl Watched {
    /// A test of a plan that starts now, whose flows that send bytes are in these ledgers. None where the system gives no
    /// thread: then nobody looks.
    pub fn begin(start: Tick, plan: &Plan, senders: Vec<Senders>) -> Option<Self> {
        // A single late one of those is their longest.
        let seen_from_ns = if plan.is_of_times() {
            StoodStill::SEEN_FROM_BY_PINGS_NS
        } else {
            StoodStill::SEEN_FROM_NS
        };
        let mut process = lock(&PROCESS);
        if !process.has_thread {
            let thread = std::thread::Builder::new().name("lookout".to_owned());
            thread.stack_size(STACK_BYTES).spawn(look_out).ok()?;
            process.has_thread = true;
            process.woke(clock::now(), Account::of_process());
        }
        Some(Self(process.watch(Standstill { senders, ..Standstill::new(start, seen_from_ns) })))
    }

    /// When this program stood still, where it did.
    pub fn stood_still(&self) -> Option<StoodStill> {
        self.seen_now(|seen| (seen.still.times > 0).then(|| seen.still.clone()))
    }

    /// For how long it did, in an interval or right before it. Asked of one interval after the other.
    pub fn still_about(&self, start_ns: u64, end_ns: u64) -> Option<u64> {
        self.seen_now(|seen| seen.still_about(start_ns, end_ns))
    }

    /// What was seen. Of all threads that go on after a stretch, this one may be the first.
    fn seen_now<T>(&self, ask: impl FnOnce(&mut Standstill) -> Option<T>) -> Option<T> {
        let mut process = lock(&PROCESS);
        process.catch_up(clock::now(), Account::of_process);
        process.tests.get_mut(&self.0).and_then(ask)
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        let mut process = lock(&PROCESS);
        process.tests.remove(&self.0);
        if process.tests.is_empty() {
            LAST_IS_OVER.notify_one();
        }
    }
}

/// The thread. It ends with the last test.
fn look_out() {
    let mut process = lock(&PROCESS);
    while !process.tests.is_empty() {
        let waited = LAST_IS_OVER.wait_timeout(process, EVERY);
        let (awake, result) = waited.unwrap_or_else(PoisonError::into_inner);
        process = awake;
        let now = clock::now();
        process.woke(now, Account::read());
        // Looks are so far apart that what came between two of them can be told.
        if result.timed_out() {
            process.senders(now).for_each(|senders| senders.have_looked_at(now));
            process.looked(now, clock::now(), Account::read);
        }
    }
    process.has_thread = false;
}

/// Whether a process wakes when it should, and the tests that are to know.
#[derive(Debug)]
struct Lookout {
    has_thread: bool,
    /// When it wakes next.
    due: Tick,
    /// As it was when it last woke.
    account: Account,
    tests: BTreeMap<u64, Standstill>,
    next: u64,
}

/// What becomes of the time of a process that runs.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
struct Account {
    /// Processor time of all its threads.
    used_ns: Option<u64>,
    /// Time that the thread which looks was ready and had no processor.
    waited_ns: Option<u64>,
}

impl Account {
    /// As the system has it now; of the thread that looks.
    fn read() -> Self {
        let waited_ns = cpus::thread_usage().and_then(|usage| usage.waited_ns);
        Self { waited_ns, ..Self::of_process() }
    }

    /// What another thread can know.
    fn of_process() -> Self {
        Self { used_ns: cpus::process_cpu_ns(), waited_ns: None }
    }
}

impl Lookout {
    const fn new() -> Self {
        Self {
            has_thread: false,
            due: Tick::NEVER,
            account: Account { used_ns: None, waited_ns: None },
            tests: BTreeMap::new(),
            next: 0,
        }
    }

    fn watch(&mut self, test: Standstill) -> u64 {
        self.next += 1;
        self.tests.insert(self.next, test);
        self.next
    }

    /// Whose senders are looked at by then: of tests that began long enough ago.
    fn senders(&self, now: Tick) -> impl Iterator<Item = &Senders> {
        let begun = self.tests.values().filter(move |test| now >= test.start + EVERY);
        begun.flat_map(|test| &test.senders)
    }

    /// It woke. Where this process ran meanwhile, or was ready to and had no processor, only this thread was late, or a
    /// processor is what it lacked.
    fn woke(&mut self, now: Tick, account: Account) {
        let before = std::mem::replace(&mut self.account, account);
        let due = std::mem::replace(&mut self.due, now + EVERY);
        let since = |now: Option<u64>, before: Option<u64>| Some(now?.saturating_sub(before?));
        let used = since(account.used_ns, before.used_ns);
        let waited = since(account.waited_ns, before.waited_ns);
        if used.max(waited).unwrap_or(0) < now.nanos_since(due) / 2 {
            self.tests.values_mut().for_each(|test| test.missed(due, now, waited.is_some()));
        }
    }

    /// It looked at sockets from then till then, and sleeps again. A program may be stopped in the midst of a look, too.
    fn looked(&mut self, from: Tick, to: Tick, read: impl FnOnce() -> Account) {
        self.due = from;
        if to.nanos_since(from) >= StoodStill::SEEN_FROM_BY_PINGS_NS {
            self.woke(to, read());
        }
        self.due = to + EVERY;
    }

    /// Somebody else is here and it is not, though it should have been long ago.
    fn catch_up(&mut self, now: Tick, read: impl FnOnce() -> Account) {
        if now.nanos_since(self.due) >= StoodStill::SEEN_FROM_NS {
            self.woke(now, read());
        }
    }
}

/// When the program stood still during one test.
#[derive(Debug, Default)]
struct Standstill {
    start: Tick,
    seen_from_ns: u64,
    /// Whose sockets are looked at meanwhile.
    senders: Vec<Senders>,
    still: StoodStill,
    /// What rows have to tell that are yet to come.
    recent: VecDeque<Recent>,
}

/// One stretch, or several that many others came before.
#[derive(Clone, Copy, Debug)]
struct Recent {
    stretch: Stretch,
    still_ns: u64,
}

impl Standstill {
    fn new(start: Tick, seen_from_ns: u64) -> Self {
        Self { start, seen_from_ns, ..Self::default() }
    }

    /// Nothing ran from then till then. What is short counts only where it is known that no processor was lacking.
    fn missed(&mut self, from: Tick, to: Tick, is_whole: bool) {
        let [start_ns, end_ns] = [from, to].map(|time| time.nanos_since(self.start));
        let still_ns = end_ns.saturating_sub(start_ns);
        let seen_from_ns = if is_whole { self.seen_from_ns } else { StoodStill::SEEN_FROM_NS };
        if still_ns < seen_from_ns {
            return;
        }
        let stretch = Stretch { start_ns, end_ns };
        self.still.add(stretch);
        let is_full = self.recent.len() >= RECENT;
        match self.recent.back_mut().filter(|_| is_full) {
            Some(last) => {
                last.stretch.end_ns = end_ns;
                last.still_ns = last.still_ns.saturating_add(still_ns);
            }
            None => self.recent.push_back(Recent { stretch, still_ns }),
        }
    }

    fn still_about(&mut self, start_ns: u64, end_ns: u64) -> Option<u64> {
        // No row to come begins earlier.
        self.recent.retain(|recent| recent.stretch.end_ns.saturating_add(SOON_NS) >= start_ns);
        let about = self.recent.iter().filter(|recent| recent.stretch.start_ns <= end_ns);
        about.map(|recent| recent.still_ns).reduce(u64::saturating_add)
    }
}

#[cfg(test)]
mod tests;
