//! Kernel stamps and one-way delay in virtual time: exact parts, exact coverage.

use pathscope_core::Tick;
use pathscope_core::id::Role;
use pathscope_core::quantity::{Bytes, Period};
use pathscope_core::stats::Distribution;
use pathscope_flow::sim::{Action, Conditions, Fate};

use super::super::*;
use super::{closed, every_tenth, link, open, run, sim};

/// Kernels that stamp, and hand a datagram over 1 µs after it was sent.
fn stamping() -> Conditions {
    Conditions { kernel_stamps: true, handover_ns: 1_000, ..link() }
}

fn stamped(plan: LatencyPlan) -> LatencyPlan {
    LatencyPlan { timestamps: Timestamps::Kernel, size_bytes: Bytes(88), ..plan }
}

fn always(part: &Distribution, nanoseconds: u64) {
    assert_eq!((part.min_ns, part.max_ns), (Some(nanoseconds), Some(nanoseconds)));
}

#[test]
fn a_round_trip_is_split_to_the_nanosecond() {
    for outstanding in [1, 8] {
        let plan = LatencyPlan { outstanding, ..stamped(closed(Protocol::Udp, 1_000)) };
        let (client, ..) = run(sim(&plan, stamping()));
        assert_eq!((client.received, client.corrupt), (1_000, 0));
        let parts = client.parts.expect("they were asked for");
        // Each echo tells of one before it, so that of the last ones nobody is told.
        assert_eq!((parts.pings, parts.implausible), (1_000 - u64::from(outstanding), 0));
        for (part, nanoseconds) in [
            (&parts.client_send, 1_000),
            (&parts.wire, 498_000),
            (&parts.server_receive, 0),
            (&parts.server_residence, 0),
            (&parts.server_send, 1_000),
            (&parts.client_receive, 0),
        ] {
            always(part, nanoseconds);
        }
    }
}

#[test]
fn a_server_that_stands_still_is_told_from_the_wire() {
    let plan = stamped(open(Protocol::Udp, 1_000_000, Period::from_secs(1)));
    let mut sim = sim(&plan, stamping());
    let pause = Action::Pause { role: Role::Server, for_ns: 100_000_000 };
    sim.at(Tick::from_nanos(500_000_000), pause);
    let (client, ..) = run(sim);
    let parts = client.parts.expect("they were asked for");
    always(&parts.wire, 498_000);
    let waited = parts.server_receive.histogram();
    let slow = (1..=parts.pings).filter(|&rank| waited.value_at_rank(rank) > Some(500_000)).count();
    assert!((98..=101).contains(&slow), "{slow}");
    assert!(waited.max_ns() >= Some(99_000_000), "{:?}", waited.max_ns());
}

#[test]
fn what_is_lost_costs_coverage_and_nothing_else() {
    for from in [Role::Client, Role::Server] {
        let plan = stamped(open(Protocol::Udp, 1_000_000, Period::from_secs(1)));
        let mut sim = sim(&plan, stamping());
        sim.datagrams(every_tenth(from, Fate::Lose));
        let (client, ..) = run(sim);
        assert_eq!((client.sent, client.received, client.corrupt), (1_000, 900, 0));
        let parts = client.parts.expect("they were asked for");
        // A lost echo takes with it what it tells of the one before; the last has nobody to tell of it.
        let untold = if from == Role::Server { 101 } else { 1 };
        assert_eq!((parts.pings, parts.implausible), (900 - untold, 0), "{from:?}");
        always(&parts.wire, 498_000);
    }
}

#[test]
fn the_warm_up_is_in_no_part() {
    let warm_up_ns = Period::from_millis(100);
    let plan = stamped(open(Protocol::Udp, 1_000_000, Period::from_secs(1)));
    let (client, ..) = run(sim(&LatencyPlan { warm_up_ns, ..plan }, stamping()));
    let parts = client.parts.expect("they were asked for");
    assert_eq!((client.warm_up, parts.pings), (100, 899));
}

#[test]
fn kernels_that_do_not_stamp_leave_no_part_and_every_round_trip() {
    let (client, server, _) = run(sim(&stamped(closed(Protocol::Udp, 100)), link()));
    let parts = client.parts.as_ref().expect("they were asked for");
    assert_eq!((parts.pings, parts.implausible, client.received), (0, 0, 100));
    let summary = LatencySummary::of(&closed(Protocol::Udp, 1), &client, Some(&server));
    let parts = summary.parts.expect("they were asked for");
    assert_eq!((parts.pings, parts.of, parts.wire.count), (0, 100, 0));
}

#[test]
fn one_way_delays_are_those_of_each_way_where_both_ends_read_one_clock() {
    let plan = closed(Protocol::Udp, 500);
    let mut conditions = link();
    conditions.links.server.one_way_ns = 40_000;
    // Two clocks: what they differ by is nobody's delay.
    assert_eq!(run(sim(&plan, conditions)).0.one_way, None);
    conditions.clock_origins.server = conditions.clock_origins.client;
    let one_way = run(sim(&plan, conditions)).0.one_way.expect("one clock");
    always(&one_way.forward, 250_000);
    always(&one_way.back, 40_000);
}
