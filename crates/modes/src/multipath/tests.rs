//! Multipath in virtual time: exact latencies and counts, whatever happens to the paths.
//!
//! In one file: each test drives the same two ends over the same simulated paths, and differs in one condition.

mod bare;
mod flights;

use std::cell::RefCell;
use std::rc::Rc;

use pathscope_core::Tick;
use pathscope_core::id::{FlowId, Lane, Role, Token};
use pathscope_core::quantity::{BitRate, Bytes, Period};
use pathscope_core::stats::{HALF_OCTAVES, HalfOctaveCounts, half_octave_edge_ns};
use pathscope_flow::sim::{Action, Conditions, Ended, Ends, Fate, Link, Passing, Sim};
use pathscope_flow::{Batch, Event, Machine, SendWant, Shared, Transport};

use super::*;
use crate::pattern::SessionKey;

const FLOW: FlowId = FlowId(0);
pub(super) const LATE: Tick = Tick::from_nanos(7_200_000_000_000);
pub(super) const MS: u64 = 1_000_000;

/// Ten seconds of a thousand datagrams a second on so many paths.
pub(super) fn plan(lanes: u8) -> MultipathPlan {
    MultipathPlan {
        rate_bps: BitRate(8_192_000),
        grouping: 10,
        datagram_bytes: Bytes(1_024),
        duration_ns: Period::from_secs(10),
        paths: Vec::new(),
        lanes,
        order: SendOrder::PrimaryFirst,
        late_by_ns: Period::from_millis(50),
    }
}

pub(super) type Multipath = Sim<MultipathFlow, MultipathEcho>;

/// Paths of these delays one way, all there at the start.
pub(super) fn sim(plan: &MultipathPlan, delays_ms: &[u64]) -> Multipath {
    let lanes = (0..delays_ms.len() as u8).map(Lane);
    let mut sim = without_paths(plan, delays_ms, lanes.clone());
    lanes.for_each(|lane| tell(&mut sim, 0, Event::LaneUp(lane)));
    sim
}

/// The same; these of them are known of at the start.
fn without_paths(
    plan: &MultipathPlan,
    delays_ms: &[u64],
    known: impl Iterator<Item = Lane>,
) -> Multipath {
    let conditions = Conditions { max_steps: u64::MAX, ..Conditions::over(Link::new(MS)) };
    without_paths_in(plan, delays_ms, known, conditions)
}

/// The same in a world of this kind.
fn without_paths_in(
    plan: &MultipathPlan,
    delays_ms: &[u64],
    known: impl Iterator<Item = Lane>,
    conditions: Conditions,
) -> Multipath {
    let session = SessionKey::from(Token([3; 16]));
    let mut sim = Sim::new(conditions, MultipathShared::new(plan), MultipathEchoShared::new(plan));
    let client = MultipathFlow::new(plan, session, FLOW, known);
    let server = MultipathEcho::new(plan, session, FLOW);
    let links: Vec<_> = delays_ms.iter().map(|delay| Ends::both(Link::new(delay * MS))).collect();
    sim.connect_lanes(client, server, Transport::Datagram, &links);
    sim.tell_totals(MS);
    sim
}

pub(super) fn tell(sim: &mut Multipath, at_ms: u64, event: Event) {
    sim.at(Tick::from_nanos(at_ms * MS), Action::Tell { flow: FLOW, role: Role::Client, event });
}

/// Runs to the end of both and takes what they say.
fn run(mut sim: Multipath) -> (MultipathReport, MultipathReport) {
    let outcome = sim.run(LATE);
    assert_eq!(outcome.ended, Ended::Over, "{outcome}");
    (sim.client_shared().report_all(), sim.server_shared().report_all())
}

fn summary(
    plan: &MultipathPlan,
    (client, server): &(MultipathReport, MultipathReport),
) -> MultipathSummary {
    MultipathSummary::of(plan.datagram_bytes.0, client, Some(server))
}

/// Datagrams of a client on one lane whose position there is among these are lost.
pub(super) fn lose(
    lane: u8,
    which: impl Fn(u64) -> bool + 'static,
) -> impl FnMut(&mut Passing<'_>) -> Fate {
    move |passing| {
        let is_it =
            passing.from == Role::Client && passing.lane == Lane(lane) && which(passing.position);
        if is_it { Fate::Lose } else { Fate::Deliver }
    }
}

