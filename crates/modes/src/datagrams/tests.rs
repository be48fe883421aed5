//! Datagram goodput in virtual time: exact counts, whatever happens to the datagrams.
//!
//! In one file: each test drives the same two ends over the same simulated path, and differs in one condition.

mod bidir;
mod failed_there;
mod flights;
mod sequenced;
mod unnumbered;

use std::cell::Cell;
use std::rc::Rc;

use pathscope_core::id::{FlowId, Lane, Role, Token};
use pathscope_core::quantity::{BitRate, Bytes, Period};
use pathscope_core::record::Limit;
use pathscope_core::{Tick, Wait};
use pathscope_flow::sim::{Action, Conditions, Ended, Fate, Link, Outcome, Passing, Sim, Weather};
use pathscope_flow::{Event, Machine, Phase, Shared, Transport};
use proptest::prelude::*;

use super::verdict::verdict;
use super::*;
use crate::end::EndFacts;
use crate::load::{Extent, Pattern, Verify};
use crate::pattern::SessionKey;
use crate::sockets::SocketPlan;

const ONE_WAY_NS: u64 = 250_000;
const FLOW: FlowId = FlowId(0);
const LATE: Tick = Tick::from_nanos(600_000_000_000);
const SIZE: u64 = 1_400;

/// 1,000 datagrams, one each millisecond.
pub(crate) fn plan(pattern: Pattern) -> DatagramsPlan {
    DatagramsPlan {
        pattern,
        connections: 1,
        extent: Extent::DurationNs(Period::from_secs(1)),
        datagram_bytes: Bytes(SIZE),
        rate_bps: Some(BitRate(SIZE * 8 * 1_000)),
        warm_up_ns: Period(0),
        verify: Verify::Full,
        offload: Offload::Auto,
        may_fragment: false,
        engine: None,
        wait: Wait::Auto,
        sockets: SocketPlan::default(),
        client_cpus: Vec::new(),
        server_cpus: Vec::new(),
    }
}

pub(super) fn sim(plan: &DatagramsPlan, conditions: Conditions) -> Sim<DatagramFlow, DatagramFlow> {
    let session = SessionKey::from(Token([3; 16]));
    let mut sim = Sim::new(
        conditions,
        DatagramShared::new(plan, Role::Client),
        DatagramShared::new(plan, Role::Server),
    );
    for flow in (0..plan.pattern.flows(1)).map(FlowId) {
        let flow = |role| DatagramFlow::new(plan, role, session, flow);
        sim.connect(flow(Role::Client), flow(Role::Server), Transport::Datagram);
    }
    sim.tell_totals(ONE_WAY_NS);
    sim
}

pub(super) fn link() -> Conditions {
    Conditions::over(Link::new(ONE_WAY_NS))
}

fn report(tally: DatagramTally, flow: &DatagramFlow) -> DatagramsReport {
    DatagramsReport { lost: flow.facts().lost, expected: flow.facts().expected, ..tally.told() }
}

/// What both ends say.
type Reports = (DatagramsReport, DatagramsReport, Outcome);

pub(super) fn run(sim: &mut Sim<DatagramFlow, DatagramFlow>) -> Reports {
    let outcome = sim.run(LATE);
    assert_eq!(outcome.ended, Ended::Over, "{outcome}");
    let client = report(sim.client_shared().report(Tick::ZERO), sim.client(FLOW));
    let server = report(sim.server_shared().report(Tick::ZERO), sim.server(FLOW));
    let told = |shared: &DatagramShared, report| DatagramsReport {
        window: shared.window.window,
        corruptions: shared.corruptions.clone(),
        ..report
    };
    let client = told(sim.client_shared(), client);
    (client, told(sim.server_shared(), server), outcome)
}

