//! A toy's test as it runs, and what it may ask for.

use std::ops::RangeInclusive;

use pathscope_core::quantity::Period;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::limits::{self, PlanError};

/// From one number to the next.
const TICK: RangeInclusive<Period> = Period(1_000)..=Period::from_secs(10);
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
