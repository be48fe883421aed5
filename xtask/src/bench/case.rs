//! What is compared: a grid of transfers and of round trips.

use serde::Serialize;

/// Write sizes of transfers.
const WRITE_BYTES: [usize; 7] = [1_024, 4_096, 16_384, 65_536, 262_144, 524_288, 1_048_576];

/// Write sizes where many connections share the same two cores.
const WRITE_BYTES_OF_MANY: [usize; 2] = [65_536, 524_288];

/// And where there are so many that each has its turn rarely.
const WRITE_BYTES_OF_THOUSAND: [usize; 1] = [65_536];

/// The write size that iperf3 has by itself.
const WRITE_BYTES_OF_IPERF3: usize = 131_072;

/// Write sizes of transfers that the server sends: what ctsTraffic is compared with, iperf3's own, and a large one.
const WRITE_BYTES_OF_PULLS: [usize; 3] = [65_536, WRITE_BYTES_OF_IPERF3, 524_288];

/// Payload of a datagram.
pub const DATAGRAM_BYTES: usize = 1_400;

/// Length of a ping and of its echo.
pub const PING_BYTES: usize = 64;

/// What a connection says that lives for one request, its opening included, and what answers it, the note behind it included.
pub const REQUEST_BYTES: usize = 112;
pub const ANSWER_BYTES: usize = 20;

/// One thing to compare.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Case {
    /// Bytes that applications receive, over TCP.
    Goodput {
        /// Connections at once.
        connections: usize,
        /// Who sends.
        direction: Direction,
        /// The most that is written or read at once.
        write_bytes: usize,
    },
    /// Bytes that applications receive, over UDP, one flow as fast as it goes.
    Datagrams {
        /// Whether many are handed over as one.
        offload: bool,
    },
    /// Connections that live for one request, so many at a time, each closed by a reset.
    Churn {
        /// At once.
        connections: usize,
    },
    /// Round trips over many TCP connections at once, one at a time on each, where both ends wait in the kernel.
    Requests {
        /// At once.
        connections: usize,
    },
    /// Round trips, one at a time.
    Latency {
        /// What carries them.
        protocol: Protocol,
        /// How both ends wait.
        wait: Wait,
    },
}

/// Who sends.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// The client.
    Push,
    /// The server.
    Pull,
    /// Both at once.
    Duplex,
}

/// What carries round trips.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Protocol {
    /// One connection, without Nagle's delay.
    Tcp,
    /// Datagrams.
    Udp,
}

/// How an end waits.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Wait {
    /// Asks again and again.
    Spin,
    /// Is woken by the kernel.
    Sleep,
}

/// The figure in which two tools are compared: the best that both can tell.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// Bits a second that were received, both directions together.
    GoodputBps,
    /// The median round trip.
    MedianRttNs,
    /// The mean round trip, for tools that tell no other.
    MeanRttNs,
    /// Round trips that were made, one after the other: also what lies between them counts.
    RoundTrips,
    /// Round trips of all connections together in a second.
    RequestsPerSecond,
    /// Connections that came to their end in a second.
    ConnectionsPerSecond,
}

/// Every case.
pub fn all() -> Vec<Case> {
    let mut cases = Vec::new();
    for (connections, sizes) in [
        (1, &WRITE_BYTES[..]),
        (8, &WRITE_BYTES),
        (100, &WRITE_BYTES_OF_MANY),
        (1_000, &WRITE_BYTES_OF_THOUSAND),
    ] {
        for direction in [Direction::Push, Direction::Duplex] {
            let case = |&write_bytes| Case::Goodput { connections, direction, write_bytes };
            cases.extend(sizes.iter().map(case));
        }
    }
    for connections in [1, 8] {
        let case = |direction, write_bytes| Case::Goodput { connections, direction, write_bytes };
        cases.push(case(Direction::Push, WRITE_BYTES_OF_IPERF3));
        cases.extend(WRITE_BYTES_OF_PULLS.map(|write_bytes| case(Direction::Pull, write_bytes)));
    }
    cases.extend([true, false].map(|offload| Case::Datagrams { offload }));
    cases.push(Case::Churn { connections: 64 });
    cases.extend([64, 1_000].map(|connections| Case::Requests { connections }));
    for protocol in [Protocol::Tcp, Protocol::Udp] {
        cases.extend([Wait::Spin, Wait::Sleep].map(|wait| Case::Latency { protocol, wait }));
    }
    cases
}

impl Case {
    /// What `--case` and the table call it: `goodput-8-duplex-64KiB`, `latency-udp-spin`.
    pub fn name(&self) -> String {
        match self {
            Self::Goodput { connections, direction, write_bytes } => {
                let direction = direction.name();
                format!("goodput-{connections}-{direction}-{}KiB", write_bytes / 1_024)
            }
            Self::Datagrams { offload: true } => "datagrams-joined".to_owned(),
            Self::Datagrams { offload: false } => "datagrams-single".to_owned(),
            Self::Churn { connections } => format!("churn-{connections}"),
            Self::Requests { connections } => format!("requests-{connections}"),
            Self::Latency { protocol, wait } => {
                format!("latency-{}-{}", protocol.name(), wait.name())
            }
        }
    }
}

impl Direction {
    /// As it is typed.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Push => "push",
            Self::Pull => "pull",
            Self::Duplex => "duplex",
        }
    }
}

impl Protocol {
    /// As it is typed.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tcp => "tcp",
            Self::Udp => "udp",
        }
    }
}

impl Wait {
    /// As it is typed.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Spin => "spin",
            Self::Sleep => "sleep",
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_case_has_a_name_of_its_own() {
        let names: BTreeSet<String> = all().iter().map(Case::name).collect();
        assert_eq!((names.len(), all().len()), (51, 51));
        assert!(names.contains("goodput-8-duplex-64KiB") && names.contains("latency-udp-spin"));
    }
}