#[test]
fn each_path_has_its_own_round_trip_and_the_first_answer_counts() {
    let plan = plan(3);
    let ends = run(sim(&plan, &[5, 9, 20]));
    let summary = summary(&plan, &ends);
    assert_eq!((summary.scheduled, summary.sent, summary.received), (10_000, 10_000, 10_000));
    assert_eq!((summary.lost, summary.prevented, summary.first_elsewhere), (0, 0, 0));
    for (path, round_trip) in summary.paths.iter().zip([10, 18, 40]) {
        assert_eq!((path.sent, path.received, path.lost), (10_000, 10_000, 0));
        let extremes = (path.latency.min_ns, path.latency.max_ns);
        assert_eq!(extremes, (Some(round_trip * MS), Some(round_trip * MS)));
    }
    assert_eq!(summary.effective.max_ns, Some(10 * MS));
    assert_eq!((summary.waiting_saved_ns, summary.mean_improvement), (0, Some(0.0)));
    assert_eq!(summary.sending_ns, 10_000 * MS);
    assert_eq!(summary.rate_bps, Some(8_192_000.0));
}

#[test]
fn a_slow_primary_shows_what_the_second_path_saves() {
    let plan = plan(2);
    let ends = run(sim(&plan, &[10, 5]));
    let summary = summary(&plan, &ends);
    assert_eq!((summary.first_elsewhere, summary.first_elsewhere_ratio), (10_000, Some(1.0)));
    assert_eq!(summary.waiting_saved_ns, 10_000 * 10 * MS as i64);
    assert_eq!(summary.waiting_saved_ratio, Some(0.5));
    assert_eq!(summary.mean_improvement, Some(0.5));
    assert_eq!(summary.effective.max_ns, Some(10 * MS));
    assert_eq!(summary.paths[1].first, 10_000);
    assert_eq!(summary.paths[0].latency.min_ns, Some(20 * MS));
}

#[test]
fn losses_are_counted_where_they_happen_and_to_the_datagram() {
    let plan = plan(2);
    let mut simulator = sim(&plan, &[5, 9]);
    // One in ten on the primary, one in four on the other: one in twenty on both.
    simulator.datagrams(|passing| {
        let every = if passing.lane == Lane(0) { 10 } else { 4 };
        let is_lost = passing.from == Role::Client && passing.position % every == 0;
        if is_lost { Fate::Lose } else { Fate::Deliver }
    });
    let ends = run(simulator);
    let summary = summary(&plan, &ends);
    let lost: Vec<_> =
        summary.paths.iter().map(|it| (it.lost, it.lost_forward, it.lost_return)).collect();
    assert_eq!(lost, [(1_000, Some(1_000), Some(0)), (2_500, Some(2_500), Some(0))]);
    assert_eq!((summary.lost, summary.prevented, summary.received), (500, 500, 9_500));
    let pair = summary.losses[0].pair;
    assert_eq!(
        (pair.neither, pair.one_lost, pair.other_lost, pair.both_lost),
        (7_000, 500, 2_000, 500)
    );
    assert_eq!(summary.losses[0].expected_both, Some(250.0));
    let policy = |policy| {
        let found = summary.policies.iter().find(|it| it.policy == policy).expect("all are there");
        (found.sent, found.lost)
    };
    assert_eq!(policy(Policy::PrimaryOnly), (10_000, 1_000));
    assert_eq!(policy(Policy::DuplicateLate), (11_000, 500));
    assert_eq!(policy(Policy::DuplicateAlways), (20_000, 500));
    assert_eq!(policy(Policy::FailOver), (10_000, 1_000), "it never was silent for long");
}

#[test]
fn what_the_way_back_loses_is_told_from_what_the_way_there_loses() {
    let plan = plan(2);
    let mut simulator = sim(&plan, &[5, 9]);
    simulator.datagrams(|passing| {
        let is_lost = match (passing.from, passing.lane) {
            (Role::Client, Lane(0)) => passing.position < 7,
            (Role::Server, Lane(0)) => (100..111).contains(&passing.position),
            _ => false,
        };
        if is_lost { Fate::Lose } else { Fate::Deliver }
    });
    let ends = run(simulator);
    let primary = &summary(&plan, &ends).paths[0];
    assert_eq!((primary.lost, primary.lost_forward, primary.lost_return), (18, Some(7), Some(11)));
}

