//! A toy's test as it runs, what it may ask for, and what follows from it.

use std::ops::RangeInclusive;

use pathscope_core::Wait;
use pathscope_core::quantity::{Period, counted};
use pathscope_flow::Transport;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ToyCounts, ToyFlow};
use crate::limits::{self, PlanError};
use crate::memory::MemoryNeed;
use crate::mode::{Asks, Flows, Mode};
use crate::placement::{EngineKind, Placement, Workers};

/// From one number to the next.
const TICK: RangeInclusive<Period> = Period(1_000_000)..=Period::from_secs(10);
/// Numbers of one test.
const NUMBERS: RangeInclusive<u64> = 1..=100_000;

/// Everything about a toy's test that both ends must know.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct ToyPlan {
    /// From one number to the next.
    pub tick_ns: Period,
    /// Numbers to send.
    pub numbers: u64,
    /// Engine asked for by name; absent: left to each end.
    pub engine: Option<String>,
}

impl ToyPlan {
    /// Whether this can be run.
    pub(super) fn check(&self) -> Result<(), PlanError> {
        limits::in_range("--tick", self.tick_ns, &TICK)?;
        limits::in_range("--numbers", self.numbers, &NUMBERS)?;
        limits::name("--engine", self.engine.as_deref())
    }
}

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
