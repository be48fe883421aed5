//! Replays beside the tests that left the stamps.

use std::sync::{Arc, Mutex};

use pathscope_core::id::Role;
use pathscope_core::presentation::Value;
use pathscope_flow::Event;
use pathscope_flow::sim::{Fate, Passing};

use super::*;
use crate::multipath::tests::{LATE, MS, Multipath, plan, sim, tell};
use crate::multipath::{MultipathSample, Policy};
use crate::samples::{SampleBuffer, SampleSink};

/// Keeps all of them.
struct Kept(Arc<Mutex<Vec<MultipathSample>>>);

impl SampleSink<MultipathSample> for Kept {
    fn exchange(&mut self, full: &mut Vec<MultipathSample>) -> Option<Vec<MultipathSample>> {
        self.0.lock().expect("one thread").append(full);
        Some(std::mem::take(full))
    }

    fn dropped(&mut self, samples: u64) {
        panic!("{samples} dropped");
    }
}

fn names(paths: usize) -> Vec<String> {
    (0..paths).map(|path| format!("path {path}")).collect()
}

/// What a test said itself, and what its samples say.
fn both(mut simulated: Multipath, paths: usize) -> (MultipathReport, Replay) {
    let samples = Arc::new(Mutex::new(Vec::new()));
    let kept = Box::new(Kept(Arc::clone(&samples)));
    simulated.client_shared().samples = Some(SampleBuffer::new(kept));
    simulated.run(LATE);
    let report = simulated.client_shared().report_all();
    drop(simulated.client_shared().samples.take());
    let samples = samples.lock().expect("one thread");
    let stamps: Vec<Stamps> = samples.iter().map(|sample| sample.stamps).collect();
    (report, Replay::of(&names(paths), &stamps))
}

/// Whatever stamps tell.
fn told(report: &MultipathReport) -> MultipathReport {
    let mut report = MultipathReport { send_lag: None, sending_ns: 0, ..report.clone() };
    report.paths.iter_mut().for_each(|path| path.facts.interface.clear());
    report
}

#[test]
fn the_stamps_of_a_test_say_what_it_said_itself() {
    let plan = plan(3);
    // No answer comes in the very tick in which a group leaves: which of the two was first no stamp tells.
    let mut lossy = sim(&plan, &[6, 4, 19]);
    lossy.datagrams(|passing: &mut Passing<'_>| {
        let is_of_client = passing.from == Role::Client;
        match (is_of_client, passing.lane, passing.position) {
            (true, Lane(0), 2_000..4_000) => Fate::Lose,
            (true, Lane(1), number) if number % 4 == 0 => Fate::Lose,
            (false, Lane(2), number) if number % 9 == 0 => Fate::Lose,
            (false, Lane(0), number) if number % 50 == 0 => Fate::Delay { by_ns: 15 * MS },
            _ => Fate::Deliver,
        }
    });
    tell(&mut lossy, 6_000, Event::LaneDown(Lane(1)));
    tell(&mut lossy, 8_000, Event::LaneUp(Lane(1)));
    let (report, replay) = both(lossy, 3);
    assert_eq!(told(&replay.report), told(&report));
    let fail_over = replay.summary.policies.iter().find(|it| it.policy == Policy::FailOver);
    assert!(fail_over.is_some_and(|it| it.lost > 0), "{fail_over:?}");
    assert!(replay.report.paths[0].gaps.outages == 1 && report.prevented > 0, "{report:?}");
}

#[test]
fn the_time_between_groups_is_found_whatever_their_size() {
    let at = |nanoseconds: u64| Tick::from_nanos(nanoseconds);
    let groups: Vec<Tick> =
        (0..3_000).map(|number| at(number / 30 * 46_875_000 + number % 30 * 20_000)).collect();
    assert_eq!(interval_ns(&groups), 46_875_000 - 29 * 20_000);
    let evenly: Vec<Tick> = (0..1_000).map(|number| at(number * 1_000_000)).collect();
    assert_eq!(interval_ns(&evenly), 1_000_000);
    assert_eq!((interval_ns(&[]), interval_ns(&evenly[..1])), (0, 0));
}

#[test]
fn series_have_a_median_a_second_and_a_gap_where_nothing_came() {
    let second = |at: u64| Tick::from_nanos(at * 1_000_000_000);
    let stamps =
        |at: Tick| Stamps { sent: at, echoed: Tick::NEVER, received: at.plus_nanos(5 * MS) };
    // Of these two seconds one is a minute after the other.
    let all: Vec<Stamps> = [100, 160]
        .into_iter()
        .flat_map(|at| (0..40).map(move |number| second(at).plus_nanos(number * MS)))
        .map(stamps)
        .collect();
    let replay = Replay::of(&names(1), &all);
    let series = &replay.section().series[0];
    assert_eq!(series.source.id, "multipath.effective.p50");
    let starts: Vec<_> =
        series.points.iter().map(|it| (it.start_ns / 1_000_000_000, it.value.is_some())).collect();
    assert_eq!(starts, [(0, true), (1, false), (60, true)]);
    // A file may say anything: years between two rows make no million points.
    let far = [stamps(second(1)), stamps(second(300_000_000))];
    assert!(Replay::of(&names(1), &far).series.is_empty());
}

#[test]
fn columns_that_stamps_do_not_tell_are_left_out() {
    let stamps = Stamps { sent: Tick::ZERO, echoed: Tick::NEVER, received: Tick::NEVER };
    let section = Replay::of(&names(2), &[stamps; 4]).section();
    for table in &section.tables {
        assert!(table.rows.iter().all(|row| row.cells.len() == table.columns.len()));
        assert!(table.columns.iter().all(|column| !UNKNOWN.contains(&column.id.as_str())));
    }
    let lost = section.figures.iter().find(|figure| figure.id == "multipath.lost");
    assert_eq!(lost.map(|figure| &figure.value), Some(&Value::Count(2)));
    assert!(section.figures.iter().all(|figure| figure.id != "multipath.rate"));
}
