//! Any other system: it has no epoll.

use std::convert::Infallible;
use std::sync::Arc;

use pathscope_core::id::FlowId;
use pathscope_flow::Machine;
use pathscope_os::{OsError, Socket, Waker};

use super::NAME;
use crate::{EngineError, Finished, SystemCalls, Worker};

pub fn run<M: Machine, S: SystemCalls>(
    _worker: Worker<M>,
    _calls: S,
) -> Result<Finished<M>, EngineError> {
    Err(EngineError::Unsupported { engine: NAME, why: "only Linux has it" })
}

/// A thread that runs workers of many sessions: there is none.
#[derive(Debug)]
pub struct SharedThread(Infallible);

/// The part of a thread that a worker is to have.
#[derive(Debug)]
pub struct Part {
    thread: Arc<SharedThread>,
    /// What wakes the worker.
    pub waker: Waker,
}

impl SharedThread {
    /// There is none.
    pub fn start(_name: &str, _told: Waker) -> Result<Self, OsError> {
        Err(OsError::Unsupported {
            what: "running flows of many on one thread",
            why: "only Linux has epoll",
        })
    }

    /// Whether what its workers tell is heard by whom this wakes.
    pub const fn wakes(&self, _session: &Waker) -> bool {
        match self.0 {}
    }

    /// Whether it has a table of descriptors to itself.
    pub const fn has_table(&self) -> bool {
        match self.0 {}
    }

    /// A part for one more.
    pub fn part(self: &Arc<Self>) -> Part {
        match self.0 {}
    }
}

impl Part {
    /// The thread that it is a part of.
    pub const fn thread(&self) -> &Arc<SharedThread> {
        &self.thread
    }

    /// Runs a worker's flows there.
    pub fn run<M: Machine, F>(&self, _worker: Worker<M>, _finish: F) -> Result<(), OsError>
    where
        F: FnOnce(Result<Finished<M>, EngineError>) -> Vec<(FlowId, Socket)>,
    {
        match self.thread.0 {}
    }

    /// What is found out of what its worker left open.
    pub fn ask<T>(&self, _ask: impl Fn(FlowId, &Socket) -> Option<T>) -> Vec<T> {
        match self.thread.0 {}
    }
}
