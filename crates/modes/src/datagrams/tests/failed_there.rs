//! A flow whose other end has failed: it waits for nothing more.

use super::*;

#[test]
fn a_flow_that_has_failed_at_the_other_end_is_over_at_once() {
    for (dead, pattern) in [(Role::Client, Pattern::Push), (Role::Server, Pattern::Push)] {
        let mut sim = sim(&plan(pattern), link());
        sim.at(Tick::from_nanos(400_100_000), Action::Kill { flow: FLOW, role: dead });
        let heard = Action::Tell { flow: FLOW, role: dead.peer(), event: Event::PeerFailed };
        sim.at(Tick::from_nanos(500_000_000), heard);
        let outcome = sim.run(LATE);
        assert_eq!(outcome.ended, Ended::Over, "{outcome}");
        assert!(outcome.at < Tick::from_nanos(600_000_000), "{dead:?}: {outcome}");
    }
}
