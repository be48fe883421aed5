//! Bytes in order: exact times, every byte once whatever the chunks, back-pressure, ends.

use pathscope_core::Tick;
use pathscope_core::id::{FlowId, Lane};
use pathscope_core::quantity::BitRate;
use proptest::prelude::*;

use super::toys::{Collector, Log, Player, Pourer, Sleeper, pattern};
use super::{CLIENT, FIRST, FOREVER, SERVER, micros, quarter_millisecond, run_to_its_end, stream};
use crate::sim::{Action, Chunks, Conditions, Edit, Ended, Ends, Link, Sim};
use crate::{Event, Machine, Totals, Transport};

fn poured(total: u64) -> Vec<u8> {
    (0..total).map(pattern).collect()
}

#[test]
fn a_thousand_pings_measure_exactly_the_link() {
    let mut sim =
        stream(quarter_millisecond(), Player::client(1_000, 64), Player::server(1_000, 64));
    let outcome = run_to_its_end(&mut sim);
    assert_eq!(outcome.at, Tick::from_nanos(1_000 * 500_000));
    assert_eq!(outcome.operations, 4_000);
    assert_eq!(sim.client_shared().round_trips, vec![500_000; 1_000]);
}

#[test]
fn links_may_differ_in_each_direction() {
    let mut conditions = quarter_millisecond();
    conditions.links.server = Link::new(1_000);
    let mut sim = stream(conditions, Player::client(3, 1), Player::server(3, 1));
    run_to_its_end(&mut sim);
    assert_eq!(sim.client_shared().round_trips, [251_000; 3]);
}

#[test]
fn a_rate_takes_its_time_to_the_nanosecond() {
    // A prime rate: the time of one byte is no whole number of nanoseconds, and must not add up.
    let rate = BitRate(999_983);
    let link = Link::new(250_000).at_rate(rate);
    let mut sim = stream(Conditions::over(link), Pourer::new(100_000), Collector::new());
    run_to_its_end(&mut sim);
    let last_byte = Tick::from_nanos(rate.nanos_for(100_000) + 250_000);
    assert_eq!(sim.over_at(FIRST, SERVER), Some(last_byte));
    assert_eq!(sim.over_at(FIRST, CLIENT), Some(last_byte.plus_nanos(250_000)));
    assert_eq!(sim.server(FIRST).bytes, poured(100_000));
}

#[test]
fn a_message_at_a_rate_waits_for_its_last_bit_on_an_idle_link() {
    let link = Link::new(250_000).at_rate(BitRate(8_000_000));
    let conditions = Conditions::over(link);
    let mut sim = stream(conditions, Player::client(5, 100), Player::server(5, 100));
    run_to_its_end(&mut sim);
    assert_eq!(sim.client_shared().round_trips, [2 * (250_000 + 100_000); 5]);
}

#[test]
fn a_receiver_that_takes_nothing_stops_the_sender_at_both_buffers() {
    let link = Link::new(1_000).with_buffers(3_000, 7_000);
    let mut sim =
        stream(Conditions::over(link), Pourer::new(100_000), Collector::resting(1_000_000));
    let outcome = sim.run(micros(999));
    assert_eq!(outcome.ended, Ended::TimeUp);
    assert_eq!(outcome.waiting[0].totals, Totals { sent: 10_000, received: 0 });
    assert_eq!(outcome.waiting[0].unsent_bytes, 3_000);
    assert_eq!(outcome.waiting[1].unread_bytes, 7_000);
    run_to_its_end(&mut sim);
    assert_eq!(sim.server(FIRST).bytes, poured(100_000));
}

#[test]
fn a_window_passes_once_a_round_trip() {
    let link = Link::new(250_000).with_buffers(1 << 20, 10_000);
    let mut sim = stream(Conditions::over(link), Pourer::new(100_000), Collector::new());
    run_to_its_end(&mut sim);
    // Ten windows: nine round trips until the last one may leave, and half of one more.
    assert_eq!(sim.over_at(FIRST, SERVER), Some(Tick::from_nanos(9 * 500_000 + 250_000)));
}

