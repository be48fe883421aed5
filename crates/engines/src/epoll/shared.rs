//! A thread that runs workers of many sessions: one instance of epoll, one list of deadlines and one set of buffers for all of them.
//! Not for flows whose latency others would falsify, nor for those that would take the thread's time from others: who shares is
//! decided by who starts workers.
//!
//! A turn of a worker is one dynamic call, whatever number of its flows is ready.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::os::fd::OwnedFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::time::Duration;

use pathscope_core::{Tick, Wait};
use pathscope_flow::Machine;
use pathscope_os::{OsError, Waker, Wakers, clock};
use rustix::event::epoll::{self, Event};

use super::NAME;
use super::linux::{EVENTS, KEYS, NONE, PLACES, Registrations, create, doze, key_of};
use crate::calls::timespec;
use crate::event_loop::{EventLoop, Lent, LentSize, Lingering, Rest};
use crate::{EngineError, Finished, Kernel, Trouble, Worker};

/// Where a thread is handed workers. It ends with the last of them once this value is gone.
pub struct SharedThread {
    /// Taken when no worker comes any more.
    sender: Option<Sender<Beginning>>,
    wakers: Wakers,
    /// The key of the next worker.
    next: AtomicU64,
}

/// The part of a thread that a worker is to have.
#[derive(Debug)]
pub struct Part {
    key: u64,
    /// What wakes the worker.
    pub waker: Waker,
}

/// Opens a worker on the thread that is to run it.
type Open = Box<dyn FnOnce(&Arc<OwnedFd>) -> Option<Box<dyn Turns>> + Send>;

/// A worker that is to begin.
struct Beginning {
    key: u64,
    open: Open,
}

impl fmt::Debug for SharedThread {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("SharedThread").finish_non_exhaustive()
    }
}

/// What such a thread does: to be run on one.
pub struct SharedLoop(Loop);

impl fmt::Debug for SharedLoop {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("SharedLoop").finish_non_exhaustive()
    }
}

impl SharedThread {
    /// A thread without workers, and what it is to do.
    pub fn new() -> Result<(Self, SharedLoop), OsError> {
        let wakers = Wakers::new()?;
        let epoll = Arc::new(create(wakers.thread())?);
        let (sender, receiver) = channel();
        let own = Loop { epoll, wakers: wakers.clone(), receiver };
        Ok((Self { sender: Some(sender), wakers, next: AtomicU64::new(0) }, SharedLoop(own)))
    }

    /// A part for one more.
    pub fn part(&self) -> Part {
        let key = self.next.fetch_add(1, Ordering::Relaxed) % KEYS;
        Part { key, waker: self.wakers.one(key) }
    }

    /// Runs a worker's flows there until all are over; then `finish` is told, on that thread. It sleeps where it waits.
    pub fn run<M, F>(&self, part: &Part, worker: Worker<M>, finish: F)
    where
        M: Machine + 'static,
        Worker<M>: Send,
        F: FnOnce(Result<Finished<M>, EngineError>) + Send + 'static,
    {
        let key = part.key;
        let open: Open = Box::new(move |epoll| {
            let open = || Running::open(worker, Registrations::among(Arc::clone(epoll), key));
            match catch_unwind(AssertUnwindSafe(open)) {
                Ok(Ok(running)) => Some(Box::new(Told { running, finish })),
                Ok(Err(error)) => {
                    finish(Err(error));
                    None
                }
                Err(_) => {
                    finish(Err(EngineError::Panicked));
                    None
                }
            }
        });
        // Somebody receives it as long as this value is there.
        let _ = self.sender.as_ref().map(|sender| sender.send(Beginning { key, open }));
        self.wakers.thread().wake();
    }
}

impl Drop for SharedThread {
    fn drop(&mut self) {
        self.sender = None;
        self.wakers.thread().wake();
    }
}

impl SharedLoop {
    /// Until no worker comes any more, and none is left.
    pub fn run(self) {
        Sharing::new(self.0).run();
    }
}

/// A worker as the thread sees it.
trait Turns {
    /// Does what there is to do, of what became ready and of the rest. When to come back at the latest; nothing where all is over.
    fn turn(&mut self, events: &[Event], lent: &mut HashMap<LentSize, Lent>) -> Option<Tick>;
    /// It is over, well or not.
    fn over(self: Box<Self>, why: Option<EngineError>);
}

/// A worker that runs beside others.
struct Running<M: Machine> {
    event_loop: EventLoop<M, Kernel>,
    registrations: Registrations,
    lent_size: LentSize,
}

impl<M: Machine> Running<M> {
    fn open(worker: Worker<M>, registrations: Registrations) -> Result<Self, EngineError> {
        if worker.flows.len() > PLACES || worker.succession.is_some() {
            return Err(EngineError::Unsupported {
                engine: NAME,
                why: "so many flows need a thread",
            });
        }
        let mut event_loop = EventLoop::open(worker, Kernel, NAME, Lingering::Allowed)?;
        event_loop.give_up_own();
        Ok(Self { lent_size: event_loop.lent_size(), event_loop, registrations })
    }
}

/// One whose end somebody is told.
struct Told<M: Machine, F> {
    running: Running<M>,
    finish: F,
}

