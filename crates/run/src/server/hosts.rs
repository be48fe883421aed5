//! The threads that hold a server's sessions, each of them many: what calls for a turn of a session, and whose turn it is. What is
//! done in a turn is the session's affair; nothing in it waits.

#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, HashMap};
use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread::{Builder, Scope};

use pathscope_core::Tick;
use pathscope_os::readiness::{Interest, Poller, Ready};
use pathscope_os::wake::Wakers;
use pathscope_os::{clock, cpus};

use super::log_limit::ServerLog;
use super::sessions::Stay;
use crate::error::RunError;
use crate::records::journal::Journal;
use crate::session::driver::{Hosted, Watch};

/// So many threads hold sessions at the most. They say and hear little, and what is measured runs on others; a server is to have
/// eight threads of its own at the most.
const MOST: usize = 2;

/// The key of word; sessions have those below.
const WORD: u64 = u64::MAX;

/// A session as a thread sees it that holds many. A dynamic call: it is made once a turn.
pub(super) trait Session {
    /// Does what there is to do; `is_ready`: the control connection is.
    fn turn(&mut self, is_ready: bool) -> Turn;
}

/// What a turn leaves to be done.
#[derive(Debug)]
pub(super) enum Turn {
    /// Nothing before something comes, or before this time.
    Until(Tick),
    /// Nothing: it is over.
    Over(Result<(), RunError>),
}

/// Makes a session, on the thread that is to hold it.
type Begin<'scope> =
    Box<dyn FnOnce(Hosted) -> Result<Box<dyn Session + 'scope>, RunError> + Send + 'scope>;

/// A session that is to begin.
pub(super) struct Beginning<'scope> {
    pub from: SocketAddr,
    pub begin: Begin<'scope>,
    /// Its client's place among all that the server serves.
    pub stay: Stay,
}

/// A place for a session that is to begin: with which thread, and how it is called.
#[derive(Debug)]
pub(super) struct Place {
    thread: usize,
    key: u64,
    pub hosted: Hosted,
}

/// All threads that hold sessions.
pub(super) struct Hosts<'scope> {
    threads: Vec<Thread<'scope>>,
    /// How the next session is called.
    next: u64,
}

/// One of them, as who hands it sessions sees it.
struct Thread<'scope> {
    /// Taken when no session comes any more.
    sender: Option<Sender<(Place, Beginning<'scope>)>>,
    poller: Arc<Poller>,
    wakers: Wakers,
    /// Sessions that were handed to it and are not over.
    present: Arc<AtomicUsize>,
}

impl<'scope> Hosts<'scope> {
    /// Starts the threads. They end with the last session once this value is gone.
    pub fn start(
        scope: &'scope Scope<'scope, '_>,
        log: ServerLog<'scope>,
        journal: &Journal,
    ) -> Result<Self, RunError> {
        let mut hosts = Self { threads: Vec::new(), next: 0 };
        for _ in 0..cpus::allowed().len().clamp(1, MOST) {
            let (poller, wakers) = (Arc::new(Poller::new()?), Wakers::new()?);
            poller.add(wakers.thread(), WORD, Interest::INPUT)?;
            let (sender, receiver) = channel();
            let present: Arc<AtomicUsize> = Arc::default();
            let heard = (Arc::clone(&poller), wakers.clone(), receiver);
            let (counted, journal) = (Arc::clone(&present), journal.clone());
            // Sessions stay on the thread that makes them.
            let hold = move || Holder::new(heard, counted, log, journal).hold();
            let thread = Builder::new().name("sessions".to_owned()).spawn_scoped(scope, hold);
            thread.map_err(RunError::system("cannot start a thread"))?;
            hosts.threads.push(Thread { sender: Some(sender), poller, wakers, present });
        }
        Ok(hosts)
    }

    /// A place with the thread that holds the fewest.
    pub fn place(&mut self) -> Place {
        let key = self.next;
        self.next += 1;
        let present = |thread: &Thread<'_>| thread.present.load(Ordering::Relaxed);
        let least = self.threads.iter().enumerate().min_by_key(|(_, thread)| present(thread));
        let thread = least.map_or(0, |(thread, _)| thread);
        let Thread { poller, wakers, .. } = &self.threads[thread];
        let watch = Watch::among(Arc::clone(poller), key);
        Place { thread, key, hosted: Hosted { watch, waker: wakers.one(key) } }
    }

    /// A session begins there.
    pub fn begin(&self, place: Place, beginning: Beginning<'scope>) {
        let Thread { sender, present, wakers, .. } = &self.threads[place.thread];
        present.fetch_add(1, Ordering::Relaxed);
        // Somebody receives it as long as this value is there.
        let _ = sender.as_ref().map(|sender| sender.send((place, beginning)));
        wakers.thread().wake();
    }
}

impl Drop for Thread<'_> {
    fn drop(&mut self) {
        self.sender = None;
        self.wakers.thread().wake();
    }
}

