//! What a relay is told while it carries frames.

use super::course::{at, conditions, course, frames, order, unrelayed};
use super::*;
use crate::link::ConditionsError;

/// Later than a slow machine takes to ask once, and no time to wait for.
const SOON_NS: u64 = 20_000_000;

#[test]
fn orders_for_now_hold_for_what_comes_next() {
    let Some(course) = course(["delay=0ms", "delay=0ms"], FRAME_BYTES) else { return };
    let forth = TimedOrder { way: Some(Way::Forth), ..at(clock::now(), "loss=100%") };
    course.relay.obey(vec![forth]).expect("a link can be like that");
    // It obeys in the turn in which it is asked; the frames come later.
    let sent = frames([80; 20]);
    course
        .until(|account| account.links[0].forward.conditions == conditions("delay=0ms loss=100%"));
    course.offer(0, &sent);
    course.offer(1, &sent);
    let account = course.settled([20, 20]);
    assert_eq!(account.links[0].forward.truth.total.lost, tally(&sent));
    assert_eq!(account.links[0].backward.truth.total.delivered, tally(&sent));
}

#[test]
fn an_order_for_later_is_obeyed_then_and_not_before() {
    let Some(course) = course(["delay=0ms", "delay=0ms"], FRAME_BYTES) else { return };
    let then = clock::now().plus_nanos(SOON_NS);
    course.relay.obey(vec![at(then, "cut")]).expect("a link can be cut");
    course.until(|account| account.links[0].forward.is_cut && account.links[0].backward.is_cut);
    assert!(clock::now() >= then);
}

#[test]
fn a_relay_that_falls_behind_obeys_between_the_frames_before_an_order_and_those_after() {
    let Some(link) = unrelayed(["delay=0ms", "delay=0ms"], FRAME_BYTES) else { return };
    let sent = frames([80; 20]);
    let put = |frames: &[Vec<u8>]| {
        let frames: Vec<&[u8]> = frames.iter().map(Vec::as_slice).collect();
        assert_eq!(link.ends[0].send(&frames).expect("a cable takes all"), frames.len());
    };
    // Stamps are of the wall clock, which may drift against ours, a little.
    let pass_time = || {
        let begin = clock::now();
        while clock::now().nanos_since(begin) < 2_000_000 {}
        clock::now()
    };
    put(&sent[..12]);
    let then = pass_time();
    pass_time();
    put(&sent[12..]);
    // All that is due already, and what is asked last, is there when the relay begins.
    let (commands, inbox) = mpsc::channel();
    let waker = Waker::new().expect("a waker");
    let carrier = thread::Carrier::new(vec![link.wire], inbox, waker.clone()).expect("a relay");
    let (answer, obeyed) = mpsc::channel();
    let orders = vec![at(then, "loss=100%")];
    commands.send(Command::Obey { orders, answer }).expect("it is there");
    waker.wake();
    let relay = std::thread::spawn(move || carrier.run());
    obeyed.recv().expect("it runs").expect("a link can be like that");
    let (answer, answered) = mpsc::channel();
    let account = loop {
        commands.send(Command::Account { answer: answer.clone() }).expect("it is there");
        waker.wake();
        let account = answered.recv().expect("it runs");
        let total = account.links[0].forward.truth.total;
        if total.offered.frames == 20 && total.in_flight().frames == 0 {
            break account;
        }
    };
    commands.send(Command::End).expect("it is there");
    waker.wake();
    relay.join().expect("it ends");
    let total = account.links[0].forward.truth.total;
    assert_eq!((total.delivered, total.lost), (tally(&sent[..12]), tally(&sent[12..])));
}

#[test]
fn orders_for_one_time_are_obeyed_as_they_were_given() {
    let Some(course) = course(["delay=0ms", "delay=0ms"], FRAME_BYTES) else { return };
    let then = clock::now().plus_nanos(SOON_NS);
    for words in ["delay=1ms", "delay=2ms", "delay=3ms", "delay=4ms"] {
        course.relay.obey(vec![at(then, words), at(then, "dup=0%")]).expect("it can");
    }
    course.relay.obey(vec![at(then.plus_nanos(1), "rate=1Gbit")]).expect("it can");
    let is_last = |account: &RelayAccount| {
        account.links[0].forward.conditions.rate == conditions("rate=1Gbit").rate
    };
    let account = course.until(is_last);
    assert_eq!(account.links[0].forward.conditions.delay, conditions("delay=4ms").delay);
}

#[test]
fn a_wrong_order_among_right_ones_has_none_obeyed() {
    let Some(course) = course(["delay=5ms", "delay=5ms"], FRAME_BYTES) else { return };
    let now = clock::now();
    let orders = vec![at(now, "loss=100%"), at(now, "jitter=6ms"), at(now, "cut")];
    let refusal = course.relay.obey(orders).expect_err("jitter is at most the delay");
    let RelayError::Conditions(ConditionsError::OutOfRange { key, .. }) = refusal else {
        panic!("{refusal:?}")
    };
    assert_eq!(key, "jitter");
    // What comes later counts with what was to come before it.
    let never = now.plus_nanos(3_600_000_000_000);
    course.relay.obey(vec![at(never, "delay=50ms")]).expect("it can");
    let after = never.plus_nanos(1);
    course.relay.obey(vec![at(after, "jitter=50ms")]).expect("the delay is longer by then");
    course.relay.obey(vec![at(never, "delay=40ms")]).expect_err("the jitter is longer by then");
    let link = &course.relay.account().expect("it runs").links[0];
    for direction in [&link.forward, &link.backward] {
        assert_eq!(direction.conditions, conditions("delay=5ms"));
        assert!(!direction.is_cut);
    }
}

#[test]
fn an_order_to_a_link_that_is_not_there_harms_nobody() {
    let Some(course) = course(["delay=0ms", "delay=0ms"], FRAME_BYTES) else { return };
    let order = TimedOrder { wire: 7, way: None, order: order("cut"), at: clock::now() };
    course.relay.obey(vec![order]).expect("there is nothing to be wrong");
    let sent = frames([80; 3]);
    course.offer(0, &sent);
    course.expect(1, &sent);
}

#[test]
fn a_cut_takes_what_is_on_its_way_and_what_comes_until_it_is_restored() {
    let Some(course) = course(["delay=50s", "delay=0ms"], FRAME_BYTES) else { return };
    let forward = |account: &RelayAccount| account.links[0].forward.truth.total;
    let sent = frames([80; 5]);
    course.offer(0, &sent);
    course.until(|account| forward(account).in_flight() == tally(&sent));
    course.relay.obey(vec![at(clock::now(), "cut")]).expect("a link can be cut");
    let account = course.settled([5, 0]);
    assert_eq!(forward(&account).cut, tally(&sent));
    course.offer(0, &sent);
    assert_eq!(forward(&course.settled([10, 0])).cut.frames, 10);
    let now = clock::now();
    course.relay.obey(vec![at(now, "delay=0ms"), at(now, "restore")]).expect("it can");
    course.until(|account| !account.links[0].forward.is_cut);
    course.offer(0, &sent);
    course.expect(1, &sent);
    let total = forward(&course.settled([15, 0]));
    assert_eq!((total.cut.frames, total.delivered), (10, tally(&sent)));
}
