//! A goodput test as it runs: stated by the client, sent to the server, stored in the result.

use pathscope_core::Wait;
use pathscope_core::quantity::{BitRate, Bytes, Period};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::limits::{CONNECTIONS, SEGMENT};
use super::{Pace, Shape};
use crate::limits::{self, PlanError};
use crate::load::{Extent, Pattern, Verify};
use crate::sockets::SocketPlan;

/// Everything about a goodput test that both ends must know.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct GoodputPlan {
    /// Who sends when.
    pub pattern: Pattern,
    /// How many connections at once.
    pub connections: u32,
    /// How much, or how long.
    pub extent: Extent,
    /// The most that is handed to the kernel at once and, up to 256 KiB, taken from it.
    pub buffer_bytes: Bytes,
    /// In `pushpull`: bytes that the client sends before it turns to receiving.
    pub push_bytes: Bytes,
    /// In `pushpull`: bytes that the server sends before it turns to receiving.
    pub pull_bytes: Bytes,
    /// The most that each sender may send on one connection; absent: no limit but the path's.
    pub rate_bps: Option<BitRate>,
    /// At the start of a run of stated duration: not counted in the goodput.
    pub warm_up_ns: Period,
    /// Whether the receiver compares each byte with what it must be.
    pub verify: Verify,
    /// Congestion control, by the kernel's name for it; absent: the system's own.
    pub congestion_control: Option<String>,
    /// Engine asked for by name; absent: left to each end.
    pub engine: Option<String>,
    /// How both ends wait.
    pub wait: Wait,
    /// How often connections are replaced, what ends the run, what is drawn.
    #[serde(default)]
    pub shape: Shape,
    /// Where and how the connections are opened and set.
    #[serde(default)]
    pub sockets: SocketPlan,
    /// How sends are spread over time.
    #[serde(default)]
    pub pace: Pace,
    /// Processors that the client's workers are kept on, in turns; none: any.
    #[serde(default)]
    pub client_cpus: Vec<u32>,
    /// Processors that the server's workers are kept on, in turns; none: any.
    #[serde(default)]
    pub server_cpus: Vec<u32>,
}

impl GoodputPlan {
    /// Whether this can be run: everything in its range, nothing contradictory.
    pub(super) fn check(&self) -> Result<(), PlanError> {
        limits::in_range("--connections", u64::from(self.connections), &CONNECTIONS)?;
        match self.extent {
            Extent::TransferBytes(transfer) => {
                limits::in_range("--transfer", transfer, &limits::TRANSFER)?;
            }
            Extent::DurationNs(duration) => {
                limits::duration(duration, self.warm_up_ns)?;
            }
        }
        limits::in_range("--buffer", self.buffer_bytes, &limits::BUFFER)?;
        limits::in_range("--segments", self.push_bytes, &SEGMENT)?;
        limits::in_range("--segments", self.pull_bytes, &SEGMENT)?;
        if let Some(rate) = self.rate_bps {
            limits::in_range("--rate", rate, &limits::RATE)?;
        }
        self.shape.validate(self)?;
        self.sockets.validate(self.connections)?;
        self.pace.validate(self.rate_bps)?;
        limits::cpus("--cpu", &self.client_cpus)?;
        limits::cpus("--server-cpu", &self.server_cpus)?;
        limits::name("--congestion", self.congestion_control.as_deref())?;
        limits::name("--engine", self.engine.as_deref())
    }

    /// Whether the client sends.
    pub fn is_up(&self) -> bool {
        self.pattern != Pattern::Pull
    }

    /// Whether the server sends.
    pub fn is_down(&self) -> bool {
        self.pattern != Pattern::Push
    }
}
