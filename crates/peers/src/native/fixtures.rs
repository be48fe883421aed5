//! Tests to propose, for the tests of this room.

use pathscope_core::Wait;
use pathscope_core::quantity::{BitRate, Bytes, Frequency, Period};
use pathscope_modes::goodput::{GoodputPlan, Pace, Shape};
use pathscope_modes::groups::Test;
use pathscope_modes::latency::LatencyPlan;
use pathscope_modes::load::{Extent, Pattern, Verify};
use pathscope_modes::multipath::{MultipathPlan, SendOrder};
use pathscope_modes::registry::Plan;
use pathscope_modes::sockets::SocketPlan;

/// Ten seconds of goodput over so many connections, with probes over UDP beside it.
pub(crate) fn load(connections: u32) -> Test {
    Test::new(
        Plan::Goodput(GoodputPlan {
            pattern: Pattern::Push,
            connections,
            extent: Extent::DurationNs(Period::from_secs(10)),
            buffer_bytes: Bytes(1 << 16),
            push_bytes: Bytes(1 << 20),
            pull_bytes: Bytes(1 << 20),
            rate_bps: None,
            warm_up_ns: Period(0),
            verify: Verify::Full,
            congestion_control: None,
            engine: None,
            wait: Wait::Auto,
            shape: Shape::default(),
            sockets: SocketPlan::default(),
            pace: Pace::default(),
            client_cpus: Vec::new(),
            server_cpus: Vec::new(),
        }),
        Some(LatencyPlan {
            size_bytes: Bytes(64),
            wait: Wait::Auto,
            ..LatencyPlan::probe(Frequency(100))
        }),
        Period::from_secs(1),
    )
}

/// Ten seconds over up to two paths.
pub(crate) fn paths() -> Test {
    Test::new(
        Plan::Multipath(MultipathPlan {
            rate_bps: BitRate(1_000_000),
            grouping: 30,
            datagram_bytes: Bytes(1_024),
            duration_ns: Period::from_secs(10),
            paths: Vec::new(),
            lanes: 2,
            order: SendOrder::default(),
            late_by_ns: Period(20_000_000),
        }),
        None,
        Period::from_secs(1),
    )
}
