//! Connections that end by themselves as other programs end theirs: both know how much and the server says that it is done, or the
//! client says so and is answered.

use super::*;
use crate::conventions::{Agreed, Conventions, Parting, StreamEnd};
use crate::goodput::shape::Shutdown;
use crate::pattern::{Block, Payload};

const BLOCK: Payload = Payload::Block(Block::new(b"0123456789"));
static AGREED: Agreed = Agreed { done: b"DONE", settings: "both must be told the same" };
static PARTING: Parting = Parting { said: b"BYE", answer: b"ACK: BYE", message_bytes: 1_000 };
const DONE: StreamEnd = StreamEnd::Agreed(&AGREED);
const WORD: StreamEnd = StreamEnd::Word(&PARTING);

/// Ends of these plans, whose streams end so.
fn ends(client: &GoodputPlan, server: &GoodputPlan, end: StreamEnd) -> Goodput {
    let conventions = Conventions { payload: BLOCK, end, ..Conventions::OWN };
    let shared = |plan: &_| GoodputShared { conventions, ..GoodputShared::new(plan) };
    let mut sim = Sim::new(gigabit(), shared(client), shared(server));
    let flow = |plan: &GoodputPlan, role| {
        GoodputFlow::new(plan, role, session(), FLOW).ending(plan, role, end)
    };
    sim.connect(flow(client, Role::Client), flow(server, Role::Server), Transport::Stream);
    sim
}

fn both(plan: &GoodputPlan, end: StreamEnd) -> Goodput {
    ends(plan, plan, end)
}

/// What both ends failed of, and that both are over.
fn failures(sim: &mut Goodput) -> [Option<String>; 2] {
    let outcome = sim.run(LATE);
    assert_eq!(outcome.ended, Ended::Over, "{outcome}");
    let errors = [sim.client(FLOW).error(), sim.server(FLOW).error()];
    errors.map(|error| error.map(|error| error.text))
}

fn rude() -> Shape {
    Shape { shutdown: Shutdown::Rude, ..Shape::default() }
}

#[test]
fn what_both_know_ends_with_equal_counts_and_the_server_s_word_is_none_of_them() {
    for (_, pattern) in Pattern::ALL {
        for (bytes, shape) in [(3_000_000, Shape::default()), (1_000, rude()), (2, rude())] {
            let plan = GoodputPlan { shape, ..plan(pattern, transfer(bytes)) };
            let mut sim = both(&plan, DONE);
            let outcome = sim.run(LATE);
            let (up, down) = agreed(&sim, FLOW, &outcome);
            assert_eq!(up + down, bytes, "{pattern:?}");
            assert!(!sim.client(FLOW).is_cut());
            let down_on_the_wire = sim.traffic(FLOW, Lane::ONLY, Role::Server).entered;
            assert_eq!(down_on_the_wire, down + 4, "{pattern:?}");
        }
    }
}

#[test]
fn where_half_goes_each_way_an_odd_amount_is_one_more() {
    let mut sim = both(&plan(Pattern::Duplex, transfer(1_001)), DONE);
    let outcome = sim.run(LATE);
    assert_eq!(agreed(&sim, FLOW, &outcome), (501, 501));
}

