//! Any other system: it has no epoll.

use pathscope_flow::Machine;

use crate::{EngineError, EngineKind, Finished, SystemCalls, Worker};

pub fn run<M: Machine, S: SystemCalls>(
    _worker: Worker<M>,
    _calls: S,
) -> Result<Finished<M>, EngineError> {
    Err(EngineError::Unsupported { engine: EngineKind::Epoll, why: "only Linux has it" })
}
