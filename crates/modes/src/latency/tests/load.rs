//! Load models, sizes, flows and figures in virtual time: exact counts, exact differences.

use std::sync::{Arc, Mutex};

use pathscope_core::Tick;
use pathscope_core::id::{FlowId, Lane, Role, Token};
use pathscope_core::quantity::{Bytes, Period};
use pathscope_core::record::FlowErrorKind;
use pathscope_core::stats::LinearRanges;
use pathscope_flow::sim::{Action, Chunks, Edit, Fate, Sim};
use pathscope_flow::{Event, Machine};

use super::super::*;
use super::{FLOW, LATE, Latency, closed, every_tenth, link, open, run, sim};
use crate::pattern::SessionKey;
use crate::samples::{BLOCK, SampleBuffer, SampleSink};

const MILLISECOND: u64 = 1_000_000;
const BOTH: [Protocol; 2] = [Protocol::Tcp, Protocol::Udp];

#[test]
fn so_many_pings_are_on_their_way_and_no_more() {
    for protocol in BOTH {
        let plan = LatencyPlan { outstanding: 8, ..closed(protocol, 800) };
        let (client, server, outcome) = run(sim(&plan, link()));
        assert_eq!((client.sent, client.received, server.sent), (800, 800, 800));
        let rtt = client.rtt.expect("round trips");
        assert_eq!((rtt.min_ns, rtt.max_ns), (Some(500_000), Some(500_000)));
        // A hundred round trips of eight pings each, and the drain.
        assert!(outcome.at >= Tick::from_nanos(50 * MILLISECOND), "{outcome}");
        if protocol == Protocol::Tcp {
            assert!(outcome.at < Tick::from_nanos(52 * MILLISECOND), "{outcome}");
        }
    }
}

#[test]
fn a_loss_takes_one_of_the_places_until_it_is_given_up() {
    let plan = LatencyPlan { outstanding: 4, ..closed(Protocol::Udp, 100) };
    let mut sim = sim(&plan, link());
    sim.datagrams(every_tenth(Role::Server, Fate::Lose));
    let (client, ..) = run(sim);
    assert_eq!((client.sent, client.received, client.lost), (100, 90, 10));
    assert_eq!(client.rtt.and_then(|rtt| rtt.max_ns), Some(500_000));
}

#[test]
fn flows_beside_each_other_are_counted_together() {
    for protocol in BOTH {
        for model in [closed(protocol, 50), open(protocol, MILLISECOND, Period::from_millis(50))] {
            let plan = LatencyPlan { connections: 5, ..model };
            let session = SessionKey::from(Token([3; 16]));
            let mut sim: Sim<PingFlow, EchoFlow> = Sim::new(
                link(),
                LatencyShared::new(&plan, Role::Client),
                LatencyShared::new(&plan, Role::Server),
            );
            for flow in (0..5).map(FlowId) {
                let client = PingFlow::new(&plan, session, flow);
                sim.connect(client, EchoFlow::new(&plan, session, flow), protocol.transport());
            }
            sim.tell_totals(250_000);
            let (client, server, _) = run(sim);
            assert_eq!((client.sent, client.received, server.received), (250, 250, 250));
            assert_eq!(client.rtt.and_then(|rtt| rtt.max_ns), Some(500_000), "{protocol:?}");
            if let Some(lag) = client.send_lag {
                assert_eq!((lag.count, lag.max_ns), (250, Some(0)));
            }
        }
    }
}

fn sized(protocol: Protocol, ping: u64, echo: u64, iterations: u64) -> LatencyPlan {
    LatencyPlan {
        size_bytes: Bytes(ping),
        reply_bytes: (echo != ping).then_some(Bytes(echo)),
        ..closed(protocol, iterations)
    }
}

#[test]
fn pings_and_echoes_of_any_two_lengths_come_back_whole() {
    let tcp = [(1, 1), (1, 1_000), (1_000, 1), (7, 5), (5, 7), (100_000, 3), (3, 1 << 20)];
    let udp = [(48, 48), (48, 65_507), (65_507, 48), (100, 99)];
    let tcp = tcp.map(|(ping, echo)| sized(Protocol::Tcp, ping, echo, 12));
    let udp = udp.map(|(ping, echo)| sized(Protocol::Udp, ping, echo, 12));
    for plan in tcp.into_iter().chain(udp) {
        for outstanding in [1, 3] {
            let plan = LatencyPlan { outstanding, ..plan.clone() };
            plan.check().expect("within the limits");
            let mut conditions = link();
            conditions.reads = Chunks::Random { seed: 5, max: 9_000 };
            conditions.writes = Chunks::Random { seed: 6, max: 7_000 };
            let (client, server, _) = run(sim(&plan, conditions));
            let counts = (client.sent, client.received, client.corrupt, server.corrupt);
            assert_eq!(counts, (12, 12, 0, 0), "{plan:?}");
            assert_eq!((client.error, server.error), (None, None), "{plan:?}");
        }
    }
}

