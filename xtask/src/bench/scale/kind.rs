//! What very many flows are of: by which words they are asked for, what they have to carry, and what a run of them is held to. Not how
//! a run is watched.

use serde::Serialize;
use serde_json::Value;

/// Requests of each connection, and as many replies.
const REQUESTS: u64 = 10;
/// Bytes of either.
const REQUEST_BYTES: u64 = 64;
/// Pings of each flow, one in 2 s.
const PINGS: u64 = 5;
/// Datagrams of each flow or stream, one a second.
const DATAGRAMS: u64 = 10;

/// One case.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// TCP connections with requests and replies.
    #[default]
    Requests,
    /// Pings over TCP.
    PingsOverTcp,
    /// Pings over UDP.
    PingsOverUdp,
    /// Goodput over UDP.
    Datagrams,
    /// Streams of frames.
    Media,
}

/// What a run is held to beside its counts and the length of its document.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bounds {
    /// So many are to be made in a second at the least.
    pub least_a_second: Option<f64>,
    /// What an end may take for each.
    pub most_bytes: Option<u64>,
    /// Jain's index over what flows carried a second, the lower one where there are two ways: each carries as much as any other.
    pub least_fairness: Option<f64>,
}

/// Something of which all flows together are to carry exactly so much.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Carried {
    /// What is counted.
    pub what: &'static str,
    /// How much it has to be.
    pub wanted: u64,
    /// How much it was.
    pub came: u64,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Requests, Self::PingsOverTcp, Self::PingsOverUdp, Self::Datagrams, Self::Media];

    /// What `--case` calls it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Requests => "scale",
            Self::PingsOverTcp => "scale-latency-tcp",
            Self::PingsOverUdp => "scale-latency-udp",
            Self::Datagrams => "scale-goodput-udp",
            Self::Media => "scale-media",
        }
    }

    /// Which one is called so.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// So many flows where nobody asks for another number.
    pub const fn usual_flows(self) -> u64 {
        match self {
            Self::Requests => 1_000_000,
            Self::PingsOverTcp | Self::PingsOverUdp | Self::Datagrams | Self::Media => 100_000,
        }
    }

    /// What its flows are called and do.
    pub fn in_words(self) -> String {
        match self {
            Self::Requests => format!(
                "connections at a time, {REQUESTS} requests of {REQUEST_BYTES} bytes and as many replies on each"
            ),
            Self::PingsOverTcp => {
                format!("connections at a time, {PINGS} pings on each, one in 2 s")
            }
            Self::PingsOverUdp => format!("UDP flows at a time, {PINGS} pings on each, one in 2 s"),
            Self::Datagrams => {
                format!("UDP flows at a time, {DATAGRAMS} datagrams on each, one a second")
            }
            Self::Media => format!(
                "streams at a time, {DATAGRAMS} frames of one datagram on each, one a second"
            ),
        }
    }

    /// The words of the client, to a server at this place; every TCP connection of a load has this congestion control.
    pub fn words(self, place: &str, flows: u64, congestion: &str) -> Vec<String> {
        let flows = flows.to_string();
        let (request, pings) = (REQUEST_BYTES.to_string(), PINGS.to_string());
        let transfer = (2 * REQUESTS * REQUEST_BYTES).to_string();
        let duration = format!("{DATAGRAMS}s");
        #[rustfmt::skip]
        let own: &[&str] = match self {
            Self::Requests => &[
                "goodput", place, "--connections", &flows, "--pattern", "pushpull", "--push-bytes", &request,
                "--pull-bytes", &request, "--transfer", &transfer, "--no-probe", "--congestion", congestion,
            ],
            Self::PingsOverTcp => &[
                "latency", place, "--connections", &flows, "--period", "2s", "--iterations", &pings,
            ],
            Self::PingsOverUdp => &[
                "latency", place, "--protocol", "udp", "--connections", &flows, "--period", "2s", "--iterations", &pings,
            ],
            Self::Datagrams => &[
                "goodput", place, "--protocol", "udp", "--connections", &flows, "--rate", "1kbit", "--datagram", "125",
                "--duration", &duration, "--no-probe",
            ],
            Self::Media => &[
                "media", place, "--streams", &flows, "--rate", "1kbit", "--datagram", "128", "--frame-rate", "1",
                "--duration", &duration,
            ],
        };
        own.iter().chain(&["--json", "--quiet"]).map(|&word| word.to_owned()).collect()
    }

    /// Where the kernel says how many sockets of its kind a node uses, and how many of them are no flow's: the server's listener, and both
    /// ends of what is said where that goes over TCP as well.
    pub const fn sockets(self) -> (&'static str, u64) {
        match self {
            Self::Requests | Self::PingsOverTcp => ("TCP: inuse ", 3),
            Self::PingsOverUdp | Self::Datagrams | Self::Media => ("UDP: inuse ", 1),
        }
    }

    pub const fn bounds(self) -> Bounds {
        match self {
            Self::Requests => Bounds {
                least_a_second: Some(20_000.0),
                most_bytes: Some(600),
                least_fairness: Some(0.99),
            },
            Self::Datagrams => {
                Bounds { least_a_second: None, most_bytes: None, least_fairness: Some(0.99) }
            }
            Self::PingsOverTcp | Self::PingsOverUdp | Self::Media => {
                Bounds { least_a_second: None, most_bytes: None, least_fairness: None }
            }
        }
    }

    /// What so many flows carried, by the summary of a run; nothing of what that does not tell.
    pub fn carried(self, flows: u64, summary: &Value) -> Vec<Carried> {
        let (of_each, figures) = match self {
            Self::Requests => (
                REQUESTS * REQUEST_BYTES,
                [
                    ("bytes of requests verified", "/goodput/up/received_bytes"),
                    ("bytes of replies verified", "/goodput/down/received_bytes"),
                ],
            ),
            Self::PingsOverTcp | Self::PingsOverUdp => {
                (PINGS, [("pings sent", "/latency/sent"), ("pings answered", "/latency/received")])
            }
            Self::Datagrams => (
                DATAGRAMS,
                [
                    ("datagrams sent", "/datagrams/up/sent"),
                    ("datagrams received", "/datagrams/up/received"),
                ],
            ),
            Self::Media => (
                DATAGRAMS,
                [
                    ("datagrams sent", "/media/down/sent_datagrams"),
                    ("datagrams received", "/media/down/received_datagrams"),
                ],
            ),
        };
        let carried = |(what, place)| {
            let came = number(summary, place).unwrap_or(0);
            Carried { what, wanted: flows.saturating_mul(of_each), came }
        };
        figures.map(carried).to_vec()
    }

    /// How many of so many flows came to their planned end at both ends, where that is told: of pings all counts are of all flows.
    pub fn completed(self, flows: u64, summary: &Value) -> Option<u64> {
        match self {
            Self::Requests => number(summary, "/goodput/completed"),
            Self::PingsOverTcp | Self::PingsOverUdp => None,
            Self::Datagrams => number(summary, "/datagrams/completed"),
            Self::Media => Some(flows.saturating_sub(number(summary, "/media/down/failed")?)),
        }
    }

    /// Jain's index over flows, of two ways the lower one: where one has none, the other says nothing of both.
    pub fn fairness(self, summary: &Value) -> Option<f64> {
        let ways: &[&str] = match self {
            Self::Requests => &["/goodput/up/fairness", "/goodput/down/fairness"],
            Self::Datagrams => &["/datagrams/up/fairness"],
            Self::PingsOverTcp | Self::PingsOverUdp | Self::Media => &[],
        };
        let ways = ways.iter().map(|place| summary.pointer(place).and_then(Value::as_f64));
        ways.collect::<Option<Vec<f64>>>()?.into_iter().reduce(f64::min)
    }

    /// Of single flows that are to come to their end it is told whether they did.
    pub const fn tells_completed(self) -> bool {
        !matches!(self, Self::PingsOverTcp | Self::PingsOverUdp)
    }
}

