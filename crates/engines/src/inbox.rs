//! Words between a session and its workers: commands in, notices out. Never on the path of a byte.

use std::fmt;
use std::ops::ControlFlow;
use std::sync::mpsc::{self, Receiver, Sender};

use pathscope_core::Tick;
use pathscope_core::id::{FlowId, Lane};
use pathscope_core::record::FlowError;
use pathscope_flow::{Event, FlowDatagrams, Phase, Totals};
use pathscope_os::{OsError, Socket, Waker};

/// What a session tells a worker.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Command {
    /// From now on every report comes with what went through each flow: [`Notice::Flows`].
    TellFlows,
    /// Something happened.
    Tell {
        /// To this flow; `None`: to all.
        flow: Option<FlowId>,
        /// What.
        event: Event,
    },
    /// Flows wait to be taken in, or none will come any more.
    Admit,
    /// Lanes wait to join flows, or to leave them.
    Lanes,
    /// Somebody wants to know how sockets stand: it is told [`Notice::Look`] at once, on the worker's thread.
    Look,
    /// End now, whatever flows still want.
    Abandon,
}

/// What a worker tells its session.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Notice<R> {
    /// What went through each flow until an interval passed, where that is to be told; its report follows.
    Flows {
        /// The interval's begin.
        start: Tick,
        /// Its end.
        end: Tick,
        /// Each flow, since it started.
        flows: Vec<(FlowId, Totals, Option<FlowDatagrams>)>,
    },
    /// A flow changed its phase.
    Phase {
        /// Which.
        flow: FlowId,
        /// What it changed to.
        phase: Phase,
        /// What went through it so far.
        totals: Totals,
        /// When.
        at: Tick,
        /// Why it failed, where that is what it changed to.
        error: Option<Box<FlowError>>,
    },
    /// A report interval has passed.
    Report {
        /// Its number: it begins this many intervals after the session did.
        index: u64,
        /// Its begin.
        start: Tick,
        /// Its end; the last one ends with the worker.
        end: Tick,
        /// What the flows did in it.
        report: R,
    },
    /// It was told to have its sockets looked at.
    Look,
}

/// The sockets of a worker's flows, for whoever is told something by it: to ask the system about them in that moment, on the thread that
/// has them.
pub trait Sockets {
    /// That of a flow's first lane, while the flow is at this worker.
    fn of(&self, flow: FlowId) -> Option<&Socket>;

    /// Bytes of a flow that was reset which had been sent and not acknowledged by then.
    fn lost_bytes(&self, flow: FlowId) -> u64;

    /// The same of each flow that is not over, one after the other, until `visit` has seen enough.
    fn each(&self, visit: &mut dyn FnMut(FlowId, &Socket) -> ControlFlow<()>);
}

/// A lane of a flow that joins it, or leaves.
#[derive(Debug)]
pub struct LaneChange {
    /// Which flow.
    pub flow: FlowId,
    /// Which of its lanes.
    pub lane: Lane,
    /// Its socket, connected and in blocking mode, in place of the one that it may have; `None`: it leaves.
    pub socket: Option<Socket>,
}

/// A worker's inbox, and the means to fill it.
pub fn worker_inbox() -> Result<(Remote, Inbox), OsError> {
    Ok(worker_inbox_of(Waker::new()?))
}

/// The same, of a worker that is woken so.
pub fn worker_inbox_of(waker: Waker) -> (Remote, Inbox) {
    let (sender, receiver) = mpsc::channel();
    let (lanes, changes) = mpsc::channel();
    let remote = Remote { sender: Some(sender), lanes, waker: waker.clone() };
    (remote, Inbox { receiver, changes, waker })
}

/// The session's end of a worker's inbox. A worker whose every `Remote` is dropped ends at once, since nobody
/// is left who could end it: keep one for as long as it is to run.
#[derive(Debug)]
pub struct Remote {
    /// Taken in `drop`, so that it is gone before the worker is woken.
    sender: Option<Sender<Command>>,
    lanes: Sender<LaneChange>,
    waker: Waker,
}

impl Remote {
    /// Has a lane join a flow, or leave it.
    pub fn change_lane(&self, change: LaneChange) {
        // It fails only where the worker has ended.
        let _ = self.lanes.send(change);
        self.send(Command::Lanes);
    }

