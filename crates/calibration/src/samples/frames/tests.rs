//! Single frames: rows made by hand, with figures worked out by hand.

use std::collections::BTreeMap;

use super::{Ended, Frames, Losses};
use crate::samples::{Durations, Samples};

const HEAD: &str = "SequenceNumber,SenderQpc,SenderQpf,ReceiverQpc,ReceiverQpf,\
    RelativeInFlightTimeMs,PrevToCurrentInFlightTimeJitter,\
    Outcome,MissingDatagrams,RepeatedDatagrams,MarginMs,Stream\n";
const QPF: u64 = 1_000_000_000;

/// The file of these rows.
fn file(rows: &[String]) -> String {
    format!("{HEAD}{}", rows.concat())
}

/// A frame that was played.
fn played(number: u64, (sent, received): (u64, u64), margin: &str, stream: u64) -> String {
    format!("{number},{sent},{QPF},{received},{QPF},0.000,0.000,completed,0,0,{margin},{stream}\n")
}

/// One that was not.
fn other(number: u64, word: &str, missing: u64, margin: &str, stream: u64) -> String {
    format!("{number},0,0,0,0,0.000,0.000,{word},{missing},0,{margin},{stream}\n")
}

fn read(rows: &[String]) -> Frames {
    Frames::read(&file(rows)).expect("frames")
}

/// Four frames of one datagram at 100 a second, the third of which was lost; they took 5,000, 5,300 and 4,900 ns.
fn four() -> [String; 4] {
    [
        played(1, (1_000, 6_000), "1000.000", 0),
        played(2, (10_001_200, 10_006_500), "999.999", 0),
        other(3, "dropped", 1, "", 0),
        played(4, (30_001_100, 30_006_000), "1000.000", 0),
    ]
}

fn durations(values: &[f64]) -> Durations {
    Durations::new(values.to_vec())
}

#[test]
fn the_order_of_rows_is_that_of_frames_whatever_theirs_is() {
    let [first, second, third, fourth] = four();
    let mixed = read(&[third.clone(), first.clone(), fourth.clone(), second.clone()]);
    assert_eq!(mixed, read(&[first, second, third, fourth]));
    assert_eq!(mixed.changes(), durations(&[300.0, 400.0]));
}

#[test]
fn times_follow_from_stamps() {
    let frames = read(&four());
    // 6,000, 6,500 and 6,000 ns after each was due, and 1,000, 1,200 and 1,100 ns.
    assert_eq!(frames.delays(100), Some(vec![durations(&[0.0, 0.0, 500.0])]));
    assert_eq!(frames.needed_depth_by_stamps_ns(100), Some(500.0));
    assert_eq!(frames.needed_depth_ns(1e9), Some(1_000.0));
    // It is not known when the lost one left.
    assert_eq!(frames.lags(100), None);
    let [first, second, ..] = four();
    assert_eq!(read(&[first, second]).lags(100), Some(durations(&[0.0, 200.0])));
    assert_eq!(frames.longest_freeze_ns(100), Some(1e7));
    assert_eq!(
        (frames.number(), frames.came(1), frames.played_share()),
        (4.0, Some(3.0), Some(0.75))
    );
    assert_eq!(frames.delays(0), None);
}

#[test]
fn jitter_is_that_of_its_formula_and_no_neighbours_are_taken_across_a_loss() {
    let variation = read(&four()).variation().expect("three arrivals");
    // 300 / 16 = 18.75, and 18.75 + (400 − 18.75) / 16.
    assert_eq!((Some(variation.max_ns), variation.last_ns), (Some(42.578_125), Some(42.578_125)));
    assert_eq!(Some(variation.mean_ns), Some(30.664_062_5));
    assert_eq!(variation.neighbours, durations(&[300.0]));
    let late =
        [four(), [other(5, "late", 0, "-3.000", 0), String::new(), String::new(), String::new()]];
    assert_eq!(read(&late.concat()).variation(), None);
    assert_eq!(read(&four()[..1]).variation(), None);
}

#[test]
fn streams_are_apart() {
    let rows = [
        played(1, (100, 1_100), "20.000", 7),
        played(1, (500, 700), "20.000", 3),
        played(2, (10_000_100, 10_001_000), "20.000", 7),
        played(2, (10_000_500, 10_001_000), "20.000", 3),
    ];
    let frames = read(&rows);
    assert_eq!(frames.changes(), durations(&[100.0, 300.0]));
    let delays = frames.delays(100).expect("stamps");
    assert_eq!(delays, [durations(&[0.0, 300.0]), durations(&[0.0, 100.0])]);
    assert_eq!((frames.lags(100), frames.needed_depth_by_stamps_ns(100)), (None, Some(300.0)));
    let variation = frames.variation().expect("two each");
    assert_eq!((variation.last_ns, Some(variation.max_ns)), (None, Some(18.75)));
}