fn number(summary: &Value, place: &str) -> Option<u64> {
    summary.pointer(place).and_then(Value::as_u64)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_kind_is_found_by_its_whole_name() {
        for kind in Kind::ALL {
            assert_eq!(Kind::named(kind.name()), Some(kind));
        }
        assert_eq!((Kind::named("scale-"), Kind::named("")), (None, None));
    }

    #[test]
    fn what_flows_carried_is_found_in_the_summary_of_each_kind() {
        let way = json!({
            "received_bytes": 1_280, "fairness": 0.75, "sent": 20, "received": 19, "sent_datagrams": 20,
            "received_datagrams": 18, "failed": 1,
        });
        let summary = json!({
            "goodput": { "up": way, "down": { "received_bytes": 1_216, "fairness": 0.5 }, "completed": 2 },
            "latency": { "sent": 10, "received": 9 },
            "datagrams": { "up": way, "completed": 1 },
            "media": { "down": way },
        });
        let of = |kind: Kind| {
            let carried = kind.carried(2, &summary).into_iter();
            let counts: Vec<_> = carried.map(|it| (it.came, it.wanted)).collect();
            (counts, kind.completed(2, &summary), kind.fairness(&summary))
        };
        assert_eq!(
            Kind::ALL.map(of),
            [
                (vec![(1_280, 1_280), (1_216, 1_280)], Some(2), Some(0.5)),
                (vec![(10, 10), (9, 10)], None, None),
                (vec![(10, 10), (9, 10)], None, None),
                (vec![(20, 20), (19, 20)], Some(1), Some(0.75)),
                (vec![(20, 20), (18, 20)], Some(1), None),
            ]
        );
        let nothing = Kind::Datagrams.carried(2, &Value::Null);
        assert!(nothing.iter().all(|it| (it.came, it.wanted) == (0, 20)), "{nothing:?}");
    }
}
