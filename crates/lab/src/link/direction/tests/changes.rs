//! Changes, cuts and restorations while frames wait and travel.

use super::*;

const MS: u64 = 1_000_000;

fn obey(direction: &mut Direction, at_ns: u64, words: &str) {
    direction.obey(Tick::from_nanos(at_ns), &words.parse().expect(words)).expect(words);
}

#[test]
fn what_travels_keeps_its_delay_and_is_not_overtaken() {
    let mut direction = under("delay=20ms");
    offer_numbered(&mut direction, 0, 1, 60);
    obey(&mut direction, 5 * MS, "delay=1ms");
    offer_numbered(&mut direction, 5 * MS, 2, 60);
    offer_numbered(&mut direction, 30 * MS, 3, 60);
    assert_eq!(all_arrivals(&mut direction), [(20 * MS, 1), (20 * MS, 2), (31 * MS, 3)]);
}

#[test]
fn what_waits_gets_the_new_rate_and_what_is_being_sent_does_not() {
    let mut direction = under("rate=8Mbit");
    for number in 1..=3 {
        offer_numbered(&mut direction, 0, number, 1000);
    }
    // A frame takes 1 ms, from now on 2 ms: the second has begun and keeps its rate.
    obey(&mut direction, MS + MS / 2, "rate=4Mbit");
    assert_eq!(all_arrivals(&mut direction), [(MS, 1), (2 * MS, 2), (4 * MS, 3)]);
}

#[test]
fn a_limit_that_is_lifted_lets_the_queue_go() {
    let mut direction = under("rate=8Mbit");
    for number in 1..=4 {
        offer_numbered(&mut direction, 0, number, 1000);
    }
    obey(&mut direction, MS / 2, "rate=none delay=1ms");
    offer_numbered(&mut direction, MS / 2, 5, 1000);
    let arrived = all_arrivals(&mut direction);
    assert_eq!(arrived, (1..=5).map(|number| (2 * MS, number)).collect::<Vec<_>>());
}

#[test]
fn a_queue_that_became_too_small_drops_only_what_comes() {
    let mut direction = under("rate=8Mbit queue=10p");
    for number in 0..11 {
        offer_numbered(&mut direction, 0, number, 1000);
    }
    obey(&mut direction, 0, "queue=2p");
    offer_numbered(&mut direction, 0, 11, 1000);
    assert_eq!(total(&direction).dropped.frames, 1);
    assert_eq!(all_arrivals(&mut direction).len(), 11);
}

#[test]
fn a_cut_takes_all_that_has_not_arrived() {
    let mut direction = under("rate=8Mbit delay=2ms reorder=100%x5,10s");
    // Held back for long,
    offer_numbered(&mut direction, 0, 0, 1000);
    obey(&mut direction, MS, "reorder=none");
    // arrived but not taken, on its way, being sent, waiting.
    for number in 1..=5 {
        offer_numbered(&mut direction, MS, number, 1000);
    }
    obey(&mut direction, 4 * MS + MS / 2, "cut");
    assert!(direction.is_cut());
    offer_numbered(&mut direction, 5 * MS, 6, 1000);
    assert_eq!(all_arrivals(&mut direction), [(4 * MS, 1)]);
    let counts = total(&direction);
    assert_eq!((counts.cut.frames, counts.delivered.frames), (6, 1));

    obey(&mut direction, 10 * MS, "restore");
    offer_numbered(&mut direction, 10 * MS, 7, 1000);
    assert_eq!(all_arrivals(&mut direction), [(13 * MS, 7)]);
}

#[test]
fn conditions_may_change_while_a_link_is_cut() {
    let mut direction = under("delay=2ms");
    obey(&mut direction, 0, "cut");
    obey(&mut direction, 0, "delay=3ms");
    obey(&mut direction, 0, "restore");
    offer_numbered(&mut direction, 0, 1, 60);
    assert_eq!(all_arrivals(&mut direction), [(3 * MS, 1)]);
}

#[test]
fn what_a_link_cannot_be_like_changes_nothing() {
    let mut direction = under("delay=2ms jitter=1ms");
    let before = *direction.conditions();
    let order = Order::Change(change("delay=0s"));
    let error = direction.obey(Tick::ZERO, &order).expect_err("less than the jitter").to_string();
    assert!(error.contains("set jitter=1ms: jitter is at most the delay"), "{error}");
    assert_eq!(*direction.conditions(), before);
}
