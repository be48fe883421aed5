//! Datagrams that the system has for a while, as engines have them that complete operations: longer, too, than a sender waits for
//! a path.

use pathscope_core::id::{Lane, Role};
use pathscope_core::quantity::Period;
use pathscope_flow::Event;
use pathscope_flow::sim::{Conditions, Flights, Link};
use proptest::prelude::*;

use super::super::*;
use super::{FLOW, LATE, MS, plan, tell, without_paths_in};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn each_path_counts_what_left_on_it(
        seed: u64,
        most_ns in 0_u64..5_000_000,
        lanes in 1_u8..4,
        leaves_ms in prop::option::of(1_u64..900),
    ) {
        let plan = MultipathPlan { duration_ns: Period::from_millis(500), ..plan(lanes) };
        let delays: Vec<u64> = (0..u64::from(lanes)).map(|lane| 5 + lane).collect();
        let flights = Some(Flights { seed, most_ns });
        let conditions = Conditions { flights, max_steps: u64::MAX, ..Conditions::over(Link::new(MS)) };
        let all = || (0..lanes).map(Lane);
        let mut sim = without_paths_in(&plan, &delays, all(), conditions);
        all().for_each(|lane| tell(&mut sim, 0, Event::LaneUp(lane)));
        if let Some(at_ms) = leaves_ms {
            tell(&mut sim, at_ms, Event::LaneDown(Lane(lanes - 1)));
        }
        let outcome = sim.run(LATE);
        prop_assert!(outcome.is_over(), "{}", outcome);
        let left: Vec<_> = all().map(|lane| sim.traffic(FLOW, lane, Role::Client).entered).collect();
        let back: Vec<_> = all().map(|lane| sim.traffic(FLOW, lane, Role::Server).entered).collect();
        let (client, server) = (sim.client_shared().report_all(), sim.server_shared().report_all());
        prop_assert_eq!(client.scheduled + client.unsent, plan.datagrams());
        for (lane, (path, echoed)) in client.paths.iter().zip(&server.paths).enumerate() {
            prop_assert_eq!(path.sent, left[lane]);
            prop_assert_eq!(echoed.sent, back[lane]);
            prop_assert_eq!(echoed.sent + echoed.refused, echoed.received);
            prop_assert_eq!(path.received + path.lost, path.sent);
        }
    }
}