#[test]
fn ends_that_were_told_differently_find_out_and_say_what_must_be_the_same() {
    use Pattern::{Duplex, Pull, Push, Pushpull};
    let told = |(pattern, bytes)| plan(pattern, transfer(bytes));
    for (client, server, at_client, at_server) in [
        (
            (Push, 9_999),
            (Push, 1_000_000),
            "before the server had said that it was done",
            "nothing has moved",
        ),
        ((Push, 1_000_000), (Push, 9_999), "", "sent more than the 9,999 bytes"),
        (
            (Pull, 9_999),
            (Pull, 1_000_000),
            "sent more than the 9,999 bytes",
            "the connection broke",
        ),
        ((Pull, 1_000_000), (Pull, 9_999), "done after 9,999 of 1,000,000 bytes", ""),
        ((Duplex, 1_000_000), (Duplex, 9_998), "", "sent more than the 4,999"),
        ((Pushpull, 1_000_000), (Pushpull, 9_999), "", "sent more than the 9,999"),
        ((Push, 70_000), (Pull, 70_000), "", "sent more than the 0 bytes"),
        (
            (Pull, 70_000),
            (Push, 70_000),
            "nothing has moved for 30 s",
            "nothing has moved for 30 s",
        ),
    ] {
        let mut sim = ends(&told(client), &told(server), DONE);
        let of = [at_client, at_server];
        for (failure, expected) in failures(&mut sim).into_iter().zip(of) {
            let failure = failure.unwrap_or_default();
            assert!(failure.contains(expected), "{client:?} {server:?}: {expected}: {failure}");
            if !expected.is_empty() {
                assert!(failure.ends_with("; both must be told the same"), "{failure}");
            }
        }
    }
}

#[test]
fn who_is_stopped_resets_and_has_not_failed() {
    for (_, pattern) in Pattern::ALL {
        for role in [Role::Client, Role::Server] {
            let mut sim = both(&plan(pattern, transfer(1 << 40)), DONE);
            sim.at(Tick::from_nanos(7_654_321), Action::Stop { role });
            let [client, server] = failures(&mut sim);
            let (own, other) =
                if role == Role::Client { (client, server) } else { (server, client) };
            assert_eq!(own, None, "{pattern:?} {role:?}");
            assert!(other.is_some_and(|it| it.contains("the connection broke")), "{pattern:?}");
        }
    }
}

#[test]
fn a_time_limit_ends_what_only_one_end_knows_of() {
    for (_, pattern) in Pattern::ALL {
        let shape = Shape { time_limit_ns: Some(Period::from_millis(50)), ..Shape::default() };
        let limited = GoodputPlan { shape, ..plan(pattern, transfer(1 << 40)) };
        let mut sim = ends(&limited, &plan(pattern, transfer(1 << 40)), DONE);
        let outcome = sim.run(LATE);
        assert_eq!(outcome.ended, Ended::Over, "{pattern:?}");
        assert!(outcome.at < Tick::from_nanos(60_000_000), "{pattern:?}: {outcome}");
        assert!(sim.client(FLOW).is_cut() && sim.client(FLOW).error().is_none(), "{pattern:?}");
        assert!(sim.client(FLOW).is_reset());
    }
}

/// Section 2.4 of ctsTraffic's reference.
#[test]
fn an_end_that_closes_too_early_has_broken_the_rules_and_one_that_resets_has_not() {
    let at = Tick::from_nanos(7_654_321);
    let kind = |action: Action| {
        let mut sim = both(&plan(Pattern::Push, transfer(1 << 30)), DONE);
        sim.at(at, action);
        sim.run(LATE);
        sim.server(FLOW).error().map(|error| error.kind)
    };
    let killed = Action::Kill { flow: FLOW, role: Role::Client };
    assert_eq!(kind(killed), Some(FlowErrorKind::Protocol));
    let broken = Action::Reset { flow: FLOW, errno: 104 };
    assert_eq!(kind(broken), Some(FlowErrorKind::Network));
}

#[test]
fn a_rate_whose_periods_are_longer_than_patience_is_no_standstill() {
    let pace = Pace { period_ns: Some(Period::from_secs(40)), ..Pace::default() };
    let rate_bps = Some(BitRate(8_000));
    let plan = GoodputPlan { rate_bps, pace, ..plan(Pattern::Duplex, transfer(100_000)) };
    let mut sim = both(&plan, DONE);
    let outcome = sim.run(LATE);
    assert_eq!(agreed(&sim, FLOW, &outcome), (50_000, 50_000));
    assert!(outcome.at > Tick::from_nanos(40_000_000_000), "{outcome}");
}

