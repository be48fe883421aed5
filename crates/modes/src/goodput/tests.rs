//! Goodput in virtual time: every pattern, whatever the chunks, the buffers and the accidents.
//!
//! In one file: each test drives the same two ends over the same simulated connection, and differs in one condition.

mod closed;
mod corruption;
mod failed_there;
mod flights;
mod following;
mod leaving;
mod settled;
mod silence;
mod stopped;
mod window;

use pathscope_core::id::{FlowId, Lane, Role, Token};
use pathscope_core::quantity::{BitRate, Bytes, Period};
use pathscope_core::record::FlowErrorKind;
use pathscope_core::{Tick, Wait};
use pathscope_flow::sim::{Action, Chunks, Conditions, Edit, Ended, Link, Outcome, Sim};
use pathscope_flow::{Event, Machine, Phase, Shared, Split, Transport};
use proptest::prelude::*;

use super::*;
use crate::load::{Extent, Pattern, Verify};
use crate::mode::Mode;
use crate::pattern::{Corruption, Nature, SessionKey};
use crate::sockets::SocketPlan;

const ONE_WAY_NS: u64 = 125_000;
pub(super) const FLOW: FlowId = FlowId(0);
pub(super) const LATE: Tick = Tick::from_nanos(600_000_000_000);

pub(super) type Goodput = Sim<GoodputFlow, GoodputFlow>;

pub(super) fn plan(pattern: Pattern, extent: Extent) -> GoodputPlan {
    GoodputPlan {
        pattern,
        connections: 1,
        extent,
        buffer_bytes: Bytes(64 << 10),
        push_bytes: Bytes(30_000),
        pull_bytes: Bytes(50_000),
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
    }
}

pub(super) fn transfer(bytes: u64) -> Extent {
    Extent::TransferBytes(Bytes(bytes))
}

pub(super) fn session() -> SessionKey {
    SessionKey::from(Token([7; 16]))
}

pub(super) fn sim(plan: &GoodputPlan, conditions: Conditions) -> Goodput {
    let mut sim = Sim::new(conditions, GoodputShared::new(plan), GoodputShared::new(plan));
    for flow in (0..plan.flows_at_once()).map(FlowId) {
        let end = |role| GoodputFlow::new(plan, role, session(), flow);
        sim.connect(end(Role::Client), end(Role::Server), Transport::Stream);
    }
    sim.tell_totals(ONE_WAY_NS);
    sim
}

pub(super) fn gigabit() -> Conditions {
    Conditions::over(Link::new(ONE_WAY_NS).at_rate(BitRate(1_000_000_000)))
}

/// The patterns of which one connection shows all.
pub(super) fn on_one_connection() -> impl Iterator<Item = (&'static str, Pattern)> {
    Pattern::ALL.into_iter().filter(|&(_, pattern)| pattern != Pattern::Bidir)
}

/// Both ends ended well and count the same; what went up and down.
pub(super) fn agreed(sim: &Goodput, flow: FlowId, outcome: &Outcome) -> (u64, u64) {
    assert_eq!(outcome.ended, Ended::Over, "{outcome}");
    let (client, server) = (sim.client(flow), sim.server(flow));
    assert_eq!((client.error(), server.error()), (None, None));
    assert_eq!((client.phase(), server.phase()), (Phase::Done, Phase::Done));
    assert_eq!(client.totals().sent, server.totals().received);
    assert_eq!(client.totals().received, server.totals().sent);
    (client.totals().sent, server.totals().sent)
}

#[test]
fn a_flow_is_small_enough_for_a_million() {
    assert!(size_of::<GoodputFlow>() <= 240, "{} bytes", size_of::<GoodputFlow>());
}

#[test]
fn each_pattern_moves_its_bytes_its_way() {
    for (pattern, bytes, up, down) in [
        (Pattern::Push, 1_000_001, 1_000_001, 0),
        (Pattern::Pull, 1_000_001, 0, 1_000_001),
        (Pattern::Duplex, 1_000_001, 500_001, 500_000),
        // 12 whole turns of 30,000 and 50,000, then 30,000 and 10,001 of the last.
        (Pattern::Pushpull, 1_000_001, 390_000, 610_001),
        (Pattern::Pushpull, 960_010, 360_010, 600_000),
        (Pattern::Push, 1, 1, 0),
        (Pattern::Duplex, 1, 1, 0),
        (Pattern::Pushpull, 1, 1, 0),
    ] {
        let mut sim = sim(&plan(pattern, transfer(bytes)), gigabit());
        let outcome = sim.run(LATE);
        assert_eq!(agreed(&sim, FLOW, &outcome), (up, down), "{pattern:?} {bytes}");
    }
}

