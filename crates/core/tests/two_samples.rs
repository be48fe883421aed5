//! How often a difference is told of where there is none, and where there is one: runs of known kinds, drawn from a
//! fixed seed. The tables of docs/method/compare.md are of this, and held to it.

use std::fmt;

use pathscope_core::stats::{Bound, Difference, Order, Telling};

const PAGE: &str = include_str!("../../../docs/method/compare.md");
/// Comparisons of each kind.
const COMPARISONS: u32 = 500;
/// The same of conditions, whose promise is one in twenty exactly.
const CONDITIONS: u32 = 2_000;

/// How runs of a machine on which nothing is changed follow one another.
#[derive(Clone, Copy, Debug)]
enum Kind {
    /// Each by itself, normally distributed.
    Independent,
    /// Each by itself, and skewed: one in a while is far off.
    Skewed,
    /// Each like the one before, more or less: autocorrelation 0.8.
    Alike,
    /// Each the one before and a step of its own.
    Walk,
    /// Further off each time, besides what each has of its own.
    Drift,
    /// Each by itself, and many times as much or as little as another: logarithms of deviation 1.
    Factors,
}

impl fmt::Display for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Independent => "independent",
            Self::Skewed => "independent, skewed",
            Self::Alike => "each like the one before (0.8)",
            Self::Walk => "a random walk",
            Self::Drift => "a steady drift",
            Self::Factors => "independent, many times as much or as little",
        })
    }
}

/// Numbers without a pattern: `SplitMix64`.
struct Draw(u64);

