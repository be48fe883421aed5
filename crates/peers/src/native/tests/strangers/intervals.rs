//! What the other end tells of intervals: how many it may, and for how long they put off the end.

use pathscope_core::quantity::{Bytes, Period};
use pathscope_modes::goodput::GoodputInterval;
use pathscope_modes::load::Extent;
use pathscope_modes::registry::{EndInterval, Plan};

use super::*;

/// An interval in which something moved.
fn moving_interval() -> Message {
    let goodput = Some(GoodputInterval { received_bytes: 1, ..GoodputInterval::default() });
    Message::Interval(Box::new(EndInterval { goodput, ..EndInterval::default() }))
}

#[test]
fn a_report_is_not_waited_for_for_ever_whatever_is_said_to_move() {
    // One that states no duration, after which it would be stopped.
    let mut test = fixtures::load(2);
    let Plan::Goodput(plan) = &mut test.plan else { panic!("it is of goodput") };
    plan.extent = Extent::TransferBytes(Bytes(1 << 30));
    plan.warm_up_ns = Period(0);
    for is_first in [false, true] {
        let mut client = running_client_with(&[], &test);
        if is_first {
            client.input(Input::Over(Box::default()), NOW);
        } else {
            say(&mut client, &Message::Report(Box::default()));
        }
        let mut now = NOW;
        let error = loop {
            if let Some(ended) = outputs(&mut client).1 {
                break ended.expect_err("no report came").to_string();
            }
            now = now.plus_nanos(1_000_000_000);
            if is_first {
                let bytes = moving_interval().encode().expect("short");
                client.input(Input::Received(&bytes), now);
            } else {
                let goodput = Some(GoodputInterval { sent_bytes: 1, ..GoodputInterval::default() });
                let interval = EndInterval { goodput, ..EndInterval::default() };
                client.input(Input::Interval(Box::new(interval)), now);
                let beat = Message::Ping(Beat::default()).encode().expect("short");
                client.input(Input::Received(&beat), now);
            }
            client.input(Input::Deadline, now);
        };
        assert_eq!(now, NOW.plus_nanos(76_000_000_000), "{error}");
        assert!(error.contains("76 s"), "{error}");
    }
}

#[test]
fn more_intervals_than_there_was_time_for_are_a_breach() {
    let mut client = running_client();
    let every = fixtures::load(2).report_every_ns.0;
    let bytes = moving_interval().encode().expect("short");
    // 20 s, a hundredth of them, the 10 s that words may take, and a few.
    let now = NOW.plus_nanos(20_000_000_000);
    let most = 30_200_000_000 / every + 16;
    for _ in 0..most {
        client.input(Input::Received(&bytes), now);
    }
    assert!(outputs(&mut client).1.is_none());
    client.input(Input::Received(&bytes), now);
    let error = outputs(&mut client).1.expect("it is over").expect_err("it is a breach");
    assert!(matches!(error, PeerError::Breach { .. }), "{error}");
    assert!(error.to_string().contains("more intervals than there was time for"), "{error}");
}

#[test]
fn an_interval_in_which_nothing_moved_buys_no_time() {
    let mut client = running_client();
    client.input(Input::Over(Box::default()), NOW);
    let mut now = NOW;
    while outputs(&mut client).1.is_none() {
        now = now.plus_nanos(1_000_000_000);
        client.input(
            Input::Received(&Message::Interval(Box::default()).encode().expect("short")),
            now,
        );
        client.input(Input::Deadline, now);
    }
    assert_eq!(now, NOW.plus_nanos(16_000_000_000));
}
