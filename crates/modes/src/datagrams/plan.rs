//! A test of datagram goodput as it runs: stated by the client, sent to the server, stored in the result.

use pathscope_core::Wait;
use pathscope_core::quantity::{BitRate, Bytes, Period};
use pathscope_flow::datagrams_in_one;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::load::{Extent, Pattern, Verify};
use crate::mode::Mode;
use crate::sockets::SocketPlan;

/// Everything about a test of datagram goodput that both ends must know.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct DatagramsPlan {
    /// Who sends: the client (`push`), the server (`pull`), both (`duplex`), or both on flows of their own (`bidir`).
    pub pattern: Pattern,
    /// Flows beside each other, each between ports of its own; in `bidir` so many each way.
    pub connections: u32,
    /// How much, or how long. A transfer is of each flow and of both directions together.
    pub extent: Extent,
    /// Length of each datagram's payload, its header of 40 bytes included; the last of a transfer may be shorter.
    pub datagram_bytes: Bytes,
    /// Payload bits a second of each sender on each flow; absent: as fast as they go.
    pub rate_bps: Option<BitRate>,
    /// At the start of a run of stated duration: counted, but not in the goodput.
    pub warm_up_ns: Period,
    /// Which bytes a receiver compares with what they must be. Headers are always checked.
    pub verify: Verify,
    /// Whether kernel and interface may be handed many datagrams at once.
    #[serde(default)]
    pub offload: Offload,
    /// Whether datagrams that are longer than a path takes whole may leave in fragments. Where not, none of them leaves.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub may_fragment: bool,
    /// Engine asked for by name; absent: left to each end.
    pub engine: Option<String>,
    /// How both ends wait.
    pub wait: Wait,
    /// Where and how the flows' sockets are opened and set. A receive buffer that is not stated follows from the
    /// rate.
    #[serde(default)]
    pub sockets: SocketPlan,
    /// Processors that the client's workers are kept on, in turns; none: any.
    #[serde(default)]
    pub client_cpus: Vec<u32>,
    /// Processors that the server's workers are kept on, in turns; none: any.
    #[serde(default)]
    pub server_cpus: Vec<u32>,
}

/// Whether many datagrams are handed over at once: to the kernel, which cuts them late or has the interface do it
/// (`UDP_SEGMENT`), and by it, which joins those of one length that come together (`UDP_GRO`).
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Offload {
    /// Where the system can, and without it where it cannot or refuses. The result says which.
    #[default]
    Auto,
    /// Never: each datagram goes through the system by itself.
    Off,
}

impl Offload {
    /// The choices with their names as typed.
    pub const ALL: [(&'static str, Self); 2] = [("auto", Self::Auto), ("off", Self::Off)];
}

/// A stall of the receiver that its buffer is to outlast at the rate of the plan.
const STALL_NS: u64 = 200_000_000;
/// What a kernel charges for a datagram beyond its payload, about: its own record, and the rest of a power of two.
const CHARGE_BYTES: u64 = 1_024;
/// Of a flow without a rate, and the most of all flows together.
const MOST_BUFFER_BYTES: u64 = 32 << 20;
/// Of each flow at least so much: about what systems give without being asked.
const LEAST_BUFFER_BYTES: u64 = 256 << 10;

impl DatagramsPlan {
    /// How long it lasts at the least; without a rate as if that were 100 Gbit/s, which is more than one flow has.
    pub(super) fn shortest_ns(&self) -> u64 {
        match (self.duration_ns(), self.extent) {
            (Some(duration), _) | (None, Extent::DurationNs(duration)) => duration.0,
            (None, Extent::TransferBytes(transfer)) => transfer.0.saturating_mul(8) / 100,
        }
    }

    /// Whether the client sends.
    pub fn is_up(&self) -> bool {
        self.pattern != Pattern::Pull
    }

    /// Whether the server sends.
    pub fn is_down(&self) -> bool {
        self.pattern != Pattern::Push
    }

    /// Flows both ways together.
    pub(super) fn flows_in_all(&self) -> u32 {
        self.pattern.flows(self.connections)
    }

    /// Datagrams that one buffer of a receiving socket may hold, where the largest that came held so many bytes. What
    /// was dropped came by the same way: how much of it was joined is known from what was not dropped, and only where
    /// nothing came is it what the system can join.
    pub fn datagrams_per_buffer(&self, largest_came: Option<u64>) -> u64 {
        let most = match self.offload {
            Offload::Auto => datagrams_in_one(self.datagram_bytes.0 as usize) as u64,
            Offload::Off => 1,
        };
        let came = largest_came.map(|bytes| bytes.div_ceil(self.datagram_bytes.0.max(1)).max(1));
        came.map_or(most, |came| came.min(most))
    }

    /// Room in the receiving socket of each flow: for what comes at the rate of the plan while the receiver stands
    /// still for 200 ms, as kernels charge for it.
    pub fn receive_buffer(&self) -> Bytes {
        let share = MOST_BUFFER_BYTES / u64::from(self.connections.max(1));
        let of_rate = self.rate_bps.map(|rate| {
            let datagrams = rate.bytes_in(STALL_NS) / self.datagram_bytes.0.max(1) + 1;
            datagrams.saturating_mul(self.datagram_bytes.0 + CHARGE_BYTES)
        });
        let wanted =
            of_rate.unwrap_or(share).clamp(LEAST_BUFFER_BYTES, share.max(LEAST_BUFFER_BYTES));
        self.sockets.receive_buffer_bytes.unwrap_or(Bytes(wanted))
    }
}