#[test]
fn copies_corruption_and_overtaking_are_counted_by_path() {
    let plan = plan(2);
    let mut simulator = sim(&plan, &[5, 9]);
    simulator.datagrams(|passing| match (passing.from, passing.lane, passing.position) {
        (Role::Server, Lane(1), 10..20) | (Role::Client, Lane(1), 50..53) => {
            Fate::Duplicate { after_ns: MS }
        }
        (Role::Server, Lane(0), 30) => {
            passing.bytes[700] ^= 1;
            Fate::Deliver
        }
        // Its own stamp is not of the pattern, and is compared all the same.
        (Role::Server, Lane(0), 31) => {
            passing.bytes[25] ^= 1;
            Fate::Deliver
        }
        (Role::Client, Lane(0), 40) => {
            passing.bytes[900] ^= 0x80;
            Fate::Deliver
        }
        // Later than the next group.
        (Role::Server, Lane(0), 60) => Fate::Delay { by_ns: 15 * MS },
        _ => Fate::Deliver,
    });
    let ends = run(simulator);
    let summary = summary(&plan, &ends);
    let [primary, other] = &summary.paths[..] else { panic!("two paths") };
    assert_eq!((primary.corrupt, primary.lost, primary.reordered), (3, 3, 1));
    assert_eq!((other.duplicates, other.corrupt, other.lost), (13, 0, 0));
    assert_eq!(ends.1.paths[1].duplicates, 3);
    assert_eq!((summary.prevented, summary.lost, summary.foreign), (3, 0, 0));
}

#[test]
fn a_path_that_falls_silent_has_one_outage_and_the_others_lose_nothing() {
    let plan = plan(2);
    let mut simulator = sim(&plan, &[5, 9]);
    simulator.datagrams(lose(0, |position| (2_000..3_000).contains(&position)));
    let ends = run(simulator);
    let summary = summary(&plan, &ends);
    let gaps = &summary.paths[0].gaps;
    assert_eq!((gaps.outages, gaps.most_in_a_row, gaps.longest_ns), (1, 1_000, 1_000 * MS));
    let outage = Outage { start_ns: 2_000 * MS, duration_ns: 1_000 * MS, datagrams: 1_000 };
    assert_eq!(gaps.told, [outage]);
    assert_eq!((summary.effective_gaps.outages, summary.lost, summary.prevented), (0, 0, 1_000));
    // One that fails over notices after half a second, and comes back with the first answer.
    let fail_over =
        summary.policies.iter().find(|it| it.policy == Policy::FailOver).expect("there");
    assert_eq!(fail_over.lost, 510);
    // Where they had been due, and not where they were given up.
    let lost = ends.0.paths[0].lost_over_time.as_ref().expect("of the client");
    assert_eq!((lost.step_ns, &lost.lost), (100 * MS, &[vec![0; 20], vec![100; 10]].concat()));
    assert_eq!(ends.0.lost_over_time.as_ref().map(|it| it.lost.len()), Some(0));
}

#[test]
fn a_path_that_goes_takes_no_datagram_of_the_others_and_comes_back() {
    let plan = plan(2);
    let mut simulator = sim(&plan, &[5, 9]);
    tell(&mut simulator, 3_005, Event::LaneDown(Lane(0)));
    tell(&mut simulator, 6_005, Event::LaneUp(Lane(0)));
    let ends = run(simulator);
    let summary = summary(&plan, &ends);
    let [primary, other] = &summary.paths[..] else { panic!("two paths") };
    // Groups leave each 10 ms; after a check of 10 ms the path is used from 6.02 s on.
    assert_eq!(primary.sent, 10_000 - 3_010);
    assert_eq!((other.sent, other.lost, summary.lost), (10_000, 0, 0));
    assert_eq!((primary.gaps.outages, primary.gaps.told[0].start_ns), (1, 3_010 * MS));
    assert_eq!(primary.gaps.longest_ns, 3_010 * MS);
    assert_eq!(summary.sent, 10_000);
}

