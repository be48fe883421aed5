//! Latency in virtual time: exact round trips, exact counts, whatever happens to the datagrams.

mod closed;
mod failed;
mod fate;
mod flights;
mod load;
mod numbered;
mod stamps;

use pathscope_core::id::{FlowId, Role, Token};
use pathscope_core::quantity::{BitRate, Bytes, Frequency, Period};
use pathscope_core::record::FlowErrorKind;
use pathscope_core::{Tick, Wait};
use pathscope_flow::sim::{
    Action, Chunks, Conditions, Edit, Ended, Fate, Link, Outcome, Passing, Sim, Weather,
};
use pathscope_flow::{Machine, Phase, Shared, Transport};
use proptest::prelude::*;

use super::*;
use crate::pattern::SessionKey;

const ONE_WAY_NS: u64 = 250_000;
pub(super) const FLOW: FlowId = FlowId(0);
pub(super) const LATE: Tick = Tick::from_nanos(600_000_000_000);

pub(super) type Latency = Sim<PingFlow, EchoFlow>;

pub(super) fn closed(protocol: Protocol, iterations: u64) -> LatencyPlan {
    LatencyPlan {
        protocol,
        load_model: LoadModel::Closed,
        extent: Extent::Iterations(iterations),
        size_bytes: Bytes(64),
        wait: Wait::Auto,
        ..LatencyPlan::probe(Frequency(1))
    }
}

pub(super) fn open(protocol: Protocol, period_ns: u64, duration: Period) -> LatencyPlan {
    LatencyPlan {
        load_model: LoadModel::Open { period_ns: Period(period_ns), arrivals: Arrivals::Fixed },
        extent: Extent::DurationNs(duration),
        ..closed(protocol, 1)
    }
}

pub(super) fn session() -> SessionKey {
    SessionKey::from(Token([3; 16]))
}

pub(super) fn sim(plan: &LatencyPlan, conditions: Conditions) -> Latency {
    let session = session();
    let mut sim = Sim::new(
        conditions,
        LatencyShared::new(plan, Role::Client),
        LatencyShared::new(plan, Role::Server),
    );
    let client = PingFlow::new(plan, session, FLOW);
    sim.connect(client, EchoFlow::new(plan, session, FLOW), plan.protocol.transport());
    sim.tell_totals(ONE_WAY_NS);
    sim
}

pub(super) fn link() -> Conditions {
    Conditions::over(Link::new(ONE_WAY_NS))
}

/// Runs to the end of both and takes what the client's end says.
pub(super) fn run(mut sim: Latency) -> (LatencyReport, LatencyReport, Outcome) {
    let outcome = sim.run(LATE);
    assert_eq!(outcome.ended, Ended::Over, "{outcome}");
    let client = sim.client_shared().report(Tick::ZERO).report(sim.client(FLOW).error());
    let server = sim.server_shared().report(Tick::ZERO).report(sim.server(FLOW).error());
    (client, server, outcome)
}

#[test]
fn a_thousand_pings_over_250_us_measure_exactly_500_us() {
    for protocol in [Protocol::Tcp, Protocol::Udp] {
        let (client, server, outcome) = run(sim(&closed(protocol, 1_000), link()));
        assert_eq!((client.sent, client.received, client.lost), (1_000, 1_000, 0), "{outcome}");
        assert_eq!((server.received, server.sent), (1_000, 1_000));
        let rtt = client.rtt.expect("a thousand round trips");
        assert_eq!((rtt.min_ns, rtt.max_ns, rtt.count), (Some(500_000), Some(500_000), 1_000));
        assert_eq!(rtt.mean_ns, Some(500_000.0));
    }
}

#[test]
fn an_open_loop_keeps_its_schedule_to_the_nanosecond() {
    for protocol in [Protocol::Tcp, Protocol::Udp] {
        // 100 µs apart over a round trip of 500 µs: five are on their way at any time.
        let (client, ..) = run(sim(&open(protocol, 100_000, Period::from_secs(1)), link()));
        assert_eq!((client.sent, client.received, client.lost), (10_000, 10_000, 0));
        let rtt = client.rtt.expect("round trips");
        assert_eq!((rtt.min_ns, rtt.max_ns), (Some(500_000), Some(500_000)));
        let lag = client.send_lag.expect("an open loop records it");
        assert_eq!((lag.count, lag.max_ns), (10_000, Some(0)));
        assert_eq!(client.service.and_then(|service| service.max_ns), Some(500_000));
    }
}

