//! What the connections of a load came to at one end, as that end says it.

use pathscope_core::id::FlowId;
use pathscope_core::record::FlowFacts;
use pathscope_core::sending::SendSamples;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    ErrnoCount, FailureCounts, FastOpen, RateSpread, RateSums, ReceiveWindow, RemoteCounts,
};
use crate::pattern::Corruption;
use crate::times::ConnectionTimes;

/// What the flows of one end came to.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct GoodputReport {
    /// Bytes handed to the kernel, over all flows.
    pub sent_bytes: u64,
    /// Bytes taken from the kernel and checked, over all flows.
    pub received_bytes: u64,
    /// Of all flows together: what was received in the window that counts.
    pub window: ReceiveWindow,
    /// Where this end said what it received while more was on its way, what of that still came: in none of its other counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub late_bytes: Option<u64>,
    /// On each connection at most so many bytes may have left that this end does not count as sent: those of the send that it was in when
    /// it stopped, where its kind counts a send when that has returned. Known of the kind of peer, and said nowhere.
    #[serde(skip)]
    pub uncounted_bytes: u64,
    /// Flows that ended well.
    pub completed: u64,
    /// Flows that failed in the network, with wrong data, or by a breach of protocol.
    pub failed: u64,
    /// The same, by what they failed of.
    pub failures: FailureCounts,
    /// Those that failed at this end by an error of the system, by its name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub errnos: Vec<ErrnoCount>,
    /// Of connections that were to be opened with what they say first; absent where that was not asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fast_open: Option<FastOpen>,
    /// Flows that the end of the run stopped before their transfer was whole; they count neither as
    /// completed nor as failed.
    pub cut: u64,
    /// The first flows, one by one.
    pub flows: Vec<FlowFacts>,
    /// Flows beyond those.
    pub flows_omitted: u64,
    /// The first corruptions, located.
    pub corruptions: Vec<FlowCorruption>,
    /// Bytes a second of each flow that received, in bits, summed up and squared: for the fairness of
    /// all flows, also those omitted.
    pub rates: RateSums,
    /// The middle of those rates, and who has next to nothing. Where connections are replaced: of those told one
    /// by one.
    pub spread: Option<RateSpread>,
    /// What became of connections, by the other end's address.
    pub remotes: Vec<RemoteCounts>,
    /// When connections that follow one another began, and how long each took, as the client knows it.
    pub times: ConnectionTimes,
    /// What the first connections that were to send were seen to wait for; absent where nobody looked.
    pub sending: Option<SendSamples>,
    /// Of all flows together: how long the pauses between bursts kept them from sending.
    pub paused_ns: u64,
}

/// A corruption and the flow it was found on.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct FlowCorruption {
    /// The flow.
    pub flow: FlowId,
    /// Where and what.
    pub corruption: Corruption,
}