#[test]
fn damage_is_seen_wherever_it_is() {
    // Of a short ping and a long echo: in the echoed part, and in what the server added.
    for offset in [3, 700] {
        let mut sim = sim(&sized(Protocol::Tcp, 10, 1_000, 20), link());
        sim.edit(FLOW, Role::Server, Edit::Xor { offset: 5_000 + offset, mask: 4 });
        sim.run(LATE);
        let error = sim.client(FLOW).error().expect("the client sees it");
        assert_eq!(error.kind, FlowErrorKind::Data);
        assert!(error.text.contains("ping 5"), "{}", error.text);
    }
    // Of a long ping and a short echo: in what is not echoed, the server sees it.
    let mut sim = sim(&sized(Protocol::Tcp, 1_000, 10, 20), link());
    sim.edit(FLOW, Role::Client, Edit::Xor { offset: 5_700, mask: 4 });
    sim.run(LATE);
    assert_eq!(sim.server(FLOW).error().map(|error| error.kind), Some(FlowErrorKind::Data));
    let mut sim = self::sim(&sized(Protocol::Udp, 1_000, 48, 20), link());
    sim.datagrams(|passing| {
        if passing.from == Role::Client && passing.position == 5 {
            passing.bytes[900] ^= 1;
        }
        Fate::Deliver
    });
    let (client, server, _) = run(sim);
    assert_eq!((server.corrupt, server.received), (1, 19));
    // The client is told, and the ping is no loss of the path's.
    assert_eq!((client.received, client.corrupt, client.lost), (19, 1, 0));
}

#[test]
fn random_arrivals_keep_their_own_schedule() {
    let sent = |seed| {
        let arrivals = Arrivals::Poisson { seed };
        let plan = LatencyPlan {
            load_model: LoadModel::Open { period_ns: Period(MILLISECOND), arrivals },
            ..open(Protocol::Udp, MILLISECOND, Period::from_secs(2))
        };
        let (client, ..) = run(sim(&plan, link()));
        assert_eq!((client.lost, client.unsent), (0, 0));
        assert_eq!(client.rtt.and_then(|rtt| rtt.max_ns), Some(500_000));
        assert_eq!(client.send_lag.and_then(|lag| lag.max_ns), Some(0));
        client.sent
    };
    // 2,000 are due on average, with a deviation of 45.
    assert!((1_750..=2_250).contains(&sent(1)), "{}", sent(1));
    assert_eq!(sent(1), sent(1));
    assert_ne!(sent(1), sent(2));
}

#[test]
fn a_closed_loop_at_a_rate_waits_for_both() {
    let paced = |protocol, one_way_ns: u64| {
        let pace_ns = Some(Period(MILLISECOND));
        let plan = LatencyPlan {
            pace_ns,
            extent: Extent::DurationNs(Period::from_secs(1)),
            ..closed(protocol, 1)
        };
        let mut conditions = link();
        conditions.timers_late_ns = 0;
        let mut sim = sim(&plan, conditions);
        let stall = Action::Pause { role: Role::Server, for_ns: one_way_ns };
        sim.at(Tick::from_nanos(500 * MILLISECOND), stall);
        let (client, server, _) = run(sim);
        LatencySummary::of(&plan, &client, Some(&server))
    };
    for protocol in BOTH {
        let smooth = paced(protocol, 0);
        assert_eq!((smooth.sent, smooth.received), (1_000, 1_000));
        assert_eq!(smooth.corrected.map(|it| it.count), Some(1_000));
        // One ping met the stall. A hundred would have, had they been asked.
        let stalled = paced(protocol, 100 * MILLISECOND);
        assert!((899..=902).contains(&stalled.sent), "{}", stalled.sent);
        let corrected = stalled.corrected.expect("a rate was asked for");
        assert!((998..=1_001).contains(&corrected.count), "{}", corrected.count);
        let p95 = |of: &pathscope_core::stats::LatencyFigures| of.percentile(95.0)?.value_ns;
        assert_eq!(p95(&stalled.rtt).map(|it| it / 1_000), Some(500));
        assert!(p95(&corrected) > Some(40 * MILLISECOND), "{corrected:?}");
    }
}