#[test]
fn in_bidir_each_way_has_connections_of_its_own() {
    let plan = GoodputPlan { connections: 3, ..plan(Pattern::Bidir, transfer(100_001)) };
    let mut sim = sim(&plan, gigabit());
    let outcome = sim.run(LATE);
    for flow in 0..6 {
        let moved = if flow < 3 { (100_001, 0) } else { (0, 100_001) };
        assert_eq!(agreed(&sim, FlowId(flow), &outcome), moved, "{flow}");
        let receives =
            [sim.client(FlowId(flow)), sim.server(FlowId(flow))].map(|it| it.receives(&plan));
        assert_eq!(receives, [flow >= 3, flow < 3], "{flow}");
    }
    assert_eq!(plan.subtitle(), "3 TCP connections each way, bidir, 97.66 KiB each");
    assert!([Role::Client, Role::Server].into_iter().all(|role| plan.sends_bytes(role)));
    assert_eq!(
        [Role::Client, Role::Server].map(|role| plan.sends_on(role, FlowId(3))),
        [false, true]
    );
}

#[test]
fn goodput_is_that_of_the_link() {
    let mut sim = sim(&plan(Pattern::Push, transfer(50_000_000)), gigabit());
    let outcome = sim.run(LATE);
    agreed(&sim, FLOW, &outcome);
    let goodput = sim.server(FLOW).receiver.counted.window().goodput_bps().expect("many receives");
    assert!((goodput - 1e9).abs() < 1e6, "{goodput}");
}

#[test]
fn the_warm_up_is_verified_but_not_in_the_window() {
    let second = Extent::DurationNs(Period::from_secs(1));
    let plan = GoodputPlan { warm_up_ns: Period::from_millis(100), ..plan(Pattern::Push, second) };
    let mut sim = sim(&plan, gigabit());
    let outcome = sim.run(LATE);
    let (up, _) = agreed(&sim, FLOW, &outcome);
    let window = sim.server(FLOW).receiver.counted.window();
    assert!(up > 120_000_000, "{up}");
    assert!(window.first_ns >= Some(100_000_000) && window.bytes < up - 10_000_000, "{window:?}");
    let goodput = window.goodput_bps().expect("many receives");
    assert!((goodput - 1e9).abs() < 1e6, "{goodput}");
}

#[test]
fn a_stated_duration_ends_every_pattern_with_equal_counts() {
    for (_, pattern) in Pattern::ALL {
        let second = Extent::DurationNs(Period::from_secs(1));
        let mut sim = sim(&plan(pattern, second), gigabit());
        let outcome = sim.run(LATE);
        let (up, down) = agreed(&sim, FLOW, &outcome);
        assert!(up + down > 20_000_000, "{pattern:?}: {up} {down}");
        assert!(outcome.at < Tick::from_nanos(1_100_000_000), "{pattern:?}: {outcome}");
    }
}

#[test]
fn a_configured_rate_is_kept() {
    let second = Extent::DurationNs(Period::from_secs(2));
    for rate in [64_000, 10_000_000, 400_000_000] {
        let plan = GoodputPlan { rate_bps: Some(BitRate(rate)), ..plan(Pattern::Duplex, second) };
        let mut sim = sim(&plan, gigabit());
        let outcome = sim.run(LATE);
        let (up, down) = agreed(&sim, FLOW, &outcome);
        for bytes in [up, down] {
            let share = bytes as f64 * 8.0 / 2.0 / rate as f64;
            assert!((0.9..=1.0).contains(&share), "{rate}: {share}");
        }
    }
}

#[test]
fn stopping_either_end_at_any_time_ends_both_with_equal_counts() {
    let forever = Extent::DurationNs(Period::from_secs(100));
    for (_, pattern) in Pattern::ALL {
        for extent in [forever, transfer(1 << 40)] {
            for at_ns in [0, 1, 125_000, 1_000_000, 7_654_321] {
                let mut sim = sim(&plan(pattern, extent), gigabit());
                for role in [Role::Client, Role::Server] {
                    sim.at(Tick::from_nanos(at_ns), Action::Stop { role });
                }
                let outcome = sim.run(LATE);
                agreed(&sim, FLOW, &outcome);
            }
        }
    }
}

