//! Streams whose end is their close: nobody says a word of what was sent or stopped but on the connection itself.

use super::*;
use crate::conventions::{Conventions, StreamEnd};
use crate::pattern::{Block, Payload};

const BLOCK: Payload = Payload::Block(Block::new(b"the same bytes, over and over"));

/// Ends that are told nothing, whose streams are made of this.
fn untold(plan: &GoodputPlan, payload: Payload, conditions: Conditions) -> Goodput {
    let conventions = Conventions { payload, end: StreamEnd::Closed, ..Conventions::OWN };
    let shared = || GoodputShared { conventions, ..GoodputShared::new(plan) };
    let mut sim = Sim::new(conditions, shared(), shared());
    // With a block a connection may be any flow at the other end.
    let there = if payload == BLOCK { FlowId(7) } else { FLOW };
    let client = GoodputFlow::new(plan, Role::Client, session(), FLOW);
    let server = GoodputFlow::new(plan, Role::Server, session(), there);
    sim.connect(client, server, Transport::Stream);
    sim
}

fn moved(sim: &Goodput) -> [u64; 4] {
    let (client, server) = (sim.client(FLOW).totals(), sim.server(FLOW).totals());
    [client.sent, server.received, server.sent, client.received]
}

#[test]
fn a_stated_duration_and_a_stated_amount_end_with_equal_counts() {
    for payload in [Payload::Keyed, BLOCK] {
        for (_, pattern) in on_one_connection() {
            for extent in [transfer(3_000_001), Extent::DurationNs(Period::from_secs(1))] {
                let mut sim = untold(&plan(pattern, extent), payload, gigabit());
                let outcome = sim.run(LATE);
                let (up, down) = agreed(&sim, FLOW, &outcome);
                let least = if extent == transfer(3_000_001) { 3_000_001 } else { 20_000_000 };
                assert!(up + down >= least, "{pattern:?} {extent:?}: {up} {down}");
                assert!(outcome.at < Tick::from_nanos(1_100_000_000), "{pattern:?}: {outcome}");
            }
        }
    }
}

#[test]
fn an_end_that_states_another_duration_ends_with_its_own_clock() {
    let of = |seconds| plan(Pattern::Push, Extent::DurationNs(Period::from_secs(seconds)));
    let conventions = Conventions { end: StreamEnd::Closed, ..Conventions::default() };
    let shared = |plan: &_| GoodputShared { conventions, ..GoodputShared::new(plan) };
    let mut sim = Sim::new(gigabit(), shared(&of(2)), shared(&of(100)));
    let end = |seconds, role| GoodputFlow::new(&of(seconds), role, session(), FLOW);
    sim.connect(end(2, Role::Client), end(100, Role::Server), Transport::Stream);
    let outcome = sim.run(LATE);
    agreed(&sim, FLOW, &outcome);
    assert!(outcome.at < Tick::from_nanos(2_100_000_000), "{outcome}");
}

#[test]
fn who_is_stopped_is_over_at_once_and_the_other_end_learns_of_it() {
    let forever = Extent::DurationNs(Period::from_secs(100));
    for (_, pattern) in on_one_connection() {
        for extent in [forever, transfer(1 << 40)] {
            for role in [Role::Client, Role::Server] {
                let mut sim = untold(&plan(pattern, extent), Payload::Keyed, gigabit());
                sim.at(Tick::from_nanos(7_654_321), Action::Stop { role });
                let outcome = sim.run(LATE);
                assert_eq!(outcome.ended, Ended::Over, "{pattern:?} {role:?}: {outcome}");
                assert!(outcome.at < Tick::from_nanos(200_000_000), "{pattern:?}: {outcome}");
                let [up_sent, up_came, down_sent, down_came] = moved(&sim);
                assert!(up_came <= up_sent && down_came <= down_sent, "nothing is made up");
                // What comes to who is stopped is broken; what he has sent ends as it should.
                let is_sender = plan(pattern, extent).sends_bytes(role);
                if pattern.is_one_way() && is_sender && extent == forever {
                    agreed(&sim, FLOW, &outcome);
                }
            }
        }
    }
}

#[test]
fn a_stated_amount_that_does_not_come_whole_has_failed() {
    let mut sim = untold(&plan(Pattern::Push, transfer(1 << 40)), Payload::Keyed, gigabit());
    sim.at(Tick::from_nanos(7_654_321), Action::Stop { role: Role::Client });
    sim.run(LATE);
    let error = sim.server(FLOW).error().expect("it is short");
    assert_eq!(error.kind, FlowErrorKind::Network);
    assert!(error.text.contains("closed the connection"), "{}", error.text);
}

#[test]
fn a_changed_byte_of_a_block_is_found_where_it_is() {
    let mut sim = untold(&plan(Pattern::Push, transfer(300_000)), BLOCK, gigabit());
    sim.edit(FLOW, Role::Client, Edit::Xor { offset: 123_456, mask: 0x20 });
    sim.run(LATE);
    let error = sim.server(FLOW).error().expect("a byte is wrong");
    assert_eq!(error.kind, FlowErrorKind::Data);
    assert!(
        error.text.contains("wrong data at byte 123,456, 1 byte long: 1 bit flipped"),
        "{}",
        error.text
    );
}
