//! What becomes of each ping, in virtual time: exactly one thing, whatever the network makes of its copies.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use pathscope_core::id::Role;
use pathscope_core::quantity::{Bytes, Period};
use pathscope_flow::sim::{Fate, Passing, Weather};
use proptest::prelude::*;

use super::super::datagram::{Header, Kind};
use super::super::*;
use super::load::{Kept, sampling};
use super::{FLOW, closed, link, open, run, session, sim};
use crate::echoed::Tag;

const MILLISECOND: u64 = 1_000_000;
const PINGS: u64 = 150;

/// One ping, and its echoes that reach the client.
#[derive(Clone, Debug, Default)]
struct Came {
    ping: Vec<u8>,
    /// It reached the server.
    is_there: bool,
    intact: u64,
    damaged: u64,
}

/// What is to be found at the client, by the number of the ping.
type Truth = Arc<Mutex<BTreeMap<u64, Came>>>;

/// What the network does to one datagram.
#[derive(Clone, Copy, Debug)]
struct Trouble {
    fate: Fate,
    is_damaged: bool,
}

fn trouble() -> impl Strategy<Value = Trouble> {
    let fate = prop_oneof![
        4 => Just(Fate::Deliver),
        2 => Just(Fate::Duplicate { after_ns: 300_000 }),
        1 => Just(Fate::Lose),
        1 => Just(Fate::Delay { by_ns: 2_500_000 }),
    ];
    (fate, prop::bool::weighted(0.3)).prop_map(|(fate, is_damaged)| Trouble { fate, is_damaged })
}

/// What is said before the filler.
fn header(datagram: &[u8]) -> Option<Header> {
    Tag::of(session(), FLOW, 1).read(datagram).whole()
}

