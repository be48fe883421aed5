//! How workers of many sessions take turns on one thread, and what they leave open there.
//!
//! A turn of a worker is one dynamic call, whatever number of its flows is ready.
//!
//! Whoever has a worker run here waits until its end is told. So it is told of each that came, also where the thread can run none any more.

#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::io;
use std::os::fd::OwnedFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, TryRecvError};
use std::time::Duration;

use pathscope_core::{Tick, Wait};
use pathscope_flow::Machine;
use pathscope_os::tables::{Handed, Inside};
use pathscope_os::{OsError, Socket, Wakers, clock};
use rustix::event::epoll::{self, Event, EventData, EventFlags};

use super::{Beginning, Sockets, Word};
use crate::calls::timespec;
use crate::epoll::NAME;
use crate::epoll::linux::{EVENTS, NONE, PLACES, Registrations, WAKER, create, doze, key_of};
use crate::event_loop::{EventLoop, Lent, LentSize, Lingering, Rest};
use crate::{EngineError, Finished, Kernel, Trouble, Worker};

/// The name of what sockets are handed over by: it is of no worker, as that of the waker is of none.
const HANDED: u64 = WAKER - 1;

/// A worker as the thread sees it.
pub(super) trait Turns {
    /// Does what there is to do, of what became ready and of the rest. When to come back at the latest; nothing where all is over.
    fn turn(&mut self, events: &[Event], lent: &mut HashMap<LentSize, Lent>) -> Option<Tick>;
    /// It is over, well or not. What stays open.
    fn over(self: Box<Self>, why: Option<EngineError>) -> Sockets;
}

/// A worker that runs beside others.
pub(super) struct Running<M: Machine> {
    event_loop: EventLoop<M, Kernel>,
    registrations: Registrations,
    lent_size: LentSize,
}

