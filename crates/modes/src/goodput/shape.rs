//! The shape of a goodput run: how often connections are replaced, what ends it, what is drawn for each
//! connection. Stated by the client, known to both ends.

use pathscope_core::quantity::{Bytes, Period};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::limits::CONNECT_LIMIT;
use crate::limits::{self, PlanError};
use crate::load::Extent;

/// Connections of a whole run: their numbers have 31 bits, and probes need one, too.
pub(super) const NUMBERS_MOST: u32 = (1 << 31) - 2;

/// Connects in progress, unless told otherwise: as many as listening queues take without a loss.
pub const DEFAULT_CONNECT_LIMIT: u32 = 1_000;

/// How a run goes on and ends, beyond how many connections there are at once.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct Shape {
    /// How often each connection is made.
    pub iterations: Iterations,
    /// Connections that may be in the making at once.
    pub connect_limit: u32,
    /// When the run ends, whatever was transferred by then.
    pub time_limit_ns: Option<Period>,
    /// How the client ends a connection that went well.
    pub shutdown: Shutdown,
    /// The upper end of the range that each connection's transfer is drawn from; its lower end is the
    /// extent of the plan. Absent: every transfer is the same.
    pub transfer_most_bytes: Option<Bytes>,
    /// The upper end of the range that the size of each send and receive is drawn from; its lower end is
    /// the buffer of the plan. Absent: every buffer is the same.
    pub buffer_most_bytes: Option<Bytes>,
    /// What is drawn is drawn from this.
    pub seed: u64,
    /// Whether what a connection that follows another says first goes with its SYN, where both ends' systems allow that (TCP Fast Open).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub fast_open: bool,
}

impl Default for Shape {
    fn default() -> Self {
        Self {
            iterations: Iterations::Times(1),
            connect_limit: DEFAULT_CONNECT_LIMIT,
            time_limit_ns: None,
            shutdown: Shutdown::Graceful,
            transfer_most_bytes: None,
            buffer_most_bytes: None,
            seed: 0,
            fast_open: false,
        }
    }
}

/// How often each connection is made: it is replaced as it ends.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Iterations {
    /// So often.
    Times(u64),
    /// Until the run is ended.
    Forever,
}

/// How the client ends a connection that went well.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, Hash, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Shutdown {
    /// By saying that it is done: the address and port wait out their time at the client.
    #[default]
    Graceful,
    /// By a reset: nothing waits.
    Rude,
    /// One or the other, drawn for each connection.
    Random,
}

impl Shutdown {
    /// The ways with their names as typed.
    pub const ALL: [(&'static str, Self); 3] =
        [("graceful", Self::Graceful), ("rude", Self::Rude), ("random", Self::Random)];
}

impl Shape {
    /// Whether so many connections of such an extent can be run so, whose buffers have at least so many bytes.
    pub(super) fn check(
        &self,
        connections: u32,
        extent: Extent,
        buffer_bytes: Bytes,
    ) -> Result<(), PlanError> {
        limits::in_range("--connect-limit", u64::from(self.connect_limit), &CONNECT_LIMIT)?;
        limits::in_range("--time-limit", self.time_limit_ns, &limits::DURATION)?;
        limits::upper_end("--buffer", buffer_bytes, self.buffer_most_bytes, &limits::BUFFER)?;
        match extent {
            Extent::TransferBytes(least) => {
                let most = self.transfer_most_bytes;
                limits::upper_end("--transfer", least, most, &limits::TRANSFER)?;
            }
            Extent::DurationNs(_) => {
                let is_replaced = self.iterations != Iterations::Times(1);
                let advice = "say with --transfer when a connection ends";
                limits::not_both(["--iterations", "--duration"], is_replaced, advice)?;
                let ends = [
                    ("--time-limit", self.time_limit_ns.is_some()),
                    ("--transfer", self.transfer_most_bytes.is_some()),
                ];
                limits::exclude("--duration", "leave one of them out", &ends)?;
            }
        }
        let is_once = self.iterations == Iterations::Times(1);
        let advice = "those that there are from the beginning wait for each other: say with --iterations how often each is made";
        let idle = [("--fast-open", self.fast_open && is_once)];
        limits::no_effect("where no connection follows another", advice, &idle)?;
        let Iterations::Times(times) = self.iterations else { return Ok(()) };
        let most = u64::from(NUMBERS_MOST / connections.max(1));
        limits::in_range("--iterations", times, &(1..=most.max(1)))
    }
}
