//! A thread that runs workers of many sessions, as those see it who hand it workers: one instance of epoll, one list of deadlines and
//! one set of buffers for all of them. Not for flows whose latency others would falsify, nor for those that would take the thread's
//! time from others: who shares is decided by who starts workers. How it has them take turns is in `turns`.
//!
//! It has a table of descriptors to itself, where the system lets it: sockets are handed to it, and stay there when their worker is
//! over, until whoever had the worker run wants them no more. So a process may have as many open as there are such threads, each time.

mod turns;

use std::fmt;
use std::os::fd::OwnedFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread::Builder;

use pathscope_core::id::FlowId;
use pathscope_flow::Machine;
use pathscope_os::tables::Table;
use pathscope_os::{OsError, Socket, Waker, Wakers};

use self::turns::{Loop, Running, Told, Turns};
use super::linux::Registrations;
use crate::{EngineError, Finished, Worker};

/// Keys are drawn from so many: a socket is handed over by that of its worker.
const KEYS: u64 = 1 << 32;

/// Sockets of flows.
type Sockets = Vec<(FlowId, Socket)>;

/// Where a thread is handed workers. It ends with the last of them once this value is gone.
pub struct SharedThread {
    /// Taken when nothing comes any more.
    sender: Option<Sender<Word>>,
    wakers: Wakers,
    /// Who hears what its workers tell.
    told: Waker,
    /// The key of the next worker.
    next: AtomicU64,
    /// Its table of descriptors, where it has one to itself.
    table: Option<Table>,
}

/// The part of a thread that a worker is to have. What the worker leaves open is closed when this is dropped.
pub struct Part {
    thread: Arc<SharedThread>,
    key: u64,
    /// What wakes the worker.
    pub waker: Waker,
}

/// What the thread is told.
enum Word {
    Begin(Beginning),
    /// What is found out of what a worker left open.
    Ask {
        key: u64,
        ask: Ask,
    },
    /// What a worker leaves open, or has left, is nobody's any more.
    Leave {
        key: u64,
    },
}

/// Finds it out.
type Ask = Box<dyn FnOnce(&[(FlowId, Socket)]) + Send>;

/// Opens a worker on the thread that is to run it, with its sockets in the order of its flows; or tells whoever waits for it why it cannot.
type Open = Box<
    dyn FnOnce(&Arc<OwnedFd>, Result<Vec<Socket>, EngineError>) -> Option<Box<dyn Turns>> + Send,
>;

/// A worker that is to begin.
struct Beginning {
    key: u64,
    /// So many sockets are handed to the table for it.
    handed: usize,
    /// Its sockets, where there is no table for them.
    here: Vec<Socket>,
    open: Open,
}

impl fmt::Debug for SharedThread {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("SharedThread").finish_non_exhaustive()
    }
}

impl fmt::Debug for Part {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Part").field("key", &self.key).finish_non_exhaustive()
    }
}

impl SharedThread {
    /// Starts one. Of what is open elsewhere it uses this waker alone: what its workers tell has to be told by it.
    pub fn start(name: &str, told: Waker) -> Result<Self, OsError> {
        let wakers = Wakers::new()?;
        let kept = vec![told.clone(), wakers.thread().clone()];
        let new = || {
            let ((sender, receiver), (ready, is_ready)) = (channel(), channel());
            (sender, is_ready, Loop { wakers: wakers.clone(), receiver, ready })
        };
        let (mut sender, mut is_ready, own) = new();
        let table = Table::start(name, kept, move |inside| own.run(Some(inside))).ok();
        if table.is_none() {
            // An older kernel: it shares the table of all.
            let own;
            (sender, is_ready, own) = new();
            let thread = Builder::new().name(name.to_owned()).spawn(move || own.run(None));
            thread.map_err(|source| OsError::Call { what: "start a thread", source })?;
        }
        // It says so in either case, unless it panics.
        is_ready.recv().unwrap_or(Ok(()))?;
        Ok(Self { sender: Some(sender), wakers, told, next: AtomicU64::new(0), table })
    }

