//! Streams whose datagrams the system has for a while, as engines have them that complete operations.

use pathscope_flow::sim::{Chunks, Conditions, Flights};
use proptest::prelude::*;

use super::super::*;
use super::{conserved, link, plan, run, sim_over};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn every_frame_is_sent_and_judged(
        seed: u64,
        most_ns in 0_u64..3_000_000,
        direction in prop::sample::select(vec![Direction::Up, Direction::Down, Direction::Both]),
        pacing in prop::sample::select(vec![Pacing::Spread, Pacing::BackToBack]),
        write_max in 1_usize..8,
    ) {
        let plan = MediaPlan { direction, pacing, ..plan() };
        let mut conditions = Conditions { flights: Some(Flights { seed, most_ns }), ..link() };
        conditions.writes = Chunks::Random { seed: !seed, max: write_max };
        let (client, server, _) = run(sim_over(&plan, conditions));
        for (sender, receiver) in [(&client, &server), (&server, &client)] {
            conserved(sender, receiver);
            prop_assert_eq!((receiver.lost_datagrams, receiver.foreign), (0, 0));
            let judged = if sender.sent_datagrams > 0 { 100 } else { 0 };
            prop_assert_eq!((receiver.frames.judged(), sender.unsent_frames), (judged, 0));
        }
        prop_assert!(client.sent_datagrams + server.sent_datagrams >= 400);
    }
}
