//! Sends that the system has for a while, as engines have them that complete operations: every pattern ends as it does without.

use pathscope_core::Tick;
use pathscope_core::id::{Lane, Role};
use pathscope_core::quantity::Period;
use pathscope_flow::sim::{Action, Chunks, Conditions, Flights, Link};
use proptest::prelude::*;

use super::super::*;
use super::{FLOW, Goodput, LATE, ONE_WAY_NS, agreed, gigabit, plan, replaced, sim, transfer};
use crate::load::{Extent, Pattern};

/// No end counted other bytes as sent than those that were put on its link.
fn truth(sim: &Goodput) -> (u64, u64) {
    let [up, down] =
        [Role::Client, Role::Server].map(|from| sim.traffic(FLOW, Lane::ONLY, from).entered);
    (up, down)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_pattern_ends_by_time_or_by_bytes(
        seed: u64,
        most_ns in 0_u64..2_000_000,
        pattern in prop::sample::select(Pattern::ALL.map(|(_, pattern)| pattern).to_vec()),
        is_timed: bool,
        stops_at_us in prop::option::of(1_u64..6_000),
        write_max in 1_usize..60_000,
        buffer in 1_000_usize..40_000,
        reads_overshoot: bool,
    ) {
        let extent =
            if is_timed { Extent::DurationNs(Period::from_millis(5)) } else { transfer(100_000) };
        let mut conditions = Conditions::over(Link::new(ONE_WAY_NS).with_buffers(buffer, buffer));
        conditions.writes = Chunks::Random { seed, max: write_max };
        conditions.flights = Some(Flights { seed: !seed, most_ns });
        conditions.reads_overshoot = reads_overshoot;
        let mut sim = sim(&plan(pattern, extent), conditions);
        if let Some(at_us) = stops_at_us {
            sim.at(Tick::from_nanos(at_us * 1_000), Action::Stop { role: Role::Client });
            sim.at(Tick::from_nanos(at_us * 1_000 + ONE_WAY_NS), Action::Stop { role: Role::Server });
        }
        let outcome = sim.run(LATE);
        prop_assert_eq!(agreed(&sim, FLOW, &outcome), truth(&sim));
    }

    #[test]
    fn connections_that_are_replaced_take_their_leave(
        seed: u64,
        most_ns in 0_u64..2_000_000,
        pattern in prop::sample::select(Pattern::ALL.map(|(_, pattern)| pattern).to_vec()),
        shutdown in prop::sample::select(Shutdown::ALL.map(|(_, shutdown)| shutdown).to_vec()),
        bytes in 1_u64..200_000,
        time_limit_us in prop::option::of(1_u64..3_000),
    ) {
        let time_limit_ns = time_limit_us.map(|us| Period(us * 1_000));
        let shape = Shape { time_limit_ns, shutdown, ..Shape::default() };
        let flights = Some(Flights { seed, most_ns });
        let mut sim = sim(&replaced(pattern, bytes, shape), Conditions { flights, ..gigabit() });
        let outcome = sim.run(LATE);
        let (up, down) = agreed(&sim, FLOW, &outcome);
        prop_assert!(up + down <= bytes);
        prop_assert!(up + down == bytes || sim.client(FLOW).is_cut());
    }
}
