//! One-way delay, where both ends read one clock: on one machine, in one namespace of times. Elsewhere the difference of
//! the ends' times holds the offset of their clocks, which nothing here can tell from delay.

use pathscope_core::stats::{Distribution, LatencyFigures};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The delays of each way. Where both ends are on one machine, and only there.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct OneWayReport {
    /// From where the round trip counts to the server's receipt.
    pub forward: Distribution,
    /// From the server's send to the client's receipt.
    pub back: Distribution,
}

/// One-way delays.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct OneWaySummary {
    /// From where the round trip counts, the client's first attempt to send, to the server's receipt. In documents of
    /// version 1, from the send that was accepted.
    pub forward: LatencyFigures,
    /// From the server's send to the client's receipt.
    pub back: LatencyFigures,
    /// By how much each may be wrong: what a reading of the clock takes at either end. Absent where that is not known.
    pub error_bound_ns: Option<u64>,
}
