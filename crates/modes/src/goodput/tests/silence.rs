//! What was sent and has not been received: given up where it has not come, and never where it waits for its turn at this end.

use pathscope_core::Tick;
use pathscope_core::id::{Lane, Role};
use pathscope_flow::{Event, Machine, Phase, RecvMeta, Weigh};

use super::super::*;
use super::{FLOW, plan, session, transfer};
use crate::load::Pattern;

const BYTES: usize = 1_000;

/// The server's end of a flow that was told at once that all has been sent, and what is common to its worker.
fn told() -> (GoodputFlow, GoodputShared) {
    let plan = plan(Pattern::Push, transfer(BYTES as u64));
    let mut flow = GoodputFlow::new(&plan, Role::Server, session(), FLOW);
    let mut shared = GoodputShared::new(&plan);
    flow.event(&mut shared, Event::Start, at(0));
    flow.event(&mut shared, Event::PeerTotal(BYTES as u64), at(0));
    (flow, shared)
}

const fn at(seconds: u64) -> Tick {
    Tick::from_nanos(seconds * 1_000_000_000)
}

/// Wakes the flow whenever it wants, until it asks what waits for it; when that was.
fn until_it_asks(flow: &mut GoodputFlow, shared: &mut GoodputShared, from: Tick) -> Tick {
    let mut now = from;
    for _ in 0..9 {
        let want = flow.want(shared, now);
        if want.weigh == Weigh::This {
            return now;
        }
        now = want.wake.expect("it waits for nothing else");
        flow.event(shared, Event::Wake, now);
    }
    panic!("it does not ask");
}

#[test]
fn what_has_come_and_waits_for_its_turn_is_not_given_up() {
    let (mut flow, mut shared) = told();
    let mut now = at(0);
    // A turn of a worker that takes two minutes.
    for round in 1..=12 {
        now = until_it_asks(&mut flow, &mut shared, now);
        assert_eq!(now, at(10 * round));
        let held = Event::Held { bytes: 1_000, ready_bytes: 1_000 };
        flow.event(&mut shared, held, now);
        assert_eq!((flow.phase(), flow.error()), (Phase::SendingDone, None));
    }
    let mut bytes = [0; BYTES];
    session().stream(FLOW.0, true).copy_to(0, &mut bytes);
    let meta = RecvMeta::default();
    let taken = Machine::received(&mut flow, &mut shared, Lane::ONLY, &bytes, meta, now);
    assert_eq!(taken.0, BYTES);
    assert_eq!((flow.phase(), flow.error()), (Phase::Done, None));
}

#[test]
fn what_has_not_come_or_waits_for_what_is_lost_is_given_up_after_ten_seconds() {
    for bytes in [0, 400] {
        let (mut flow, mut shared) = told();
        let asked = until_it_asks(&mut flow, &mut shared, at(0));
        assert_eq!(asked, at(10));
        flow.event(&mut shared, Event::Held { bytes, ready_bytes: 0 }, asked);
        let error = flow.error().expect("it failed").text;
        assert!(error.starts_with("1,000 of 1,000 bytes that the other end sent never came"));
        let want = flow.want(&mut shared, asked);
        assert_eq!((flow.phase(), want.wake, want.weigh), (Phase::Failed, None, Weigh::Nothing));
    }
}

#[test]
fn who_asks_whether_anything_came_opens_no_window_by_that() {
    let (mut flow, mut shared) = told();
    let asked = until_it_asks(&mut flow, &mut shared, at(0));
    let held = Event::Held { bytes: 1_000, ready_bytes: 1_000 };
    flow.event(&mut shared, held, asked);
    let plan = plan(Pattern::Push, transfer(BYTES as u64));
    assert_eq!((flow.received(&plan).bytes, shared.window.first_ns), (0, None));
}
