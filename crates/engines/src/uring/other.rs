//! Any other system: it has no `io_uring`.

use pathscope_flow::Machine;

use super::NAME;
use crate::{EngineError, Finished, SystemCalls, Worker};

const WHY: &str = "only Linux has it";

pub fn available() -> Result<(), String> {
    Err(EngineError::Unsupported { engine: NAME, why: WHY }.to_string())
}

pub fn run<M: Machine, S: SystemCalls>(
    _worker: Worker<M>,
    _calls: S,
) -> Result<Finished<M>, EngineError> {
    Err(EngineError::Unsupported { engine: NAME, why: WHY })
}
