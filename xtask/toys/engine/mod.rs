//! The toy engine: operations complete late, in random order across lanes and in order within one, and some of them are
//! interrupted or fall short. While it has an operation, it has its buffer, too. Some that receive from a stream complete several times.
//!
//! It is no engine to measure with. It shows what one is that completes operations, and what flows have to put up with.

mod dice;
mod driver;

use pathscope_flow::Machine;

use crate::completion;
use crate::{EngineError, Finished, SystemCalls, Worker};

use driver::Toy;

/// As it is typed.
pub const NAME: &str = "toy";

/// Runs a worker's flows on the calling thread until all are over.
pub fn run<M: Machine, S: SystemCalls>(
    worker: Worker<M>,
    calls: S,
) -> Result<Finished<M>, EngineError> {
    let toy = Toy::new(worker.terms.transport);
    completion::run((NAME, toy), worker, calls)
}