fn pushed(fate: impl FnMut(&mut Passing<'_>) -> Fate + 'static) -> DatagramsReport {
    let mut sim = sim(&plan(Pattern::Push), link());
    sim.datagrams(fate);
    let (client, server, _) = run(&mut sim);
    assert_eq!((client.sent, client.sent_bytes), (1_000, 1_000 * SIZE));
    assert_eq!(server.expected, Some(1_000));
    server
}

/// Every tenth datagram, from the fifth on.
fn every_tenth(fate: Fate) -> impl FnMut(&mut Passing<'_>) -> Fate {
    move |passing| if passing.position % 10 == 5 { fate } else { Fate::Deliver }
}

#[test]
fn what_is_sent_arrives_in_either_direction_and_in_both() {
    for pattern in [Pattern::Push, Pattern::Pull, Pattern::Duplex] {
        let plan = plan(pattern);
        let (client, server, outcome) = run(&mut sim(&plan, link()));
        for (role, sender, receiver) in
            [(Role::Client, &client, &server), (Role::Server, &server, &client)]
        {
            let sent = if plan.pattern.sends(role) { 1_000 } else { 0 };
            assert_eq!(
                (sender.sent, receiver.received, receiver.lost),
                (sent, sent, 0),
                "{outcome}"
            );
            assert_eq!(receiver.received_bytes, sent * SIZE);
            assert_eq!((receiver.duplicates, receiver.reordered, receiver.corrupt), (0, 0, 0));
        }
        let summary = DatagramsSummary::of(&plan, &client, Some(&server));
        for (_, way) in summary.directions() {
            // The first receive opens the window and is not in it: 999 in 999 ms.
            assert_eq!(way.goodput_bps, Some(SIZE as f64 * 8_000.0));
            assert_eq!(way.datagrams_per_second, Some(1_000.0));
            assert_eq!(way.jitter.as_ref().map(|jitter| jitter.rfc3550.max_ns), Some(0.0));
            assert_eq!(way.send_lag.as_ref().and_then(|lag| lag.max_ns), Some(0));
        }
    }
}

#[test]
fn a_transfer_is_sent_to_the_byte_and_its_last_datagram_is_as_short_as_may_be() {
    for (transfer, sent, bytes) in
        [(14_000, 10, 14_000), (14_100, 11, 14_100), (14_001, 11, 14_040), (1, 1, 40)]
    {
        let plan = DatagramsPlan {
            extent: Extent::TransferBytes(Bytes(transfer)),
            rate_bps: None,
            ..plan(Pattern::Push)
        };
        let (client, server, _) = run(&mut sim(&plan, link()));
        assert_eq!((client.sent, client.sent_bytes), (sent, bytes));
        assert_eq!((server.received, server.received_bytes, server.lost), (sent, bytes, 0));
    }
}

#[test]
fn what_never_came_is_lost_in_runs_as_long_as_they_were() {
    let server = pushed(every_tenth(Fate::Lose));
    assert_eq!((server.received, server.lost), (900, 100));
    assert_eq!((server.bursts.bursts, server.bursts.longest), (100, 1));
    let server = pushed(|it| {
        if (300..350).contains(&it.position) || it.position > 990 {
            Fate::Lose
        } else {
            Fate::Deliver
        }
    });
    assert_eq!((server.received, server.lost), (941, 59));
    assert_eq!((server.bursts.bursts, server.bursts.longest), (2, 50));
}

#[test]
fn copies_and_overtaken_ones_lose_nothing() {
    let server = pushed(every_tenth(Fate::Duplicate { after_ns: 10_000 }));
    assert_eq!((server.received, server.duplicates, server.lost), (1_000, 100, 0));
    let server = pushed(every_tenth(Fate::Delay { by_ns: 2_500_000 }));
    assert_eq!((server.received, server.reordered, server.lost), (1_000, 100, 0));
    // Each was overtaken by the two that were sent within 2.5 ms after it.
    assert_eq!((server.reordering_extent_max, server.reordering_extent_sum), (2, 200));
}

#[test]
fn the_last_datagram_s_copy_is_awaited() {
    let server = pushed(|it| {
        if it.position == 999 { Fate::Duplicate { after_ns: 10_000_000 } } else { Fate::Deliver }
    });
    assert_eq!((server.received, server.duplicates, server.lost), (1_000, 1, 0));
}

#[test]
fn damage_is_counted_located_and_ends_nothing() {
    let server = pushed(|it| {
        match it.position {
            // In the filler, in the number, cut short, cut to nothing.
            100 => it.bytes[700] ^= 4,
            200 => it.bytes[16] ^= 1,
            300 => it.bytes.truncate(1_000),
            400 => it.bytes.truncate(20),
            _ => {}
        }
        Fate::Deliver
    });
    assert_eq!(
        (server.received, server.corrupt, server.corrupt_headers, server.lost),
        (996, 4, 2, 0)
    );
    let told: Vec<_> = server.corruptions.iter().map(|it| (it.sequence, it.came_bytes)).collect();
    assert_eq!(told, [(Some(100), 1_400), (None, 1_400), (Some(300), 1_000), (None, 20)]);
    assert!(matches!(
        server.corruptions[0].damage,
        Damage::Filler { offset_bytes: 700, length_bytes: 1, .. }
    ));
    assert_eq!(server.corruptions[2].damage, Damage::Length { sent_bytes: 1_400 });
}

#[test]
fn strangers_datagrams_are_foreign_and_touch_no_count() {
    let server = pushed(|it| {
        match it.position {
            7 => *it.bytes = vec![0x55; 1_400],
            8 => it.bytes.clear(),
            _ => {}
        }
        Fate::Deliver
    });
    assert_eq!((server.received, server.foreign, server.corrupt, server.lost), (998, 2, 0, 2));
}

#[test]
fn after_the_drain_they_are_late_and_neither_received_nor_lost() {
    // The drain is half a second, and late ones are looked for as long.
    for (by_ms, received, late, lost) in [(400, 1_000, 0, 0), (800, 999, 1, 0), (1_500, 999, 0, 1)]
    {
        let server = pushed(move |it| match it.position {
            999 => Fate::Delay { by_ns: by_ms * 1_000_000 },
            _ => Fate::Deliver,
        });
        assert_eq!((server.received, server.late, server.lost), (received, late, lost), "{by_ms}");
    }
}

#[test]
fn a_socket_that_is_full_loses_and_its_kernel_knows() {
    let plan = DatagramsPlan {
        extent: Extent::TransferBytes(Bytes(SIZE * 1_000)),
        rate_bps: None,
        ..plan(Pattern::Push)
    };
    let slow = Link::new(ONE_WAY_NS).with_buffers(1 << 20, 64 << 10);
    let mut sim = sim(&plan, Conditions::over(slow));
    sim.at(Tick::from_nanos(100), Action::Pause { role: Role::Server, for_ns: 50_000_000 });
    let (client, server, _) = run(&mut sim);
    let dropped = sim.traffic(FLOW, Lane::ONLY, Role::Client).overflowed;
    assert!(dropped > 0);
    assert_eq!((client.sent, server.lost, server.received), (1_000, dropped, 1_000 - dropped));
}

#[test]
fn a_batch_is_no_longer_than_a_quarter_of_a_millisecond_at_its_rate() {
    // 1 Gbit/s of 1,400 bytes: 22 in 250 µs; 1 Mbit/s: one by one, though the sender fell behind.
    for (rate, most) in [(1_000_000_000, 22), (1_000_000, 1)] {
        let plan = DatagramsPlan { rate_bps: Some(BitRate(rate)), ..plan(Pattern::Push) };
        let session = SessionKey::from(Token([3; 16]));
        let mut flow = DatagramFlow::new(&plan, Role::Client, session, FLOW);
        let mut shared = DatagramShared::new(&plan, Role::Client);
        flow.event(&mut shared, Event::Start, Tick::ZERO);
        let want = flow.want(&mut shared, Tick::from_nanos(500_000_000));
        let offered = pathscope_flow::SendWant::Datagrams { stride: SIZE as usize, max: most };
        assert_eq!(want.send, offered, "{rate}");
    }
}

#[test]
fn a_system_that_keeps_refusing_is_not_asked_in_a_loop_and_ends_the_flow() {
    let extent = Extent::TransferBytes(Bytes(SIZE * 1_000));
    let plan = DatagramsPlan { rate_bps: None, extent, ..plan(Pattern::Push) };
    let session = SessionKey::from(Token([3; 16]));
    let mut flow = DatagramFlow::new(&plan, Role::Client, session, FLOW);
    let mut shared = DatagramShared::new(&plan, Role::Client);
    flow.event(&mut shared, Event::Start, Tick::ZERO);
    let (mut now, mut asked) = (Tick::ZERO, 0);
    while flow.phase() != Phase::Failed {
        let want = flow.want(&mut shared, now);
        if want.send == pathscope_flow::SendWant::Nothing {
            now = want.wake.expect("it looks again");
        } else {
            asked += 1;
            flow.event(
                &mut shared,
                Event::Unreachable {
                    lane: Lane::ONLY,
                    errno: 1,
                    is_answer: false,
                    is_refusal: false,
                },
                now,
            );
        }
    }
    assert_eq!((asked, now.as_nanos()), (1_001, 1_000_000_000));
    assert!(flow.error().expect("failed").text.contains("error 1"));
}

#[test]
fn what_a_rate_could_not_send_is_unsent_to_the_datagram() {
    let mut sim = sim(&plan(Pattern::Push), link());
    // It stands still until long after the end.
    sim.at(
        Tick::from_nanos(500_500_000),
        Action::Pause { role: Role::Client, for_ns: 2_000_000_000 },
    );
    let (client, server, _) = run(&mut sim);
    assert_eq!((client.sent, client.unsent), (501, 499));
    assert_eq!((server.received, server.lost), (501, 0));
}

#[test]
fn a_sender_that_fell_behind_sends_the_rest_late() {
    let mut sim = sim(&plan(Pattern::Push), link());
    sim.at(
        Tick::from_nanos(500_500_000),
        Action::Pause { role: Role::Client, for_ns: 100_000_000 },
    );
    let (client, server, _) = run(&mut sim);
    assert_eq!((client.sent, client.unsent, server.received), (1_000, 0, 1_000));
    assert_eq!(client.send_lag.and_then(|lag| lag.max_ns), Some(99_500_000));
}

#[test]
fn a_stop_ends_both_ends_with_what_they_have() {
    for told in [true, false] {
        let mut sim = sim(&plan(Pattern::Push), link());
        let at = Tick::from_nanos(400_100_000);
        sim.at(at, Action::Stop { role: Role::Server });
        if told {
            sim.at(at, Action::Stop { role: Role::Client });
        } else {
            sim.at(at, Action::Kill { flow: FLOW, role: Role::Client });
        }
        let outcome = sim.run(LATE);
        assert_eq!(sim.server(FLOW).phase(), Phase::Done, "{outcome}");
        let facts = sim.server(FLOW).facts();
        assert_eq!((facts.received, facts.lost), (401, 0));
        assert_eq!(facts.expected, told.then_some(401));
    }
}

#[test]
fn a_socket_that_takes_no_more_fails_its_flow_with_a_sentence() {
    let mut sim = sim(&plan(Pattern::Push), link());
    sim.at(Tick::from_nanos(100_100_000), Action::Reset { flow: FLOW, errno: 90 });
    sim.run(LATE);
    let error = sim.client(FLOW).error().expect("failed").text;
    assert!(error.contains("no more datagrams of 1,400 bytes"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn whatever_the_weather_each_datagram_is_counted_once(
        seed: u64, lost_ppm in 0..200_000_u64, duplicated_ppm in 0..100_000_u64,
        delayed_ppm in 0..200_000_u64, flipped_ppm in 0..100_000_u64,
        delay_ns in 1_000..20_000_000_u64, rate in prop::option::of(1_000_000..500_000_000_u64),
    ) {
        let plan = DatagramsPlan {
            extent: Extent::TransferBytes(Bytes(SIZE * 2_000)),
            rate_bps: rate.map(BitRate),
            ..plan(Pattern::Push)
        };
        let wide = Link::new(ONE_WAY_NS).with_buffers(256 << 20, 256 << 20);
        let mut sim = sim(&plan, Conditions::over(wide));
        let weather =
            Weather { seed, lost_ppm, duplicated_ppm, delayed_ppm, flipped_ppm, delay_ns };
        let flipped = Rc::new(Cell::new(0));
        let (counter, mut fates) = (Rc::clone(&flipped), weather.fates());
        sim.datagrams(move |passing| {
            let before = passing.bytes.clone();
            let fate = fates(passing);
            counter.set(counter.get() + u64::from(*passing.bytes != before));
            fate
        });
        let (client, server, _) = run(&mut sim);
        let truth = sim.traffic(FLOW, Lane::ONLY, Role::Client);
        prop_assert_eq!(client.sent, 2_000);
        prop_assert_eq!(
            (server.lost, server.duplicates, server.corrupt, server.foreign, server.late),
            (truth.lost, truth.duplicated, flipped.get(), 0, 0)
        );
        prop_assert_eq!(server.received, 2_000 - truth.lost - flipped.get());
        prop_assert!(server.bursts.lost >= truth.lost);
    }
}

#[test]
fn what_came_joined_bounds_what_a_dropped_buffer_held() {
    let plan = plan(Pattern::Push);
    let judged = |largest_buffer_bytes, lost, drops| {
        let client = DatagramsReport { sent: 100_000, ..DatagramsReport::default() };
        let server = DatagramsReport {
            lost,
            socket_drops: Some(drops),
            largest_buffer_bytes,
            ..DatagramsReport::default()
        };
        let summary = DatagramsSummary::of(&plan, &client, Some(&server));
        let end = EndFacts::default();
        let verdict = verdict(&plan, &summary, end, end).expect("there is a direction");
        (summary.up.expect("it pushes").lost_on_the_way, verdict)
    };
    // Nothing came joined: each buffer held one.
    let (on_the_way, told) = judged(Some(SIZE), 3_674, 121);
    assert_eq!((on_the_way, told.limit), (Some(3_553), Limit::Network));
    assert_eq!(
        told.text,
        "the path: 3,674 datagrams (3.7 %) were lost, 3,553 of them on the way; the receiver's socket dropped 121 buffers"
    );
    // Five were joined at the most, the last of them short: 605 of them in the socket.
    let (on_the_way, told) = judged(Some(4 * SIZE + 40), 3_674, 121);
    assert_eq!((on_the_way, told.limit), (Some(3_069), Limit::Network));
    assert!(told.text.ends_with("dropped 121 buffers of up to 5 datagrams each"), "{}", told.text);
    // As many as the system joins: all of them may have been there.
    for largest in [Some(46 * SIZE), None] {
        let (on_the_way, told) = judged(largest, 3_674, 121);
        assert_eq!((on_the_way, told.limit), (Some(0), Limit::ReceiverSocket), "{largest:?}");
    }
}

#[test]
fn the_largest_buffer_is_that_of_what_came_together() {
    let largest = |pause_ns: Option<u64>| {
        let mut sim = sim(&plan(Pattern::Push), link());
        if let Some(for_ns) = pause_ns {
            let at = Tick::from_nanos(500_000_000);
            sim.at(at, Action::Pause { role: Role::Server, for_ns });
        }
        let (_, server, _) = run(&mut sim);
        assert_eq!((server.received, server.lost), (1_000, 0));
        server.largest_buffer_bytes
    };
    assert_eq!(largest(None), Some(SIZE));
    // What waited for a receiver that stood still for 10 ms comes together.
    assert!(largest(Some(10_000_000)) > Some(5 * SIZE));
    let nothing = report(DatagramTally::default(), sim(&plan(Pattern::Push), link()).server(FLOW));
    assert_eq!(nothing.largest_buffer_bytes, None);
}

/// Twenty seconds between ends that know of consent.
fn long_with_consent(pattern: Pattern) -> Sim<DatagramFlow, DatagramFlow> {
    let plan = DatagramsPlan { extent: Extent::DurationNs(Period::from_secs(20)), ..plan(pattern) };
    let session = SessionKey::from(Token([3; 16]));
    let shared = |role| DatagramShared::new(&plan, role);
    let mut sim = Sim::new(link(), shared(Role::Client), shared(Role::Server));
    let flow = |role| DatagramFlow::new(&plan, role, session, FLOW).with_consent(true);
    sim.connect(flow(Role::Client), flow(Role::Server), Transport::Datagram);
    sim.tell_totals(ONE_WAY_NS);
    sim
}

fn is_consent(passing: &Passing<'_>) -> bool {
    passing.bytes.starts_with(b"PSCN")
}

fn seconds(seconds: f64) -> Tick {
    Tick::from_nanos((seconds * 1e9) as u64)
}

/// Both ends agree that all of it came.
fn all_came(sim: &mut Sim<DatagramFlow, DatagramFlow>, pattern: Pattern) {
    let (client, server, outcome) = run(sim);
    let plan = plan(pattern);
    for (role, sender, receiver) in
        [(Role::Client, &client, &server), (Role::Server, &server, &client)]
    {
        let sent = if plan.pattern.sends(role) { 20_000 } else { 0 };
        assert_eq!((sender.sent, receiver.received), (sent, sent), "{pattern:?} {outcome}");
        assert_eq!((receiver.lost, receiver.corrupt, receiver.foreign), (0, 0, 0), "{pattern:?}");
        assert_eq!(sender.unreachable, 0, "{pattern:?}");
    }
}

#[test]
fn a_sender_whose_receiver_asks_no_more_stops_and_says_who_asked_no_more() {
    for (pattern, sender, who) in
        [(Pattern::Push, Role::Client, "server"), (Pattern::Pull, Role::Server, "client")]
    {
        let mut sim = long_with_consent(pattern);
        sim.at(seconds(2.1), Action::Cut { flow: FLOW, from: sender.peer() });
        sim.run(seconds(19.0));
        let flow = if sender == Role::Client { sim.client(FLOW) } else { sim.server(FLOW) };
        assert_eq!(flow.phase(), Phase::Failed, "{pattern:?}");
        let error = flow.error().expect("failed").text;
        assert_eq!(
            error,
            format!(
                "the {who} has not asked for its datagrams for 5.1 s; without that they are sent for 5 s at most. See \
                 whether it still runs, and whether UDP passes both ways"
            )
        );
        // The last word was said 375 ms before the path was cut at the most: what was due 5 s later has left.
        let sent = flow.facts().sent;
        assert!((6_725..=7_101).contains(&sent), "{pattern:?}: {sent}");
    }
}

#[test]
fn where_both_send_each_needs_the_other() {
    let mut sim = long_with_consent(Pattern::Duplex);
    sim.at(seconds(2.1), Action::Cut { flow: FLOW, from: Role::Server });
    sim.run(seconds(19.0));
    assert_eq!(sim.client(FLOW).phase(), Phase::Failed);
    // What the client sent for five seconds more was word from it. The server goes on for as long again.
    assert_eq!(sim.server(FLOW).phase(), Phase::Failed);
    assert!((7_000..=7_200).contains(&sim.client(FLOW).facts().sent));
    assert!((11_700..=12_200).contains(&sim.server(FLOW).facts().sent));
}

#[test]
fn of_ten_words_one_is_enough_and_a_pause_shorter_than_the_limit_ends_nothing() {
    for pattern in [Pattern::Push, Pattern::Pull, Pattern::Duplex] {
        let mut words = 0;
        let mut sim = long_with_consent(pattern);
        sim.datagrams(move |passing| {
            words += u64::from(is_consent(passing));
            if is_consent(passing) && words % 10 != 1 { Fate::Lose } else { Fate::Deliver }
        });
        all_came(&mut sim, pattern);

        let mut sim = long_with_consent(pattern);
        sim.datagrams(|it| {
            let is_lost = is_consent(it) && (seconds(3.0)..seconds(7.5)).contains(&it.at);
            if is_lost { Fate::Lose } else { Fate::Deliver }
        });
        all_came(&mut sim, pattern);
    }
}

#[test]
fn where_both_send_the_streams_themselves_are_word_enough() {
    let mut sim = long_with_consent(Pattern::Duplex);
    sim.datagrams(|it| if is_consent(it) { Fate::Lose } else { Fate::Deliver });
    all_came(&mut sim, Pattern::Duplex);
}

#[test]
fn a_word_that_the_path_damaged_is_neither_word_nor_damage_to_the_stream() {
    let mut sim = long_with_consent(Pattern::Duplex);
    sim.datagrams(|it| {
        if is_consent(it) {
            let bit = it.position as usize % 320;
            it.bytes[bit / 8] ^= 1 << (bit % 8);
        }
        Fate::Deliver
    });
    all_came(&mut sim, Pattern::Duplex);
}

#[test]
fn a_sender_that_stood_still_hears_what_was_said_meanwhile() {
    let mut sim = long_with_consent(Pattern::Push);
    sim.at(seconds(2.0), Action::Pause { role: Role::Client, for_ns: 8_000_000_000 });
    let (client, _, _) = run(&mut sim);
    assert_eq!((client.sent, client.unsent), (20_000, 0));
}

#[test]
fn a_refusal_ends_a_stream_within_a_second_unless_it_is_asked_for_all_the_same() {
    let refusal = |is_refusal| Action::Tell {
        flow: FLOW,
        role: Role::Client,
        event: Event::Unreachable { lane: Lane::ONLY, errno: 111, is_answer: true, is_refusal },
    };
    let mut sim = long_with_consent(Pattern::Push);
    sim.at(seconds(2.1), Action::Cut { flow: FLOW, from: Role::Server });
    sim.at(seconds(2.1), refusal(true));
    sim.run(seconds(3.1));
    assert_eq!(sim.client(FLOW).phase(), Phase::Failed);
    let error = sim.client(FLOW).error().expect("failed");
    assert!(error.text.contains("the server's machine refuses its datagrams"), "{}", error.text);

    for is_refusal in [true, false] {
        let mut sim = long_with_consent(Pattern::Push);
        sim.at(seconds(2.1), refusal(is_refusal));
        let (client, server, _) = run(&mut sim);
        assert_eq!((client.sent, client.unreachable, server.received), (20_000, 1, 20_000));
    }
}

#[test]
fn a_sender_that_goes_on_and_never_says_how_many_it_sent_is_not_awaited_for_ever() {
    let plan = plan(Pattern::Duplex);
    let session = SessionKey::from(Token([3; 16]));
    let shared = |role| DatagramShared::new(&plan, role);
    let mut sim = Sim::new(link(), shared(Role::Client), shared(Role::Server));
    let flow = |plan, role| DatagramFlow::new(plan, role, session, FLOW).with_consent(true);
    // A client that takes ten minutes for what was to last a second.
    let endless =
        DatagramsPlan { extent: Extent::DurationNs(Period::from_secs(600)), ..plan.clone() };
    sim.connect(flow(&endless, Role::Client), flow(&plan, Role::Server), Transport::Datagram);
    sim.run(seconds(13.1));
    assert_eq!(sim.server(FLOW).phase(), Phase::Failed);
    let error = sim.server(FLOW).error().expect("failed").text;
    assert!(error.contains("has not said how many datagrams it sent, 12 s after"), "{error}");
}