#[test]
fn a_ping_that_left_late_took_as_long_as_one_in_time() {
    const LATE_NS: u64 = 30_000_000;
    for protocol in [Protocol::Tcp, Protocol::Udp] {
        let plan = open(protocol, 200_000_000, Period::from_secs(4));
        for late_ns in [0, LATE_NS] {
            let mut conditions = link();
            conditions.timers_late_ns = late_ns;
            let (client, server, _) = run(sim(&plan, conditions));
            assert_eq!((client.sent, client.received), (20, 20));
            let rtt = client.rtt.as_ref().expect("round trips");
            assert_eq!((rtt.min_ns, rtt.max_ns), (Some(500_000), Some(500_000)), "{late_ns}");
            // The first is due when the flow starts, for which no timer is set.
            let lag = client.send_lag.as_ref().expect("an open loop has it");
            assert_eq!((lag.min_ns, lag.max_ns, lag.count), (Some(0), Some(late_ns), 20));
            let since = client.rtt_since_scheduled.as_ref().expect("an open loop has it");
            assert_eq!((since.max_ns, since.count), (Some(500_000 + late_ns), 20));
            let service = client.service.as_ref().expect("an open loop has it");
            assert_eq!(service.max_ns, Some(500_000));
            let summary = LatencySummary::of(&plan, &client, Some(&server));
            assert!(!summary.counts_from_the_schedule());
            let said = caveats::caveats(&plan, &summary);
            assert_eq!(said.iter().any(|it| it.name == "send_lag"), late_ns > 0, "{said:?}");
            // Jitter and one-way delays know nothing of it either.
            let ipdv = summary.jitter.expect("20 echoes").variation.round_trip.ipdv;
            assert_eq!(ipdv.max_ns, Some(0));
            if let Some(one_way) = client.one_way {
                assert_eq!(one_way.forward.max_ns, Some(250_000));
            }
        }
    }
}

#[test]
fn a_flow_under_back_pressure_counts_from_its_schedule() {
    // A ping takes two periods of the link, and the sender's socket holds one: from the second on each is refused.
    let rate = BitRate(64 * 8 * 500);
    let link = Link::new(ONE_WAY_NS).at_rate(rate).with_buffers(64, 256 << 10);
    for protocol in [Protocol::Tcp, Protocol::Udp] {
        let plan = open(protocol, 1_000_000, Period::from_secs(1));
        let (client, ..) = run(sim(&plan, Conditions::over(link)));
        assert_eq!((client.received, client.sent + client.unsent), (client.sent, 1_000));
        assert!(client.sent >= 990, "{}", client.sent);
        let lag = client.send_lag.as_ref().expect("an open loop has it");
        assert_eq!(lag.max_ns, Some(0), "{protocol:?}");
        // Nothing that waited is left out: the backlog grows by a period with each ping.
        assert_eq!(client.rtt, client.rtt_since_scheduled, "{protocol:?}");
        let most = client.rtt.and_then(|rtt| rtt.max_ns);
        assert!(most > Some(900_000_000), "{protocol:?}: {most:?}");
        let service = client.service.and_then(|service| service.max_ns);
        assert!(service < Some(10_000_000), "{protocol:?}: {service:?}");
    }
}

#[test]
fn a_pause_of_the_server_is_seen_by_the_schedule() {
    let mut sim = sim(&open(Protocol::Udp, 1_000_000, Period::from_secs(1)), link());
    sim.at(
        Tick::from_nanos(500_000_000),
        Action::Pause { role: Role::Server, for_ns: 100_000_000 },
    );
    let (client, ..) = run(sim);
    assert_eq!((client.sent, client.lost), (1_000, 0));
    let rtt = client.rtt.expect("round trips").histogram();
    // The pings of those 100 ms waited 100, 99, 98, … ms: a closed loop would show one of them.
    let slow = (900..1_000).filter(|rank| rtt.value_at_rank(rank + 1) > Some(1_000_000)).count();
    assert!((98..=101).contains(&slow), "{slow}");
    assert!(rtt.max_ns() >= Some(99_000_000), "{:?}", rtt.max_ns());
}

#[test]
fn the_warm_up_is_counted_and_left_out() {
    let plan = LatencyPlan {
        warm_up_ns: Period::from_millis(100),
        ..open(Protocol::Udp, 1_000_000, Period::from_secs(1))
    };
    let (client, ..) = run(sim(&plan, link()));
    assert_eq!((client.sent, client.received, client.warm_up), (1_000, 1_000, 100));
    assert_eq!(client.rtt.map(|rtt| rtt.count), Some(900));
    assert_eq!(client.send_lag.map(|lag| lag.count), Some(900));
}

/// Every tenth datagram of one direction, from the fifth on.
pub(super) fn every_tenth(from: Role, fate: Fate) -> impl FnMut(&mut Passing<'_>) -> Fate {
    move |passing| {
        if passing.from == from && passing.position % 10 == 5 { fate } else { Fate::Deliver }
    }
}