#[test]
fn a_closed_loop_at_a_rate_keeps_its_pace_after_a_loss() {
    // Longer than an answer is awaited.
    let pace = Period(3_000 * MILLISECOND);
    let plan = LatencyPlan { pace_ns: Some(pace), ..closed(Protocol::Udp, 4) };
    let kept = Kept::default();
    let mut sim = sampling(&plan, &kept);
    sim.datagrams(|passing| match (passing.from, passing.position) {
        (Role::Client, 1) => Fate::Lose,
        _ => Fate::Deliver,
    });
    let (client, ..) = run(sim);
    assert_eq!((client.sent, client.received, client.lost), (4, 3, 1));
    let mut rows = kept.0.lock().expect("one thread").0.clone();
    rows.sort_by_key(|row| row.sequence);
    let gaps = rows.windows(2).map(|pair| pair[1].sent.nanos_since(pair[0].sent));
    assert!(gaps.clone().all(|gap| gap >= pace.0), "{:?}", gaps.collect::<Vec<_>>());
}

#[test]
fn variation_has_a_direction_without_synchronised_clocks() {
    let mut sim = sim(&open(Protocol::Udp, MILLISECOND, Period::from_secs(1)), link());
    sim.datagrams(|passing| match (passing.from, passing.position % 2) {
        (Role::Server, 1) => Fate::Delay { by_ns: 100_000 },
        _ => Fate::Deliver,
    });
    let (client, server, _) = run(sim);
    let plan = open(Protocol::Udp, MILLISECOND, Period::from_secs(1));
    let jitter = LatencySummary::of(&plan, &client, Some(&server)).jitter.expect("echoes");
    let ways = [&jitter.variation.round_trip, jitter.variation.back.as_ref().expect("stamps")];
    for way in ways {
        assert_eq!((way.ipdv.count, way.ipdv.min_ns), (999, Some(100_000)));
        assert_eq!(way.ipdv.mean_ns, Some(100_000.0));
        assert!((way.rfc3550.last_ns - 100_000.0).abs() < 1e-3, "{way:?}");
    }
    let forward = jitter.variation.forward.as_ref().expect("stamps");
    assert_eq!((forward.ipdv.count, forward.ipdv.max_ns), (999, Some(0)));
    assert_eq!(forward.rfc3550, crate::arrivals::InterarrivalJitter::default());
    let pdv =
        |percent: f64| jitter.pdv.iter().find(|it| (it.percent - percent).abs() < 1e-9)?.value_ns;
    // Nothing, but for the three digits that are known of 500 µs.
    assert!(pdv(25.0) <= Some(500), "{:?}", pdv(25.0));
    assert!((99_000..=101_000).contains(&pdv(75.0).expect("samples")), "{:?}", pdv(75.0));
    assert!(jitter.interquartile_range_ns >= Some(99_000), "{jitter:?}");
}

#[test]
fn reordering_has_an_extent_and_a_direction() {
    for from in [Role::Client, Role::Server] {
        let plan = open(Protocol::Udp, MILLISECOND, Period::from_secs(1));
        let mut sim = sim(&plan, link());
        // One of each hundred is late by two and a half periods: two others overtake it.
        sim.datagrams(move |passing| {
            let is_late = passing.from == from && passing.position % 100 == 7;
            if is_late { Fate::Delay { by_ns: 2_500_000 } } else { Fate::Deliver }
        });
        let (client, server, _) = run(sim);
        let summary = LatencySummary::of(&plan, &client, Some(&server));
        assert_eq!((summary.reordered, summary.lost, summary.duplicates), (10, 0, 0));
        assert_eq!((summary.reordered_ratio * 1_000.0).round() as u64, 10);
        assert_eq!(summary.reordering_extent_mean, Some(2.0));
        assert_eq!(summary.reordering_extent_max, Some(2));
        let by_way = (summary.reordered_forward, summary.reordered_return);
        let expected = if from == Role::Client { (10, 0) } else { (0, 10) };
        assert_eq!(by_way, (Some(expected.0), Some(expected.1)));
    }
}

#[test]
fn ranges_hold_every_round_trip_that_is_measured() {
    let plan = LatencyPlan {
        histogram: Some(LinearRanges { start_ns: 500_000, width_ns: 50_000, count: 2 }),
        percentiles_ppb: vec![333_000_000],
        ..open(Protocol::Udp, MILLISECOND, Period::from_secs(1))
    };
    let mut sim = sim(&plan, link());
    sim.datagrams(every_tenth(Role::Server, Fate::Delay { by_ns: 60_000 }));
    let (client, ..) = run(sim);
    let linear = client.linear.clone().expect("it was asked for");
    assert_eq!((linear.below, &linear.counts[..], linear.above), (0, &[900, 100][..], 0));
    let summary = LatencySummary::of(&plan, &client, None);
    assert!(summary.rtt.percentile(33.3).is_some());
}

