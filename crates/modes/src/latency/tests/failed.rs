//! A flow whose other end could not go on, which is told: nothing comes of it any more, not even its total.

use pathscope_flow::Event;

use super::*;

#[test]
fn an_end_is_over_at_once_where_it_hears_that_the_flow_has_failed_at_the_other() {
    for dead in [Role::Client, Role::Server] {
        let mut sim = sim(&open(Protocol::Udp, 1_000_000, Period::from_secs(60)), link());
        sim.at(Tick::from_nanos(500_000_000), Action::Kill { flow: FLOW, role: dead });
        let heard = Action::Tell { flow: FLOW, role: dead.peer(), event: Event::PeerFailed };
        sim.at(Tick::from_nanos(700_000_000), heard);
        let outcome = sim.run(LATE);
        assert_eq!(outcome.ended, Ended::Over, "{outcome}");
        assert!(outcome.at < Tick::from_nanos(800_000_000), "{dead:?}: {outcome}");
    }
}
