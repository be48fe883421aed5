//! How the opener of connections is told of vacancies, of the start and of the end. Not the opening itself.

use std::sync::mpsc::{Receiver, Sender, channel};

use pathscope_core::Tick;
use pathscope_core::id::FlowId;
use pathscope_os::Waker;
use pathscope_peers::attach::StreamProgress;

use crate::connect::handshake::Asking;
use crate::error::RunError;

/// How an opener is told. Cheap to clone; when all are gone, it ends.
#[derive(Clone, Debug)]
pub(crate) struct OpenerRemote {
    /// Taken in `drop`, so that it is gone before the opener is woken.
    sender: Option<Sender<Told>>,
    waker: Waker,
}

impl Drop for OpenerRemote {
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
    /// One for an opener that `waker` wakes, and what it reads.
    pub fn new(waker: Waker) -> (Self, Receiver<Told>) {
        let (sender, told) = channel();
        (Self { sender: Some(sender), waker }, told)
    }

    /// Tells it.
    pub fn tell(&self, told: Told) {
        if let Some(sender) = &self.sender {
            // It fails only where the opener has ended.
            let _ = sender.send(told);
        }
        self.waker.wake();
    }
}
