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
    /// Pings never answered, after the drain; the client's alone.
    pub lost: u64,
    /// Echoes (client) or pings (server) beyond the first of a ping.
    pub duplicates: u64,
    /// Echoes that came after one of a later ping.
    pub reordered: u64,
    /// Echoes (client) or pings (server) that came when their ping had left the window of memory.
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

/// What a latency test, or the probes beside a load, came to over both ends.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct LatencySummary {
    /// Round trips: from the send (closed loop) or the scheduled send (open loop) to the receipt.
    pub rtt: LatencyFigures,
    /// Open loop: from the actual send to the receipt.
    pub service: Option<LatencyFigures>,
    /// Open loop: from the scheduled to the actual send.
    pub send_lag: Option<LatencyFigures>,
    /// From the server's receipt to its sending, where the echo carries both stamps.
    pub server_residence: Option<LatencyFigures>,
    /// Pings sent.
    pub sent: u64,
    /// Pings answered.
    pub received: u64,
    /// Pings answered but left out of the figures, as they belong to the warm-up.
    pub warm_up: u64,
    /// Pings never answered.
    pub lost: u64,
    /// Of those: never reached the server; absent where it has not reported.
    pub lost_forward: Option<u64>,
    /// Of those: the echo was lost on its way back.
    pub lost_return: Option<u64>,
    /// Echoes beyond the first of a ping.
    pub duplicates: u64,
    /// Echoes that came after one of a later ping.
    pub reordered: u64,
    /// Echoes that came too late to be told from duplicates.
    pub late: u64,
    /// Echoes whose bytes were not those sent.
    pub corrupt: u64,
    /// Datagrams of no session of ours.
    pub foreign: u64,
}

impl LatencySummary {
    /// From what both ends said; `server` is absent where it was lost.
    pub fn of(client: &LatencyReport, server: Option<&LatencyReport>) -> Self {
        let figures = |stored: &Option<Distribution>| {
            stored.as_ref().map(|stored| LatencyFigures::of(&stored.histogram()))
        };
        // What the server received and the client did not get back was lost on the way back.
        let lost_forward = server.map(|server| {
            let arrived = server.received.saturating_add(server.late);
            client.sent.saturating_sub(arrived).min(client.lost)
        });
        Self {
            rtt: figures(&client.rtt).unwrap_or_default(),
            service: figures(&client.service),
            send_lag: figures(&client.send_lag),
            server_residence: figures(&client.server_residence),
            sent: client.sent,
            received: client.received,
            warm_up: client.warm_up,
            lost: client.lost,
            lost_forward,
            lost_return: lost_forward.map(|forward| client.lost - forward),
            duplicates: client.duplicates,
            reordered: client.reordered,
            late: client.late,
            corrupt: client.corrupt,
            foreign: client.foreign,
        }
    }
}