    /// Sends a command and wakes the worker. One that is over does not hear it.
    pub fn send(&self, command: Command) {
        self.leave(command);
        self.wake();
    }

    /// Leaves a command for when the worker [is woken](Self::wake), or wakes by itself: for who has several.
    pub fn leave(&self, command: Command) {
        if let Some(sender) = &self.sender {
            // It fails only where the worker has ended.
            let _ = sender.send(command);
        }
    }

    /// Wakes the worker.
    pub fn wake(&self) {
        self.waker.wake();
    }

    /// Sends an event to one flow, or to all.
    pub fn tell(&self, flow: Option<FlowId>, event: Event) {
        self.send(Command::Tell { flow, event });
    }
}

impl Clone for Remote {
    fn clone(&self) -> Self {
        Self { sender: self.sender.clone(), lanes: self.lanes.clone(), waker: self.waker.clone() }
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        drop(self.sender.take());
        self.waker.wake();
    }
}

/// The worker's end of a channel.
#[derive(Debug)]
pub struct Inbox {
    receiver: Receiver<Command>,
    changes: Receiver<LaneChange>,
    waker: Waker,
}

/// What an inbox has to say.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Letter {
    Command(Command),
    /// Nothing more for now.
    Empty,
    /// Every remote is gone.
    Orphaned,
}

impl Inbox {
    /// Whether there may be something to take. No system call: for every turn of a spinning loop.
    #[inline]
    pub(crate) fn is_raised(&self) -> bool {
        self.waker.is_raised()
    }

    /// What wakes its reader.
    pub(crate) fn waker(&self) -> &Waker {
        &self.waker
    }

    /// The next lane that waits to join or to leave.
    pub(crate) fn take_lane(&self) -> Option<LaneChange> {
        self.changes.try_recv().ok()
    }

    /// The next letter. Drain the waker first, then take until there is none.
    pub(crate) fn take(&self) -> Letter {
        match self.receiver.try_recv() {
            Ok(command) => Letter::Command(command),
            Err(mpsc::TryRecvError::Empty) => Letter::Empty,
            Err(mpsc::TryRecvError::Disconnected) => Letter::Orphaned,
        }
    }
}

/// Takes a notice, beside the sockets of the worker.
type Sink<R> = dyn Fn(Notice<R>, &dyn Sockets) + Send;

/// Where a worker's notices go.
pub struct Outbox<R> {
    /// A dynamic call: notices are few.
    sink: Box<Sink<R>>,
}

impl<R: Send + 'static> Outbox<R> {
    /// Notices go to `sender`; then `waker`, if there is one, is woken.
    pub fn new(sender: Sender<Notice<R>>, waker: Option<Waker>) -> Self {
        Self::into_sink(move |notice| {
            // A session that no longer listens is no reason to stop.
            let _ = sender.send(notice);
            if let Some(waker) = &waker {
                waker.wake();
            }
        })
    }

    /// Notices go where `sink` puts them.
    pub fn into_sink(sink: impl Fn(Notice<R>) + Send + 'static) -> Self {
        Self::beside_sockets(move |notice, _| sink(notice))
    }

    /// The same, where each comes beside the sockets of the worker. A flow that changes its phase has its own still.
    pub fn beside_sockets(sink: impl Fn(Notice<R>, &dyn Sockets) + Send + 'static) -> Self {
        Self { sink: Box::new(sink) }
    }
}

impl<R> Outbox<R> {
    pub(crate) fn send(&self, notice: Notice<R>, sockets: &dyn Sockets) {
        (self.sink)(notice, sockets);
    }
}

impl<R> fmt::Debug for Outbox<R> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Outbox").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_remote_to_go_is_noticed() {
        let (remote, inbox) = worker_inbox().expect("an inbox");
        let second = remote.clone();
        drop(remote);
        inbox.waker().drain();
        assert_eq!(inbox.take(), Letter::Empty);
        second.send(Command::Abandon);
        drop(second);
        assert!(inbox.is_raised());
        assert_eq!(inbox.take(), Letter::Command(Command::Abandon));
        assert_eq!(inbox.take(), Letter::Orphaned);
    }
}