#[test]
fn a_reset_before_any_operation_ends_both_ends() {
    for (_, pattern) in on_one_connection() {
        let run = |reset_before: Option<u64>| {
            let mut sim = sim(&plan(pattern, transfer(300_000)), gigabit());
            if let Some(operation) = reset_before {
                sim.before_operation(operation, Action::Reset { flow: FLOW, errno: 104 });
            }
            let outcome = sim.run(LATE);
            assert_eq!(outcome.ended, Ended::Over, "{pattern:?} {reset_before:?}: {outcome}");
            let errors = [sim.client(FLOW).error(), sim.server(FLOW).error()];
            for error in errors.iter().flatten() {
                assert_eq!(
                    (error.kind, error.errno.as_deref()),
                    (FlowErrorKind::Network, Some("104"))
                );
            }
            (outcome.operations, errors)
        };
        let (operations, errors) = run(None);
        assert_eq!(errors, [None, None]);
        for operation in 0..operations {
            let (_, errors) = run(Some(operation));
            assert!(
                errors.iter().any(Option::is_some),
                "{pattern:?}: a reset before {operation} went unseen"
            );
        }
    }
}

#[test]
fn a_peer_that_dies_is_told_from_one_that_is_done() {
    for (_, pattern) in Pattern::ALL {
        let mut sim = sim(&plan(pattern, transfer(50_000_000)), gigabit());
        sim.at(Tick::from_nanos(20_000_000), Action::Kill { flow: FLOW, role: Role::Server });
        let outcome = sim.run(LATE);
        let error = sim.client(FLOW).error();
        assert_eq!(
            error.map(|error| error.kind),
            Some(FlowErrorKind::Network),
            "{pattern:?} {outcome}"
        );
    }
}

/// A connection of a run of stated duration whose other end has closed it after a second, with no word of why.
fn closed_after_a_second(pattern: Pattern) -> (GoodputFlow, GoodputShared) {
    let plan = plan(pattern, Extent::DurationNs(Period::from_secs(20)));
    let receives = if pattern == Pattern::Push { Role::Server } else { Role::Client };
    let mut flow = GoodputFlow::new(&plan, receives, session(), FLOW);
    let mut shared = GoodputShared::new(&plan);
    flow.event(&mut shared, Event::Start, Tick::ZERO);
    let _ = flow.want(&mut shared, Tick::ZERO);
    flow.event(&mut shared, Event::PeerClosed(Lane(0)), seconds(1));
    (flow, shared)
}

const fn seconds(seconds: u64) -> Tick {
    Tick::from_nanos(seconds * 1_000_000_000)
}

#[test]
fn a_close_that_no_word_explains_ends_a_flow_when_it_came() {
    for pattern in [Pattern::Push, Pattern::Pull] {
        let (mut flow, mut shared) = closed_after_a_second(pattern);
        let wake = flow.want(&mut shared, seconds(1)).wake.expect("word may be on its way");
        assert_eq!((flow.phase() == Phase::Failed, flow.ended_at()), (false, None), "{pattern:?}");
        let _ = flow.want(&mut shared, wake);
        assert_eq!((flow.phase(), flow.ended_at()), (Phase::Failed, Some(seconds(1))));
        let error = flow.error().expect("it failed");
        assert!(error.text.contains("closed the connection"), "{}", error.text);
    }
}

#[test]
fn while_the_control_connection_is_lost_no_word_of_a_close_is_awaited() {
    // It closes before that is lost, and after it.
    let (mut flow, mut shared) = closed_after_a_second(Pattern::Push);
    flow.event(&mut shared, Event::PeerAway, seconds(2));
    assert_eq!((flow.phase(), flow.ended_at()), (Phase::Failed, Some(seconds(1))));

    let plan = plan(Pattern::Pull, Extent::DurationNs(Period::from_secs(20)));
    for is_back in [false, true] {
        let mut flow = GoodputFlow::new(&plan, Role::Client, session(), FLOW);
        let mut shared = GoodputShared::new(&plan);
        flow.event(&mut shared, Event::Start, Tick::ZERO);
        flow.event(&mut shared, Event::PeerAway, seconds(1));
        if is_back {
            flow.event(&mut shared, Event::PeerBack, seconds(2));
        }
        assert_eq!(flow.phase(), Phase::SendingDone, "its own connection stands");
        flow.event(&mut shared, Event::PeerClosed(Lane(0)), seconds(3));
        let ended = (!is_back).then_some(seconds(3));
        assert_eq!((flow.phase() == Phase::Failed, flow.ended_at()), (!is_back, ended));
    }
}

