//! A latency test as it runs: stated by the client, sent to the server, stored in the result.

use pathscope_core::Wait;
use pathscope_core::quantity::{Bytes, Period};
use pathscope_core::stats::LinearRanges;
use pathscope_flow::Transport;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::datagram::NOTED_BYTES;
use super::limits::{
    HISTOGRAM_COUNT, HISTOGRAM_START, HISTOGRAM_WIDTH, ITERATIONS, OUTSTANDING, PERCENTILE_PPB,
    PERCENTILES, PERIOD, PING_BYTES_OF_ALL, PINGING_FLOWS, PINGS_ON_THEIR_WAY, STAMPED_PING,
    TCP_PING, UDP_PING,
};
use crate::echoed::HEADER_BYTES;
use crate::limits::{self, PlanError};
use crate::sockets::SocketPlan;

/// Everything about a latency test that both ends must know. The probes beside a load are one, too.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct LatencyPlan {
    /// What carries the pings.
    pub protocol: Protocol,
    /// When the next ping goes out. Percentiles of the two models are not comparable.
    pub load_model: LoadModel,
    /// How long, or how many.
    pub extent: Extent,
    /// Flows beside each other, each with pings of its own.
    #[serde(default = "one")]
    pub connections: u32,
    /// Closed loop: pings of each flow that are on their way at a time.
    #[serde(default = "one")]
    pub outstanding: u32,
    /// Closed loop: the least time from one ping to the next; absent: none.
    #[serde(default)]
    pub pace_ns: Option<Period>,
    /// Length of a ping: of the message (TCP) or of the datagram's payload (UDP).
    pub size_bytes: Bytes,
    /// Length of its echo; absent: that of the ping.
    #[serde(default)]
    pub reply_bytes: Option<Bytes>,
    /// At the start: measured and left out. Counted in the result.
    pub warm_up_ns: Period,
    /// Engine asked for by name; absent: left to each end.
    pub engine: Option<String>,
    /// How both ends wait.
    pub wait: Wait,
    /// Percentiles to state beside the standard ones, in 10⁻⁹ of the samples: p99.99 is 999900000.
    #[serde(default)]
    pub percentiles_ppb: Vec<u32>,
    /// Ranges to count round trips in, beside the logarithmic histogram.
    #[serde(default)]
    pub histogram: Option<LinearRanges>,
    /// Whose stamps are asked for.
    #[serde(default)]
    pub timestamps: Timestamps,
    /// Congestion control, by the kernel's name for it; absent: the system's own.
    #[serde(default)]
    pub congestion_control: Option<String>,
    /// Where and how the flows' sockets are opened and set.
    #[serde(default)]
    pub sockets: SocketPlan,
    /// The processor that the client's worker is kept on, or none.
    #[serde(default)]
    pub client_cpus: Vec<u32>,
    /// The processor that the server's worker is kept on, or none.
    #[serde(default)]
    pub server_cpus: Vec<u32>,
}

fn one() -> u32 {
    1
}

impl LatencyPlan {
    /// Whether this can be run: everything in its range, nothing contradictory.
    pub(super) fn check(&self) -> Result<(), PlanError> {
        match self.extent {
            Extent::Iterations(iterations) => {
                limits::in_range("--iterations", iterations, &ITERATIONS)?;
            }
            Extent::DurationNs(duration) => {
                limits::duration(duration, self.warm_up_ns)?;
            }
            Extent::WithLoad => {}
        }
        limits::in_range("--connections", u64::from(self.connections), &PINGING_FLOWS)?;
        limits::in_range("--outstanding", u64::from(self.outstanding), &OUTSTANDING)?;
        self.validate_load()?;
        self.validate_figures()?;
        let advice = "what the kernel stamps is datagrams: give --protocol udp";
        let is_stamped = self.timestamps == Timestamps::Kernel;
        let is_stream = self.protocol == Protocol::Tcp;
        limits::not_both(["--timestamps kernel", "TCP"], is_stamped && is_stream, advice)?;
        let sizes = match (self.protocol, self.timestamps) {
            (Protocol::Tcp, _) => &TCP_PING,
            (Protocol::Udp, Timestamps::User) => &UDP_PING,
            (Protocol::Udp, Timestamps::Kernel) => &STAMPED_PING,
        };
        let ping = if self.reply_bytes.is_none() { "--size" } else { "--request-size" };
        limits::in_range(ping, self.size_bytes, sizes)?;
        limits::in_range("--reply-size", self.reply_bytes(), sizes)?;
        let all_bytes = u64::from(self.connections) * self.size_bytes.0;
        let advice = "one ping of each flow makes 64 MiB at most: ask for fewer or smaller ones";
        limits::not_both(["so many --connections", ping], all_bytes > PING_BYTES_OF_ALL, advice)?;
        self.validate_ends()?;
        limits::name("--engine", self.engine.as_deref())
    }

