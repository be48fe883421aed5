//! Any other system: it has no epoll.

use pathscope_flow::Machine;

use super::NAME;
use crate::{EngineError, Finished, SystemCalls, Worker};

pub fn run<M: Machine, S: SystemCalls>(
    _worker: Worker<M>,
    _calls: S,
) -> Result<Finished<M>, EngineError> {
    Err(EngineError::Unsupported { engine: NAME, why: "only Linux has it" })
}
