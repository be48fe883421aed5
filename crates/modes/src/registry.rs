//! The modes, listed once: what a test can be, and what one end says of it.

use pathscope_core::quantity::Period;
use pathscope_core::record::{Caveat, WorkerUsage};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::goodput::{GoodputInterval, GoodputPlan, GoodputReport};
use crate::latency::{LatencyInterval, LatencyPlan, LatencyReport};

/// One test: a plan, probes beside it, and how often both ends report. Goes on the wire and into the
/// document as it ran.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct Test {
    /// What is measured.
    pub plan: Plan,
    /// Latency probes beside it.
    pub probe: Option<LatencyPlan>,
    /// From one live report to the next.
    pub report_every_ns: Period,
}

/// What is measured, a variant for each mode.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Plan {
    /// How much applications get through.
    Goodput(GoodputPlan),
    /// How long a round trip takes.
    Latency(LatencyPlan),
}

/// What one end says of one interval while a test runs.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct EndInterval {
    /// Its number, from 0, the same at both ends.
    pub index: u64,
    /// Its begin, in time since this end started the test.
    pub start_ns: u64,
    /// Its end.
    pub end_ns: u64,
    /// What the goodput flows did in it.
    pub goodput: Option<GoodputInterval>,
    /// What the latency flows, probes among them, did in it.
    pub latency: Option<LatencyInterval>,
}

/// What one end says when all its flows are over.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct EndReport {
    /// What the goodput flows came to.
    pub goodput: Option<GoodputReport>,
    /// What the latency flows of the plan came to.
    pub latency: Option<LatencyReport>,
    /// What the probes beside a load came to.
    pub probe: Option<LatencyReport>,
    /// Processor time of each worker thread.
    pub workers: Vec<WorkerUsage>,
    /// What a reader must know that this end noticed.
    pub caveats: Vec<Caveat>,
}
