//! Datagrams that say their number and when they left, and nothing else: each is counted once, whatever happens to it.

use pathscope_core::Tick;
use pathscope_core::id::{Lane, Role};
use pathscope_core::quantity::Bytes;
use pathscope_flow::sim::{Action, Conditions, Fate, Link, Sim, Weather};
use proptest::prelude::*;

use super::super::*;
use super::{FLOW, LATE, ONE_WAY_NS, SIZE, plan, run};
use crate::conventions::Framing;
use crate::conventions::sequenced::{Layout, Width};
use crate::load::{Extent, Pattern, Verify};

const WIDTHS: [Width; 2] = [Width::Bits32, Width::Bits64];

/// Both ends of a transfer of 2,000 datagrams, the last of which is asked for as one byte.
fn sim(pattern: Pattern, width: Width) -> (DatagramsPlan, Sim<DatagramFlow, DatagramFlow>) {
    let extent = Extent::TransferBytes(Bytes(SIZE * 1_999 + 1));
    let plan = DatagramsPlan { extent, rate_bps: None, ..plan(pattern) };
    let wide = Link::new(ONE_WAY_NS).with_buffers(256 << 20, 256 << 20);
    let mut sim = super::sim(&plan, Conditions::over(wide));
    for role in [Role::Client, Role::Server] {
        let shared = DatagramShared::new(&plan, role).framed(Framing::Sequenced(Layout::of(width)));
        match role {
            Role::Client => *sim.client_shared() = shared,
            Role::Server => *sim.server_shared() = shared,
        }
    }
    (plan, sim)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn whatever_the_weather_each_is_counted_once(
        seed: u64, lost_ppm in 0..200_000_u64, duplicated_ppm in 0..100_000_u64,
        delayed_ppm in 0..200_000_u64, delay_ns in 1_000..20_000_000_u64, is_up: bool, width in 0..2_usize,
    ) {
        let (pattern, from) = if is_up { (Pattern::Push, Role::Client) } else { (Pattern::Pull, Role::Server) };
        let (_, mut sim) = sim(pattern, WIDTHS[width]);
        let weather = Weather { seed, lost_ppm, duplicated_ppm, delayed_ppm, delay_ns, ..Weather::default() };
        sim.datagrams(weather.fates());
        let (client, server, _) = run(&mut sim);
        let (sender, receiver) = if is_up { (client, server) } else { (server, client) };
        let truth = sim.traffic(FLOW, Lane::ONLY, from);
        prop_assert_eq!((sender.sent, sender.sent_bytes, receiver.expected), (2_000, 2_000 * SIZE, Some(2_000)));
        prop_assert_eq!(
            (receiver.lost, receiver.duplicates, receiver.corrupt, receiver.foreign, receiver.late),
            (truth.lost, truth.duplicated, 0, 0, 0)
        );
        prop_assert_eq!((receiver.received, receiver.received_bytes), (2_000 - truth.lost, (2_000 - truth.lost) * SIZE));
        let shared = if is_up { sim.server_shared() } else { sim.client_shared() };
        let shared = std::mem::replace(shared, DatagramShared::new(&plan(pattern), from));
        let flow = if is_up { sim.server(FLOW) } else { sim.client(FLOW) };
        let facts = flow.facts_told(&shared);
        prop_assert!(facts.highest <= Some(2_000) && facts.highest >= Some(facts.received));
        prop_assert_eq!(facts.received_bytes, Some(facts.received * SIZE));
        prop_assert!(facts.smoothed_jitter_ns.is_some_and(|jitter| jitter >= 0.0));
    }
}

