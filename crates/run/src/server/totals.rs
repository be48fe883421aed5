//! What a server has served since it began: counted as intervals and tests end, by no thread that measures. Told when the server ends, and
//! when somebody asks for it by a signal.
//!
//! Not here: rows of files, which tell of each session by itself (`records/journal`).

mod account;
mod lines;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use pathscope_core::Tick;
use pathscope_modes::amounts::Amounts;
use pathscope_os::clock;
use pathscope_os::wake::Waker;
use pathscope_peers::registry::PeerKind;

pub(super) use self::account::{Account, Ended};
use crate::threads::lock;

/// Everything that a server has served. It outlives the server, so that whoever runs that may ask how it went.
#[derive(Debug, Default)]
pub struct Totals {
    state: Mutex<State>,
    is_asked_for: AtomicBool,
    /// Whom to wake when somebody asks.
    teller: OnceLock<Waker>,
}

/// How sessions went, and what they were of.
#[derive(Debug, Default)]
struct State {
    /// When the server began to serve.
    since: Option<Tick>,
    sessions: Sessions,
    /// Of which kind of client, in which mode.
    kinds: BTreeMap<(PeerKind, &'static str), Row>,
    /// Of each session that runs a test, by its number.
    running: BTreeMap<u64, Running>,
    /// Clients whose datagrams are answered by themselves.
    echoes: Vec<(PeerKind, Arc<Echoes>)>,
}

#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
struct Sessions {
    begun: u64,
    /// Those that ran a test and ended well.
    served: u64,
    /// Those that ran one, and did not.
    failed: u64,
    /// Those whose test the end of the server cut off.
    cut: u64,
    /// Those that ended before they had one.
    idle: u64,
    refused: u64,
}

/// Tests of one kind of client in one mode.
#[derive(Clone, Copy, Debug, Default)]
struct Row {
    tests: u64,
    /// Beside those that are over.
    running: u64,
    amounts: Amounts,
}

/// What a test that runs has come to so far, mode by mode: probes are of another than the load beside which they run.
#[derive(Clone, Debug)]
struct Running {
    peer: PeerKind,
    mode: &'static str,
    so_far: BTreeMap<&'static str, Amounts>,
}

/// Datagrams that are answered by themselves, and whose: counted on the thread that answers them.
#[derive(Debug, Default)]
pub(super) struct Echoes {
    pub clients: AtomicU64,
    pub sent: AtomicU64,
    /// Not answered, since there were too many, or since the system did not take the answer.
    pub left_out: AtomicU64,
}

impl Echoes {
    /// One more of these.
    pub fn count(which: &AtomicU64) {
        which.fetch_add(1, Ordering::Relaxed);
    }
}

impl Totals {
    /// The server serves from now on. `teller` is woken when somebody asks for what it has served.
    pub(super) fn begin(&self, teller: &Waker) {
        lock(&self.state).since = Some(clock::now());
        // A server begins once.
        let _ = self.teller.set(teller.clone());
    }

    /// Somebody wants to be told.
    pub fn ask(&self) {
        self.is_asked_for.store(true, Ordering::Release);
        self.teller.get().into_iter().for_each(Waker::wake);
    }

    /// Whether somebody wanted that since this was asked.
    pub(super) fn take_asked(&self) -> bool {
        self.is_asked_for.swap(false, Ordering::AcqRel)
    }

    /// A client gets no session, or no answer to its call.
    pub(super) fn refuse(&self) {
        lock(&self.state).sessions.refused += 1;
    }

    /// Datagrams of clients of a kind will be answered by themselves.
    pub(super) fn answers(&self, peer: PeerKind) -> Arc<Echoes> {
        let echoes = Arc::<Echoes>::default();
        lock(&self.state).echoes.push((peer, Arc::clone(&echoes)));
        echoes
    }

    /// What failed of all that was served, as a sentence; nothing where all went well.
    pub fn failures(&self) -> Option<String> {
        lines::failures(&lock(&self.state))
    }

    /// What was served so far, for people: a line on all, and one for each kind of client and mode.
    pub(super) fn lines(&self) -> Vec<String> {
        let state = lock(&self.state);
        lines::lines(&state, state.since.map_or(0, |since| clock::now().nanos_since(since)))
    }
}

impl State {
    /// Every row, with what runs.
    fn rows(&self) -> BTreeMap<(PeerKind, &'static str), Row> {
        let mut rows = self.kinds.clone();
        for Running { peer, mode, so_far } in self.running.values() {
            rows.entry((*peer, mode)).or_default().running += 1;
            for (mode, amounts) in so_far {
                rows.entry((*peer, mode)).or_default().amounts.add(amounts);
            }
        }
        rows
    }
}