#[test]
fn bytes_that_are_not_consumed_come_again_with_more() {
    let mut conditions = quarter_millisecond();
    conditions.reads = Chunks::Fixed(3);
    let mut sim = stream(conditions, Pourer::new(1_000), Collector::of_units(8));
    run_to_its_end(&mut sim);
    assert_eq!(sim.server(FIRST).bytes, poured(1_000));
    // A unit of 8 is full after 3, 6 and 9 bytes, of which 1 is left over.
    assert_eq!(sim.server_shared().metas.len(), 334);
}

#[test]
fn what_is_never_consumed_does_not_hide_the_end() {
    let mut sim = stream(quarter_millisecond(), Pourer::new(1_001), Collector::of_units(8));
    run_to_its_end(&mut sim);
    assert_eq!(sim.server(FIRST).bytes, poured(1_000));
}

#[test]
fn each_end_learns_of_the_others_close_once() {
    let mut sim = stream(quarter_millisecond(), Pourer::new(10), Collector::new());
    let outcome = run_to_its_end(&mut sim);
    assert_eq!(outcome.at, micros(500));
    let closed = |log: &Log| {
        log.events.iter().filter(|(_, event)| *event == Event::PeerClosed(Lane::ONLY)).count()
    };
    assert_eq!((closed(sim.client_shared()), closed(sim.server_shared())), (1, 1));
}

#[test]
fn a_graceful_close_takes_what_still_comes() {
    let link = Link::new(250_000).with_buffers(1_000, 1_000);
    let collector = Collector::satisfied_with(1_000);
    let mut sim = stream(Conditions::over(link), Pourer::new(9_500).stubborn(), collector);
    let outcome = sim.run(FOREVER);
    assert_eq!(sim.over_at(FIRST, SERVER), Some(micros(250)));
    assert_eq!(outcome.waiting[0].totals, Totals { sent: 9_500, received: 0 });
    assert_eq!(outcome.waiting[0].unsent_bytes, 0);
}

#[test]
fn sends_and_receives_take_turns() {
    let mut conditions = quarter_millisecond();
    (conditions.writes, conditions.reads) = (Chunks::Fixed(10), Chunks::Fixed(10));
    conditions.starts_ns.server = 1_000_000;
    let mut sim = stream(conditions, Pourer::new(1_000), Pourer::new(1_000));
    // The client's hundred sends, and then fifty operations of a server that could do either.
    sim.before_operation(150, Action::Stop { role: SERVER });
    sim.run(FOREVER);
    assert_eq!(sim.server(FIRST).totals(), Totals { sent: 250, received: 250 });
}

#[test]
fn what_arrives_before_the_start_waits_for_it() {
    let mut conditions = quarter_millisecond();
    conditions.starts_ns = Ends { client: 0, server: 2_000_000 };
    let mut sim = stream(conditions, Player::client(2, 8), Player::server(2, 8));
    run_to_its_end(&mut sim);
    assert_eq!(sim.server_shared().events.first().map(|(_, event)| *event), Some(Event::Start));
    assert_eq!(sim.client_shared().round_trips, [2_250_000, 500_000]);
}

#[test]
fn the_total_is_told_after_its_own_delay() {
    let mut sim = stream(quarter_millisecond(), Pourer::new(10), Collector::new());
    sim.tell_totals(7_000);
    run_to_its_end(&mut sim);
    let origin = quarter_millisecond().clock_origins.server;
    let told = (origin.plus_nanos(7_000), Event::PeerTotal(10));
    assert!(sim.server_shared().events.contains(&told));
}

#[test]
fn timers_are_exact_and_late_by_what_is_asked() {
    for late_ns in [0, 60_000] {
        let mut conditions = quarter_millisecond();
        conditions.timers_late_ns = late_ns;
        let mut sim = stream(conditions, Sleeper::new(1_000_000, 3), Sleeper::new(7, 1));
        run_to_its_end(&mut sim);
        let origin = conditions.clock_origins.client;
        let wakes =
            [1, 2, 3].map(|period| (origin.plus_nanos(period * 1_000_000 + late_ns), Event::Wake));
        assert_eq!(sim.client_shared().events[1..], wakes);
    }
}