/// The troubles in turns, to the datagrams of both ways; what comes of them is noted.
fn troubles(all: Vec<Trouble>, truth: Truth) -> impl FnMut(&mut Passing<'_>) -> Fate {
    let mut troubles = all.into_iter().cycle();
    move |passing| {
        let Some(trouble) = troubles.next() else { return Fate::Deliver };
        let header = header(passing.bytes).expect("a ping or an echo");
        let mut truth = truth.lock().expect("one thread");
        let came = truth.entry(header.sequence).or_default();
        if passing.from == Role::Client {
            came.ping.clone_from(passing.bytes);
            came.is_there = trouble.fate != Fate::Lose;
        }
        if let Some(last) = passing.bytes.last_mut().filter(|_| trouble.is_damaged) {
            // Of each way another bit, so that damage never undoes damage.
            *last ^= if passing.from == Role::Client { 1 } else { 2 };
        }
        if passing.from == Role::Server {
            let is_intact = header.kind == Kind::Echo
                && came.ping[HEADER_BYTES..].starts_with(&passing.bytes[HEADER_BYTES..]);
            *(if is_intact { &mut came.intact } else { &mut came.damaged }) += match trouble.fate {
                Fate::Lose => 0,
                Fate::Deliver | Fate::Delay { .. } => 1,
                Fate::Duplicate { .. } => 2,
            };
        }
        trouble.fate
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn every_ping_is_answered_or_corrupt_or_lost_and_copies_are_counted_apart(
        all in prop::collection::vec(trouble(), 1..400),
        is_cut in any::<bool>(),
    ) {
        // Of an echo that is cut, the server alone sees the damage to its ping.
        let reply_bytes = is_cut.then_some(Bytes(56));
        let plan = LatencyPlan {
            reply_bytes,
            warm_up_ns: Period::from_millis(15),
            ..open(Protocol::Udp, MILLISECOND, Period::from_millis(PINGS))
        };
        let (kept, truth) = (Kept::default(), Truth::default());
        let mut sim = sampling(&plan, &kept);
        sim.datagrams(troubles(all, Arc::clone(&truth)));
        let (client, server, _) = run(sim);
        let summary = LatencySummary::of(&plan, &client, Some(&server));
        let truth = truth.lock().expect("one thread");
        let pings = |of: fn(&Came) -> bool| truth.values().filter(|came| of(came)).count() as u64;
        let never_there = pings(|came| !came.is_there);
        let echoes = |of: fn(&Came) -> u64| truth.values().map(of).sum::<u64>();
        let fates = (summary.received, summary.corrupt, summary.lost);
        prop_assert_eq!(fates, (
            pings(|came| came.intact > 0),
            pings(|came| came.intact == 0 && came.damaged > 0),
            pings(|came| came.intact == 0 && came.damaged == 0),
        ));
        prop_assert_eq!(fates.0 + fates.1 + fates.2, PINGS);
        prop_assert_eq!(summary.duplicates, echoes(|came| came.intact.saturating_sub(1)));
        prop_assert_eq!(summary.corrupt_echoes, echoes(|came| came.damaged));
        prop_assert_eq!((summary.late, summary.foreign), (0, 0));
        let rows = &kept.0.lock().expect("one thread").0;
        let of = |outcome| rows.iter().filter(|row| row.outcome == outcome).count() as u64;
        prop_assert_eq!((of(Outcome::Answered), of(Outcome::WarmUp)), (summary.rtt.count, summary.warm_up));
        prop_assert_eq!(of(Outcome::Answered) + of(Outcome::WarmUp), summary.received);
        prop_assert_eq!((of(Outcome::Corrupt), of(Outcome::Lost)), (summary.corrupt, summary.lost));
        let pings: BTreeSet<u64> = rows.iter().map(|row| row.sequence).collect();
        prop_assert_eq!((pings.len(), rows.len()), (PINGS as usize, PINGS as usize));
        prop_assert_eq!(summary.lost_forward, Some(never_there));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Windows of a million flows are smaller than those of one, and find the same of what the network does within 9 s.
    #[test]
    fn a_flow_of_a_million_counts_as_one_alone(
        seed in any::<u64>(),
        lost_ppm in 0_u64..400_000,
        duplicated_ppm in 0_u64..400_000,
        delayed_ppm in 0_u64..400_000,
        delay_ns in 0_u64..4_500 * MILLISECOND,
        is_closed in any::<bool>(),
    ) {
        let weather = Weather { seed, lost_ppm, duplicated_ppm, delayed_ppm, delay_ns, ..Weather::default() };
        let plan = if is_closed {
            closed(Protocol::Udp, 200)
        } else {
            open(Protocol::Udp, 1_000 * MILLISECOND, Period::from_secs(90))
        };
        let [alone, of_many] = [1, 1_000_000].map(|connections| {
            let plan = LatencyPlan { connections, ..plan.clone() };
            let kept = Kept::default();
            let mut sim = sampling(&plan, &kept);
            sim.datagrams(weather.fates());
            let (client, server, _) = run(sim);
            let mut rows = std::mem::take(&mut kept.0.lock().expect("one thread").0);
            rows.sort_by_key(|row| row.sequence);
            (client, server, rows)
        });
        prop_assert_eq!(alone.0.sent, if is_closed { 200 } else { 90 });
        prop_assert_eq!(alone, of_many);
    }
}

#[test]
fn what_the_server_finds_damaged_is_corrupt_and_not_lost_on_the_way_there() {
    let plan = LatencyPlan {
        size_bytes: Bytes(1_000),
        reply_bytes: Some(Bytes(48)),
        ..open(Protocol::Udp, MILLISECOND, Period::from_secs(1))
    };
    let mut sim = sim(&plan, link());
    sim.datagrams(|passing| match (passing.from, passing.position % 10) {
        (Role::Client, 3) => Fate::Lose,
        (Role::Client, 7) => {
            passing.bytes[900] ^= 1;
            Fate::Deliver
        }
        _ => Fate::Deliver,
    });
    let (client, server, _) = run(sim);
    let summary = LatencySummary::of(&plan, &client, Some(&server));
    assert_eq!((summary.received, summary.lost, summary.corrupt), (800, 100, 100));
    assert_eq!((summary.lost_forward, summary.lost_return), (Some(100), Some(0)));
    assert_eq!((summary.corrupt_echoes, summary.corrupt_forward), (100, Some(100)));
    assert_eq!(summary.rtt.count, 800);
}

#[test]
fn damage_to_a_copy_hides_no_loss() {
    let plan = open(Protocol::Udp, MILLISECOND, Period::from_secs(1));
    let mut sim = sim(&plan, link());
    // Each ping comes twice to the server. Of ten, one has no echo at all, and of another one echo is damaged.
    sim.datagrams(|passing| {
        let number = header(passing.bytes).map_or(0, |header| header.sequence);
        match (passing.from, number % 10) {
            (Role::Client, _) => Fate::Duplicate { after_ns: 10_000 },
            (Role::Server, 3) => Fate::Lose,
            (Role::Server, 7) if passing.position % 2 == 1 => {
                passing.bytes[60] ^= 1;
                Fate::Deliver
            }
            (Role::Server, _) => Fate::Deliver,
        }
    });
    let (client, server, _) = run(sim);
    let summary = LatencySummary::of(&plan, &client, Some(&server));
    assert_eq!((summary.received, summary.lost, summary.corrupt), (900, 100, 0));
    assert_eq!((summary.corrupt_echoes, summary.duplicates), (100, 800));
}

#[test]
fn rows_that_were_written_while_the_test_ran_agree_with_the_counts() {
    // More are lost than are remembered: four times as many as are on their way, and 256.
    let plan = LatencyPlan { outstanding: 1_024, ..closed(Protocol::Udp, 10_000) };
    let kept = Kept::default();
    let mut sim = sampling(&plan, &kept);
    sim.datagrams(|passing| if passing.from == Role::Server { Fate::Lose } else { Fate::Deliver });
    let (client, ..) = run(sim);
    let rows = &kept.0.lock().expect("one thread").0;
    assert_eq!((client.sent, client.lost, rows.len()), (10_000, 10_000, 10_000));
    assert!(rows.iter().all(|row| row.outcome == Outcome::Lost));
    assert!(rows.is_sorted_by_key(|row| row.sequence));
}

#[test]
fn a_stall_at_a_high_rate_is_in_the_percentiles() {
    let plan = open(Protocol::Udp, 10_000, Period::from_millis(1_500));
    let mut sim = sim(&plan, link());
    // The path holds what comes from the first fifth of a second on, and a second later lets it go, ten times as fast.
    let (begin, end) = (200 * MILLISECOND, 1_200 * MILLISECOND);
    sim.datagrams(move |passing| {
        let at = passing.at.as_nanos();
        let arrives = end + at.saturating_sub(begin) / 10;
        match passing.from {
            Role::Client if at >= begin => Fate::Delay { by_ns: arrives.saturating_sub(at) },
            _ => Fate::Deliver,
        }
    });
    let (client, server, _) = run(sim);
    let summary = LatencySummary::of(&plan, &client, Some(&server));
    let fates = (summary.sent, summary.received, summary.lost, summary.late);
    assert_eq!(fates, (150_000, 150_000, 0, 0));
    // Two thirds of the pings met the stall, and waited for what was left of it.
    let value = |percent: f64| summary.rtt.percentile(percent).and_then(|it| it.value_ns);
    assert!(value(50.0) > Some(200 * MILLISECOND), "{:?}", value(50.0));
    assert!(value(99.0) > Some(900 * MILLISECOND), "{:?}", value(99.0));
}

#[test]
fn an_echo_that_comes_after_a_thousand_others_is_still_one() {
    // A closed loop remembers 256 pings, and those that have no answer for longer.
    let plan = closed(Protocol::Udp, 4_000);
    let mut sim = sim(&plan, link());
    sim.datagrams(|passing| match (passing.from, passing.position) {
        (Role::Server, 7) => Fate::Delay { by_ns: 1_600 * MILLISECOND },
        _ => Fate::Deliver,
    });
    let (client, ..) = run(sim);
    assert_eq!((client.received, client.lost, client.late), (4_000, 0, 0));
    assert_eq!(client.rtt.and_then(|rtt| rtt.max_ns), Some(1_600 * MILLISECOND + 500_000));
}