    /// Whether what its workers tell is heard by whom this wakes.
    pub fn wakes(&self, session: &Waker) -> bool {
        self.told.shares_descriptor(session)
    }

    /// Whether sockets of its workers take no place in the table of descriptors that all threads share.
    pub const fn has_table(&self) -> bool {
        self.table.is_some()
    }

    /// A part for one more.
    pub fn part(self: &Arc<Self>) -> Part {
        let key = self.next.fetch_add(1, Ordering::Relaxed) % KEYS;
        Part { thread: Arc::clone(self), key, waker: self.wakers.one(key) }
    }

    fn tell(&self, word: Word) {
        // Somebody receives it as long as this value is there.
        let _ = self.sender.as_ref().map(|sender| sender.send(word));
        self.wakers.thread().wake();
    }
}

impl Part {
    /// The thread that it is a part of.
    pub const fn thread(&self) -> &Arc<SharedThread> {
        &self.thread
    }

    /// Runs a worker's flows there until all are over; then `finish` is told, on that thread, and gives back what stays open. It
    /// sleeps where it waits.
    pub fn run<M, F>(&self, worker: Worker<M>, finish: F) -> Result<(), OsError>
    where
        M: Machine + 'static,
        Worker<M>: Send,
        F: FnOnce(Result<Finished<M>, EngineError>) -> Sockets + Send + 'static,
    {
        let mut worker = worker.make_all();
        let (key, mut here, mut handed) = (self.key, Vec::new(), 0);
        let mut counts = Vec::with_capacity(worker.flows.len());
        for (_, sockets) in &mut worker.flows {
            counts.push(sockets.len());
            for socket in sockets.drain(..) {
                let Some(table) = &self.thread.table else {
                    here.push(socket);
                    continue;
                };
                if let Err(source) = table.give(key as u32, socket) {
                    // Those that were handed over are closed there.
                    let open: Open = Box::new(|_, _| None);
                    self.thread.tell(Word::Begin(Beginning { key, handed, here, open }));
                    return Err(OsError::Call { what: "hand a socket over", source });
                }
                handed += 1;
            }
        }
        let open: Open = Box::new(move |epoll, sockets| {
            let open = || {
                equip(&mut worker, &counts, sockets?);
                Running::open(worker, Registrations::among(Arc::clone(epoll), key))
            };
            let why = match catch_unwind(AssertUnwindSafe(open)) {
                Ok(Ok(running)) => return Some(Box::new(Told { running, finish })),
                Ok(Err(error)) => error,
                Err(_) => EngineError::Panicked,
            };
            drop(finish(Err(why)));
            None
        });
        self.thread.tell(Word::Begin(Beginning { key, handed, here, open }));
        Ok(())
    }

    /// What is found out of what its worker left open; nothing where that still runs.
    pub fn ask<T: Send + 'static>(
        &self,
        ask: impl Fn(FlowId, &Socket) -> Option<T> + Send + 'static,
    ) -> Vec<T> {
        let (answer, answered) = channel();
        let ask = Box::new(move |kept: &[(FlowId, Socket)]| {
            let found = kept.iter().filter_map(|(flow, socket)| ask(*flow, socket));
            // Whoever asked waits.
            let _ = answer.send(found.collect());
        });
        self.thread.tell(Word::Ask { key: self.key, ask });
        answered.recv().unwrap_or_default()
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        self.thread.tell(Word::Leave { key: self.key });
    }
}

impl Drop for SharedThread {
    fn drop(&mut self) {
        self.sender = None;
        self.wakers.thread().wake();
    }
}

/// Gives each flow as many sockets as it had.
fn equip<M: Machine>(worker: &mut Worker<M>, counts: &[usize], sockets: Vec<Socket>) {
    let mut sockets = sockets.into_iter();
    for ((_, own), count) in worker.flows.iter_mut().zip(counts) {
        own.extend(sockets.by_ref().take(*count));
    }
}