#[test]
fn a_flow_that_failed_there_has_ended_when_that_was_heard() {
    for pattern in [Pattern::Push, Pattern::Pull] {
        let plan = plan(pattern, Extent::DurationNs(Period::from_secs(20)));
        let mut flow = GoodputFlow::new(&plan, Role::Client, session(), FLOW);
        let mut shared = GoodputShared::new(&plan);
        flow.event(&mut shared, Event::Start, Tick::ZERO);
        flow.event(&mut shared, Event::PeerFailed, seconds(1));
        let wake = flow.want(&mut shared, seconds(1)).wake.expect("a reset may still tell why");
        let _ = flow.want(&mut shared, wake);
        assert_eq!((flow.phase(), flow.ended_at()), (Phase::Failed, Some(seconds(1))));
    }
}

#[test]
fn what_a_part_is_part_of_is_said() {
    for (told, of) in
        [(None, "0 B of 2 MiB"), (Some(1 << 20), "0 B of 1 MiB that the other end had sent")]
    {
        let plan = plan(Pattern::Pull, transfer(2 << 20));
        let mut flow = GoodputFlow::new(&plan, Role::Client, session(), FLOW);
        let mut shared = GoodputShared::new(&plan);
        flow.event(&mut shared, Event::Start, Tick::ZERO);
        told.into_iter()
            .for_each(|told| flow.event(&mut shared, Event::PeerTotal(told), seconds(1)));
        flow.event(&mut shared, Event::PeerClosed(Lane(0)), seconds(2));
        let error = flow.error().expect("it failed");
        assert_eq!(error.text, format!("the other end closed the connection after {of}"));
    }
}

#[test]
fn stalls_and_pauses_cost_time_and_nothing_else() {
    for (_, pattern) in Pattern::ALL {
        let mut sim = sim(&plan(pattern, transfer(5_000_000)), gigabit());
        sim.at(
            Tick::from_nanos(3_000_000),
            Action::Stall { flow: FLOW, from: Role::Client, for_ns: 500_000_000 },
        );
        sim.at(
            Tick::from_nanos(5_000_000),
            Action::Pause { role: Role::Server, for_ns: 700_000_000 },
        );
        let outcome = sim.run(LATE);
        let (up, down) = agreed(&sim, FLOW, &outcome);
        assert_eq!(up + down, 5_000_000);
    }
}

#[test]
fn flows_of_one_worker_add_up() {
    let plan = GoodputPlan { connections: 40, ..plan(Pattern::Duplex, transfer(100_000)) };
    let mut sim = sim(&plan, gigabit());
    let outcome = sim.run(LATE);
    for flow in (0..40).map(FlowId) {
        assert_eq!(agreed(&sim, flow, &outcome), (50_000, 50_000));
    }
    let report = sim.client_shared().report(Tick::ZERO);
    assert_eq!((report.sent_bytes, report.received_bytes), (2_000_000, 2_000_000));
    let report = sim.client_shared().report(Tick::ZERO);
    assert_eq!((report.sent_bytes, report.received_bytes), (0, 0), "a report takes what it tells");
}

/// What the server says of a stream that was changed on its way.
fn damaged(edit: Edit) -> Corruption {
    let mut sim = sim(&plan(Pattern::Push, transfer(1_000_000)), gigabit());
    sim.edit(FLOW, Role::Client, edit);
    let outcome = sim.run(LATE);
    let error = sim.server(FLOW).error().expect("the damage is seen");
    assert_eq!(error.kind, FlowErrorKind::Data, "{outcome}");
    let corruptions = &sim.server_shared().corruptions;
    assert_eq!(corruptions.len(), 1);
    corruptions[0].corruption.clone()
}

#[test]
fn damage_is_located_and_named() {
    let flip = damaged(Edit::Xor { offset: 400_000, mask: 0x40 });
    assert_eq!(flip.offset_bytes, 400_000);
    assert_eq!((flip.length_bytes, flip.nature), (1, Nature::BitFlip { bits: 1 }));
    let missing = damaged(Edit::Delete { offset: 400_000, len: 65_536 });
    assert_eq!(missing.nature, Nature::Shifted { by_bytes: 65_536 });
    let lap = damaged(Edit::Delete { offset: 400_000, len: crate::pattern::LAP_BYTES });
    assert_eq!(lap.nature, Nature::Shifted { by_bytes: crate::pattern::LAP_BYTES as i64 });
    let mut other = vec![0; 200_000];
    session().stream(5, true).copy_to(300_000, &mut other);
    let swapped = damaged(Edit::Replace { offset: 300_000, bytes: other });
    assert_eq!(swapped.nature, Nature::OtherFlow { flow: 5, from_client: true });
    let foreign = damaged(Edit::Replace { offset: 300_000, bytes: vec![0xaa; 4_000] });
    assert_eq!((foreign.offset_bytes, foreign.nature), (300_000, Nature::Foreign));
}

