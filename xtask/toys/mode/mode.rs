//! What follows from the plan of a toy's test.

use pathscope_core::Wait;
use pathscope_core::quantity::{Period, counted};
use pathscope_flow::Transport;

use super::counts::ToyCounts;
use super::flow::ToyFlow;
use super::plan::ToyPlan;
use crate::limits::PlanError;
use crate::memory::MemoryNeed;
use crate::mode::{Asks, Flows, Mode};
use crate::placement::{EngineKind, Placement, Workers};

impl Mode for ToyPlan {
    fn validate(&self) -> Result<(), PlanError> {
        self.check()
    }

    fn flows(&self) -> Flows {
        Flows::of(Transport::Stream, 1)
    }

    fn duration_ns(&self) -> Option<Period> {
        Some(Period(self.tick_ns.0.saturating_mul(self.numbers)))
    }

    fn subtitle(&self) -> String {
        format!("{}, one every {}", counted(self.numbers, "number"), self.tick_ns)
    }

    fn server_memory(&self) -> MemoryNeed {
        MemoryNeed {
            flow_bytes: size_of::<ToyFlow>() as u64,
            worker_bytes: size_of::<ToyCounts>() as u64,
        }
    }

    fn placement(&self, _cpus: usize) -> Placement {
        Placement {
            engine: (EngineKind::Polling, "it waits for a schedule"),
            wait: (Wait::Sleep, "it has next to nothing to do"),
            workers: Workers::One,
            spun_share: 0.0,
        }
    }

    fn asks(&self) -> Asks<'_> {
        Asks { engine: self.engine.as_deref(), ..Asks::default() }
    }
}