impl<M: Machine, F: FnOnce(Result<Finished<M>, EngineError>)> Turns for Told<M, F> {
    fn turn(&mut self, events: &[Event], lent: &mut HashMap<LentSize, Lent>) -> Option<Tick> {
        let Running { event_loop, registrations, lent_size } = &mut self.running;
        let lent = lent.entry(*lent_size).or_insert_with(|| Lent::new(*lent_size));
        event_loop.exchange(lent);
        for &Event { flags, data } in events {
            registrations.note(event_loop, data.u64(), flags);
        }
        event_loop.tick();
        event_loop.attend();
        registrations.serve(event_loop);
        event_loop.exchange(lent);
        let due = if registrations.is_idle() { event_loop.due() } else { Tick::ZERO };
        event_loop.is_open().then_some(due)
    }

    fn over(self: Box<Self>, why: Option<EngineError>) {
        let Self { running: Running { mut event_loop, registrations, .. }, finish } = *self;
        // Its sockets stay open for a while, and are to call nobody.
        registrations.clear(&mut event_loop);
        finish(match why {
            Some(error) => Err(error),
            // What its thread used is the others', too.
            None => Ok(Finished { usage: Vec::new(), ..event_loop.close() }),
        });
    }
}

/// What a thread begins with.
struct Loop {
    epoll: Arc<OwnedFd>,
    wakers: Wakers,
    receiver: Receiver<Beginning>,
}

/// A thread at work.
struct Sharing {
    own: Loop,
    workers: HashMap<u64, Held>,
    /// Of each worker that has one, and its key.
    deadlines: BTreeSet<(Tick, u64)>,
    lent: HashMap<LentSize, Lent>,
    rest: Rest,
}

/// A worker that is held.
struct Held {
    turns: Box<dyn Turns>,
    deadline: Tick,
}

impl Sharing {
    fn new(own: Loop) -> Self {
        let (workers, lent) = (HashMap::new(), HashMap::new());
        Self { own, workers, deadlines: BTreeSet::new(), lent, rest: Rest::new(Wait::Sleep) }
    }

    fn run(mut self) {
        let (mut events, mut called) = (vec![NONE; EVENTS], Vec::new());
        let mut expects_more = true;
        while expects_more || !self.workers.is_empty() {
            let ready = match self.wait(&mut events) {
                Ok(ready) => &mut events[..ready],
                Err(errno) => return self.end(errno),
            };
            self.own.wakers.take(&mut called);
            expects_more = self.take_in(&mut called);
            // What is ready of one worker is one turn.
            ready.sort_unstable_by_key(|event| event.data.u64());
            for of_one in
                ready.chunk_by(|one, next| key_of(one.data.u64()) == key_of(next.data.u64()))
            {
                self.turn(key_of(of_one[0].data.u64()), of_one);
            }
            called.iter().for_each(|&key| self.turn(key, &[]));
            let now = clock::now();
            let due = self.deadlines.iter().take_while(|(due, _)| *due <= now);
            let due: Vec<u64> = due.map(|&(_, key)| key).collect();
            due.into_iter().for_each(|key| self.turn(key, &[]));
        }
    }

    fn wait(&mut self, events: &mut [Event]) -> Result<usize, i32> {
        let due = self.deadlines.first().map_or(Tick::NEVER, |&(due, _)| due);
        let waited = doze(&self.own.epoll, self.rest.length(clock::now(), due)).and_then(|left| {
            let left: Option<Duration> = left;
            Ok(epoll::wait(&*self.own.epoll, events, left.map(timespec).as_ref())?)
        });
        match waited {
            Ok(ready) => Ok(ready),
            Err(Trouble::Interrupted | Trouble::Blocked) => Ok(0),
            Err(Trouble::Failed(errno)) => Err(errno),
        }
    }

    /// Nothing can be waited for any more.
    fn end(self, errno: i32) {
        for (_, held) in self.workers {
            held.turns.over(Some(EngineError::Wait { errno }));
        }
    }

    /// Takes workers that begin; each is to have its first turn. Whether others may come.
    fn take_in(&mut self, called: &mut Vec<u64>) -> bool {
        loop {
            let Beginning { key, open } = match self.own.receiver.try_recv() {
                Ok(beginning) => beginning,
                Err(error) => return error == TryRecvError::Empty,
            };
            if let Some(turns) = open(&self.own.epoll) {
                self.workers.insert(key, Held { turns, deadline: Tick::NEVER });
                called.push(key);
            }
        }
    }

    fn turn(&mut self, key: u64, events: &[Event]) {
        // It may have ended since it was called.
        let Some(held) = self.workers.get_mut(&key) else { return };
        // A bug of ours in one of them must not be the end of the others.
        let lent = &mut self.lent;
        let turn = catch_unwind(AssertUnwindSafe(|| held.turns.turn(events, lent)));
        let due = turn.as_ref().ok().copied().flatten();
        let before = std::mem::replace(&mut held.deadline, due.unwrap_or(Tick::NEVER));
        if before != held.deadline {
            self.deadlines.remove(&(before, key));
            if held.deadline != Tick::NEVER {
                self.deadlines.insert((held.deadline, key));
            }
        }
        if due.is_some() {
            return;
        }
        let why = turn.err().map(|_| {
            // What it was lent went with it.
            self.lent.clear();
            EngineError::Panicked
        });
        if let Some(Held { turns, .. }) = self.workers.remove(&key) {
            let _ = catch_unwind(AssertUnwindSafe(|| turns.over(why)));
        }
    }
}