/// A thread that holds sessions.
struct Holder<'scope> {
    poller: Arc<Poller>,
    wakers: Wakers,
    receiver: Receiver<(Place, Beginning<'scope>)>,
    present: Arc<AtomicUsize>,
    log: ServerLog<'scope>,
    journal: Journal,
    sessions: HashMap<u64, Held<'scope>>,
    /// Of each session that has one, and its key.
    deadlines: BTreeSet<(Tick, u64)>,
}

/// A session that is held.
struct Held<'scope> {
    session: Box<dyn Session + 'scope>,
    from: SocketAddr,
    deadline: Tick,
    /// Ends when all else is freed.
    _stay: Stay,
}

/// What a thread that holds sessions hears: of their connections, of word for them, and of those that begin.
type Heard<'scope> = (Arc<Poller>, Wakers, Receiver<(Place, Beginning<'scope>)>);

impl<'scope> Holder<'scope> {
    fn new(
        (poller, wakers, receiver): Heard<'scope>,
        present: Arc<AtomicUsize>,
        log: ServerLog<'scope>,
        journal: Journal,
    ) -> Self {
        let (sessions, deadlines) = (HashMap::new(), BTreeSet::new());
        Self { poller, wakers, receiver, present, log, journal, sessions, deadlines }
    }

    /// Until no session comes any more, and none is left.
    fn hold(mut self) {
        let (mut ready, mut called): (Vec<Ready>, Vec<u64>) = (Vec::new(), Vec::new());
        let mut expects_more = true;
        while expects_more || !self.sessions.is_empty() {
            let due = self.deadlines.first().map(|&(due, _)| due.since(clock::now()));
            if let Err(error) = self.poller.wait(&mut ready, due) {
                // Nobody would hear of anything any more.
                self.log.own(&format!("its sessions cannot be waited for: {error}"));
                return;
            }
            self.wakers.take(&mut called);
            expects_more = self.take_in(&mut called);
            for &Ready { key, input, .. } in &ready {
                self.turn(key, input);
            }
            called.iter().for_each(|&key| self.turn(key, false));
            self.keep_time();
        }
    }

    /// Takes sessions that begin; each is to have its first turn. Whether others may come.
    fn take_in(&mut self, called: &mut Vec<u64>) -> bool {
        loop {
            let (place, beginning) = match self.receiver.try_recv() {
                Ok(new) => new,
                Err(error) => return error == TryRecvError::Empty,
            };
            let (key, Beginning { from, begin, stay }) = (place.key, beginning);
            match catch_unwind(AssertUnwindSafe(|| begin(place.hosted))) {
                Ok(Ok(session)) => {
                    let held = Held { session, from, deadline: Tick::NEVER, _stay: stay };
                    self.sessions.insert(key, held);
                    called.push(key);
                }
                Ok(Err(error)) => self.over(from, Some(Err(error))),
                Err(_) => self.over(from, None),
            }
        }
    }

    /// Those whose time has come have their turn.
    fn keep_time(&mut self) {
        let now = clock::now();
        // One round: who is called again at once waits until others were heard.
        let due: Vec<u64> =
            self.deadlines.iter().take_while(|(due, _)| *due <= now).map(|&(_, key)| key).collect();
        due.into_iter().for_each(|key| self.turn(key, false));
    }

    fn turn(&mut self, key: u64, is_ready: bool) {
        // It may have ended since it was called.
        let Some(held) = self.sessions.get_mut(&key) else { return };
        // A bug of ours in one session must not be the end of all.
        let turn = catch_unwind(AssertUnwindSafe(|| held.session.turn(is_ready)));
        let until = if let Ok(Turn::Until(until)) = turn { until } else { Tick::NEVER };
        let before = std::mem::replace(&mut held.deadline, until);
        if before != until {
            self.deadlines.remove(&(before, key));
            if until != Tick::NEVER {
                self.deadlines.insert((until, key));
            }
        }
        let result = match turn {
            Ok(Turn::Until(_)) => return,
            Ok(Turn::Over(result)) => Some(result),
            Err(_) => None,
        };
        if let Some(Held { session, from, _stay, .. }) = self.sessions.remove(&key) {
            // Its connections are closed, and its places given back, before that is told.
            let _ = catch_unwind(AssertUnwindSafe(|| drop(session)));
            self.over(from, result);
        }
    }

    /// A session is over, with this result, or with none if it panicked.
    fn over(&self, from: SocketAddr, result: Option<Result<(), RunError>>) {
        self.present.fetch_sub(1, Ordering::Relaxed);
        let line = match result {
            Some(Ok(())) => "session over".to_owned(),
            Some(Err(error)) => {
                self.journal.trouble(Some(from.to_string()), error.to_string());
                format!("session over: {error}")
            }
            None => "its session broke off by a fault of pathscope".to_owned(),
        };
        self.log.on_stranger(from, &line);
    }
}
