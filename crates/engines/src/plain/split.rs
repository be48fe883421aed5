//! Flows in two halves: senders on one thread, receivers on another, each with a descriptor of its own for the same socket. The calling
//! thread hands on commands and otherwise sleeps.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, Scope, ScopedJoinHandle};

use pathscope_flow::{Machine, Split};
use pathscope_os::{OsError, Socket, Waker};

use super::whole::{Half, Whole};
use super::{Timeouts, work};
use crate::calls::poll;
use crate::event_loop::Lingering;
use crate::inbox::{Command, Inbox, Letter, Remote, worker_inbox};
use crate::{Ended, EngineError, Finished, SystemCalls, Trouble, Worker};

/// Runs the sending and the receiving half of each flow on threads of their own until all are over.
///
/// Both threads may use the processors of the calling one. Each half makes its own reports; the two of
/// an interval bear the same number. A flow's phase is told as that of the whole. After a graceful close
/// what still comes is the receiving half's alone. Flows are not replaced here.
pub fn run_split<M: Split, S: SystemCalls + Clone + Send>(
    worker: Worker<M>,
    calls: S,
) -> Result<Finished<M>, EngineError> {
    let worker = worker.make_all();
    let timeouts = Timeouts::set(&worker)?;
    let Cut { sender, receiver, inbox, remotes } = cut(worker)?;
    let running = AtomicUsize::new(0);
    let (sent, received) = thread::scope(|scope| {
        let sending = spawn(scope, sender, calls.clone(), Alive::new(&running, &inbox));
        let receiving = spawn(scope, receiver, calls, Alive::new(&running, &inbox));
        if sending.is_err() || receiving.is_err() {
            remotes.iter().for_each(|remote| remote.send(Command::Abandon));
        }
        let handed_on = hand_on(&inbox, remotes, &running);
        let outcome = (await_half(sending), await_half(receiving));
        handed_on.map(|()| outcome)
    })?;
    let finished = join(sent?, received?);
    timeouts.unset(&finished);
    Ok(finished)
}

/// A worker's halves, and how they are told.
struct Cut<M: Split> {
    sender: Worker<M::Sender>,
    receiver: Worker<M::Receiver>,
    inbox: Inbox,
    remotes: [Remote; 2],
}

type Flows<M> = Vec<(M, Vec<Socket>)>;

fn cut<M: Split>(worker: Worker<M>) -> Result<Cut<M>, EngineError> {
    let (send_remote, send_inbox) = worker_inbox()?;
    let (receive_remote, receive_inbox) = worker_inbox()?;
    let mut senders: Flows<M::Sender> = Vec::with_capacity(worker.flows.len());
    let mut receivers: Flows<M::Receiver> = Vec::with_capacity(worker.flows.len());
    for (flow, sockets) in worker.flows {
        let (sender, receiver) = flow.split();
        let of_sender = sockets.iter().map(Socket::try_clone).collect::<io::Result<Vec<_>>>();
        let what = "have a socket for each half of a flow";
        senders.push((sender, of_sender.map_err(|source| OsError::Call { what, source })?));
        receivers.push((receiver, sockets));
    }
    let (send_shared, receive_shared) = M::split_shared(worker.shared);
    let whole = Arc::new(Whole::new(worker.outbox));
    let sender = Worker {
        flows: senders,
        made: None,
        shared: send_shared,
        terms: worker.terms,
        inbox: send_inbox,
        outbox: whole.outbox(Half::Sender),
        succession: None,
    };
    let receiver = Worker {
        flows: receivers,
        made: None,
        shared: receive_shared,
        terms: worker.terms,
        inbox: receive_inbox,
        outbox: whole.outbox(Half::Receiver),
        succession: None,
    };
    Ok(Cut { sender, receiver, inbox: worker.inbox, remotes: [send_remote, receive_remote] })
}

/// Counts a half for as long as it runs, then wakes who hands on its commands. By being dropped, so
/// that a half that panics or never starts is no exception.
struct Alive<'count> {
    running: &'count AtomicUsize,
    waker: Waker,
}

impl<'count> Alive<'count> {
    fn new(running: &'count AtomicUsize, inbox: &Inbox) -> Self {
        running.fetch_add(1, Ordering::SeqCst);
        Self { running, waker: inbox.waker().clone() }
    }
}

impl Drop for Alive<'_> {
    fn drop(&mut self) {
        self.running.fetch_sub(1, Ordering::SeqCst);
        self.waker.wake();
    }
}

type Running<'scope, M> = ScopedJoinHandle<'scope, Result<Finished<M>, EngineError>>;

fn spawn<'scope, M, S>(
    scope: &'scope Scope<'scope, '_>,
    half: Worker<M>,
    calls: S,
    alive: Alive<'scope>,
) -> io::Result<Running<'scope, M>>
where
    M: Machine + 'scope,
    M::Shared: 'scope,
    S: SystemCalls + Send + 'scope,
{
    thread::Builder::new().name("half".to_owned()).spawn_scoped(scope, move || {
        let _alive = alive;
        work(half, calls, Lingering::LeftToOthers)
    })
}

fn await_half<M: Machine>(half: io::Result<Running<'_, M>>) -> Result<Finished<M>, EngineError> {
    match half {
        Ok(running) => running.join().map_err(|_| EngineError::Panicked)?,
        Err(source) => Err(OsError::Call { what: "start a thread", source }.into()),
    }
}

/// Hands on what the session says until both halves have ended. Their remotes go when it does, or when
/// the session's have gone.
fn hand_on(inbox: &Inbox, remotes: [Remote; 2], running: &AtomicUsize) -> Result<(), EngineError> {
    let mut remotes = Some(remotes);
    while running.load(Ordering::SeqCst) > 0 {
        if let Err(Trouble::Failed(errno)) = poll(&mut [], inbox.waker(), None) {
            return Err(EngineError::Wait { errno });
        }
        inbox.waker().drain();
        let mut letter = inbox.take();
        while let Letter::Command(command) = letter {
            remotes.iter().flatten().for_each(|remote| remote.send(command));
            letter = inbox.take();
        }
        if letter == Letter::Orphaned {
            remotes = None;
        }
    }
    Ok(())
}

fn join<M: Split>(sent: Finished<M::Sender>, received: Finished<M::Receiver>) -> Finished<M> {
    let halves = sent.flows.into_iter().zip(received.flows);
    let flows =
        halves.map(|((sender, _), (receiver, sockets))| (M::join(sender, receiver), sockets));
    let ended = if sent.ended == Ended::AllOver { received.ended } else { sent.ended };
    Finished {
        flows: flows.collect(),
        shared: M::join_shared(sent.shared, received.shared),
        usage: sent.usage.into_iter().chain(received.usage).collect(),
        ended,
        // Halves have streams, and their lanes stay.
        lane_drops: Vec::new(),
        stamps: sent.stamps.or(received.stamps),
    }
}
