//! Linux, from 6.1 on: `SINGLE_ISSUER` and `DEFER_TASKRUN` have the kernel do what it has to do for a ring when its thread asks, and never
//! in the middle of something else.

mod balance;
#[expect(unsafe_code, reason = "it says what memory the kernel has, and for how long")]
mod driver;
mod flights;
#[expect(unsafe_code, reason = "the kernel reads and writes what messages point to")]
mod message;
mod operations;
mod probe;
#[expect(unsafe_code, reason = "memory that the kernel has for a while")]
mod ring;
#[expect(unsafe_code, reason = "memory that the kernel has for a while")]
mod rooms;
mod turns;

use pathscope_flow::Machine;
use pathscope_os::OsError;

use super::NAME;
use crate::completion;
use crate::{EngineError, Finished, SystemCalls, Worker};

use driver::Uring;
use turns::Turns;

pub use probe::available;

pub fn run<M: Machine, S: SystemCalls>(
    worker: Worker<M>,
    calls: S,
) -> Result<Finished<M>, EngineError> {
    let turns = Turns::of(M::CLOCK, worker.terms.transport);
    let room_bytes = worker.terms.receive_buffer_bytes;
    let driver = Uring::new((worker.count(), room_bytes), turns);
    let driver = driver.map_err(|source| OsError::Call { what: "set up an io_uring", source })?;
    completion::run((NAME, driver), worker, calls)
}