#[test]
fn a_hundred_flows_do_not_disturb_each_other() {
    let mut sim = Sim::new(quarter_millisecond(), Log::default(), Log::default());
    for flow in 0..100 {
        let connected =
            sim.connect(Player::client(10, 64), Player::server(10, 64), Transport::Stream);
        assert_eq!(connected, FlowId(flow));
    }
    let outcome = run_to_its_end(&mut sim);
    assert_eq!((outcome.at, outcome.operations), (micros(5_000), 4_000));
    assert_eq!(sim.client_shared().round_trips, vec![500_000; 1_000]);
}

#[test]
fn kernel_stamps_tell_the_arrival_on_the_receivers_clock() {
    let mut conditions = quarter_millisecond();
    conditions.kernel_stamps = true;
    let mut sim = stream(conditions, Pourer::new(10), Collector::resting(1_000_000));
    run_to_its_end(&mut sim);
    let arrival = conditions.clock_origins.server.plus_nanos(250_000);
    assert_eq!(sim.server_shared().metas[0].stamp, Some(arrival));
}

#[test]
fn the_end_of_time_is_told_as_such_and_a_run_goes_on_from_there() {
    let mut sim = stream(quarter_millisecond(), Player::client(2, 8), Player::server(2, 8));
    let outcome = sim.run(micros(600));
    assert_eq!((outcome.ended, outcome.at), (Ended::TimeUp, micros(600)));
    assert_eq!(run_to_its_end(&mut sim).at, micros(1_000));
}

fn chunks() -> impl Strategy<Value = Chunks> {
    prop_oneof![
        Just(Chunks::All),
        (1_usize..100).prop_map(Chunks::Fixed),
        (any::<u64>(), 1_usize..2_000).prop_map(|(seed, max)| Chunks::Random { seed, max }),
    ]
}

prop_compose! {
    fn conditions()(
        writes in chunks(),
        reads in chunks(),
        send_bytes in 1_usize..4_000,
        receive_bytes in 64_usize..4_000,
        rate in proptest::option::of(1_000_000_u64..1_000_000_000),
        segment_bytes in 1_usize..2_000,
        reads_overshoot: bool,
    ) -> Conditions {
        let mut link = Link::new(10_000).with_buffers(send_bytes, receive_bytes);
        link.rate = rate.map(BitRate);
        link.segment_bytes = segment_bytes;
        Conditions { writes, reads, reads_overshoot, ..Conditions::over(link) }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_byte_arrives_once_and_in_order(conditions in conditions(), unit in 1_usize..64) {
        let total = 20_000 - 20_000 % unit as u64;
        let mut sim = stream(conditions, Pourer::new(total), Collector::of_units(unit));
        let outcome = sim.run(FOREVER);
        prop_assert!(outcome.is_over(), "{outcome}");
        prop_assert_eq!(&sim.server(FIRST).bytes, &poured(total));
    }

    #[test]
    fn the_same_conditions_give_the_same_run(conditions in conditions()) {
        let run = || {
            let mut sim = stream(conditions, Pourer::new(5_000), Collector::new());
            let outcome = sim.run(FOREVER);
            (outcome, sim.into_shared())
        };
        prop_assert_eq!(run(), run());
    }

    #[test]
    fn edits_do_not_depend_on_the_pieces(conditions in conditions(), at in 0_u64..2_000) {
        let replacement: Vec<u8> = (0..700).map(|place| !pattern(place)).collect();
        let mut sim = stream(conditions, Pourer::new(5_000), Collector::new());
        for edit in [
            Edit::Delete { offset: at + 2_500, len: 100 },
            Edit::Xor { offset: at, mask: 0x81 },
            Edit::Replace { offset: at + 1_000, bytes: replacement.clone() },
            Edit::Insert { offset: at + 2_000, bytes: vec![0xdd; 30] },
        ] {
            sim.edit(FIRST, CLIENT, edit);
        }
        let outcome = sim.run(FOREVER);
        prop_assert!(outcome.is_over(), "{outcome}");
        let mut expected = poured(5_000);
        let at = at as usize;
        expected.drain(at + 2_500..at + 2_600);
        expected.splice(at + 2_000..at + 2_000, [0xdd; 30]);
        expected[at + 1_000..at + 1_700].copy_from_slice(&replacement);
        expected[at] ^= 0x81;
        prop_assert_eq!(&sim.server(FIRST).bytes, &expected);
    }
}