fn troubled(from: Role, fate: Fate) -> LatencySummary {
    let mut sim = sim(&open(Protocol::Udp, 1_000_000, Period::from_secs(1)), link());
    sim.datagrams(every_tenth(from, fate));
    let (client, server, _) = run(sim);
    assert_eq!(client.sent, 1_000);
    LatencySummary::of(&closed(Protocol::Udp, 1), &client, Some(&server))
}

#[test]
fn loss_is_counted_and_has_a_direction() {
    let there = troubled(Role::Client, Fate::Lose);
    assert_eq!((there.lost, there.lost_forward, there.lost_return), (100, Some(100), Some(0)));
    let back = troubled(Role::Server, Fate::Lose);
    assert_eq!((back.lost, back.lost_forward, back.lost_return), (100, Some(0), Some(100)));
    assert_eq!(back.rtt.count, 900);
}

#[test]
fn duplicates_and_reordering_are_counted_and_lose_nothing() {
    let twice = troubled(Role::Server, Fate::Duplicate { after_ns: 10_000 });
    assert_eq!((twice.lost, twice.duplicates, twice.received), (0, 100, 1_000));
    let late = troubled(Role::Server, Fate::Delay { by_ns: 2_500_000 });
    assert_eq!((late.lost, late.reordered, late.received), (0, 100, 1_000));
    assert_eq!(late.rtt.max_ns, Some(3_000_000));
}

#[test]
fn pings_doubled_on_their_way_hide_no_loss() {
    let mut sim = sim(&open(Protocol::Udp, 1_000_000, Period::from_secs(1)), link());
    sim.datagrams(|passing| match (passing.from, passing.position % 10) {
        (Role::Client, 3) | (Role::Server, 5) => Fate::Lose,
        (Role::Client, 9) => Fate::Duplicate { after_ns: 10_000 },
        _ => Fate::Deliver,
    });
    let (client, server, _) = run(sim);
    assert_eq!((server.received, server.duplicates, server.sent), (900, 100, 1_000));
    let summary = LatencySummary::of(&closed(Protocol::Udp, 1), &client, Some(&server));
    assert_eq!(summary.lost_forward, Some(100));
    // Of the doubled ones, one echo in two may be lost: the ping is answered all the same.
    assert_eq!(client.received + client.duplicates, 900);
    assert_eq!(summary.lost_return, Some(client.lost - 100));
}

#[test]
fn the_last_ping_is_awaited_and_so_is_its_copy() {
    for from in [Role::Client, Role::Server] {
        let mut sim = sim(&closed(Protocol::Udp, 50), link());
        sim.datagrams(move |passing| {
            if passing.from == from && passing.position.is_multiple_of(7) {
                Fate::Duplicate { after_ns: 10_000 }
            } else {
                Fate::Deliver
            }
        });
        let (client, ..) = run(sim);
        // Of 0 to 49 every seventh, the last among them.
        assert_eq!((client.received, client.lost, client.duplicates), (50, 0, 8), "{from:?}");
    }
}

#[test]
fn echoes_that_came_while_this_machine_stood_still_are_not_lost() {
    let mut sim = sim(&open(Protocol::Udp, 1_000_000, Period::from_secs(1)), link());
    let stall = Action::Pause { role: Role::Client, for_ns: 30_000_000_000 };
    sim.at(Tick::from_nanos(999_100_000), stall);
    let (client, ..) = run(sim);
    assert_eq!((client.sent, client.received, client.lost), (1_000, 1_000, 0));
}

#[test]
fn a_schedule_is_kept_late_but_not_for_ever() {
    let stalled = |for_ns| {
        let mut sim = sim(&open(Protocol::Udp, 1_000_000, Period::from_secs(1)), link());
        sim.at(Tick::from_nanos(800_100_000), Action::Pause { role: Role::Client, for_ns });
        run(sim).0
    };
    // 199 of them leave when the client wakes, the first 899 ms late.
    let late = stalled(900_000_000);
    assert_eq!((late.sent, late.lost), (1_000, 0));
    assert!(late.send_lag.and_then(|lag| lag.max_ns) >= Some(899_000_000));
    let too_late = stalled(1_300_000_000);
    assert_eq!((too_late.sent, too_late.lost), (801, 0));
}

#[test]
fn a_closed_loop_over_datagrams_goes_on_after_a_loss() {
    let mut sim = sim(&closed(Protocol::Udp, 50), link());
    sim.datagrams(every_tenth(Role::Client, Fate::Lose));
    let (client, ..) = run(sim);
    assert_eq!((client.sent, client.received, client.lost), (50, 45, 5));
}

