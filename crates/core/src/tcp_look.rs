//! What a kernel says of a TCP connection that sends, at one moment of a run.
//!
//! Not here: reading it (`os`), when that is done (`run`), and what a connection came to at its end (`record`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::id::FlowId;
use crate::record::TcpFacts;

/// One connection at one moment (`TCP_INFO`); what the kernel does not say is absent. Counts are since the connection began.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct TcpLook {
    /// Which flow.
    pub flow: FlowId,
    /// Congestion window.
    pub congestion_window_bytes: Option<u64>,
    /// What the other end has room for. Linux tells it from 5.4 on.
    pub peer_window_bytes: Option<u64>,
    /// The largest packet that the path takes, as far as the kernel knows.
    pub path_mtu_bytes: Option<u64>,
    /// Smoothed round-trip time.
    pub rtt_ns: Option<u64>,
    /// How far round trips are from it on average, smoothed (RFC 6298, RTTVAR).
    pub rtt_variation_ns: Option<u64>,
    /// How long an acknowledgement is waited for before a segment is sent again (RFC 6298, RTO).
    pub retransmission_timeout_ns: Option<u64>,
    /// How many segments further on may be acknowledged before one counts as lost: more, where reordering was seen.
    pub reordering_segments: Option<u64>,
    /// Times that reordering was seen.
    pub reorderings: Option<u64>,
    /// Segments sent again.
    pub retransmits: Option<u64>,
    /// Segments that the other end said it had already (RFC 2883, D-SACK): they were sent again in vain.
    pub duplicates: Option<u64>,
    /// Times that an acknowledgement was waited for in vain. Linux tells them from 6.7 on.
    pub timeouts: Option<u64>,
}

impl TcpLook {
    /// What the end of a connection tells of how it stood.
    pub fn at_end(flow: FlowId, tcp: &TcpFacts) -> Self {
        Self {
            flow,
            congestion_window_bytes: tcp.congestion_window_bytes,
            rtt_ns: tcp.rtt_ns,
            retransmits: tcp.retransmits,
            ..Self::default()
        }
    }
}