/// Keeps what it takes; says no to all but the first so many blocks.
#[derive(Clone, Default)]
pub(super) struct Kept(pub Arc<Mutex<(Vec<Sample>, u64)>>, Option<usize>);

impl SampleSink<Sample> for Kept {
    fn exchange(&mut self, full: &mut Vec<Sample>) -> Option<Vec<Sample>> {
        let kept = &mut self.0.lock().expect("one thread").0;
        if self.1.is_some_and(|most| kept.len() / BLOCK >= most) {
            return None;
        }
        kept.append(full);
        Some(Vec::with_capacity(BLOCK))
    }

    fn dropped(&mut self, samples: u64) {
        self.0.lock().expect("one thread").1 += samples;
    }
}

/// A simulation that keeps its samples.
pub(super) fn sampling(plan: &LatencyPlan, kept: &Kept) -> Latency {
    let session = SessionKey::from(Token([3; 16]));
    let mut client = LatencyShared::new(plan, Role::Client);
    client.samples = Some(SampleBuffer::new(Box::new(kept.clone())));
    let mut sim: Latency = Sim::new(link(), client, LatencyShared::new(plan, Role::Server));
    let flow = PingFlow::new(plan, session, FLOW);
    sim.connect(flow, EchoFlow::new(plan, session, FLOW), plan.protocol.transport());
    sim.tell_totals(250_000);
    sim
}

fn sampled(plan: &LatencyPlan, kept: &Kept, fate: Fate) -> LatencyReport {
    let mut sim = sampling(plan, kept);
    if plan.protocol == Protocol::Udp {
        sim.datagrams(every_tenth(Role::Server, fate));
    }
    run(sim).0
}

#[test]
fn every_ping_is_a_sample_and_so_is_a_lost_one() {
    let warm_up_ns = Period::from_millis(50);
    for protocol in BOTH {
        let plan = LatencyPlan { warm_up_ns, ..open(protocol, MILLISECOND, Period::from_secs(1)) };
        let kept = Kept::default();
        let report = sampled(&plan, &kept, Fate::Lose);
        let mut samples = kept.0.lock().expect("one thread").0.clone();
        samples.sort_by_key(|sample| sample.sequence);
        let numbers: Vec<u64> = samples.iter().map(|sample| sample.sequence).collect();
        assert_eq!(numbers, (0..1_000).collect::<Vec<_>>());
        let of = |outcome| samples.iter().filter(|sample| sample.outcome == outcome).count() as u64;
        assert_eq!(of(Outcome::Answered), report.rtt.map_or(0, |rtt| rtt.count));
        assert_eq!((of(Outcome::WarmUp), of(Outcome::Lost)), (report.warm_up, report.lost));
        let (warm_up, lost) = if protocol == Protocol::Udp { (45, 100) } else { (50, 0) };
        assert_eq!((report.warm_up, report.lost), (warm_up, lost));
        assert!(samples.iter().all(|it| it.due == it.sent && it.flow == FLOW));
        let has_stamps = samples.iter().any(|sample| sample.server.is_some());
        assert_eq!(has_stamps, protocol == Protocol::Udp);
    }
}

#[test]
fn a_sink_that_takes_no_more_costs_samples_and_nothing_else() {
    let kept = Kept(Arc::default(), Some(1));
    let report = sampled(&closed(Protocol::Tcp, 10_000), &kept, Fate::Deliver);
    assert_eq!(report.received, 10_000);
    let held = kept.0.lock().expect("one thread");
    assert_eq!((held.0.len(), held.1), (BLOCK, 10_000 - BLOCK as u64));
}

#[test]
fn what_never_left_is_counted() {
    let plan = open(Protocol::Udp, MILLISECOND, Period::from_secs(1));
    let mut sim = sim(&plan, link());
    let stall = Action::Pause { role: Role::Client, for_ns: 1_300 * MILLISECOND };
    sim.at(Tick::from_nanos(800_100_000), stall);
    let (client, ..) = run(sim);
    assert_eq!((client.sent, client.unsent, client.lost), (801, 199, 0));
}

#[test]
fn word_that_a_ping_did_not_arrive_is_counted_and_ends_nothing() {
    let mut sim = sim(&closed(Protocol::Udp, 20), link());
    let event =
        Event::Unreachable { lane: Lane::ONLY, errno: 111, is_answer: true, is_refusal: true };
    for millisecond in [1, 2, 3] {
        let at = Tick::from_nanos(millisecond * MILLISECOND);
        sim.at(at, Action::Tell { flow: FLOW, role: Role::Client, event });
    }
    let (client, ..) = run(sim);
    assert_eq!((client.unreachable, client.sent, client.received), (3, 20, 20));
}