#[test]
fn a_damaged_echo_is_corrupt_and_gives_no_latency() {
    let mut sim = sim(&open(Protocol::Udp, 1_000_000, Period::from_millis(100)), link());
    sim.datagrams(|passing| {
        if passing.from == Role::Server && passing.position == 7 {
            passing.bytes[60] ^= 1;
        }
        Fate::Deliver
    });
    let (client, ..) = run(sim);
    assert_eq!((client.sent, client.received, client.corrupt, client.lost), (100, 99, 1, 0));
    let mut sim = self::sim(&closed(Protocol::Tcp, 100), link());
    sim.edit(FLOW, Role::Server, Edit::Xor { offset: 1_000, mask: 4 });
    sim.run(LATE);
    let error = sim.client(FLOW).error().expect("the damage is seen");
    assert_eq!(error.kind, FlowErrorKind::Data);
}

#[test]
fn strangers_are_not_pings() {
    let mut sim = sim(&open(Protocol::Udp, 1_000_000, Period::from_millis(100)), link());
    sim.datagrams(|passing| {
        if passing.position == 7 {
            *passing.bytes = vec![0x55; 64];
        }
        Fate::Deliver
    });
    let (client, server, _) = run(sim);
    assert_eq!((client.sent, client.received, client.lost), (100, 98, 2));
    assert_eq!((client.foreign, server.foreign), (1, 1));
}

#[test]
fn a_peer_that_vanishes_costs_its_pings_and_no_more() {
    let mut sim = sim(&open(Protocol::Udp, 1_000_000, Period::from_secs(1)), link());
    sim.at(Tick::from_nanos(500_000_000), Action::Cut { flow: FLOW, from: Role::Server });
    let (client, _, outcome) = run(sim);
    assert_eq!(client.sent, 1_000);
    assert!((498..=502).contains(&client.lost), "{}", client.lost);
    // The client waits for what was long under way, and the server for what the client may still say.
    assert!(outcome.at < Tick::from_nanos(14_000_000_000), "the drain is bounded: {outcome}");
}

#[test]
fn a_connection_that_breaks_at_any_operation_ends_both_ends() {
    let operations = run(sim(&closed(Protocol::Tcp, 20), link())).2.operations;
    for operation in 0..operations {
        let mut sim = sim(&closed(Protocol::Tcp, 20), link());
        sim.before_operation(operation, Action::Reset { flow: FLOW, errno: 104 });
        let outcome = sim.run(LATE);
        assert_eq!(outcome.ended, Ended::Over, "{operation}: {outcome}");
        assert_eq!(sim.client(FLOW).phase(), Phase::Failed, "{operation}");
    }
}

#[test]
fn stopping_keeps_what_was_measured() {
    for protocol in [Protocol::Tcp, Protocol::Udp] {
        let mut sim = sim(&closed(protocol, 1_000_000_000), link());
        for role in [Role::Client, Role::Server] {
            sim.at(Tick::from_nanos(100_000_000), Action::Stop { role });
        }
        let (client, ..) = run(sim);
        assert_eq!((client.sent, client.received), (200, 200), "{protocol:?}");
    }
}

#[test]
fn an_echo_in_any_pieces_is_one_echo() {
    for size in [1, 7, 64, 4_000, 1 << 20] {
        let plan = LatencyPlan { size_bytes: Bytes(size), ..closed(Protocol::Tcp, 5) };
        let mut conditions = link();
        conditions.reads = Chunks::Random { seed: 5, max: 3_000 };
        conditions.writes = Chunks::Random { seed: 6, max: 2_000 };
        let (client, ..) = run(sim(&plan, conditions));
        assert_eq!((client.sent, client.received), (5, 5), "{size}");
        assert!(client.rtt.and_then(|rtt| rtt.min_ns) >= Some(500_000));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn every_ping_is_accounted_for_in_any_weather(
        seed in any::<u64>(),
        lost_ppm in 0_u64..300_000,
        duplicated_ppm in 0_u64..300_000,
        delayed_ppm in 0_u64..300_000,
        delay_ns in 0_u64..20_000_000,
    ) {
        let weather = Weather { seed, lost_ppm, duplicated_ppm, delayed_ppm, delay_ns, ..Weather::default() };
        let mut sim = sim(&open(Protocol::Udp, 1_000_000, Period::from_millis(300)), link());
        sim.datagrams(weather.fates());
        let (client, server, _) = run(sim);
        prop_assert_eq!(client.sent, 300);
        prop_assert_eq!(client.received + client.lost, 300);
        prop_assert!(server.received >= client.received);
        prop_assert_eq!(client.rtt.map_or(0, |rtt| rtt.count), client.received);
    }
}

#[test]
fn datagrams_and_streams_have_their_transports() {
    assert_eq!(Protocol::Tcp.transport(), Transport::Stream);
    assert_eq!(Protocol::Udp.transport(), Transport::Datagram);
}