#[test]
fn ten_seconds_without_any_path_are_an_outage_and_no_end() {
    let plan = MultipathPlan { duration_ns: Period::from_secs(30), ..plan(2) };
    let mut simulator = sim(&plan, &[5, 9]);
    for lane in [Lane(0), Lane(1)] {
        tell(&mut simulator, 10_005, Event::LaneDown(lane));
        tell(&mut simulator, 20_005, Event::LaneUp(lane));
    }
    let ends = run(simulator);
    let summary = summary(&plan, &ends);
    assert_eq!(summary.scheduled, 30_000);
    assert_eq!(summary.sent + summary.without_path, 30_000);
    // From 10.01 s on, until the faster path was checked: used from 20.02 s on.
    assert_eq!((summary.without_path, summary.lost), (10_010, 0));
    assert_eq!(summary.effective_gaps.outages, 1);
    assert_eq!(summary.effective_gaps.outage_ns, 10_010 * MS);
    assert_eq!(summary.paths.iter().map(|path| path.lost).sum::<u64>(), 0);
}

#[test]
fn a_path_is_not_used_before_the_server_has_answered_on_it() {
    let plan = plan(2);
    let mut simulator = without_paths(&plan, &[5, 9], [Lane(0)].into_iter());
    tell(&mut simulator, 0, Event::LaneUp(Lane(0)));
    tell(&mut simulator, 1_005, Event::LaneUp(Lane(1)));
    // Its first five checks are lost.
    simulator.datagrams(lose(1, |position| position < 5));
    let outcome = simulator.run(LATE);
    assert_eq!(outcome.ended, Ended::Over, "{outcome}");
    let shared = simulator.client_shared();
    // 20, 40, 80, 160 and 320 ms later the sixth is answered.
    let begun = Tick::from_nanos(1_000 * MS);
    let used: Vec<_> =
        shared.used.iter().map(|(lane, at)| (*lane, at.nanos_since(begun))).collect();
    assert_eq!(used, [(Lane(1), (1_005 + 620 + 18) * MS)]);
    let report = shared.report_all();
    assert_eq!(report.paths[1].sent, 10_000 - 1_650);
    assert_eq!((report.paths[1].lost, report.paths[0].lost), (0, 0));
}

#[test]
fn a_socket_that_dies_is_a_path_that_is_gone() {
    let plan = plan(2);
    let mut simulator = sim(&plan, &[5, 9]);
    tell(&mut simulator, 5_005, Event::Reset { lane: Lane(1), errno: 19 });
    let ends = run(simulator);
    assert_eq!((ends.0.paths[1].sent, ends.0.paths[0].sent), (5_010, 10_000));
}

#[test]
fn sending_in_turns_gives_no_path_the_advantage() {
    let plan = MultipathPlan { order: SendOrder::Alternate, ..plan(2) };
    let ends = run(sim(&plan, &[5, 5]));
    let summary = summary(&plan, &ends);
    // Both answer at one time; what is as early counts for the first.
    assert_eq!(summary.received, 10_000);
    assert_eq!(summary.effective.max_ns, Some(10 * MS));
}

/// How many numbers left first on each path, of which these are there at first and one goes after a while.
fn begun_by(lanes: u8, there: &[u8], goes: Option<(u64, u8)>) -> Vec<u64> {
    let plan = MultipathPlan { order: SendOrder::Alternate, ..plan(lanes) };
    let delays = vec![5; usize::from(lanes)];
    let mut simulator = without_paths(&plan, &delays, there.iter().copied().map(Lane));
    for &lane in there {
        tell(&mut simulator, 0, Event::LaneUp(Lane(lane)));
    }
    if let Some((at_ms, lane)) = goes {
        tell(&mut simulator, at_ms, Event::LaneDown(Lane(lane)));
    }
    let begun = Rc::new(RefCell::new(vec![0; usize::from(lanes)]));
    let (counts, mut last) = (Rc::clone(&begun), None);
    simulator.datagrams(move |passing| {
        let number = passing.bytes[16..24].to_vec();
        if passing.from == Role::Client && last.as_ref() != Some(&number) {
            counts.borrow_mut()[passing.lane.index()] += 1;
            last = Some(number);
        }
        Fate::Deliver
    });
    run(simulator);
    begun.take()
}

