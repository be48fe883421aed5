//! Datagrams: batches, fates, lanes, full sockets.

use pathscope_core::id::Lane;
use pathscope_core::quantity::BitRate;

use super::toys::{Listener, Log, Numberer};
use super::{CLIENT, FIRST, SERVER, micros, quarter_millisecond, run_to_its_end};
use crate::sim::{Action, Chunks, Conditions, Ends, Fate, Link, Sim, Traffic, Weather};
use crate::{Event, Transport};

/// Long enough for everything that is on its way when the total is told.
const DRAIN_NS: u64 = 10_000_000_000;

fn numbers(
    conditions: Conditions,
    sender: Numberer,
    receiver: Listener,
) -> Sim<Numberer, Listener> {
    let mut sim = Sim::new(conditions, Log::default(), Log::default());
    sim.connect(sender, receiver, Transport::Datagram);
    sim.tell_totals(250_000);
    sim
}

fn received(sim: &mut Sim<Numberer, Listener>) -> Vec<u64> {
    run_to_its_end(sim);
    sim.server_shared().received.clone()
}

#[test]
fn datagrams_arrive_as_they_were_sent() {
    for (writes, reads) in
        [(Chunks::All, Chunks::All), (Chunks::Fixed(3), Chunks::Random { seed: 5, max: 7 })]
    {
        let conditions = Conditions { writes, reads, ..quarter_millisecond() };
        let mut sim = numbers(conditions, Numberer::new(500, 100), Listener::draining(DRAIN_NS));
        assert_eq!(received(&mut sim), (0..500).collect::<Vec<_>>());
        let strides = sim.server_shared().metas.iter().map(|meta| meta.stride.map(usize::from));
        assert!(strides.into_iter().all(|stride| stride == Some(100)));
    }
}

#[test]
fn what_is_left_of_a_batch_is_presented_again() {
    let listener = Listener::draining(DRAIN_NS).taking_one();
    let mut sim = numbers(quarter_millisecond(), Numberer::new(20, 100), listener);
    assert_eq!(received(&mut sim), (0..20).collect::<Vec<_>>());
    assert_eq!(sim.server_shared().metas.len(), 20);
}

#[test]
fn a_datagram_has_the_fate_that_the_test_gives_it() {
    let mut sim = numbers(
        quarter_millisecond(),
        Numberer::new(8, 100).every(1_000_000),
        Listener::draining(DRAIN_NS),
    );
    sim.datagrams(|passing| match passing.position {
        1 => Fate::Lose,
        3 => Fate::Duplicate { after_ns: 1_500_000 },
        6 => Fate::Delay { by_ns: 1_500_000 },
        _ => Fate::Deliver,
    });
    assert_eq!(received(&mut sim), [0, 2, 3, 4, 3, 5, 7, 6]);
    let truth = Traffic { entered: 8, lost: 1, duplicated: 1, overflowed: 0 };
    assert_eq!(sim.traffic(FIRST, Lane::ONLY, CLIENT), truth);
}

#[test]
fn a_fate_may_change_and_shorten_a_datagram() {
    let mut sim =
        numbers(quarter_millisecond(), Numberer::new(5, 100), Listener::draining(DRAIN_NS));
    sim.datagrams(|passing| {
        match passing.position {
            1 => passing.bytes.clear(),
            2 => passing.bytes[7] = 99,
            3 => passing.bytes.truncate(5),
            _ => {}
        }
        Fate::Deliver
    });
    // The empty one comes alone and shows no number; the short one ends a batch.
    assert_eq!(received(&mut sim), [0, 99, u64::MAX, 4]);
    let strides: Vec<_> =
        sim.server_shared().metas.iter().map(|meta| meta.stride.map(usize::from)).collect();
    assert_eq!(strides, [Some(100), Some(1), Some(100), Some(100)]);
}

#[test]
fn weather_is_repeatable_and_its_truth_is_counted() {
    let weather = Weather {
        seed: 3,
        lost_ppm: 100_000,
        duplicated_ppm: 50_000,
        delayed_ppm: 50_000,
        flipped_ppm: 0,
        delay_ns: 3_500_000,
    };
    let run = || {
        let sender = Numberer::new(2_000, 100).every(1_000_000);
        let mut sim = numbers(quarter_millisecond(), sender, Listener::draining(DRAIN_NS));
        sim.datagrams(weather.fates());
        let received = received(&mut sim);
        (received, sim.traffic(FIRST, Lane::ONLY, CLIENT))
    };
    let (received, truth) = run();
    assert_eq!(received.len() as u64, 2_000 - truth.lost + truth.duplicated);
    assert!((150..250).contains(&truth.lost), "{truth:?}");
    assert!((60..140).contains(&truth.duplicated), "{truth:?}");
    assert!(!received.is_sorted());
    assert_eq!(run(), (received, truth));
}

