//! The registry of attacks against a server: one line each, and one function in the file of its theme.

mod connections;
mod crowds;
mod noise;
mod others;
mod proposals;
mod reports;
mod seats;
mod stages;
mod streams;

use std::io;

use serde_json::{Value, json};

use crate::ground::Ground;
use crate::wire::Version;

/// How the server that is attacked was started.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Start {
    /// With its defaults.
    Plain,
    /// With few descriptors (`ulimit -n`).
    FewDescriptors,
    /// By a user who is not root.
    WithoutRoot,
    /// So that it serves clients of two other programs, too.
    ForOthers,
}

/// An attack.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// What `--only` calls it.
    pub name: &'static str,
    /// What strangers do in it.
    pub purpose: &'static str,
    /// How long it goes on.
    pub seconds: u64,
    /// How many callers work at once: among so many and itself an honest client has its share.
    pub callers: u32,
    /// Whose frames they speak.
    pub version: Version,
    /// Whether they call over IPv6.
    pub over_ipv6: bool,
    /// How the server was started.
    pub start: Start,
    /// Does it.
    pub run: fn(&Ground) -> io::Result<()>,
}

const fn case(
    name: &'static str,
    purpose: &'static str,
    callers: u32,
    run: fn(&Ground) -> io::Result<()>,
) -> Case {
    let (version, start) = (Version::Two, Start::Plain);
    Case { name, purpose, seconds: 8, callers, version, over_ipv6: false, start, run }
}

/// One in the words of another program.
const fn other(
    name: &'static str,
    purpose: &'static str,
    callers: u32,
    run: fn(&Ground) -> io::Result<()>,
) -> Case {
    Case { start: Start::ForOthers, ..case(name, purpose, callers, run) }
}

const fn old(name: &'static str, of: &Case) -> Case {
    Case { name, version: Version::One, ..*of }
}

const REFUSED_UNREAD: Case = case(
    "refused-unread",
    "bad proposals by 64 callers that never read what they are told",
    64,
    proposals::refused_and_never_read,
);
const REFUSED: Case =
    case("refused", "bad proposals as fast as they are refused", 8, proposals::refused);
const REPORTS: Case = case(
    "reports",
    "reports of 1 MiB that become many times more, by 64 sessions at once",
    64,
    reports::of_empty_names,
);
const REPLACED: Case = case(
    "connections-replaced",
    "connections that follow one another faster than they end",
    4,
    connections::replaced,
);
const ENDED: Case = case(
    "connections-ended",
    "connections that follow one another and end at once: each leaves a line in a log without a limit",
    4,
    connections::replaced_and_ended,
);
const RECEIVER_GONE: Case = case(
    "stream-receiver-gone",
    "a stream over UDP whose receiver closes its socket; datagrams after that are counted",
    1,
    streams::receiver_gone,
);
const DRIPPING: Case = case(
    "dripping",
    "a byte a second in every stage: opening, hello, proposal, attaching, running, report, end",
    112,
    stages::dripping,
);
const HALF_CLOSED: Case = case(
    "half-closed",
    "connections closed for writing in every stage, and kept",
    112,
    stages::half_closed,
);

