//! Datagrams that the system has for a while, as engines have them that complete operations: each is counted once.

use pathscope_core::Tick;
use pathscope_core::id::Role;
use pathscope_core::quantity::{BitRate, Period};
use pathscope_flow::sim::{Action, Chunks, Conditions, Flights, Link};
use proptest::prelude::*;

use super::super::*;
use super::{ONE_WAY_NS, SIZE, plan, run, sim};
use crate::load::{Extent, Pattern};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn what_left_is_what_came(
        seed: u64,
        most_ns in 0_u64..3_000_000,
        pattern in prop::sample::select(vec![Pattern::Push, Pattern::Pull, Pattern::Duplex]),
        is_paced: bool,
        write_max in 1_usize..10,
        stops_at_us in prop::option::of(1_u64..600_000),
    ) {
        // Some thirteen seconds, so that consents come meanwhile; or as fast as the link takes them.
        let (rate, extent) = if is_paced {
            (Some(BitRate(SIZE * 8 * 50)), Extent::DurationNs(Period::from_secs(13)))
        } else {
            (None, Extent::DurationNs(Period::from_millis(50)))
        };
        let plan = DatagramsPlan { rate_bps: rate, extent, ..plan(pattern) };
        let wide = Link::new(ONE_WAY_NS).with_buffers(256 << 10, 256 << 20).at_rate(BitRate(100_000_000));
        let mut conditions = Conditions::over(wide);
        conditions.flights = Some(Flights { seed, most_ns });
        conditions.writes = Chunks::Random { seed: !seed, max: write_max };
        let mut sim = sim(&plan, conditions);
        if let Some(at_us) = stops_at_us {
            sim.at(Tick::from_nanos(at_us * 1_000), Action::Stop { role: Role::Client });
            sim.at(Tick::from_nanos(at_us * 1_000 + ONE_WAY_NS), Action::Stop { role: Role::Server });
        }
        let (client, server, _) = run(&mut sim);
        prop_assert_eq!((client.sent, server.sent), (server.received, client.received));
        prop_assert_eq!((client.lost, server.lost, client.foreign, server.foreign), (0, 0, 0, 0));
        let least = if is_paced { 13 * 50 } else { 1 };
        prop_assert!(client.sent + server.sent >= least || stops_at_us.is_some());
    }
}
