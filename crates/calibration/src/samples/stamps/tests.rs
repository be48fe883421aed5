//! Files made by hand, and the figures that follow from them on paper.

use super::{Schedule, Stamps, Together};
use crate::samples::{Durations, Samples};

/// The head of two paths, as the guide has it.
pub(super) const HEAD: &str = "Sequence number, Primary Send timestamp (microsec), \
    Primary Echo timestamp (microsec), Primary Receive timestamp (microsec), \
    Secondary Send timestamp (microsec), Secondary Echo timestamp (microsec), \
    Secondary Receive timestamp (microsec)\n";

/// A millisecond from each number to the next.
pub(super) const SCHEDULE: Schedule = Schedule {
    bytes: 200,
    rate_bps: 1_600_000,
    grouping: 1,
    duration_ns: 1_000_000_000,
    late_by_ns: 50_000_000,
    named: 2,
};

/// A file of these rows.
pub(super) fn stamps(rows: &str) -> Stamps {
    Stamps::read(&format!("{HEAD}{rows}")).expect("a file of stamps")
}

/// Answered on both; on the second alone; on none; sent on none; overtaken on the first; on the first alone, in the order of
/// their receipt.
const ROWS: &str = "3, -1, -1, -1, -1, -1, -1\n\
    0, 10, 5, 4010, 20, 6, 6020\n\
    1, 1010, -1, -1, 1015, 7, 7015\n\
    2, 2010, -1, -1, 2015, -1, -1\n\
    5, 5030, 9, 9030, 5010, -1, -1\n\
    4, 4010, 8, 10010, 4020, 9, 9020\n";

fn micros(durations: &[f64]) -> Durations {
    Durations::new(durations.iter().map(|it| it * 1_000.0).collect())
}

#[test]
fn numbers_are_counted_by_their_definitions() {
    let stamps = stamps(ROWS);
    assert_eq!((stamps.scheduled(), stamps.sent(), stamps.without_path()), (6.0, 5.0, 1.0));
    assert_eq!((stamps.received(), stamps.lost(), stamps.prevented()), (4.0, 1.0, 1.0));
    // The second path was first with 1 and 4.
    assert_eq!(stamps.first_elsewhere(), Some(2.0));
}

#[test]
fn latencies_are_from_the_first_sending_to_the_first_answer() {
    let stamps = stamps(ROWS);
    assert_eq!(stamps.effective(), micros(&[4_000.0, 6_005.0, 5_010.0, 4_020.0]));
    assert_eq!(stamps.paired(), micros(&[4_000.0, 5_010.0, 4_020.0]));
    assert_eq!(stamps.path_latency(0), Some(micros(&[4_000.0, 6_000.0, 4_000.0])));
    assert_eq!(stamps.path_latency(1), Some(micros(&[6_000.0, 6_000.0, 5_000.0])));
    assert_eq!(stamps.path_latency(2), None);
    // 14,000 µs for the primary, 13,030 for the first.
    assert_eq!(stamps.waiting(), (970_000.0, 14_000_000.0));
    assert_eq!(stamps.lags(&SCHEDULE), Some(micros(&[10.0, 10.0, 10.0, 10.0, 10.0])));
}

#[test]
fn paths_are_counted_by_their_definitions() {
    let stamps = stamps(ROWS);
    let of = |path| {
        [
            stamps.path_sent(path),
            stamps.path_unsent(path),
            stamps.path_received(path),
            stamps.path_lost(path),
            stamps.path_first(path),
            stamps.path_only(path),
        ]
    };
    assert_eq!(of(0), [5.0, 1.0, 3.0, 2.0, 2.0, 1.0].map(Some));
    assert_eq!(of(1), [5.0, 1.0, 3.0, 2.0, 2.0, 1.0].map(Some));
    assert_eq!(of(2), [None; 6]);
    assert_eq!(stamps.path_reordered(0), Some((1.0, 1.0)));
    assert_eq!(stamps.path_reordered(1), Some((0.0, 0.0)));
    assert_eq!(stamps.path_reordered(2), None);
}

#[test]
fn losses_of_two_paths_go_together_as_the_textbook_says() {
    let stamps = stamps(ROWS);
    let together = Together { both: 1.0, one: 1.0, other: 1.0, neither: 2.0 };
    assert_eq!(stamps.together(0, 1), Some(together));
    assert_eq!(stamps.together(0, 2), None);
    // Two of five on either path: 2 · 2 ÷ 5, and (1 · 2 − 1 · 1) ÷ √(2 · 3 · 2 · 3).
    let near = |found: Option<f64>, truth: f64| found.is_some_and(|it| (it - truth).abs() < 1e-12);
    assert!(near(together.expected(), 0.8));
    assert!(near(together.correlation(), 1.0 / 6.0));
    let never = Together { one: 0.0, both: 0.0, ..together };
    assert_eq!((never.correlation(), Together::default().expected()), (None, None));
    assert_eq!(never.expected(), Some(0.0));
}

