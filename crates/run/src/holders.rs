//! Threads that hold the sockets of flows in tables of descriptors of their own, from when each is attached until it is this end's turn to
//! close: where a test has more connections than one table has room for. Each is a worker's: what it does with them is handed to it.

use std::io;
use std::ops::Range;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use pathscope_core::id::FlowId;
use pathscope_engines::{EngineError, Inbox as EngineInbox, Remote, worker_inbox_of};
use pathscope_os::sockets::{Settings, Socket};
use pathscope_os::tables::{Handed, Inside, Table};
use pathscope_os::{OsError, Waker};

use crate::error::RunError;
use crate::promised::Promised;
use crate::readying::{self, Readying, Room};
use crate::threads::lock;

/// What such a thread has.
#[derive(Debug, Default)]
pub(crate) struct Holding {
    pub sockets: Vec<(FlowId, Socket)>,
    /// Those for which its table had no room.
    pub lost: u32,
    /// Why the first of those that were to be opened here is not.
    pub failed: Option<OsError>,
}

impl Holding {
    /// Opens these, up to the first that fails.
    fn open(
        &mut self,
        promised: Vec<(FlowId, Promised)>,
        settings: &Settings,
        readying: Option<Readying>,
    ) {
        // What others have bound ahead is in another table.
        let Some((_, Promised { beside, .. })) = promised.first() else { return };
        let mut opener = beside.another();
        for (flow, Promised { local, remote, .. }) in promised {
            match opener.open((local, remote), settings) {
                Ok(socket) => {
                    // As the first of the group, which said what it cannot carry.
                    let _ = readying.map(|readying| readying.ready(&socket));
                    self.sockets.push((flow, socket));
                }
                Err(error) => return self.failed = Some(error),
            }
        }
    }

    /// The socket of each of these flows, in their order.
    pub fn take(
        &mut self,
        flows: &Range<u32>,
    ) -> Result<impl ExactSizeIterator<Item = Socket> + use<>, EngineError> {
        if let Some(error) = self.failed.take() {
            return Err(error.into());
        }
        let mut held = std::mem::take(&mut self.sockets);
        held.sort_unstable_by_key(|(flow, _)| *flow);
        if !held.iter().map(|(flow, _)| flow.0).eq(flows.clone()) {
            let what = "hold all connections in the table of descriptors of one thread";
            let source = io::Error::other(format!("{} found no room", self.lost));
            return Err(OsError::Call { what, source }.into());
        }
        Ok(held.into_iter().map(|(_, socket)| socket))
    }
}

/// What is done on such a thread. A dynamic call: a few in a test.
type Job = Box<dyn FnOnce(&mut Holding) + Send>;

/// One of them.
#[derive(Debug)]
struct Holder {
    flows: Range<u32>,
    table: Table,
    jobs: Sender<Job>,
    /// How the worker is told; until it begins.
    commands: Mutex<Option<(Remote, EngineInbox)>>,
}

/// Those of a group: each has the flows of one worker. Cheap to clone; they end when the last is gone.
#[derive(Clone, Debug)]
pub(crate) struct Holders {
    all: Arc<Vec<Holder>>,
    /// How a socket is made ready before it is handed over.
    readying: Option<Readying>,
}

impl Holders {
    /// Starts one for each of these shares of flows. `session` is what they wake when they have something to say.
    pub fn start(
        shares: &[Range<u32>],
        readying: Option<Readying>,
        session: &Waker,
    ) -> Result<Self, RunError> {
        let start = |flows: &Range<u32>| Holder::start(flows.clone(), session);
        let all = Arc::new(shares.iter().map(start).collect::<Result<_, _>>()?);
        Ok(Self { all, readying })
    }

    /// The first flow of the group.
    pub fn first(&self) -> FlowId {
        FlowId(self.all.first().map_or(0, |holder| holder.flows.start))
    }

    /// Makes the sockets of flows ready, and hands them over in as few calls as may be. The least room that they have, where that is
    /// told.
    pub fn give(&self, mut sockets: Vec<(u32, Socket)>) -> Result<Option<Room>, RunError> {
        let mut room = None;
        if let Some(readying) = &self.readying {
            for (_, socket) in &sockets {
                room = readying::least(room, readying.ready(socket)?);
            }
        }
        let holder_of = |flow| self.all.iter().find(|holder| holder.flows.contains(&flow));
        while let Some(&(flow, _)) = sockets.first() {
            let Some(Holder { flows, table, .. }) = holder_of(flow) else {
                sockets.remove(0);
                continue;
            };
            let count = sockets.iter().take_while(|(flow, _)| flows.contains(flow)).count();
            let rest = sockets.split_off(count);
            let given = table.give_all(sockets);
            given.map_err(RunError::system(
                "cannot hand connections to the thread that runs them",
            ))?;
            sockets = rest;
        }
        Ok(room)
    }