#[test]
fn how_a_frame_ended_is_told_by_its_times() {
    let again = "9,5,1,6,1,0.000,0.000,completed,0,2,4.000,0\n".to_owned();
    let rows = [
        // The word is wrong in the first two.
        other(1, "completed", 0, "-0.001", 0),
        other(2, "late", 0, "12.000", 0),
        other(3, "late", 0, "0.000", 0),
        other(4, "dropped", 3, "", 0),
        other(5, "erroneous", 0, "-7.000", 0),
        other(6, "erroneous", 2, "", 0),
        other(7, "cut", 1, "", 0),
        other(8, "completed", 1, "", 0),
        again,
    ];
    let frames = read(&rows);
    let counts = [
        (Ended::Completed, 1.0),
        (Ended::Repeated, 1.0),
        (Ended::Late, 2.0),
        (Ended::Dropped, 2.0),
        (Ended::Erroneous, 2.0),
        (Ended::Cut, 1.0),
    ];
    for (ended, count) in counts {
        assert_eq!(Some(frames.count(ended)), Some(count), "{ended:?}");
    }
    assert_eq!((frames.played_share(), frames.repeats()), (Some(0.25), 2.0));
    // 3 to 6, and one that was cut between them and the next would not count.
    assert_eq!(frames.longest_freeze_ns(1_000), Some(5e6));
    assert_eq!(frames.needed_depth_ns(1e7), Some(1.7e7));
    assert!(frames.are_early_by(-7e6) && !frames.are_early_by(-6.9e6));
}

#[test]
fn losses_are_bounded_by_what_is_missing_of_each_frame() {
    let missing = [1, 0, 5, 5, 2, 0, 3, 0, 5];
    let rows: Vec<String> =
        (1..).zip(missing).map(|(number, it)| other(number, "dropped", it, "", 4)).collect();
    let frames = read(&rows);
    // The last one was never sent.
    let sent = BTreeMap::from([(4, 8)]);
    let expected = Losses { lost: 16.0, runs: (3.0, 7.0), longest: (10.0, 12.0) };
    assert_eq!(frames.losses(5, &sent), Some(expected));
    assert_eq!((frames.never_sent(&sent), frames.came(5)), (Some(1.0), Some(24.0)));
    assert_eq!((frames.losses(4, &sent), frames.came(4)), (None, None));
    assert_eq!(frames.never_sent(&BTreeMap::new()), None);
    // Of one datagram a frame all is known.
    let one = [1, 1, 0, 1];
    let rows: Vec<String> =
        (1..).zip(one).map(|(number, it)| other(number, "dropped", it, "", 4)).collect();
    let expected = Losses { lost: 3.0, runs: (2.0, 2.0), longest: (2.0, 2.0) };
    assert_eq!(read(&rows).losses(1, &sent), Some(expected));
}

#[test]
fn what_is_stretched_tells_of_more_and_of_longer_ones() {
    let mut frames = read(&four());
    frames.stretch(2.0);
    let changes = frames.changes();
    let of = |name: &str| changes.statistic(name);
    assert_eq!((of("count"), of("min"), of("max")), (Some(3.0), Some(600.0), Some(800.0)));
    assert_eq!(frames.needed_depth_by_stamps_ns(100), Some(1_000.0));
    assert_eq!(frames.needed_depth_ns(1e9), Some(5_000.0));
    assert_eq!(frames.longest_freeze_ns(100), Some(2e7));
    assert_eq!((frames.number(), frames.count(Ended::Late)), (5.0, 1.0));
    let lost = frames.losses(1, &BTreeMap::from([(0, 4)])).map(|losses| losses.lost);
    assert_eq!((lost, frames.came(1)), (Some(2.0), Some(4.0)));
    assert_eq!(frames.variation().and_then(|it| it.last_ns), Some(85.156_25));
}

#[test]
fn what_is_no_file_of_frames_is_none() {
    let row = played(1, (1, 2), "3.000", 0);
    assert!(matches!(Samples::read(&file(std::slice::from_ref(&row))), Some(Samples::Frames(_))));
    assert_eq!(Frames::read(""), None);
    assert_eq!(Frames::read("a,b\n1,2\n"), None);
    assert_eq!(Frames::read(&file(&[])), Some(Frames::default()));
    let truncated = row.rsplit_once(',').map(|(most, _)| format!("{most}\n"));
    let wrong = [
        truncated.unwrap_or_default(),
        row.replacen('1', "0", 1),
        row.replacen('1', "99999999999999999999", 1),
        row.replace("3.000", "3"),
        row.replace("3.000", "NaN"),
        row.replace("3.000", "99999999999999999.000"),
        row.replace("completed", "fine"),
    ];
    for row in wrong {
        assert_eq!(Frames::read(&file(std::slice::from_ref(&row))), None, "{row}");
    }
}

#[test]
fn the_largest_numbers_do_no_harm() {
    let most = u64::MAX;
    let rows = [
        played(most, (most, 0), "0.000", most),
        played(most, (0, most), "9999999999999.999", most),
        other(most, "dropped", most, "", 0),
        other(most - 1, "dropped", most, "", 0),
    ];
    let frames = read(&rows);
    assert!(frames.delays(1).is_some() && frames.longest_freeze_ns(1).is_some());
    assert!(frames.needed_depth_by_stamps_ns(1).is_some() && frames.variation().is_some());
    assert_eq!((frames.came(1), frames.lags(1)), (None, None));
    let sent = BTreeMap::from([(0, most), (most, most)]);
    assert_eq!(frames.losses(most, &sent), None);
    assert_eq!(frames.changes().statistic("count"), Some(1.0));
}