#[test]
fn damage_near_the_end_is_judged_by_what_there_is() {
    let flip = damaged(Edit::Xor { offset: 999_999, mask: 1 });
    assert_eq!((flip.offset_bytes, flip.nature), (999_999, Nature::BitFlip { bits: 1 }));
    // No mark follows: it may be whole laps farther.
    let missing = damaged(Edit::Delete { offset: 999_000, len: 100 });
    assert_eq!(missing.nature, Nature::Misplaced { by_bytes: Some(100) });
}

#[test]
fn one_damaged_flow_does_not_disturb_the_others() {
    let plan = GoodputPlan { connections: 3, ..plan(Pattern::Push, transfer(5_000_000)) };
    let mut sim = sim(&plan, gigabit());
    sim.edit(FlowId(1), Role::Client, Edit::Xor { offset: 250_000, mask: 2 });
    let outcome = sim.run(LATE);
    assert_eq!(agreed(&sim, FlowId(0), &outcome).0, 5_000_000);
    let phases = [sim.client(FlowId(1)).phase(), sim.server(FlowId(1)).phase()];
    assert_eq!(phases, [Phase::Failed; 2], "the damaged one was reset");
    assert_eq!(agreed(&sim, FlowId(2), &outcome).0, 5_000_000);
}

#[test]
fn what_is_not_verified_is_not_found() {
    let plan = GoodputPlan { verify: Verify::Off, ..plan(Pattern::Push, transfer(500_000)) };
    let mut sim = sim(&plan, gigabit());
    sim.edit(FLOW, Role::Client, Edit::Xor { offset: 250_000, mask: 2 });
    let outcome = sim.run(LATE);
    assert_eq!(agreed(&sim, FLOW, &outcome).0, 500_000);
}

#[test]
fn halves_are_the_whole() {
    let plan = plan(Pattern::Duplex, transfer(1_000_000));
    let end = |role| GoodputFlow::new(&plan, role, session(), FLOW);
    assert!(plan.has_halves());
    let (sender, _) = end(Role::Client).split();
    let (_, receiver) = end(Role::Server).split();
    let (send, _) = GoodputFlow::split_shared(GoodputShared::new(&plan));
    let (_, receive) = GoodputFlow::split_shared(GoodputShared::new(&plan));
    let mut sim = Sim::new(gigabit(), send, receive);
    sim.connect(sender, receiver, Transport::Stream);
    let outcome = sim.run(LATE);
    assert_eq!(outcome.ended, Ended::Over, "{outcome}");
    assert_eq!(sim.server(FLOW).totals().received, 500_000);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn chunks_and_buffers_change_nothing(
        seed in any::<u64>(),
        pattern in prop::sample::select(Pattern::ALL.map(|(_, pattern)| pattern).to_vec()),
        bytes in 1_u64..200_000,
        write_max in 1_usize..5_000,
        read_max in 1_usize..5_000,
        buffer in 1_usize..20_000,
        push in 1_u64..40_000,
        pull in 1_u64..40_000,
        reads_overshoot in any::<bool>(),
    ) {
        let plan = GoodputPlan { push_bytes: Bytes(push), pull_bytes: Bytes(pull), ..plan(pattern, transfer(bytes)) };
        let mut conditions = Conditions::over(Link::new(ONE_WAY_NS).with_buffers(buffer, buffer));
        conditions.writes = Chunks::Random { seed, max: write_max };
        conditions.reads = Chunks::Random { seed: !seed, max: read_max };
        conditions.reads_overshoot = reads_overshoot;
        let mut sim = sim(&plan, conditions);
        let outcome = sim.run(LATE);
        let (up, down) = agreed(&sim, FLOW, &outcome);
        prop_assert_eq!(up + down, bytes);
    }
}

/// A plan whose connections are replaced as they end.
fn replaced(pattern: Pattern, bytes: u64, mut shape: Shape) -> GoodputPlan {
    shape.iterations = Iterations::Times(4);
    GoodputPlan { shape, ..plan(pattern, transfer(bytes)) }
}