impl Draw {
    fn share(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut it = self.0;
        it = (it ^ (it >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        it = (it ^ (it >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((it ^ (it >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Box and Muller.
    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.share()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.share()).cos()
    }

    fn runs(&mut self, kind: Kind, number: usize) -> Vec<f64> {
        let mut last = self.normal();
        let run = |at: usize| {
            let own = self.normal();
            let off = match kind {
                Kind::Independent | Kind::Factors => own,
                Kind::Skewed => -(1.0 - self.share()).ln(),
                Kind::Alike => {
                    last = 0.8 * last + 0.6 * own;
                    last
                }
                Kind::Walk => {
                    last += own;
                    last
                }
                Kind::Drift => own + 0.3 * at as f64,
            };
            match kind {
                Kind::Factors => 1_000.0 * off.exp(),
                // Far from zero, so that 1 % of the median is far above it only where it is meant to be.
                _ => 1_000.0 + 10.0 * off,
            }
        };
        (0..number).map(run).collect()
    }
}

/// What is done with each comparison, and the runs of both sides.
type Each<'each> = &'each mut dyn FnMut(&Difference, &[f64], &[f64]);

/// What two sides in this order come to, of `runs` runs each and the second moved by so many deviations; and so many times again.
fn compared((kind, order): (Kind, Order), runs: usize, moved: f64, times: u32, each: Each<'_>) {
    let mut draw = Draw(17);
    for _ in 0..times {
        let all = draw.runs(kind, 2 * runs);
        let every_other = |from: usize| all.iter().skip(from).step_by(2).copied().collect();
        let (first, second): (Vec<f64>, Vec<f64>) = match order {
            Order::Turns => (every_other(0), every_other(1)),
            Order::Blocks => (all[..runs].to_vec(), all[runs..].to_vec()),
        };
        let second: Vec<f64> = second.iter().map(|value| value + 10.0 * moved).collect();
        let difference = Difference::between(&first, &second, 0.0, order).expect("numbers");
        each(&difference, &first, &second);
    }
}

/// The share of comparisons of which a difference is told, by ranks alone and by all that is asked of one; of `runs` runs a side, the
/// second moved by so many deviations.
fn told(kind: Kind, order: Order, runs: usize, moved: f64) -> (f64, f64) {
    let (mut by_ranks, mut by_all) = (0, 0);
    compared((kind, order), runs, moved, COMPARISONS, &mut |difference, _, _| {
        by_ranks += u32::from(difference.p <= 0.05);
        by_all += u32::from(difference.telling(difference.p) == Telling::Shown);
    });
    let share = |told: u32| f64::from(told) / f64::from(COMPARISONS);
    (share(by_ranks), share(by_all))
}

/// The share of comparisons that fail a condition by which the second must not move further than `most` deviations either way: where a
/// difference is told and beyond it, as it was judged once, and where the ranks alone show that it is, too.
fn failed(kind: (Kind, Order), runs: usize, moved: f64, most: f64) -> (f64, f64) {
    let (mut by_floor, mut by_both) = (0, 0);
    compared(kind, runs, moved, CONDITIONS, &mut |difference, first, second| {
        let most = 10.0 * most;
        let is_beyond = difference.shift.abs() > most;
        let bound = Bound::Amount(most);
        let beyond = difference.p_beyond(first, second, bound);
        let fails = |telling: Telling| u32::from(is_beyond && telling == Telling::Shown);
        by_floor += fails(difference.telling_of(difference.p, bound));
        by_both += fails(difference.telling_beyond(difference.p, bound, beyond, kind.1));
    });
    let share = |failed: u32| f64::from(failed) / f64::from(CONDITIONS);
    (share(by_floor), share(by_both))
}

/// Shares of several numbers of runs, as the page has them.
fn percentages(shares: &[f64]) -> String {
    let words: Vec<String> = shares.iter().map(|share| format!("{:.1}", 100.0 * share)).collect();
    format!("{} %", words.join(", "))
}

#[test]
fn told_where_nothing_differs() {
    let mut rows = Vec::new();
    let kinds = [Kind::Independent, Kind::Skewed, Kind::Factors];
    for kind in kinds.into_iter().chain([Kind::Alike, Kind::Walk, Kind::Drift]) {
        for order in [Order::Turns, Order::Blocks] {
            let found = [5, 8, 15].map(|runs| told(kind, order, runs, 0.0));
            let drifts = matches!(kind, Kind::Alike | Kind::Walk | Kind::Drift);
            let most = match kind {
                _ if drifts && order == Order::Blocks => 0.35,
                // 1 % of these is nothing beside what they differ by.
                Kind::Factors => 0.05,
                _ => 0.03,
            };
            for (by_ranks, by_all) in found {
                assert!(by_all <= most, "{kind}, {order:?}: {by_all}");
                // What the floor is there for.
                assert!(by_all <= by_ranks, "{kind}, {order:?}");
            }
            let [by_ranks, by_all] = [found.map(|it| it.0), found.map(|it| it.1)];
            rows.push(format!("| {} | {} |", percentages(&by_ranks), percentages(&by_all)));
        }
    }
    on_the_page(&rows);
}

#[test]
fn told_where_something_differs() {
    for (runs, moved, least) in [(5, 3.0, 0.9), (5, 5.0, 0.99), (8, 2.0, 0.8), (15, 2.0, 0.95)] {
        let (_, told) = told(Kind::Independent, Order::Turns, runs, moved);
        assert!(told >= least, "{runs} runs, {moved} deviations: {told}");
        let row = format!("| {runs} | {moved} | {:.0} % |", 100.0 * told);
        assert!(PAGE.contains(&row), "the page has no row {row}");
    }
}

/// Of sides that take turns a condition fails one time in twenty at most where nothing moved, however little it lets a figure move. In blocks it
/// fails as often as a difference is told.
#[test]
fn failed_where_nothing_differs() {
    // What one in twenty comes to among so many, by chance.
    let most_failed = 0.05 + 3.0 * (0.05 * 0.95 / f64::from(CONDITIONS)).sqrt();
    let mut rows = Vec::new();
    for kind in [Kind::Independent, Kind::Skewed, Kind::Alike, Kind::Walk, Kind::Drift] {
        for most in [0.0, 0.5] {
            let found = [5, 8, 15].map(|runs| failed((kind, Order::Turns), runs, 0.0, most).1);
            let is_kept = found.iter().all(|share| *share <= most_failed);
            assert!(is_kept, "{kind}, ±{most}: {found:?}");
            rows.push(format!("| ±{most} | {} |", percentages(&found)));
        }
        let (by_floor, by_both) = failed((kind, Order::Blocks), 8, 0.0, 0.5);
        assert!((by_floor - by_both).abs() < 1e-9, "{kind}: the floor holds");
    }
    on_the_page(&rows);
}

/// What the floor hid.
#[test]
fn failed_where_something_differs() {
    let mut rows = Vec::new();
    for (runs, moved) in [(5, 2.0), (8, 1.5), (15, 1.5)] {
        let (by_floor, by_both) = failed((Kind::Skewed, Order::Turns), runs, moved, 0.5);
        assert!(by_both >= by_floor, "{runs} runs, {moved} deviations: {by_both}");
        let [by_floor, by_both] = [by_floor, by_both].map(|share| 100.0 * share);
        rows.push(format!("| {runs} | {moved} | ±0.5 | {by_floor:.0} % | {by_both:.0} % |"));
    }
    on_the_page(&rows);
}

/// Of runs that are so many times as much: how often the interval of the change holds it, how often the ranks show that it is more than that, and
/// how often that it is more than half of it.
#[test]
fn shares_are_those_of_what_it_was() {
    const TRUE: f64 = 0.6;
    let mut rows = Vec::new();
    for kind in [Kind::Independent, Kind::Skewed, Kind::Factors] {
        for runs in [5, 8, 15] {
            let (mut held, mut failed, mut shown) = (0_u32, 0_u32, 0_u32);
            let mut draw = Draw(23);
            for _ in 0..CONDITIONS {
                let first = draw.runs(kind, runs);
                let second: Vec<f64> =
                    draw.runs(kind, runs).into_iter().map(|it| it * (1.0 + TRUE)).collect();
                let it = Difference::between(&first, &second, 0.0, Order::Turns).expect("numbers");
                let ratio = it.ratio.expect("above nothing");
                let (low, high) = ratio.low.zip(ratio.high).expect("enough runs");
                assert!(-1.0 < low && low <= ratio.change && ratio.change <= high, "{ratio:?}");
                held += u32::from((low..=high).contains(&TRUE));
                let is_beyond = |most: f64| {
                    let p = it.p_beyond(&first, &second, Bound::Share(most));
                    u32::from(ratio.change > most && p <= 0.05)
                };
                failed += is_beyond(TRUE);
                shown += is_beyond(TRUE / 2.0);
            }
            let share = |of: u32| f64::from(of) / f64::from(CONDITIONS);
            let by_chance = 3.0 * (0.05 * 0.95 / f64::from(CONDITIONS)).sqrt();
            assert!(share(held) >= 0.95 - by_chance, "{kind}, {runs}: {}", share(held));
            assert!(share(failed) <= 0.05 + by_chance, "{kind}, {runs}: {}", share(failed));
            let [held, failed, shown] = [held, failed, shown].map(|of| 100.0 * share(of));
            rows.push(format!("| {runs} | {held:.1} % | {failed:.1} % | {shown:.0} % |"));
        }
    }
    on_the_page(&rows);
}

fn on_the_page(rows: &[String]) {
    let missing: Vec<&str> =
        rows.iter().map(String::as_str).filter(|row| !PAGE.contains(row)).collect();
    assert!(missing.is_empty(), "the page has no rows\n{}", missing.join("\n"));
}