#[test]
fn in_turns_each_path_that_is_there_begins_as_often_as_the_others() {
    assert_eq!(begun_by(2, &[0, 1], None), [5_000, 5_000]);
    // More interfaces than paths: the first one has no head start by those that are none.
    assert_eq!(begun_by(5, &[0, 1], None), [5_000, 5_000, 0, 0, 0]);
    assert_eq!(begun_by(5, &[1, 3], None), [0, 5_000, 0, 5_000, 0]);
    // One goes after 3,010 numbers, and the two others share what follows.
    let begun = begun_by(3, &[0, 1, 2], Some((3_005, 1)));
    assert_eq!(begun.iter().sum::<u64>(), 10_000);
    assert!((1_003..=1_004).contains(&begun[1]), "{begun:?}");
    assert!(begun[0].abs_diff(begun[2]) <= 1, "{begun:?}");
}

#[test]
fn a_stop_ends_the_schedule_and_loses_nothing() {
    let plan = plan(2);
    let mut simulator = sim(&plan, &[5, 9]);
    simulator.at(Tick::from_nanos(4_005 * MS), Action::Stop { role: Role::Client });
    let ends = run(simulator);
    let summary = summary(&plan, &ends);
    assert_eq!((summary.sent, summary.received, summary.unsent), (4_010, 4_010, 0));
}

#[test]
fn a_machine_that_cannot_keep_up_says_what_it_did_not_send() {
    let plan = plan(1);
    let mut simulator = sim(&plan, &[5]);
    let pause = Action::Pause { role: Role::Client, for_ns: 60_000 * MS };
    simulator.at(Tick::from_nanos(9_005 * MS), pause);
    let ends = run(simulator);
    let summary = summary(&plan, &ends);
    assert_eq!((summary.sent, summary.unsent), (9_010, 990));
    assert_eq!(summary.scheduled, 9_010);
}

#[test]
fn an_answer_that_comes_after_five_seconds_is_late() {
    let plan = plan(2);
    let mut simulator = sim(&plan, &[5, 9]);
    simulator.datagrams(|passing| match (passing.from, passing.position) {
        (Role::Server, 5) => Fate::Delay { by_ns: 6_000 * MS },
        _ => Fate::Deliver,
    });
    let (client, _) = run(simulator);
    let paths: Vec<_> = client.paths.iter().map(|it| (it.received, it.lost, it.late)).collect();
    assert_eq!(paths, [(9_999, 1, 1), (9_999, 1, 1)]);
    assert_eq!((client.lost, client.received), (1, 9_999));
}

#[test]
fn an_hour_at_hd_keeps_every_count_and_its_memory() {
    let plan = MultipathPlan {
        rate_bps: BitRate(5_000_000),
        grouping: 30,
        duration_ns: Period::from_secs(3_600),
        ..plan(2)
    };
    let mut simulator = sim(&plan, &[4, 7]);
    simulator.datagrams(lose(0, |position| position % 1_000 == 999));
    // Reports are taken as an engine takes them: nothing gathers.
    let ends = run(simulator);
    let summary = summary(&plan, &ends);
    assert_eq!(summary.scheduled, 2_197_265);
    assert_eq!((summary.received, summary.lost), (2_197_265, 0));
    assert_eq!((summary.prevented, summary.paths[0].lost), (2_197, 2_197));
    assert_eq!(summary.paths[1].latency.count, 2_197_265);
    let text = serde_json::to_string(&ends.0).expect("plain data");
    assert!(text.len() < 100_000, "{}", text.len());
}