#[test]
fn a_connection_that_is_replaced_ends_by_itself_however_it_is_cut_up() {
    for (_, pattern) in Pattern::ALL {
        for (_, shutdown) in Shutdown::ALL {
            for bytes in [1, 15, 16, 17, 100_003] {
                let shape = Shape { shutdown, seed: bytes, ..Shape::default() };
                let mut sim = sim(&replaced(pattern, bytes, shape), gigabit());
                let outcome = sim.run(LATE);
                let (up, down) = agreed(&sim, FLOW, &outcome);
                assert_eq!(up + down, bytes, "{pattern:?} {shutdown:?}");
            }
        }
    }
}

#[test]
fn a_close_may_come_before_the_word_that_explains_it() {
    for (_, pattern) in Pattern::ALL {
        let shape = Shape { time_limit_ns: Some(Period::from_millis(100)), ..Shape::default() };
        let mut sim = sim(&replaced(pattern, 1 << 40, shape), gigabit());
        // Word on the control connection is a second on its way.
        sim.tell_totals(1_000_000_000);
        let outcome = sim.run(LATE);
        agreed(&sim, FLOW, &outcome);
        assert!(sim.client(FLOW).is_cut() && sim.server(FLOW).is_cut(), "{pattern:?}");
    }
}

#[test]
fn a_time_limit_cuts_what_is_under_way_and_both_ends_count_the_same() {
    for (_, pattern) in Pattern::ALL {
        let shape = Shape { time_limit_ns: Some(Period::from_millis(100)), ..Shape::default() };
        let mut sim = sim(&replaced(pattern, 1 << 40, shape), gigabit());
        let outcome = sim.run(LATE);
        let (up, down) = agreed(&sim, FLOW, &outcome);
        assert!(up + down > 1_000_000, "{pattern:?}: {up} {down}");
        assert!(sim.client(FLOW).is_cut() && sim.server(FLOW).is_cut(), "{pattern:?}");
        assert!(outcome.at < Tick::from_nanos(200_000_000), "{pattern:?}: {outcome}");
    }
}

proptest! {
    #[test]
    fn drawn_sizes_move_every_byte_and_repeat_with_their_seed(
        seed: u64, low in 1_u64..5_000, span in 0_u64..60_000, pattern in 0..Pattern::ALL.len(),
    ) {
        let shape = Shape {
            transfer_most_bytes: Some(Bytes(200_000)),
            buffer_most_bytes: Some(Bytes(low + span)),
            seed,
            ..Shape::default()
        };
        let pattern = Pattern::ALL[pattern].1;
        let plan = GoodputPlan { buffer_bytes: Bytes(low), shape, ..plan(pattern, transfer(1_000)) };
        let run = || {
            let mut sim = sim(&plan, gigabit());
            let outcome = sim.run(LATE);
            (agreed(&sim, FLOW, &outcome), outcome.at)
        };
        let ((up, down), at) = run();
        prop_assert_eq!(Some(up + down), plan.transfer_of(FLOW));
        prop_assert_eq!(run(), ((up, down), at));
    }
}

#[test]
fn a_rate_by_periods_and_bursts_with_pauses_keep_their_time() {
    // 10 Mbit/s in shares of 50 ms: 1,000,000 bytes are 16 shares, of which the first leaves at once.
    let pace = Pace { period_ns: Some(Period::from_millis(50)), ..Pace::default() };
    let rate = Some(BitRate(10_000_000));
    let by_period =
        GoodputPlan { rate_bps: rate, pace, ..plan(Pattern::Push, transfer(1_000_000)) };
    // 16 sends of 64 KiB, a pause after every fourth but the last four: three pauses of 200 ms.
    let burst = Some(Burst { sends: 4, pause_ns: Period::from_millis(200) });
    let pace = Pace { burst, ..Pace::default() };
    let by_bursts = GoodputPlan { pace, ..plan(Pattern::Push, transfer(16 << 16)) };
    for (plan, least_ms, most_ms) in [(by_period, 750, 760), (by_bursts, 600, 10_000)] {
        let mut sim = sim(&plan, Conditions::over(Link::new(ONE_WAY_NS)));
        let outcome = sim.run(LATE);
        agreed(&sim, FLOW, &outcome);
        let took_ms = outcome.at.as_nanos() / 1_000_000;
        assert!((least_ms..most_ms).contains(&took_ms), "{took_ms} ms: {plan:?}");
    }
}
