//! Any other system: it has no epoll.

use std::convert::Infallible;

use pathscope_flow::Machine;
use pathscope_os::{OsError, Waker};

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

/// What such a thread does.
#[derive(Debug)]
pub struct SharedLoop(Infallible);

/// The part of a thread that a worker is to have.
#[derive(Debug)]
pub struct Part {
    /// What wakes the worker.
    pub waker: Waker,
}

impl SharedThread {
    /// There is none.
    pub fn new() -> Result<(Self, SharedLoop), OsError> {
        Err(OsError::Unsupported {
            what: "running flows of many on one thread",
            why: "only Linux has epoll",
        })
    }

    /// A part for one more.
    pub fn part(&self) -> Part {
        match self.0 {}
    }

    /// Runs a worker's flows there.
    pub fn run<M: Machine, F: FnOnce(Result<Finished<M>, EngineError>)>(
        &self,
        _: &Part,
        _: Worker<M>,
        _: F,
    ) {
        match self.0 {}
    }
}

impl SharedLoop {
    /// Until no worker comes any more, and none is left.
    pub fn run(self) {
        match self.0 {}
    }
}