#[test]
fn intervals_add_up_to_the_whole() {
    let plan = plan(2);
    let mut simulator = sim(&plan, &[5, 9]);
    simulator.datagrams(lose(0, |position| position % 10 == 0));
    let (mut sums, mut latencies) = ((0, 0, 0), 0);
    let mut maps = [(); 3].map(|()| HalfOctaveCounts::default());
    let (mut first, mut medians) = ([0, 0], Vec::new());
    for second in 1..=12 {
        simulator.run(Tick::from_nanos(second * 1_000 * MS));
        let interval = simulator.client_shared().report(Tick::ZERO).interval();
        sums.0 += interval.sent;
        sums.1 += interval.received;
        sums.2 += interval.paths[0].received;
        latencies += interval.effective.map_or(0, |effective| effective.count);
        first.iter_mut().zip(&interval.paths).for_each(|(sum, path)| *sum += path.first);
        medians.extend(interval.paths.iter().filter_map(|it| it.latency_p50_ns));
        let paths = interval.paths.iter().map(|path| &path.latency_half_octaves);
        let told = [&interval.effective_half_octaves].into_iter().chain(paths);
        maps.iter_mut().zip(told).for_each(|(map, told)| told.iter().for_each(|it| map.add(it)));
    }
    assert_eq!(first, [9_000, 1_000]);
    let is_of_a_path =
        |median: &u64| [10 * MS, 18 * MS].iter().any(|it| it.abs_diff(*median) < MS / 50);
    assert!(medians.iter().all(is_of_a_path) && medians.len() >= 20, "{medians:?}");
    // Each is in the range of what its path takes there and back: 5.9 to 8.4 ms, and 16.8 to 23.7 ms.
    let maps = maps.map(|map| map.told().expect("answers").filled().collect::<Vec<_>>());
    let of = |nanoseconds: u64| {
        (0..HALF_OCTAVES).rfind(|&range| half_octave_edge_ns(range) <= nanoseconds).expect("one")
    };
    let (fast, slow) = (of(10 * MS), of(18 * MS));
    assert_eq!(
        maps,
        [vec![(fast, 9_000), (slow, 1_000)], vec![(fast, 9_000)], vec![(slow, 10_000)]]
    );
    assert_eq!((sums, latencies), ((10_000, 10_000, 9_000), 10_000));
}

#[test]
fn a_path_that_stays_full_delays_the_other_by_no_more_than_its_patience() {
    let plan = plan(2);
    let lanes = [Lane(0), Lane(1)];
    let mut flow = MultipathFlow::new(&plan, SessionKey::from(Token([7; 16])), FlowId(0), lanes);
    let mut shared = MultipathShared::new(&plan);
    flow.event(&mut shared, Event::Start, Tick::ZERO);
    for lane in lanes {
        flow.event(&mut shared, Event::LaneUp(lane), Tick::ZERO);
    }
    // As the engine has it: lane 0 takes nothing, is tried once, and then not asked any more.
    let (mut now, mut was_tried, mut sent) = (Tick::ZERO, false, 0);
    let end = Tick::from_nanos(1_000 * MS);
    let mut room = vec![0; plan.datagram_bytes.0 as usize];
    while now < end {
        let want = flow.want(&mut shared, now);
        let wants_other = want.send != SendWant::Nothing && want.send_lane == Lane(1);
        if wants_other || want.send != SendWant::Nothing && !was_tried {
            let mut batch = Batch::new(&mut room, plan.datagram_bytes.0 as usize, 1);
            flow.fill(&mut shared, want.send_lane, &mut batch, now);
            was_tried = true;
        }
        if wants_other {
            flow.sent(&mut shared, Lane(1), 1, now);
            sent += 1;
        } else {
            now = want.wake.expect("it never waits for a full path alone");
        }
    }
    let due = (0..10_000).filter(|&number| plan.due_ns(number) < end.as_nanos() - 20 * MS).count();
    assert!(sent >= due, "{sent} of {due}");
}

#[test]
fn a_path_that_was_named_and_never_came_up_is_one_outage_from_the_first_number_to_the_last() {
    let names = ["eth0", "wlan0"].map(str::to_owned);
    for paths in [names.to_vec(), Vec::new()] {
        let plan = MultipathPlan { paths, ..plan(2) };
        let mut sim = without_paths(&plan, &[5, 5], [Lane(0)].into_iter());
        tell(&mut sim, 0, Event::LaneUp(Lane(0)));
        sim.run(LATE);
        let report = sim.client_shared().report_all();
        let [first, second] = &report.paths[..] else { panic!("two paths: {report:?}") };
        assert_eq!((first.received, first.gaps.outages), (10_000, 0));
        let gaps = &second.gaps;
        // One that nobody named is none until it is used.
        let (outages, most) = if plan.paths.is_empty() { (0, 0) } else { (1, 10_000) };
        assert_eq!((second.sent, gaps.outages, gaps.most_in_a_row), (0, outages, most));
        assert_eq!(gaps.outage_ns, outages * 10_000 * MS);
    }
}
