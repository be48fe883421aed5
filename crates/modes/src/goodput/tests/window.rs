//! The window that counts, in virtual time: no more is counted in it than the link carried in it, and connections too
//! short to have a rate have none.

use pathscope_core::Tick;
use pathscope_core::id::{FlowId, Role};
use pathscope_core::quantity::{BitRate, Period};
use pathscope_flow::sim::{Action, Conditions, Link};
use proptest::prelude::*;

use super::super::*;
use super::{FLOW, Goodput, LATE, agreed, plan, sim, transfer};
use crate::load::{Extent, FlowReceived, NoFairness, Pattern, RateSums, ReceiveWindow};
use crate::results::Presents;

const RATE: u64 = 100_000_000;
/// Longer than any segment, and what of it was carried before the window opened.
const SEGMENT: f64 = 1_500.0;

/// A link of that rate, with room for what comes while its receiver stands still.
fn link() -> Conditions {
    Conditions::over(Link::new(125_000).at_rate(BitRate(RATE)).with_buffers(1 << 20, 4 << 20))
}

/// Each connection over a link of its own.
fn pushed(connections: u32, extent: Extent, warm_up_ms: u64, pauses: &[(u64, u64)]) -> Goodput {
    let warm_up_ns = Period::from_millis(warm_up_ms);
    let plan = GoodputPlan { connections, warm_up_ns, ..plan(Pattern::Push, extent) };
    let mut sim = sim(&plan, link());
    for &(at_us, for_us) in pauses {
        let pause = Action::Pause { role: Role::Server, for_ns: for_us * 1_000 };
        sim.at(Tick::from_nanos(at_us * 1_000), pause);
    }
    let outcome = sim.run(LATE);
    for flow in (0..connections).map(FlowId) {
        agreed(&sim, flow, &outcome);
    }
    sim
}

/// By how much more than their links carry in it was counted in the windows of the flows, and in that of all.
fn excess(sim: &mut Goodput, connections: u32) -> Vec<f64> {
    let of = |window: ReceiveWindow, links: u32| {
        let most = RATE as f64 / 8e9 * window.length_ns() as f64 + SEGMENT;
        window.bytes as f64 - most * f64::from(links)
    };
    let flows: Vec<_> = (0..connections).map(|flow| &sim.server(FlowId(flow)).receiver).collect();
    let sum: u64 = flows.iter().map(|flow| flow.counted.for_all()).sum();
    let mut excess: Vec<_> = flows.iter().map(|flow| of(flow.counted.window(), 1)).collect();
    let all = sim.server_shared().window;
    assert_eq!(all.bytes, sum, "what all count is what each brought");
    excess.push(of(all, connections));
    excess
}

#[test]
fn what_waited_when_the_warm_up_ended_is_not_in_the_window() {
    // What comes from 70 to 130 ms is received at once at 130 ms; the warm-up ends at 100.
    let mut sim = pushed(1, Extent::DurationNs(Period::from_secs(1)), 100, &[(70_000, 60_000)]);
    let excess = excess(&mut sim, 1);
    assert!(excess.iter().all(|&excess| excess <= 0.0), "{excess:?}");
    let goodput = sim.server(FLOW).receiver.counted.window().goodput_bps().expect("many receives");
    assert!(goodput > RATE as f64 * 0.99, "{goodput}: nothing else is left out");
}

#[test]
fn what_waited_behind_the_first_receive_is_not_in_the_window() {
    for connections in [1, 2, 100] {
        let mut sim = pushed(connections, transfer(5_000_000), 0, &[(0, 60_000)]);
        let excess = excess(&mut sim, connections);
        assert!(excess.iter().all(|&excess| excess <= 0.0), "{connections}: {excess:?}");
        let goodput = sim.server_shared().window.goodput_bps().expect("many receives");
        let least = RATE as f64 * 0.99 * f64::from(connections);
        assert!(goodput > least, "{connections}: {goodput}: nothing else is left out");
    }
}

#[test]
fn a_stall_in_which_the_time_ends_costs_what_it_took_of_that_time() {
    let plan = GoodputPlan {
        warm_up_ns: Period::from_millis(100),
        ..plan(Pattern::Push, Extent::DurationNs(Period::from_secs(1)))
    };
    // Word of the sender's end may come late; the window does not last until then.
    for word_ns in [125_000, 700_000_000] {
        let mut sim = sim(&plan, link());
        sim.tell_totals(word_ns);
        let stall = Action::Stall { flow: FLOW, from: Role::Client, for_ns: 4_000_000_000 };
        sim.at(Tick::from_nanos(900_000_000), stall);
        let outcome = sim.run(LATE);
        agreed(&sim, FLOW, &outcome);
        // From 0.1 to 0.9 s of the window, which is as long as it was planned; the rest came 4 s later.
        for window in [sim.server(FLOW).receiver.counted.window(), sim.server_shared().window] {
            let goodput = window.goodput_bps().expect("many receives");
            assert!((goodput / RATE as f64 - 8.0 / 9.0).abs() < 0.01, "{window:?}");
            assert!(window.last_ns <= Some(1_001_000_000), "{window:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn no_more_is_counted_than_the_link_carried(
        connections in 1_u32..9,
        warm_up_ms in prop_oneof![Just(0_u64), 1_u64..100],
        pauses in prop::collection::vec((0_u64..250_000, 0_u64..60_000), 0..4),
        is_timed: bool,
    ) {
        let extent = if is_timed || warm_up_ms > 0 {
            Extent::DurationNs(Period::from_millis(250))
        } else {
            transfer(2_500_000)
        };
        let mut sim = pushed(connections, extent, warm_up_ms, &pauses);
        let excess = excess(&mut sim, connections);
        prop_assert!(excess.iter().all(|&excess| excess <= 0.0), "{:?}", excess);
    }
}

#[test]
fn connections_of_a_few_bytes_have_no_rate_and_it_is_said_why() {
    let plan = GoodputPlan { connections: 8, ..plan(Pattern::Push, transfer(64)) };
    let mut sim = sim(&plan, link());
    let outcome = sim.run(LATE);
    let flows: Vec<FlowReceived> = (0..8)
        .map(|flow| {
            agreed(&sim, FlowId(flow), &outcome);
            let flow = sim.server(FlowId(flow));
            assert_eq!(flow.receiver.own_rate_bps(), None);
            flow.received(&plan)
        })
        .collect();
    let length_ns = sim.server_shared().window.length_ns();
    let (rates, sums) = RateSums::over(length_ns, &flows);
    assert_eq!((rates.into_iter().len(), sums.too_short), (0, 8));
    let server = GoodputReport { received_bytes: 512, rates: sums, ..GoodputReport::default() };
    let summary = GoodputSummary::of(&plan, &GoodputReport::default(), Some(&server), false);
    let up = summary.up.expect("it pushes");
    let told = (up.fairness, up.no_fairness, up.median_bps, up.starved);
    assert_eq!(told, (None, Some(NoFairness::TooShort), None, 0));
    let figures = plan.figures(&summary);
    let figure = figures.iter().find(|figure| figure.label == "fairness").expect("it is told");
    assert_eq!(
        figure.note.as_deref(),
        Some("too short to have rates: fewer than 10 receives each")
    );
}
