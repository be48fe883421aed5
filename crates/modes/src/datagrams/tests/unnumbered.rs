//! Datagrams that say nothing: all that is known of them is that they left, and that they came.

use std::cell::Cell;
use std::rc::Rc;

use pathscope_core::Tick;
use pathscope_core::id::Role;
use pathscope_core::quantity::Bytes;
use pathscope_flow::sim::{Action, Conditions, Fate, Link, Sim};
use pathscope_flow::{Event, Machine as _};

use super::super::*;
use super::{FLOW, ONE_WAY_NS, SIZE, plan, run, sim};
use crate::conventions::Framing;
use crate::load::{Extent, Pattern};

/// 2,000 datagrams, the last of which is asked for as one byte.
#[test]
fn all_are_of_one_length_and_bear_no_header() {
    let extent = Extent::TransferBytes(Bytes(SIZE * 1_999 + 1));
    let plan = DatagramsPlan { extent, rate_bps: None, ..plan(Pattern::Push) };
    let wide = Link::new(ONE_WAY_NS).with_buffers(256 << 20, 256 << 20);
    let mut sim = sim(&plan, Conditions::over(wide));
    *sim.client_shared() = DatagramShared::new(&plan, Role::Client).framed(Framing::Unnumbered);
    let alike = Rc::new(Cell::new(0));
    let counted = alike.clone();
    sim.datagrams(move |passing| {
        let is_plain = passing.bytes.len() as u64 == SIZE && !passing.bytes.starts_with(b"PSDG");
        counted.set(counted.get() + u64::from(is_plain));
        Fate::Deliver
    });
    let (client, server, _) = run(&mut sim);
    assert_eq!((client.sent, client.sent_bytes, alike.get()), (2_000, 2_000 * SIZE, 2_000));
    // One of ours takes none of them for its own.
    assert_eq!(server.received, 0);
}

/// Both ends of such a stream of 1,000, which its receiver is told at the end of.
fn both(ends_at_ns: u64) -> (DatagramsPlan, Sim<DatagramFlow, DatagramFlow>) {
    let plan = plan(Pattern::Push);
    let mut sim = sim(&plan, Conditions::over(Link::new(ONE_WAY_NS)));
    *sim.client_shared() = DatagramShared::new(&plan, Role::Client).framed(Framing::Unnumbered);
    *sim.server_shared() = DatagramShared::new(&plan, Role::Server).framed(Framing::Unnumbered);
    let stop = Action::Tell { flow: FLOW, role: Role::Server, event: Event::Stop };
    sim.at(Tick::from_nanos(ends_at_ns), stop);
    (plan, sim)
}

#[test]
fn all_that_come_are_counted_and_of_what_was_lost_nothing_is_said() {
    let (plan, mut sim) = both(1_000_000_000);
    sim.datagrams(|passing| match passing.position {
        3 | 4 => Fate::Lose,
        // What is of another length is none of it.
        5 => {
            passing.bytes.truncate(9);
            Fate::Deliver
        }
        _ => Fate::Deliver,
    });
    let (client, server, _) = run(&mut sim);
    assert_eq!(client.sent, 1_000);
    assert_eq!((server.received, server.received_bytes), (997, 997 * SIZE));
    assert_eq!((server.foreign, server.corrupt, server.is_unnumbered), (1, 0, true));
    let so_far = sim.server(FLOW).datagrams().expect("they are datagrams");
    assert_eq!((so_far.expected, sim.server(FLOW).totals().received), (None, 997));
    let summary = DatagramsSummary::of(&plan, &client, Some(&server));
    let up = summary.up.expect("it goes up");
    assert_eq!((up.received, up.received_bytes), (Some(997), Some(997 * SIZE)));
    assert_eq!((up.lost, up.lost_ratio, up.lost_on_the_way), (None, None, None));
    assert_eq!(
        (up.duplicates, up.reordered, up.late, up.bursts.is_none()),
        (None, None, None, true)
    );
    assert!(up.jitter.is_none() && up.goodput_bps.is_some_and(|goodput| goodput > 0.0));
}

#[test]
fn what_came_before_the_flow_had_its_socket_is_counted_once() {
    let (_, mut sim) = both(1_000_000_000);
    let before = Event::CameBefore { datagrams: 7, bytes: 7 * SIZE };
    let tell = |event| Action::Tell { flow: FLOW, role: Role::Server, event };
    for at_ns in [1, 400_000_000] {
        sim.at(Tick::from_nanos(at_ns), tell(before));
    }
    let (client, server, _) = run(&mut sim);
    assert_eq!((client.sent, server.received), (1_000, 1_014));
    assert_eq!(server.received_bytes, 1_014 * SIZE);
    assert_eq!(sim.server(FLOW).totals().received, 1_014);
}

/// Who never says how many it has sent has broken no word, however long that takes.
#[test]
fn the_end_of_the_plan_is_none_of_such_a_stream() {
    let (_, mut sim) = both(30_000_000_000);
    let (_, server, _) = run(&mut sim);
    assert_eq!(server.received, 1_000);
    assert_eq!(sim.server(FLOW).error(), None);
}