#[test]
fn what_is_of_another_length_is_told_apart_and_what_opens_a_stream_is_none() {
    for width in WIDTHS {
        let (_, mut sim) = sim(Pattern::Push, width);
        sim.datagrams(|passing| {
            match passing.position {
                3 | 4 => passing.bytes.truncate(4),
                5 => passing.bytes.truncate(11),
                6 => passing.bytes.truncate(700),
                7 => passing.bytes.push(0),
                // The filler is whatever it is.
                8 => passing.bytes[800] ^= 1,
                _ => {}
            }
            Fate::Deliver
        });
        let (_, server, _) = run(&mut sim);
        assert_eq!((server.received, server.corrupt, server.foreign), (1_995, 2, 1), "{width:?}");
        assert_eq!((server.lost, server.corrupt_headers), (3, 0));
        let lengths: Vec<u64> = server.corruptions.iter().map(|it| it.came_bytes).collect();
        assert_eq!(lengths, [700, SIZE + 1]);
    }
}

#[test]
fn without_a_word_of_the_sender_s_what_came_is_all_there_is() {
    let (plan, mut sim) = sim(Pattern::Push, Width::Bits32);
    assert_eq!(plan.verify, Verify::Full, "as it was asked for");
    sim.tell_totals(u64::MAX / 2);
    sim.at(Tick::from_nanos(2_000_000_000), Action::Stop { role: Role::Server });
    sim.datagrams(|passing| if passing.position == 9 { Fate::Lose } else { Fate::Deliver });
    sim.run(LATE);
    let facts = sim.server(FLOW).facts();
    assert_eq!((facts.received, facts.lost, facts.expected, facts.error), (1_999, 1, None, None));
}

#[test]
fn what_was_lost_behind_the_last_that_came_is_known_by_a_report_that_says_what_was_sent() {
    use pathscope_core::record::{PeerFacts, Tells};

    use crate::datagrams::{DatagramFlowFacts, DatagramsReport};
    use crate::end::Hosts;
    use crate::results::{Beside, Results as _};

    let flow = |sent, received, lost, highest| DatagramFlowFacts {
        flow: FLOW,
        sent,
        expected: None,
        received,
        lost,
        received_bps: None,
        error: None,
        highest,
        received_bytes: None,
        smoothed_jitter_ns: None,
    };
    let client = DatagramsReport {
        received: 90,
        lost: 5,
        flows: vec![flow(0, 90, 5, Some(95))],
        ..DatagramsReport::default()
    };
    let server = DatagramsReport {
        sent: 100,
        flows: vec![flow(100, 0, 0, None)],
        ..DatagramsReport::default()
    };
    for (tells, lost) in [(Tells::EVERYTHING, 5), (Tells { report: true, ..Tells::NOTHING }, 10)] {
        let peer = Some(PeerFacts { tells, ..PeerFacts::default() });
        let hosts = Hosts { peer, ..Hosts::default() };
        let beside = Beside { failed_there: &[], hosts: &hosts };
        let mut client = client.clone();
        DatagramsPlan::complete(&mut client, Some(&server), &beside);
        assert_eq!((client.lost, client.flows[0].lost), (lost, lost));
        assert_eq!(client.expected, (lost > 5).then_some(100));
    }
}

#[test]
fn what_a_server_s_words_have_no_place_for_is_absent_and_no_zero() {
    use pathscope_core::record::{PeerFacts, Tells};

    use crate::datagrams::DatagramsReport;
    use crate::end::Hosts;
    use crate::results::{Ends, Results as _};

    let report = DatagramsReport { received: 9, ..DatagramsReport::default() };
    for (tells, is_told) in
        [(Tells::EVERYTHING, true), (Tells { report: true, ..Tells::NOTHING }, false)]
    {
        let peer = Some(PeerFacts { tells, ..PeerFacts::default() });
        let hosts = Hosts { peer, ..Hosts::default() };
        let ends = Ends { hosts: &hosts, ..Ends::of_reports(&report, Some(&report)) };
        let summary = plan(Pattern::Duplex).summary(&ends, &[]);
        for (way, is_told) in [(summary.up, is_told), (summary.down, true)] {
            let way = serde_json::to_value(way.expect("it goes there")).expect("it is JSON");
            assert_eq!(way["received"], 9);
            for count in ["bursts", "duplicates", "reordered", "reordered_ratio", "late", "corrupt"]
            {
                assert_eq!(way.get(count).is_some(), is_told, "{count}: {way}");
            }
        }
    }
}
