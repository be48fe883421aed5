//! A test of a session as it begins and is over, for whoever shows each by itself.

use crate::counters::HostCounters;
use crate::id::FlowId;
use crate::record::{Remarks, SocketFacts, WorkerUsage};

/// A test is about to begin at this end; its flows follow.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TestBegan {
    /// When, since the journal began.
    pub at_ns: u64,
    /// What is moved.
    pub load: LoadFacts,
    /// At a server: what its client says of it beside.
    pub remarks: Remarks,
    /// The other end of the session's control connection.
    pub session: String,
}

/// A test is over at this end, with all its flows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TestOver {
    /// When, since the journal began.
    pub at_ns: u64,
    /// Of flows of datagrams that came: how many the other end says it sent, where it said so.
    pub sent_there: Vec<(FlowId, u64)>,
    /// Processor time of each thread of this end that carried its flows.
    pub workers: Vec<WorkerUsage>,
    /// How long it took at this end.
    pub elapsed_ns: u64,
    /// What this machine counted meanwhile.
    pub host: Option<HostCounters>,
    /// How often this machine was interrupted meanwhile, by what, where somebody wants to hear it: rows of the kernel's table.
    pub interrupts: Vec<(String, u64)>,
    /// How the kernel set the first connection here.
    pub sockets: Option<SocketFacts>,
    /// Why its session failed, a sentence; none where both ends came to the end of it. It is told as trouble as well, behind this.
    pub failure: Option<String>,
    /// The other end of the session's control connection.
    pub session: String,
}

/// What a load is, whatever carries it.
#[expect(clippy::struct_excessive_bools, reason = "each is so or not, whatever the others are")]
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct LoadFacts {
    /// Whether it is of datagrams.
    pub is_udp: bool,
    /// Whether the client sends.
    pub is_up: bool,
    /// Whether the server sends.
    pub is_down: bool,
    /// Whether each direction has connections of its own: then there are so many of each, the client's first.
    pub is_split: bool,
    /// Connections or flows, of each direction where those are apart.
    pub connections: u32,
    /// The most that is handed over at once; the length of a datagram.
    pub block_bytes: u64,
    /// Left out of figures at the start.
    pub warm_up_ns: u64,
    /// How long it lasts, with the warm-up, where that is stated.
    pub duration_ns: Option<u64>,
    /// Bytes of each connection, where those are stated.
    pub transfer_bytes: Option<u64>,
    /// The most that is sent on one of them, in bits a second.
    pub rate_bps: Option<u64>,
    /// Code point of what is sent.
    pub dscp: Option<u8>,
    /// What a socket's send buffer is asked to have, where that is stated.
    pub send_buffer_bytes: Option<u64>,
    /// The longest segment that is asked for, where that is stated.
    pub segment_bytes: Option<u64>,
}