    /// Length of an echo.
    pub fn reply_bytes(&self) -> Bytes {
        self.reply_bytes.unwrap_or(self.size_bytes)
    }

    /// Bytes of a datagram before its filler.
    pub(super) fn header_bytes(&self) -> usize {
        match self.timestamps {
            Timestamps::User => HEADER_BYTES,
            Timestamps::Kernel => NOTED_BYTES,
        }
    }

    /// How long nothing need move at a time, since no ping is due.
    pub fn rests_ns(&self) -> Period {
        match self.load_model {
            LoadModel::Closed => self.pace_ns.unwrap_or_default(),
            LoadModel::Open { period_ns, .. } => period_ns,
        }
    }

    /// The percentiles that were asked for beside the standard ones, from 0 to 100.
    pub fn percentiles(&self) -> Vec<f64> {
        // One division, rounded once: 999900000 is 99.99 and not its neighbour.
        self.percentiles_ppb.iter().map(|&ppb| f64::from(ppb) / 1e7).collect()
    }

    fn validate_load(&self) -> Result<(), PlanError> {
        let (is_several, is_paced) = (self.outstanding > 1, self.pace_ns.is_some());
        if let LoadModel::Open { period_ns, .. } = self.load_model {
            limits::in_range("--period", period_ns, &PERIOD)?;
            let advice = "an open loop never waits for an answer: leave one of them out";
            limits::not_both(["--outstanding", "--period or --rate"], is_several, advice)?;
            let advice = "a loop is open or closed: leave one of them out";
            limits::not_both(["an open loop", "a pace"], is_paced, advice)?;
        }
        limits::in_range("--period", self.pace_ns, &PERIOD)?;
        let advice = "a closed loop at a rate has one ping on its way: leave one of them out";
        let both = ["--outstanding", "--closed at a rate"];
        limits::not_both(both, is_several && is_paced, advice)?;
        let all = u64::from(self.outstanding) * u64::from(self.connections);
        let advice = "1,048,576 pings on their way are the most: ask for fewer of either";
        let both = ["--outstanding", "so many --connections"];
        limits::not_both(both, all > PINGS_ON_THEIR_WAY, advice)
    }

    fn validate_ends(&self) -> Result<(), PlanError> {
        for (option, cpus) in [("--cpu", &self.client_cpus), ("--server-cpu", &self.server_cpus)] {
            limits::cpus(option, cpus)?;
            let advice = "one worker carries all pings of an end: name one";
            limits::not_both([option, "several processors"], cpus.len() > 1, advice)?;
        }
        limits::name("--congestion", self.congestion_control.as_deref())?;
        if self.protocol == Protocol::Udp {
            self.sockets.validate_datagrams(self.congestion_control.as_deref())?;
        }
        self.sockets.validate(self.connections)
    }

    fn validate_figures(&self) -> Result<(), PlanError> {
        let asked = self.percentiles_ppb.len() as u64;
        limits::in_range("number of --percentiles", asked, &PERCENTILES)?;
        for &ppb in &self.percentiles_ppb {
            limits::in_range("--percentiles (in 10⁻⁹)", ppb, &PERCENTILE_PPB)?;
        }
        let Some(ranges) = self.histogram else { return Ok(()) };
        let period = |nanoseconds| Period(nanoseconds);
        limits::in_range("--histogram start", period(ranges.start_ns), &HISTOGRAM_START)?;
        limits::in_range("--histogram width", period(ranges.width_ns), &HISTOGRAM_WIDTH)?;
        limits::in_range("--histogram count", ranges.count, &HISTOGRAM_COUNT)
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
    pub fn name(self) -> &'static str {
        limits::name_of(&Self::ALL, self)
    }
}

/// Whose stamps are asked for beside those of the two programs.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, Hash, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Timestamps {
    /// Nobody's.
    #[default]
    User,
    /// The kernels', of datagrams that come in and are handed to the device, at both ends.
    Kernel,
}

impl Timestamps {
    /// The choices with their names as typed.
    pub const ALL: [(&'static str, Self); 2] = [("user", Self::User), ("kernel", Self::Kernel)];
}

/// When the next ping goes out.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LoadModel {
    /// When an echo has come: so many pings are on their way as the plan says.
    Closed,
    /// On schedule from the start time, whatever came back. Latency counts from the scheduled time.
    Open {
        /// From one ping of a flow to the next; of random arrivals, the mean.
        period_ns: Period,
        /// How they are spread.
        #[serde(default)]
        arrivals: Arrivals,
    },
}

/// How the pings of an open loop are spread over time.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, Hash, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Arrivals {
    /// At equal distances.
    #[default]
    Fixed,
    /// At random, each independent of the others: exponential gaps (RFC 2330, section 11.1.1).
    Poisson {
        /// What the sequence of gaps follows from.
        seed: u64,
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
