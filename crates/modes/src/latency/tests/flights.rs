//! Pings and echoes that the system has for a while, as engines have them that complete operations: each is accounted for.

use pathscope_core::Tick;
use pathscope_core::id::{Lane, Role};
use pathscope_core::quantity::{Bytes, Period};
use pathscope_flow::sim::{Action, Chunks, Conditions, Flights};
use proptest::prelude::*;

use super::super::*;
use super::{FLOW, LATE, closed, link, open, run, sim};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_ping_comes_back(
        seed: u64,
        most_ns in 0_u64..900_000,
        is_open: bool,
        protocol in prop::sample::select(vec![Protocol::Tcp, Protocol::Udp]),
        kernel_stamps: bool,
        write_max in 40_usize..150,
        stops_at_us in prop::option::of(1_u64..150_000),
    ) {
        let timestamps =
            if kernel_stamps && protocol == Protocol::Udp { Timestamps::Kernel } else { Timestamps::User };
        let plan = if is_open {
            open(protocol, 1_000_000, Period::from_millis(100))
        } else {
            closed(protocol, 100)
        };
        let plan = LatencyPlan { timestamps, size_bytes: Bytes(100), ..plan };
        let mut conditions = Conditions { kernel_stamps, ..link() };
        conditions.flights = Some(Flights { seed, most_ns });
        conditions.writes = Chunks::Random { seed: !seed, max: write_max };
        let mut sim = sim(&plan, conditions);
        if let Some(at_us) = stops_at_us {
            sim.at(Tick::from_nanos(at_us * 1_000), Action::Stop { role: Role::Client });
        }
        let outcome = sim.run(LATE);
        prop_assert!(outcome.is_over(), "{}", outcome);
        let [up, down] =
            [Role::Client, Role::Server].map(|from| sim.traffic(FLOW, Lane::ONLY, from).entered);
        let (client, server, _) = run(sim);
        prop_assert_eq!((client.sent, client.received, client.lost), (client.sent, client.sent, 0));
        prop_assert_eq!((server.received, server.sent), (client.sent, client.sent));
        let each = match protocol {
            Protocol::Tcp => plan.size_bytes.0,
            Protocol::Udp => 1,
        };
        prop_assert_eq!((up, down), (client.sent * each, client.sent * each));
        prop_assert!(client.sent == 100 || stops_at_us.is_some());
    }
}