    /// Has each open the sockets of its flows where it holds them: the session is heard of meanwhile. `kept` is let go as each has done so.
    pub fn open<T: Send + Sync + 'static>(
        &self,
        promised: &[(FlowId, Promised)],
        settings: &Settings,
        kept: &Arc<T>,
    ) -> Result<(), RunError> {
        for holder in self.all.iter() {
            let own = promised.iter().filter(|(flow, _)| holder.flows.contains(&flow.0));
            let own: Vec<_> = own.cloned().collect();
            if !own.is_empty() {
                let (settings, readying) = (settings.clone(), self.readying);
                let kept = Arc::clone(kept);
                holder.run(Box::new(move |holding| {
                    holding.open(own, &settings, readying);
                    drop(kept);
                }))?;
            }
        }
        Ok(())
    }

    /// How the worker of these flows is told; once.
    pub fn commands(&self, flows: &Range<u32>) -> Option<(Remote, EngineInbox)> {
        let holder = self.all.iter().find(|holder| holder.flows == *flows)?;
        lock(&holder.commands).take()
    }

    /// Has this done with the sockets of these flows. An error where the thread could not be told: then it is not done.
    pub fn run(
        &self,
        flows: &Range<u32>,
        job: impl FnOnce(&mut Holding) + Send + 'static,
    ) -> Result<(), RunError> {
        let holder = self.all.iter().find(|holder| holder.flows == *flows);
        holder.map_or(Ok(()), |holder| holder.run(Box::new(job)))
    }

    /// Closes all, unless somebody may still hand sockets over.
    pub fn close(self) {
        let holders = Arc::into_inner(self.all).unwrap_or_default();
        Table::end_all(holders.into_iter().map(|holder| holder.table).collect());
    }

    /// What is found out of the sockets of flows whose workers are over.
    pub fn ask<T: Send + 'static>(
        &self,
        of: impl Fn(FlowId, &Socket) -> Option<T> + Clone + Send + 'static,
    ) -> Vec<T> {
        let asked: Vec<Receiver<Vec<T>>> =
            self.all.iter().map(|holder| holder.ask(of.clone())).collect();
        asked.iter().filter_map(|answer| answer.recv().ok()).flatten().collect()
    }
}

impl Holder {
    fn start(flows: Range<u32>, session: &Waker) -> Result<Self, RunError> {
        let (jobs, to_do) = channel();
        let waker = Waker::new()?;
        let (remote, inbox) = worker_inbox_of(waker.clone());
        // What it is to use of what is open outside.
        let kept = vec![session.clone(), waker];
        let name = format!("holds-{}", flows.start);
        let count = flows.len();
        let table = Table::start(&name, kept, move |inside| hold(inside, count, &to_do))?;
        Ok(Self { flows, table, jobs, commands: Mutex::new(Some((remote, inbox))) })
    }

    fn run(&self, job: Job) -> Result<(), RunError> {
        let called = self.table.call();
        called.map_err(RunError::system("cannot call the thread that holds connections"))?;
        // Each call is followed by a job, and a job without a call would be taken for the next call's. It fails only where the thread
        // has ended, which it does not before this value.
        let _ = self.jobs.send(job);
        Ok(())
    }

    fn ask<T: Send + 'static>(
        &self,
        of: impl Fn(FlowId, &Socket) -> Option<T> + Send + 'static,
    ) -> Receiver<Vec<T>> {
        let (answer, answered) = channel();
        // Of one that cannot be called nothing is known: the answer does not come.
        let _ = self.run(Box::new(move |holding| {
            let found = holding.sockets.iter().filter_map(|(flow, socket)| of(*flow, socket));
            let _ = answer.send(found.collect());
        }));
        answered
    }
}

/// What such a thread does with as many sockets, until nobody has anything for it any more.
fn hold(inside: &Inside, count: usize, to_do: &Receiver<Job>) {
    let mut holding = Holding { sockets: Vec::with_capacity(count), ..Holding::default() };
    loop {
        match inside.next() {
            Handed::Socket(number, socket) => holding.sockets.push((FlowId(number), socket)),
            Handed::Lost(_) => holding.lost += 1,
            Handed::Call => {
                // It is on its way.
                if let Ok(job) = to_do.recv() {
                    job(&mut holding);
                }
            }
            Handed::Over => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use pathscope_os::faults::{Call, Errno, Faults};

    use super::*;

    #[test]
    fn a_thread_that_cannot_be_called_is_told_and_does_nothing_late() {
        let faults = Faults::new(Call::Send);
        let failing = faults.clone();
        let work = move || {
            let flows = 0..1;
            let waker = Waker::new().expect("a waker");
            let holders = Holders::start(std::slice::from_ref(&flows), None, &waker)?;
            let (tell, told) = channel();
            let job = |word: &'static str| {
                let tell = tell.clone();
                move |_: &mut Holding| {
                    let _ = tell.send(word);
                }
            };
            failing.fail(1..=u64::MAX, Errno::NOBUFS);
            let error = holders.run(&flows, job("first")).expect_err("there is no room");
            assert!(error.to_string().contains("cannot call the thread"), "{error}");
            failing.stop();
            holders.run(&flows, job("second"))?;
            holders.close();
            drop(tell);
            assert_eq!(told.iter().collect::<Vec<_>>(), ["second"]);
            Ok::<_, RunError>(())
        };
        match faults.within(work).map_err(RunError::from).and_then(|done| done) {
            Ok(()) => {}
            Err(error) => println!("skipped, because {error}"),
        }
    }
}