impl<M: Machine> Running<M> {
    pub fn open(worker: Worker<M>, registrations: Registrations) -> Result<Self, EngineError> {
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
pub(super) struct Told<M: Machine, F> {
    pub running: Running<M>,
    pub finish: F,
}

impl<M: Machine, F: FnOnce(Result<Finished<M>, EngineError>) -> Sockets> Turns for Told<M, F> {
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

    fn over(self: Box<Self>, why: Option<EngineError>) -> Sockets {
        let Self { running: Running { mut event_loop, registrations, .. }, finish } = *self;
        // Its sockets stay open for a while, and are to call nobody.
        registrations.clear(&mut event_loop);
        finish(match why {
            Some(error) => Err(error),
            // What its thread used is the others', too.
            None => Ok(Finished { usage: Vec::new(), ..event_loop.close() }),
        })
    }
}

/// What a thread begins with.
pub(super) struct Loop {
    pub wakers: Wakers,
    pub receiver: Receiver<Word>,
    /// Where it says that it has what it waits with, or why not.
    pub ready: Sender<Result<(), OsError>>,
}

impl Loop {
    /// Until no worker comes any more, and none is left. `inside`: where the thread's own table of descriptors is filled from.
    pub fn run(self, inside: Option<&Inside>) {
        let (epoll, outcome) = match create(self.wakers.thread()) {
            Ok(epoll) => (Some(epoll), Ok(())),
            Err(error) => (None, Err(error)),
        };
        // Who has started it waits for that.
        let _ = self.ready.send(outcome);
        if let Some(epoll) = epoll {
            Sharing::new(self, Arc::new(epoll), inside).run();
        }
    }
}

/// A thread at work.
struct Sharing<'table> {
    own: Loop,
    epoll: Arc<OwnedFd>,
    /// Until nothing is handed over any more.
    inside: Option<&'table Inside>,
    /// Sockets that came before their workers, and which workers' found no room.
    early: HashMap<u32, Vec<Option<Socket>>>,
    workers: HashMap<u64, Held>,
    /// What workers that are over have left open.
    kept: HashMap<u64, Sockets>,
    /// Workers that run, and whose sockets nobody wants afterwards.
    left: HashSet<u64>,
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

impl<'table> Sharing<'table> {
    fn new(own: Loop, epoll: Arc<OwnedFd>, inside: Option<&'table Inside>) -> Self {
        // Where it cannot be waited for it is asked all the same, before the worker begins.
        let _ = inside.map(|it| epoll::add(&epoll, it, EventData::new_u64(HANDED), EventFlags::IN));
        Self {
            own,
            epoll,
            inside,
            early: HashMap::new(),
            workers: HashMap::new(),
            kept: HashMap::new(),
            left: HashSet::new(),
            deadlines: BTreeSet::new(),
            lent: HashMap::new(),
            rest: Rest::new(Wait::Sleep),
        }
    }

    fn run(mut self) {
        let (mut events, mut called) = (vec![NONE; EVENTS], Vec::new());
        let mut expects_more = true;
        while expects_more || !self.workers.is_empty() {
            let ready = match self.wait(&mut events) {
                Ok(ready) => &mut events[..ready],
                Err(errno) => return self.fail(errno),
            };
            self.own.wakers.take(&mut called);
            if ready.iter().any(|event| event.data.u64() == HANDED) {
                self.take_sockets();
            }
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
        let waited = doze(&self.epoll, self.rest.length(clock::now(), due)).and_then(|left| {
            let left: Option<Duration> = left;
            Ok(epoll::wait(&*self.epoll, events, left.map(timespec).as_ref())?)
        });
        match waited {
            Ok(ready) => Ok(ready),
            Err(Trouble::Interrupted | Trouble::Blocked) => Ok(0),
            Err(Trouble::Failed(errno)) => Err(errno),
        }
    }

    /// Nothing can be waited for any more: no worker goes on, and none that comes begins. Each is told why, until nobody comes any more.
    fn fail(mut self, errno: i32) {
        for (key, Held { turns, .. }) in std::mem::take(&mut self.workers) {
            self.over(key, turns, Some(EngineError::Wait { errno }));
        }
        while let Ok(word) = self.own.receiver.recv() {
            // None of them is run.
            self.hear(word, Some(errno));
        }
    }

    /// Takes what was said: workers that begin are to have their first turn. Whether more may come.
    fn take_in(&mut self, called: &mut Vec<u64>) -> bool {
        loop {
            match self.own.receiver.try_recv() {
                Ok(word) => called.extend(self.hear(word, None)),
                Err(error) => return error == TryRecvError::Empty,
            }
        }
    }

    /// Does what a word says. The worker that begins by it, unless nothing can be waited for any more.
    fn hear(&mut self, word: Word, failed: Option<i32>) -> Option<u64> {
        match word {
            Word::Begin(Beginning { key, handed, here, open }) => {
                let sockets = if handed > 0 { self.sockets_of(key, handed) } else { Ok(here) };
                let failure = failed.map(|errno| Err(EngineError::Wait { errno }));
                let turns = open(&self.epoll, failure.unwrap_or(sockets))?;
                self.workers.insert(key, Held { turns, deadline: Tick::NEVER });
                return Some(key);
            }
            Word::Ask { key, ask } => ask(self.kept.get(&key).map_or(&[], Vec::as_slice)),
            Word::Leave { key } if self.workers.contains_key(&key) => {
                self.left.insert(key);
            }
            Word::Leave { key } => drop(self.kept.remove(&key)),
        }
        None
    }

    /// Takes what was handed over.
    fn take_sockets(&mut self) {
        while let Some(inside) = self.inside {
            match inside.next_if_there() {
                None => return,
                Some(handed) => self.take(inside, handed),
            }
        }
    }

    fn take(&mut self, inside: &Inside, handed: Handed) {
        let (number, socket) = match handed {
            Handed::Socket(number, socket) => (number, Some(socket)),
            Handed::Lost(number) => (number, None),
            Handed::Call => return,
            Handed::Over => {
                // It would be ready for ever.
                let _ = epoll::delete(&self.epoll, inside);
                self.inside = None;
                return;
            }
        };
        self.early.entry(number).or_default().push(socket);
    }

    /// The sockets that were handed over for a worker: all of them were before it was told.
    fn sockets_of(&mut self, key: u64, count: usize) -> Result<Vec<Socket>, EngineError> {
        let number = key as u32;
        let have = |early: &HashMap<u32, Vec<_>>| early.get(&number).map_or(0, Vec::len);
        while have(&self.early) < count
            && let Some(inside) = self.inside
        {
            let next = inside.next();
            self.take(inside, next);
        }
        let sockets: Option<Vec<Socket>> =
            self.early.remove(&number).unwrap_or_default().into_iter().collect();
        let sockets = sockets.filter(|sockets| sockets.len() == count);
        sockets.ok_or_else(|| {
            let what = "hold sockets in the table of descriptors of one thread";
            let source = io::Error::other("there was no room for all of a worker's");
            OsError::Call { what, source }.into()
        })
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
            self.over(key, turns, why);
        }
    }

    /// A worker is over, well or not. What it leaves open is kept for whoever had it run.
    fn over(&mut self, key: u64, turns: Box<dyn Turns>, why: Option<EngineError>) {
        let kept = catch_unwind(AssertUnwindSafe(|| turns.over(why))).unwrap_or_default();
        if !self.left.remove(&key) && !kept.is_empty() {
            self.kept.insert(key, kept);
        }
    }
}
