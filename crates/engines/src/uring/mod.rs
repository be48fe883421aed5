//! The `io_uring` engine: operations lie in a ring that the kernel reads, and what came of them in another. For many flows on one
//! thread, where a call for each operation costs more than the operation.
//!
//! One call a turn hands over what was begun and brings what is complete. What waits for bytes has no memory: the kernel takes a room of
//! a few that all flows share once bytes have come. What the ring has no operation for, several datagrams with one call, is a call as of
//! any engine.

#[cfg(all(target_os = "linux", not(pathscope_other)))]
mod linux;
#[cfg(all(target_os = "linux", not(pathscope_other)))]
use linux as imp;
#[cfg(not(all(target_os = "linux", not(pathscope_other))))]
mod other;
#[cfg(not(all(target_os = "linux", not(pathscope_other))))]
use other as imp;

use pathscope_flow::Machine;

use crate::{EngineError, Finished, SystemCalls, Worker};

/// As it is typed.
pub const NAME: &str = "uring";

/// Whether this machine has it; else why not, and what to do. Once it is there it stays.
pub fn available() -> Result<(), String> {
    imp::available()
}

/// Runs a worker's flows on the calling thread until all are over.
pub fn run<M: Machine, S: SystemCalls>(
    worker: Worker<M>,
    calls: S,
) -> Result<Finished<M>, EngineError> {
    imp::run(worker, calls)
}
