//! Which writes are said to be followed by others at once, so that the kernel may have them share segments: those that are.

use pathscope_core::Tick;
use pathscope_core::id::{Lane, Role};
use pathscope_core::quantity::{BitRate, Bytes};
use pathscope_flow::{Event, Machine, SendWant};

use super::super::*;
use super::{FLOW, plan, session, transfer};
use crate::kernel_sending::KernelSending;
use crate::load::Pattern;

/// Each write of a client's first turn or run, where all of it is taken at once: how long, and whether another follows.
fn writes(plan: &GoodputPlan) -> Vec<(usize, bool)> {
    writes_on(plan, KernelSending { segment_bytes: Some(65_483), is_paced: false })
}

/// The same on connections on which the kernel sends so.
fn writes_on(plan: &GoodputPlan, sending: KernelSending) -> Vec<(usize, bool)> {
    let mut flow = GoodputFlow::new(plan, Role::Client, session(), FLOW);
    let mut shared = GoodputShared::new(plan).sending(plan, sending);
    flow.event(&mut shared, Event::Start, Tick::ZERO);
    let mut writes = Vec::new();
    while writes.len() < 100 {
        let want = flow.want(&mut shared, Tick::ZERO);
        let SendWant::Stream { max } = want.send else {
            assert!(!want.more_follows, "nothing is sent");
            return writes;
        };
        writes.push((max, want.more_follows));
        flow.sent(&mut shared, Lane::ONLY, max, Tick::ZERO);
    }
    panic!("it has no end: {writes:?}");
}

#[test]
fn the_last_write_of_a_transfer_and_of_a_turn_is_followed_by_none() {
    let of = |buffer, pattern, bytes| GoodputPlan {
        buffer_bytes: Bytes(buffer),
        ..plan(pattern, transfer(bytes))
    };
    let push = writes(&of(1_000, Pattern::Push, 2_500));
    assert_eq!(push, [(1_000, true), (1_000, true), (500, false)]);
    // A turn of 30,000 bytes, though many follow it.
    let turn = writes(&of(16_000, Pattern::Pushpull, 10_000_000));
    assert_eq!(turn, [(16_000, true), (14_000, false)]);
    assert_eq!(writes(&of(64, Pattern::Push, 64)), [(64, false)]);
}

#[test]
fn long_writes_and_those_of_a_rate_leave_by_themselves() {
    let long =
        GoodputPlan { buffer_bytes: Bytes(256 << 10), ..plan(Pattern::Push, transfer(1 << 20)) };
    assert_eq!(writes(&long), [(256 << 10, false); 4]);
    let slow = GoodputPlan {
        buffer_bytes: Bytes(1_000),
        rate_bps: Some(BitRate(8_000_000_000)),
        ..plan(Pattern::Push, transfer(10_000))
    };
    assert!(writes(&slow).iter().all(|&(_, more_follows)| !more_follows));
}

#[test]
fn what_the_kernel_does_decides_and_nagle_does_not() {
    let cubic = KernelSending { segment_bytes: Some(1_448), is_paced: false };
    for (buffer, sending, joined) in [
        (1_000, cubic, true),
        (4_096, cubic, false),
        (1_000, KernelSending { is_paced: true, ..cubic }, false),
        // Not known.
        (1_000, KernelSending::default(), false),
    ] {
        let extent = transfer(3 * buffer);
        let mut fast = GoodputPlan { buffer_bytes: Bytes(buffer), ..plan(Pattern::Push, extent) };
        for nagle in [false, true] {
            fast.sockets.nagle = nagle;
            assert_eq!(writes_on(&fast, sending)[0].1, joined, "{buffer} {sending:?} {nagle}");
        }
    }
}
