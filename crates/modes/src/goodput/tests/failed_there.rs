//! A connection that failed at the other end without a reset that comes through: told so, this end waits no longer than a
//! moment, and no shorter than that for what is on its way.

use pathscope_core::Tick;
use pathscope_core::id::Role;
use pathscope_core::quantity::count;
use pathscope_core::record::FlowErrorKind;
use pathscope_flow::sim::{Action, Edit, Ended, Outcome};
use pathscope_flow::{Event, Machine, Phase};

use super::super::receive::PEER_FAILED_NS;
use super::super::*;
use super::{FLOW, Goodput, LATE, gigabit, plan, session, sim, transfer};
use crate::load::{Extent, Pattern};

const TRANSFER: u64 = 50_000_000;
const CUT_AT: Tick = Tick::from_nanos(20_000_000);
const TOLD_AT: Tick = Tick::from_nanos(30_000_000);

/// A flow whose `dead` end is gone and nothing of it arrives; the other is told that it failed, or is not.
fn half_open(plan: &GoodputPlan, dead: Role, is_told: bool) -> (Goodput, Outcome) {
    let mut sim = sim(plan, gigabit());
    sim.at(CUT_AT, Action::Cut { flow: FLOW, from: dead });
    sim.at(CUT_AT, Action::Kill { flow: FLOW, role: dead });
    if is_told {
        let event = Event::PeerFailed;
        sim.at(TOLD_AT, Action::Tell { flow: FLOW, role: dead.peer(), event });
    }
    let outcome = sim.run(LATE);
    (sim, outcome)
}

#[test]
fn a_flow_that_failed_at_the_other_end_is_over_a_moment_later() {
    let replaced = Shape { iterations: Iterations::Times(9), ..Shape::default() };
    for (_, pattern) in Pattern::ALL {
        for shape in [&Shape::default(), &replaced] {
            for dead in [Role::Client, Role::Server] {
                let plan =
                    GoodputPlan { shape: shape.clone(), ..plan(pattern, transfer(TRANSFER)) };
                let what = format!("{pattern:?}, the {dead:?} is gone, {:?}", shape.iterations);
                let of = |sim: &Goodput| match dead {
                    Role::Client => (sim.server(FLOW).phase(), sim.server(FLOW).error()),
                    Role::Server => (sim.client(FLOW).phase(), sim.client(FLOW).error()),
                };
                let (sim, outcome) = half_open(&plan, dead, false);
                if of(&sim).0.is_over() {
                    // Nothing is to come from there, and the kernel took all that was to be sent.
                    continue;
                }
                assert_ne!(outcome.ended, Ended::Over, "{what}: untold, it would wait for ever");
                let (sim, outcome) = half_open(&plan, dead, true);
                let (phase, error) = of(&sim);
                assert_eq!(
                    (outcome.ended, phase),
                    (Ended::Over, Phase::Failed),
                    "{what}: {outcome}"
                );
                assert_eq!(outcome.at, TOLD_AT.plus_nanos(PEER_FAILED_NS), "{what}");
                let error = error.expect("it failed");
                assert_eq!(error.kind, FlowErrorKind::Network, "{what}");
                assert!(error.text.starts_with("the connection failed at the other end"), "{what}");
            }
        }
    }
}

#[test]
fn what_this_end_finds_meanwhile_is_what_it_says() {
    let mut sim = sim(&plan(Pattern::Push, transfer(TRANSFER)), gigabit());
    sim.edit(FLOW, Role::Client, Edit::Xor { offset: 3_000_000, mask: 1 });
    sim.at(CUT_AT, Action::Tell { flow: FLOW, role: Role::Server, event: Event::PeerFailed });
    sim.run(LATE);
    let error = sim.server(FLOW).error().expect("it failed");
    assert_eq!(error.kind, FlowErrorKind::Data, "{}", error.text);
}

#[test]
fn a_flow_that_is_done_stays_so() {
    let mut sim = sim(&plan(Pattern::Push, transfer(1_000)), gigabit());
    sim.at(TOLD_AT, Action::Tell { flow: FLOW, role: Role::Client, event: Event::PeerFailed });
    sim.run(LATE);
    assert_eq!((sim.client(FLOW).phase(), sim.server(FLOW).phase()), (Phase::Done, Phase::Done));
}

#[test]
fn a_flow_that_is_ended_amid_its_transfer_says_what_is_missing() {
    let plan = plan(Pattern::Push, transfer(TRANSFER));
    let mut flow = GoodputFlow::new(&plan, Role::Server, session(), FLOW);
    let mut shared = GoodputShared::new(&plan);
    flow.event(&mut shared, Event::Start, Tick::ZERO);
    let text = "50,000,000 of 50,000,000 bytes had not come when the test was ended";
    assert_eq!(flow.unfinished().text, text);
    // Of a run with a stated duration the other end says how much it sent.
    let second = Extent::DurationNs(pathscope_core::quantity::Period::from_secs(1));
    let plan = GoodputPlan { extent: second, ..plan };
    let mut flow = GoodputFlow::new(&plan, Role::Server, session(), FLOW);
    flow.event(&mut shared, Event::Start, Tick::ZERO);
    let text = "it was still under way when the test was ended, after 0 B sent and 0 B received";
    assert_eq!(flow.unfinished().text, text);
    flow.event(&mut shared, Event::PeerTotal(9), Tick::ZERO);
    assert_eq!(flow.unfinished().text, "9 of 9 bytes had not come when the test was ended");
}

#[test]
fn what_was_sent_and_does_not_come_is_waited_for_ten_seconds_after_the_last_byte() {
    for (pattern, from, of) in
        [(Pattern::Push, Role::Client, 50_000_000), (Pattern::Pull, Role::Server, 50_000_000)]
    {
        let mut sim = sim(&plan(pattern, transfer(TRANSFER)), gigabit());
        // Swallowed is what is on its way when all was handed over, and a stall before that is none of it.
        sim.at(Tick::from_nanos(1), Action::Stall { flow: FLOW, from, for_ns: 8_000_000_000 });
        let cut_at = Tick::from_nanos(8_397_000_000);
        sim.at(cut_at, Action::Cut { flow: FLOW, from });
        let outcome = sim.run(LATE);
        let receiver = match from {
            Role::Client => (sim.server(FLOW).error(), sim.server(FLOW).totals().received),
            Role::Server => (sim.client(FLOW).error(), sim.client(FLOW).totals().received),
        };
        let (Some(error), received) = receiver else { panic!("{outcome}") };
        let missing = format!("{} of {} bytes", count(of - received), count(of));
        assert!(error.text.starts_with(&missing), "{}", error.text);
        assert_eq!((outcome.ended, error.kind), (Ended::Over, FlowErrorKind::Network));
        let late = outcome.at.nanos_since(cut_at);
        assert!((9_900_000_000..10_100_000_000).contains(&late), "{late}: {outcome}");
    }
}
