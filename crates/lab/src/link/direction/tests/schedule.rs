//! When frames arrive, and which the queue drops.

use super::*;

const MS: u64 = 1_000_000;

#[test]
fn a_backlog_leaves_at_exactly_the_rate() {
    let mut direction = under("rate=40Mbit delay=10ms queue=1000p");
    for number in 1..=1000 {
        offer_numbered(&mut direction, 0, number, 1514);
    }
    let expected: Vec<(u64, u32)> =
        (1..=1000).map(|n| (u64::from(n) * 302_800 + 10 * MS, n)).collect();
    assert_eq!(all_arrivals(&mut direction), expected);
}

#[test]
fn frames_further_apart_than_the_rate_do_not_wait() {
    let mut direction = under("rate=40Mbit delay=10ms");
    for number in 0..100 {
        offer_numbered(&mut direction, u64::from(number) * 400_000, number, 1514);
    }
    let expected: Vec<(u64, u32)> =
        (0..100).map(|n| (u64::from(n) * 400_000 + 302_800 + 10 * MS, n)).collect();
    assert_eq!(all_arrivals(&mut direction), expected);
    assert_eq!(direction.truth().queue.waited_ns, 0);
    assert_eq!(direction.truth().queue.most_frames, 0);
}

#[test]
fn a_queue_stays_as_it_was_until_it_is_known_who_came() {
    // A frame takes a millisecond: one is being sent, one waits.
    let full = || {
        let mut direction = under("rate=8Mbit delay=0s queue=1p");
        offer_numbered(&mut direction, 0, 1, 1000);
        offer_numbered(&mut direction, 0, 2, 1000);
        direction
    };
    let mut direction = full();
    assert!(direction.take_due_of(Tick::from_nanos(3 * MS), Tick::from_nanos(MS / 2)).is_none());
    offer_numbered(&mut direction, MS / 2, 3, 1000);
    assert_eq!(total(&direction).dropped.frames, 1);
    assert_eq!(all_arrivals(&mut direction), [(MS, 1), (2 * MS, 2)]);
    // Had it been taken as known that nobody came, it would have been let in to an empty queue.
    let mut direction = full();
    arrivals(&mut direction, Tick::from_nanos(3 * MS));
    offer_numbered(&mut direction, MS / 2, 3, 1000);
    assert_eq!(total(&direction).dropped.frames, 0);
    // What is on the wire arrives all the same.
    let mut direction = under("delay=1ms");
    offer_numbered(&mut direction, 0, 1, 1000);
    let delivery = direction.take_due_of(Tick::from_nanos(MS), Tick::ZERO).expect("it is due");
    direction.sent(delivery, Tick::from_nanos(MS));
}

#[test]
fn without_conditions_a_frame_is_through_at_once() {
    let mut direction = under("delay=0s");
    offer_numbered(&mut direction, 7, 1, 60);
    assert_eq!(direction.next_due(), Some(Tick::from_nanos(7)));
    assert_eq!(arrivals(&mut direction, Tick::from_nanos(7)), [(7, 1)]);
    assert_eq!(direction.next_due(), None);
    assert!(direction.take_due(Tick::NEVER).is_none());
}

#[test]
fn of_a_burst_one_is_sent_sixty_seven_wait_and_the_next_is_dropped() {
    let mut direction = under("rate=40Mbit queue=67p");
    for number in 1..=70 {
        offer_numbered(&mut direction, 0, number, 1514);
    }
    let counts = total(&direction);
    assert_eq!((counts.offered.frames, counts.dropped.frames), (70, 2));
    assert_eq!(counts.dropped.bytes, 2 * 1514);
    let queue = direction.truth().queue;
    assert_eq!((queue.arrivals, queue.most_frames, queue.most_bytes), (70, 67, 67 * 1514));
    // The first two saw nothing wait, the third one frame, and the last two the full queue.
    assert_eq!(queue.frames_seen, (0..=67).sum::<u64>() + 67);
    let numbers: Vec<u32> = all_arrivals(&mut direction).into_iter().map(|(_, n)| n).collect();
    assert_eq!(numbers, (1..=68).collect::<Vec<_>>());
    let queue = direction.truth().queue;
    assert_eq!((queue.begun, queue.longest_wait_ns), (68, 67 * 302_800));
    assert_eq!(queue.waited_ns, (0..=67).sum::<u64>() * 302_800);
}