#[test]
fn a_wrong_byte_is_found_where_it_is_and_the_other_end_sees_a_reset() {
    for (from, pattern) in [(Role::Client, Pattern::Push), (Role::Server, Pattern::Pull)] {
        let mut sim = both(&plan(pattern, transfer(300_000)), DONE);
        sim.edit(FLOW, from, Edit::Xor { offset: 123_456, mask: 0x20 });
        let errors = failures(&mut sim);
        let found =
            errors.into_iter().flatten().find(|it| it.contains("wrong data")).expect("it is");
        assert!(found.contains("wrong data at byte 123,456, 1 byte long"), "{found}");
    }
}

#[test]
fn a_client_says_that_it_has_sent_all_in_whole_messages_and_is_answered() {
    let second = Extent::DurationNs(Period::from_secs(1));
    for (extent, least) in [(transfer(5_000), 5_000), (second, 100_000_000)] {
        let mut sim = both(&plan(Pattern::Push, extent), WORD);
        let outcome = sim.run(LATE);
        let (up, down) = agreed(&sim, FLOW, &outcome);
        assert!(up >= least && up.is_multiple_of(1_000) && down == 0, "{up} {down}");
        let sent =
            [Role::Client, Role::Server].map(|end| sim.traffic(FLOW, Lane::ONLY, end).entered);
        assert_eq!(sent, [up + 3, 8]);
    }
}

#[test]
fn a_word_behind_a_part_of_a_message_is_one_once_nothing_follows() {
    let mut sim = both(&plan(Pattern::Push, transfer(5_432)), WORD);
    let outcome = sim.run(LATE);
    assert_eq!(agreed(&sim, FLOW, &outcome), (5_432, 0));
    assert!(outcome.at > Tick::from_nanos(100_000_000), "{outcome}");
}

#[test]
fn a_client_that_is_stopped_takes_leave_and_a_server_that_is_resets() {
    let forever = Extent::DurationNs(Period::from_secs(100));
    let mut sim = both(&plan(Pattern::Push, forever), WORD);
    sim.at(Tick::from_nanos(7_654_321), Action::Stop { role: Role::Client });
    let outcome = sim.run(LATE);
    agreed(&sim, FLOW, &outcome);
    let mut sim = both(&plan(Pattern::Push, forever), WORD);
    sim.at(Tick::from_nanos(7_654_321), Action::Stop { role: Role::Server });
    let [client, server] = failures(&mut sim);
    assert!(client.is_some_and(|it| it.contains("the connection broke")) && server.is_none());
}

proptest! {
    #[test]
    fn each_end_comes_to_the_same_in_whatever_pieces_data_come(
        bytes in 1_u64..400_000, low in 1_u64..3_000, span in 0_u64..60_000, pattern in 0_usize..4, seed: u64,
        is_rude: bool,
    ) {
        let shape = Shape {
            buffer_most_bytes: Some(Bytes(low + span)),
            seed,
            shutdown: if is_rude { Shutdown::Rude } else { Shutdown::Graceful },
            ..Shape::default()
        };
        let pattern = Pattern::ALL[pattern].1;
        let plan = GoodputPlan { buffer_bytes: Bytes(low), shape, ..plan(pattern, transfer(bytes)) };
        let mut sim = both(&plan, DONE);
        let outcome = sim.run(LATE);
        let (up, down) = agreed(&sim, FLOW, &outcome);
        let is_odd_half = pattern == Pattern::Duplex && bytes % 2 == 1;
        prop_assert_eq!(up + down, bytes + u64::from(is_odd_half));
        let mut sim = both(&GoodputPlan { pattern: Pattern::Push, ..plan }, WORD);
        let outcome = sim.run(LATE);
        prop_assert_eq!(agreed(&sim, FLOW, &outcome), (bytes, 0));
    }
}
