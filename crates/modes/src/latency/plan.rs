//! A latency test as it runs: stated by the client, sent to the server, stored in the result.

use pathscope_core::Wait;
use pathscope_core::quantity::{Bytes, Period};
use pathscope_flow::Transport;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::limits::{self, PlanError};

/// Everything about a latency test that both ends must know. The probes beside a load are one, too.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct LatencyPlan {
    /// What carries the pings.
    pub protocol: Protocol,
    /// When the next ping goes out. Percentiles of the two models are not comparable.
    pub load_model: LoadModel,
    /// How long, or how many.
    pub extent: Extent,
    /// Length of a ping and of its echo: of the message (TCP) or of the datagram's payload (UDP).
    pub size_bytes: Bytes,
    /// At the start: measured and left out. Counted in the result.
    pub warm_up_ns: Period,
    /// Engine asked for by name; absent: left to each end.
    pub engine: Option<String>,
    /// How both ends wait.
    pub wait: Wait,
}

impl LatencyPlan {
    /// Whether this can be run: everything in its range, nothing contradictory.
    pub fn validate(&self) -> Result<(), PlanError> {
        match self.extent {
            Extent::Iterations(iterations) => {
                limits::in_range("--iterations", iterations, &limits::ITERATIONS)?;
            }
            Extent::DurationNs(duration) => {
                limits::duration(duration, self.warm_up_ns)?;
            }
            Extent::WithLoad => {}
        }
        if let LoadModel::Open { period_ns } = self.load_model {
            limits::in_range("--period", period_ns, &limits::PERIOD)?;
        }
        let sizes = match self.protocol {
            Protocol::Tcp => &limits::TCP_PING,
            Protocol::Udp => &limits::UDP_PING,
        };
        limits::in_range("--size", self.size_bytes, sizes)?;
        limits::name("--engine", self.engine.as_deref())
    }
}

/// What carries the pings.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Protocol {
    /// One connection, without Nagle's delay.
    Tcp,
    /// One datagram flow.
    Udp,
}

impl Protocol {
    /// The protocols with their names as typed.
    pub const ALL: [(&'static str, Self); 2] = [("tcp", Self::Tcp), ("udp", Self::Udp)];

    /// What kind of socket carries it.
    pub const fn transport(self) -> Transport {
        match self {
            Self::Tcp => Transport::Stream,
            Self::Udp => Transport::Datagram,
        }
    }

    /// As it is typed.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tcp => "tcp",
            Self::Udp => "udp",
        }
    }
}

/// When the next ping goes out.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LoadModel {
    /// When the echo of the last one has come: one ping is on its way at any time.
    Closed,
    /// On schedule from the start time, whatever came back. Latency counts from the scheduled time.
    Open {
        /// From one ping to the next.
        period_ns: Period,
    },
}

/// How long, or how many.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Extent {
    /// So many pings.
    Iterations(u64),
    /// So long.
    DurationNs(Period),
    /// As long as the load beside it.
    WithLoad,
}