/// All of them, in the order in which they are run.
pub const CASES: &[Case] = &[
    REFUSED_UNREAD,
    old("refused-unread-v1", &REFUSED_UNREAD),
    REFUSED,
    old("refused-v1", &REFUSED),
    case(
        "wishes",
        "a thousand processors named, spinning, pinning and congestion controls asked for",
        4,
        proposals::wishes,
    ),
    case(
        "never-attached",
        "18,976 connections proposed by each of 8 sessions, and none attached",
        8,
        connections::never_attached,
    ),
    Case {
        seconds: 26,
        ..case(
            "attached-slowly",
            "the same, and one attached every 12 s",
            8,
            connections::attached_slowly,
        )
    },
    REPLACED,
    old("connections-replaced-v1", &REPLACED),
    ENDED,
    old("connections-ended-v1", &ENDED),
    REPORTS,
    old("reports-v1", &REPORTS),
    case("seats-refused", "UDP seats of tokens that nobody has", 4, seats::refused),
    case(
        "seats-one-address",
        "two seats of a test from one UDP address",
        1,
        seats::two_of_one_address,
    ),
    case(
        "known-token",
        "a third party that knows a token: data connections, seats, lanes, resumption",
        2,
        seats::known_token,
    ),
    case(
        "media-depth",
        "media streams with a buffer of 60 s, by 16 sessions",
        16,
        streams::media_depth,
    ),
    Case {
        seconds: 9,
        ..case(
            "stream-no-consent",
            "a stream over UDP whose receiver never asks for it; datagrams after 6 s are counted",
            1,
            streams::no_consent,
        )
    },
    RECEIVER_GONE,
    old("stream-receiver-gone-v1", &RECEIVER_GONE),
    case("sessions-opened-closed", "sessions greeted and dropped", 8, crowds::opened_and_closed),
    DRIPPING,
    old("dripping-v1", &DRIPPING),
    HALF_CLOSED,
    old("half-closed-v1", &HALF_CLOSED),
    case(
        "sessions-256-one-address",
        "256 sessions with a test and a probe from one address",
        64,
        crowds::of_one_address,
    ),
    case(
        "sessions-256-addresses",
        "256 sessions with a test and a probe from as many addresses",
        256,
        crowds::of_many_addresses,
    ),
    Case {
        over_ipv6: true,
        ..case(
            "ipv6-one-64",
            "256 sessions from as many addresses of one /64",
            64,
            crowds::of_one_prefix,
        )
    },
    Case {
        start: Start::FewDescriptors,
        ..case(
            "descriptors-gone",
            "more connections than a server with `ulimit -n 256` has descriptors",
            64,
            crowds::out_of_descriptors,
        )
    },
    Case {
        start: Start::WithoutRoot,
        ..case(
            "without-root",
            "reports, bad proposals and sessions at once, against a server without root",
            64,
            crowds::of_every_kind,
        )
    },
    case("random-bytes", "random bytes to the TCP and the UDP port", 8, noise::random_bytes),
    other(
        "iperf3-silent-one-address",
        "256 sessions of iperf3 from one address that stop: behind the cookie, amid the parameters, before the stream, and with one",
        16,
        others::iperf3_silent,
    ),
    other(
        "iperf3-broken",
        "tests of iperf3 whose connections are reset amid what comes on them",
        8,
        others::iperf3_broken,
    ),
    other(
        "iperf3-one-cookie",
        "8,000 connections from 1,000 addresses that say the cookie of an iperf3 test that runs and awaits none",
        8,
        others::iperf3_one_cookie,
    ),
    other(
        "iperf3-documents",
        "parameters and results of iperf3 that are empty, too long, endless or deep",
        8,
        others::iperf3_documents,
    ),
    other(
        "iperf3-datagrams",
        "datagrams that ask for streams of iperf3 tests that nobody has, from 60,000 addresses",
        8,
        others::iperf3_flood,
    ),
    other(
        "ntttcp-silent",
        "256 senders of ntttcp, an address each, that stop: before a word, amid one, behind the first, behind the second",
        32,
        others::ntttcp_silent,
    ),
    other(
        "ntttcp-data-alone",
        "256 connections to ntttcp's ports of data, an address each, that say and carry nothing",
        32,
        others::ntttcp_data_alone,
    ),
    other(
        "ntttcp-broken",
        "tests of ntttcp whose connections are reset amid what they carry",
        8,
        others::ntttcp_broken,
    ),
];

/// The registry as JSON, for whoever starts attacks.
pub fn listed() -> Vec<Value> {
    CASES
        .iter()
        .map(|case| {
            json!({
                "name": case.name, "purpose": case.purpose, "seconds": case.seconds,
                "callers": case.callers, "over_ipv6": case.over_ipv6,
                "few_descriptors": case.start == Start::FewDescriptors,
                "without_root": case.start == Start::WithoutRoot,
                "for_others": case.start == Start::ForOthers,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique() {
        let mut names: Vec<&str> = CASES.iter().map(|case| case.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), CASES.len());
    }
}