#[test]
fn there_is_room_in_the_nanosecond_in_which_a_transmission_ends() {
    for (at_ns, dropped) in [(302_799, 1), (302_800, 0)] {
        let mut direction = under("rate=40Mbit queue=1p");
        offer_numbered(&mut direction, 0, 1, 1514);
        offer_numbered(&mut direction, 0, 2, 1514);
        offer_numbered(&mut direction, at_ns, 3, 1514);
        assert_eq!(total(&direction).dropped.frames, dropped, "{at_ns}");
    }
}

#[test]
fn a_queue_of_bytes_counts_what_waits() {
    let mut direction = under("rate=40Mbit queue=3000B");
    offer_numbered(&mut direction, 0, 1, 5000);
    offer_numbered(&mut direction, 0, 2, 1500);
    offer_numbered(&mut direction, 0, 3, 1501);
    offer_numbered(&mut direction, 0, 4, 1500);
    offer_numbered(&mut direction, 0, 5, 60);
    let numbers: Vec<u32> = all_arrivals(&mut direction).into_iter().map(|(_, n)| n).collect();
    // The first is larger than the queue and found the link idle; the third and fifth had no room.
    assert_eq!(numbers, [1, 2, 4]);
    assert_eq!(total(&direction).dropped.frames, 2);
}

#[test]
fn a_frame_that_is_offered_late_is_sent_as_if_it_were_not() {
    let mut direction = under("rate=40Mbit delay=10ms");
    offer_numbered(&mut direction, 0, 1, 1514);
    assert_eq!(arrivals(&mut direction, Tick::from_nanos(20 * MS)), [(302_800 + 10 * MS, 1)]);
    // It came while the first was being sent, and the driver reads it only now.
    offer_numbered(&mut direction, 100_000, 2, 1514);
    assert_eq!(all_arrivals(&mut direction), [(605_600 + 10 * MS, 2)]);
}

#[test]
fn lateness_is_what_the_driver_says_it_was() {
    let mut direction = under("delay=1ms");
    offer_numbered(&mut direction, 0, 1, 60);
    offer_numbered(&mut direction, 0, 2, 60);
    let now = Tick::from_nanos(MS + 5_000);
    let first = direction.take_due(now).expect("due");
    direction.sent(first, now);
    let second = direction.take_due(now).expect("due");
    assert_eq!(total(&direction).in_flight().frames, 1, "neither handed over nor not");
    direction.not_sent(second);
    let truth = direction.truth();
    assert_eq!((truth.lateness.count, truth.lateness.max_ns), (1, Some(5_000)));
    assert_eq!((truth.total.delivered.frames, truth.total.overrun.frames), (1, 1));
}

#[test]
fn without_a_rate_there_is_an_end_to_what_is_held() {
    let mut direction = under("delay=1s dup=100%");
    for number in 0..70_000 {
        offer_numbered(&mut direction, 0, number, 60);
    }
    let counts = total(&direction);
    // Each frame has a copy: half of the bound, and then neither.
    assert_eq!(counts.in_flight().frames, MOST_FRAMES);
    assert_eq!(counts.duplicated.frames, MOST_FRAMES / 2);
    assert_eq!(counts.overrun.frames, 70_000 - MOST_FRAMES / 2);
    assert_eq!(arrivals(&mut direction, Tick::NEVER).len() as u64, MOST_FRAMES);
    assert_eq!(total(&direction).in_flight().frames, 0);
}

#[test]
fn large_frames_are_bounded_by_their_bytes() {
    let mut direction = under("delay=1s");
    for _ in 0..300 {
        let mut frame = direction.blank();
        frame.room(1 << 20);
        direction.offer(Tick::ZERO, frame);
    }
    assert_eq!(total(&direction).overrun.frames, 300 - 256);
}

#[test]
fn a_steady_stream_uses_its_storage_again() {
    let mut direction = under("rate=1Gbit delay=1ms");
    let mut storage = std::collections::HashSet::new();
    for number in 0..10_000_u64 {
        let now = Tick::from_nanos(number * 20_000);
        while let Some(delivery) = direction.take_due(now) {
            direction.sent(delivery, now);
        }
        let mut frame = direction.blank();
        storage.insert(frame.room(1514).as_ptr());
        direction.offer(now, frame);
    }
    // One comes each 20 µs and is on its way for 1,012: when it leaves, fifty more have come.
    assert_eq!(storage.len(), 51);
}
