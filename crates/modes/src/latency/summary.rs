//! What a latency test came to, at one end and over both.

use pathscope_core::record::FlowError;
use pathscope_core::stats::{Distribution, LatencyFigures};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the flows of one end did in one interval.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct LatencyInterval {
    /// Pings sent (client) or echoed (server).
    pub sent: u64,
    /// Echoes (client) or pings (server) received in it.
    pub received: u64,
    /// Round trips of the pings that were answered in it; the client's alone.
    pub rtt: Option<LatencyFigures>,
}

/// What the flows of one end came to.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct LatencyReport {
    /// Pings sent (client) or echoed (server), warm-up included.
    pub sent: u64,
    /// First echoes (client) or pings (server) received, warm-up included.
    pub received: u64,
    /// Pings of the warm-up, left out of the distributions.
    pub warm_up: u64,
    /// Pings never answered, after the drain.
    pub lost: u64,
    /// Of those, the ones that never reached the server; the rest was lost on the way back. Known at
    /// the client once the server has reported.
    pub lost_forward: Option<u64>,
    /// Echoes beyond the first of a ping.
    pub duplicates: u64,
    /// Echoes that came after one of a later ping.
    pub reordered: u64,
    /// Echoes that came after the drain had ended or the ping had left the window of memory.
    pub late: u64,
    /// Echoes whose bytes were not those sent.
    pub corrupt: u64,
    /// Datagrams that belong to no session of ours.
    pub foreign: u64,
    /// From the scheduled send (open) or the send (closed) to the receipt of the echo.
    pub rtt: Option<Distribution>,
    /// Open loop: from the actual send to the receipt of the echo.
    pub service: Option<Distribution>,
    /// Open loop: from the scheduled to the actual send. The generator's own lateness.
    pub send_lag: Option<Distribution>,
    /// Time in the server from the receipt of a ping to the sending of its echo, where the echo
    /// carries both stamps.
    pub server_residence: Option<Distribution>,
    /// What ended the flow before its time.
    pub error: Option<FlowError>,
}