#[test]
fn a_flipped_bit_is_one_bit() {
    let mut sim =
        numbers(quarter_millisecond(), Numberer::new(50, 8), Listener::draining(DRAIN_NS));
    sim.datagrams(Weather { flipped_ppm: 1_000_000, ..Weather::default() }.fates());
    let flips: Vec<u32> = received(&mut sim)
        .iter()
        .enumerate()
        .map(|(sent, received)| (sent as u64 ^ received).count_ones())
        .collect();
    assert_eq!(flips, [1; 50]);
}

#[test]
fn a_full_receiving_socket_drops_and_counts() {
    let conditions = Conditions::over(Link::new(1_000).with_buffers(64 << 10, 1_000));
    let mut sim = numbers(conditions, Numberer::new(30, 100), Listener::draining(DRAIN_NS));
    sim.at(micros(0), Action::Pause { role: SERVER, for_ns: 1_000_000 });
    assert_eq!(received(&mut sim), (0..10).collect::<Vec<_>>());
    assert_eq!(sim.server_shared().metas[0].drops, 20);
    assert_eq!(sim.traffic(FIRST, Lane::ONLY, CLIENT).overflowed, 20);
}

#[test]
fn a_rate_spaces_datagrams_exactly_and_fills_the_sending_socket() {
    let link = Link::new(250_000).at_rate(BitRate(8_000_000)).with_buffers(1_000, 64 << 10);
    let mut conditions = Conditions::over(link);
    conditions.kernel_stamps = true;
    let mut sim = numbers(conditions, Numberer::new(30, 100), Listener::draining(DRAIN_NS));
    assert_eq!(received(&mut sim), (0..30).collect::<Vec<_>>());
    let origin = conditions.clock_origins.server;
    let stamps: Vec<_> = sim.server_shared().metas.iter().filter_map(|meta| meta.stamp).collect();
    let expected: Vec<_> =
        (1..=30).map(|count| origin.plus_nanos(250_000 + count * 100_000)).collect();
    assert_eq!(stamps, expected);
    // All but the ten that the socket holds and the one on the link have left when the last is taken.
    assert_eq!(sim.over_at(FIRST, CLIENT), Some(micros(1_900)));
}

#[test]
fn what_was_handed_over_is_told_by_number_on_the_senders_clock() {
    let conditions =
        Conditions { kernel_stamps: true, handover_ns: 2_000, ..quarter_millisecond() };
    let sender = Numberer::new(4, 100).every(1_000_000);
    let mut sim = numbers(conditions, sender, Listener::draining(DRAIN_NS));
    assert_eq!(received(&mut sim), [0, 1, 2, 3]);
    let handed_over = sim.client_shared().events.iter().filter_map(|&(now, event)| match event {
        Event::HandedOver { lane: Lane::ONLY, number, at } if now == at => Some((number, at)),
        _ => None,
    });
    // The last one's comes when its machine is over.
    let at = |number| conditions.clock_origins.client.plus_nanos(number * 1_000_000 + 2_000);
    assert!(handed_over.eq((0..3).map(|number| (number, at(number)))));
}

#[test]
fn each_lane_has_links_of_its_own() {
    let mut sim = Sim::new(quarter_millisecond(), Log::default(), Log::default());
    let lanes = [Ends::both(Link::new(5_000_000)), Ends::both(Link::new(1_000_000))];
    let sender = Numberer::new(6, 100).on_lanes(2);
    sim.connect_lanes(sender, Listener::draining(DRAIN_NS), Transport::Datagram, &lanes);
    sim.tell_totals(0);
    assert_eq!(received(&mut sim), [1, 3, 5, 0, 2, 4]);
}

#[test]
fn an_unreachable_is_told_and_the_lane_lives() {
    let sender = Numberer::new(3, 100).every(1_000_000);
    let mut sim = numbers(quarter_millisecond(), sender, Listener::draining(DRAIN_NS));
    let event =
        Event::Unreachable { lane: Lane::ONLY, errno: 111, is_answer: true, is_refusal: true };
    sim.at(micros(1_500), Action::Tell { flow: FIRST, role: CLIENT, event });
    assert_eq!(received(&mut sim), [0, 1, 2]);
    assert!(sim.client_shared().events.iter().any(|(_, told)| *told == event));
}
