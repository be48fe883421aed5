//! How often a difference is told of where there is none, and where there is one: runs of known kinds, drawn from a
//! fixed seed. The tables of docs/method/compare.md are of this, and held to it.

use std::fmt;

use pathscope_core::stats::{Difference, Order, Telling};

const PAGE: &str = include_str!("../../../docs/method/compare.md");
/// Comparisons of each kind.
const COMPARISONS: u32 = 500;

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
}

impl fmt::Display for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Independent => "independent",
            Self::Skewed => "independent, skewed",
            Self::Alike => "each like the one before (0.8)",
            Self::Walk => "a random walk",
            Self::Drift => "a steady drift",
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
                Kind::Independent => own,
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
            // Far from zero, so that 1 % of the median is far above it only where it is meant to be.
            1_000.0 + 10.0 * off
        };
        (0..number).map(run).collect()
    }
}

/// The share of comparisons of which a difference is told, by ranks alone and by all that is asked of one; of `runs` runs a side, the
/// second moved by so many deviations.
fn told(kind: Kind, order: Order, runs: usize, moved: f64) -> (f64, f64) {
    let mut draw = Draw(17);
    let (mut by_ranks, mut by_all) = (0, 0);
    for _ in 0..COMPARISONS {
        let all = draw.runs(kind, 2 * runs);
        let every_other = |from: usize| all.iter().skip(from).step_by(2).copied().collect();
        let (first, second): (Vec<f64>, Vec<f64>) = match order {
            Order::Turns => (every_other(0), every_other(1)),
            Order::Blocks => (all[..runs].to_vec(), all[runs..].to_vec()),
        };
        let second: Vec<f64> = second.iter().map(|value| value + 10.0 * moved).collect();
        let difference = Difference::between(&first, &second, 0.0, order).expect("numbers");
        by_ranks += u32::from(difference.p <= 0.05);
        by_all += u32::from(difference.telling(difference.p) == Telling::Shown);
    }
    let share = |told: u32| f64::from(told) / f64::from(COMPARISONS);
    (share(by_ranks), share(by_all))
}

/// Shares of several numbers of runs, as the page has them.
fn percentages(shares: &[f64]) -> String {
    let words: Vec<String> = shares.iter().map(|share| format!("{:.1}", 100.0 * share)).collect();
    format!("{} %", words.join(", "))
}

#[test]
fn told_where_nothing_differs() {
    for kind in [Kind::Independent, Kind::Skewed, Kind::Alike, Kind::Walk, Kind::Drift] {
        for order in [Order::Turns, Order::Blocks] {
            let found = [5, 8, 15].map(|runs| told(kind, order, runs, 0.0));
            let drifts = !matches!(kind, Kind::Independent | Kind::Skewed);
            let most = if drifts && order == Order::Blocks { 0.35 } else { 0.03 };
            for (by_ranks, by_all) in found {
                assert!(by_all <= most, "{kind}, {order:?}: {by_all}");
                // What the floor is there for.
                assert!(by_all <= by_ranks, "{kind}, {order:?}");
            }
            let [by_ranks, by_all] = [found.map(|it| it.0), found.map(|it| it.1)];
            let row = format!("| {} | {} |", percentages(&by_ranks), percentages(&by_all));
            assert!(PAGE.contains(&row), "the page has no row of {kind}, {order:?}: {row}");
        }
    }
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