#[test]
fn what_hangs_on_less_than_a_microsecond_is_absent() {
    let tied = stamps("0, 0, 1, 40, 1, 1, 40\n1, 2, 1, 40, 3, 1, 44\n");
    assert_eq!(
        (tied.path_first(0), tied.path_first(1), tied.first_elsewhere()),
        (None, None, None)
    );
    assert_eq!(tied.path_reordered(0), Some((0.0, 1.0)));
    assert_eq!(tied.effective(), micros(&[40.0, 38.0]));
}

#[test]
fn the_order_of_rows_is_of_no_matter() {
    let mut rows: Vec<&str> = ROWS.lines().collect();
    let sorted = stamps(ROWS);
    rows.reverse();
    assert_eq!(stamps(&rows.join("\n")), sorted);
    rows.sort_unstable();
    assert_eq!(stamps(&rows.join("\n")), sorted);
}

#[test]
fn one_path_has_a_file_too() {
    let (head, _) = HEAD.split_once(", Secondary").expect("two paths");
    let stamps = Stamps::read(&format!("{head}\n0, 3, 1, 9\n")).expect("a file");
    assert_eq!((stamps.first_elsewhere(), stamps.path_only(0)), (Some(0.0), Some(1.0)));
    assert_eq!(stamps.policy("duplicate_late", &SCHEDULE).map(|had| had.sent), Some(Some(1.0)));
}

#[test]
fn what_is_no_file_of_stamps_is_none() {
    for text in ["", "\n", "Sequence number\n", "a, b, c, d\n0, 1, 2, 3\n", "flow,ping\n0,1\n"] {
        assert_eq!(Stamps::read(text), None, "{text}");
    }
    let swapped = HEAD.replace("Primary Send", "Primary Receive");
    assert_eq!(Stamps::read(&swapped), None);
    for rows in [
        "0, 1, 2, 3\n",
        "0, 1, 2, 3, 4, 5\n",
        "0, 1, 2, 3, 4, 5, 6, 7\n",
        "0, 1, 2, 3, 4, 5, 6, 7, 8, 9\n",
        "0, 1, 2, 3, 4, 5, x\n",
        "0, 1, 2, 3, 4, 5, -2\n",
        "0, 1, 2, 3, 4, 5, 6.5\n",
        "0, 1, 2, 3, 4, 5, nan\n",
        "-1, 1, 2, 3, 4, 5, 6\n",
        "0, 1, 2, 3, 4, 5, 18446744073709551616\n",
        "18446744073709551616, 1, 2, 3, 4, 5, 6\n",
        "0, -1, 2, 3, 4, 5, 6\n",
        "0, 1, -1, 3, 4, 5, 6\n",
        "0, 1, 2, -1, 4, 5, 6\n",
        "0, 1, 2, 3, 4, 5, 6\n\n",
        "0, 1, 2, 3, 4, 5, 6\n0, 1, 2, 3, 4, 5, 6\n",
    ] {
        assert_eq!(Stamps::read(&format!("{HEAD}{rows}")), None, "{rows}");
    }
    assert_eq!(Stamps::read(HEAD).map(|it| it.scheduled()), Some(0.0));
    assert!(matches!(Samples::read(HEAD), Some(Samples::Stamps(_))));
}

#[test]
fn huge_numbers_are_numbers() {
    let most = u64::MAX;
    let stamps = stamps(&format!("{most}, {most}, 1, {most}, 0, {most}, 7\n"));
    assert_eq!((stamps.scheduled(), stamps.received()), (1.0, 1.0));
    assert_eq!(stamps.sending(&SCHEDULE, 0.0), None);
    let hasty = Schedule { bytes: most, ..SCHEDULE };
    assert_eq!((stamps.lags(&hasty), stamps.gaps(&hasty, None, 0.0)), (None, None));
    // Answered before it was sent, which no honest file says: no duration is made up for it.
    let back = Stamps::read(&format!("{HEAD}0, 9, 1, 4, -1, -1, -1\n")).map(|it| it.effective());
    assert_eq!(back, Some(micros(&[-5.0])));
    let empty = Stamps::read(HEAD).expect("a head");
    assert_eq!(empty.effective().statistic("p50"), None);
    assert_eq!((empty.sending(&SCHEDULE, 0.0), empty.waiting()), (None, (0.0, 0.0)));
    assert_eq!(empty.policy("fail_over", &SCHEDULE), None);
}

#[test]
fn stretching_changes_every_figure() {
    let before = stamps(ROWS);
    let mut after = before.clone();
    after.stretch(1.1);
    for path in [0, 1] {
        for of in [
            Stamps::path_sent,
            Stamps::path_unsent,
            Stamps::path_received,
            Stamps::path_lost,
            Stamps::path_only,
        ] {
            assert!(of(&after, path) > of(&before, path));
        }
        assert!(after.path_reordered(path) > before.path_reordered(path));
        let least = |stamps: &Stamps| stamps.gaps(&SCHEDULE, Some(path), 0.0)?.longest();
        assert!(least(&after) > least(&before));
    }
    assert!(after.lost() > before.lost() && after.prevented() > before.prevented());
    assert!(after.without_path() > before.without_path());
    assert!(after.effective().statistic("max") > before.effective().statistic("max"));
    Stamps::default().stretch(2.0);
}
