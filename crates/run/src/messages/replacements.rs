//! How the opener of connections is told of vacancies, of the start and of the end. Not the opening itself.

use std::fmt;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Weak};

use pathscope_core::Tick;
use pathscope_core::id::FlowId;
use pathscope_os::Waker;
use pathscope_peers::attach::StreamProgress;

use crate::error::RunError;
use crate::messages::asking::Asking;

/// How an opener is told. Cheap to clone; when all are gone, it ends.
#[derive(Clone)]
pub(crate) struct OpenerRemote {
    /// One for all, so that the opener is woken when the last is gone, and for none before.
    line: Arc<Line>,
    near: Weak<dyn Near>,
}

struct Line {
    /// Taken in `drop`, so that it is gone before the opener is woken.
    sender: Option<Sender<Told>>,
    waker: Waker,
}

/// An opener whose work whoever tells it of a vacancy does for it: without another thread in between.
pub(crate) trait Near: Send + Sync {
    /// Takes a vacancy, unless its thread is at work.
    fn vacated(&self, flow: FlowId) -> Taken;
}

/// What became of a vacancy.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Taken {
    /// Nothing: it is to be told.
    Not,
    /// It was taken.
    Wholly,
    /// The same, and the opener's thread has something to do.
    WithRest,
}

impl fmt::Debug for OpenerRemote {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("OpenerRemote").finish_non_exhaustive()
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        drop(self.sender.take());
        self.waker.wake();
    }
}

/// What an opener is told.
#[derive(Debug)]
pub(crate) enum Told {
    /// This connection has ended, and is closed: there is room for the next.
    Vacancy(FlowId),
    /// The flows run since then.
    Started(Tick),
    /// A connection that went ahead, and is closed.
    NotMade(Box<NotMade>),
    /// No further connection is to be begun.
    Stop,
}

/// A connection that did not become its flow's.
#[derive(Debug)]
pub(crate) struct NotMade {
    /// What it was for.
    pub asking: Asking,
    /// Damaged, or why not.
    pub outcome: Result<StreamProgress, RunError>,
}

impl OpenerRemote {
    /// One for an opener that `waker` wakes, made of what it reads; `near`: it itself.
    pub fn new<N: Near + 'static>(
        waker: Waker,
        near: impl FnOnce(Receiver<Told>) -> Weak<N>,
    ) -> Self {
        let (sender, told) = channel();
        Self { line: Arc::new(Line { sender: Some(sender), waker }), near: near(told) }
    }

    /// Tells it that this connection has ended, and is closed: there is room for the next, which may be begun on this thread.
    pub fn vacated(&self, flow: FlowId) {
        match self.near.upgrade().map_or(Taken::Not, |near| near.vacated(flow)) {
            Taken::Not => self.tell(Told::Vacancy(flow)),
            Taken::Wholly => {}
            Taken::WithRest => self.line.waker.wake(),
        }
    }

    /// Tells it.
    pub fn tell(&self, told: Told) {
        if let Some(sender) = &self.line.sender {
            // It fails only where the opener has ended.
            let _ = sender.send(told);
        }
        self.line.waker.wake();
    }
}
