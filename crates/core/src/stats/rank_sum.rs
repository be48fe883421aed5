//! The rank sum test: whether two sets of values differ in place, whatever their distribution. Exact for sets that can be counted
//! through, ties included.
//!
//! Sources: Wilcoxon, "Individual comparisons by ranking methods", Biometrics Bulletin 1 (1945); Mann and Whitney, "On a test of
//! whether one of two random variables is stochastically larger than the other", Annals of Mathematical Statistics 18 (1947).
//!
//! Not here: how large the difference is (`two_samples`).

/// Of more values than this, in both sets together, the distribution of the rank sum is taken as normal, which at that size is within a
/// hundredth of the exact probability where it matters, around 0.05.
const EXACT_MOST: usize = 60;

/// The probability that two sets from one distribution differ in their ranks by at least as much as these, either way.
/// 1 where one of them is empty.
pub(super) fn two_sided_p(first: &[f64], second: &[f64]) -> f64 {
    let (n, m) = (first.len(), second.len());
    if n == 0 || m == 0 {
        return 1.0;
    }
    let ranks = doubled_ranks(first, second);
    let seen: u64 = ranks[..n].iter().sum();
    // Twice the rank sum that is expected where nothing differs.
    let expected = (n * (n + m + 1)) as u64;
    let distance = seen.abs_diff(expected);
    if n + m > EXACT_MOST {
        return normal_p(&ranks, n, distance);
    }
    let ways = ways_to_sum(&ranks, n);
    let of_all: f64 = ways.iter().sum();
    let at_least = (0..).zip(&ways).filter(|(sum, _)| expected.abs_diff(*sum) >= distance);
    (at_least.map(|(_, ways)| ways).sum::<f64>() / of_all).min(1.0)
}

/// How many of all pairwise differences, counted from either end, lie outside an interval that holds the true shift with a probability of at
/// least 0.95, and that probability. `None` where the values are too few for such an interval.
///
/// The order statistics of the differences bracket the shift as the distribution of Mann and Whitney's U says: Hollander and Wolfe,
/// "Nonparametric Statistical Methods", 2nd ed., section 4.3.
pub(super) fn differences_outside(n: usize, m: usize) -> Option<(usize, f64)> {
    /// Of both tails together the miss is 0.05.
    const TAIL: f64 = 0.025;
    /// Where the standard normal distribution leaves that much.
    const DEVIATES: f64 = 1.959_963_984_540_054;
    if n == 0 || m == 0 {
        return None;
    }
    if n + m > EXACT_MOST {
        let pairs = (n * m) as f64;
        let deviation = (pairs * (n + m + 1) as f64 / 12.0).sqrt();
        let outside = (pairs / 2.0 - DEVIATES * deviation - 0.5).floor();
        return (outside >= 1.0).then_some((outside as usize, 0.95));
    }
    // Without ties, U is the rank sum less the least that it can be.
    let ranks: Vec<u64> = (1..=(n + m) as u64).collect();
    let ways = ways_to_sum(&ranks, n);
    let of_all: f64 = ways.iter().sum();
    let least = n * (n + 1) / 2;
    let (mut outside, mut missed) = (0, 0.0);
    for ways in &ways[least..] {
        let more = missed + ways / of_all;
        if more > TAIL {
            break;
        }
        (outside, missed) = (outside + 1, more);
    }
    (outside > 0).then_some((outside, 1.0 - 2.0 * missed))
}

/// Twice the rank of each value among all, first set first: equal values share the mean of their ranks, which doubled is whole.
fn doubled_ranks(first: &[f64], second: &[f64]) -> Vec<u64> {
    let values: Vec<f64> = first.iter().chain(second).copied().collect();
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&one, &other| values[one].total_cmp(&values[other]));
    let mut ranks = vec![0; values.len()];
    let mut below = 0_usize;
    for tied in order.chunk_by(|&one, &other| values[one].total_cmp(&values[other]).is_eq()) {
        let doubled = (2 * below + tied.len() + 1) as u64;
        tied.iter().for_each(|&place| ranks[place] = doubled);
        below += tied.len();
    }
    ranks
}

/// In how many ways `chosen` of these ranks come to each sum.
fn ways_to_sum(ranks: &[u64], chosen: usize) -> Vec<f64> {
    let most = ranks.iter().sum::<u64>() as usize;
    let mut ways = vec![vec![0.0; most + 1]; chosen + 1];
    ways[0][0] = 1.0;
    let mut reached = 0;
    for (taken, rank) in (1..).zip(ranks) {
        let rank = *rank as usize;
        reached += rank;
        for count in (1..=chosen.min(taken)).rev() {
            let (fewer, more) = ways.split_at_mut(count);
            let (fewer, more) = (&fewer[count - 1], &mut more[0]);
            for sum in rank..=reached {
                more[sum] += fewer[sum - rank];
            }
        }
    }
    ways.swap_remove(chosen)
}

/// The same probability by the normal distribution, with the variance that ties leave and a correction for continuity.
fn normal_p(ranks: &[u64], n: usize, distance: u64) -> f64 {
    let all = ranks.len() as f64;
    let mean = f64::midpoint(all, 1.0);
    let spread: f64 = ranks.iter().map(|rank| (*rank as f64 / 2.0 - mean).powi(2)).sum();
    let (n, m) = (n as f64, all - n as f64);
    let variance = n * m / (all * (all - 1.0)) * spread;
    if variance <= 0.0 {
        return 1.0;
    }
    let z = ((distance as f64 / 2.0 - 0.5).max(0.0)) / variance.sqrt();
    two_sided_normal(z)
}

/// How likely a standard normal value is at least this far from zero, either way, to 1e-7: Abramowitz and Stegun 7.1.26.
fn two_sided_normal(z: f64) -> f64 {
    let x = z / std::f64::consts::SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * x);
    let series = ((((1.061_405_429 * t - 1.453_152_027) * t + 1.421_413_741) * t - 0.284_496_736)
        * t
        + 0.254_829_592)
        * t;
    (series * (-x * x).exp()).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(one: f64, other: f64) -> bool {
        (one - other).abs() < 1e-6
    }

    /// Sets of these sizes, all of the first below all of the second.
    fn apart(n: usize, m: usize) -> (Vec<f64>, Vec<f64>) {
        ((0..n).map(|it| it as f64).collect(), (n..n + m).map(|it| it as f64).collect())
    }

    /// The definition: every way to divide the values is looked at.
    fn by_definition(first: &[f64], second: &[f64]) -> f64 {
        let ranks = doubled_ranks(first, second);
        let n = first.len();
        let expected = (n * (ranks.len() + 1)) as u64;
        let seen = ranks[..n].iter().sum::<u64>().abs_diff(expected);
        let (mut all, mut at_least) = (0_u32, 0_u32);
        for choice in 0_u32..1 << ranks.len() {
            if choice.count_ones() as usize == n {
                let chosen = (0..ranks.len()).filter(|place| choice >> place & 1 == 1);
                let sum: u64 = chosen.map(|place| ranks[place]).sum();
                all += 1;
                at_least += u32::from(sum.abs_diff(expected) >= seen);
            }
        }
        f64::from(at_least) / f64::from(all)
    }

    #[test]
    fn sets_that_do_not_overlap_have_the_least_probability_that_their_sizes_allow() {
        // Two of all ways to divide them.
        for (n, m, p) in [(3, 3, 0.1), (4, 4, 2.0 / 70.0), (5, 5, 2.0 / 252.0), (1, 1, 1.0)] {
            let (first, second) = apart(n, m);
            assert!(near(two_sided_p(&first, &second), p), "{n} and {m}");
            assert!(near(two_sided_p(&second, &first), p), "{m} and {n}");
        }
    }

    #[test]
    fn with_and_without_ties_it_is_what_the_definition_says() {
        let sets: [(&[f64], &[f64]); 6] = [
            (&[1.0, 5.0, 2.0, 8.0], &[3.0, 9.0, 7.0, 10.0, 12.0]),
            (&[1.0, 1.0, 2.0], &[1.0, 2.0, 2.0, 3.0]),
            (&[0.0, 0.0, 0.0, 0.0, 1.0], &[0.0, 0.0, 3.0, 4.0, 5.0, 0.0]),
            (&[7.0, 7.0], &[7.0, 7.0, 7.0]),
            (&[-1.0, 4.0, 4.0, 9.5], &[4.0]),
            (&[2.5, 3.5, 1.5, 0.5, 6.5, 7.5], &[4.5, 5.5, 8.5, 9.5, 10.5, 11.5, 12.5]),
        ];
        for (first, second) in sets {
            let expected = by_definition(first, second);
            let p = two_sided_p(first, second);
            assert!(near(p, expected), "{first:?} {second:?}: {p}, not {expected}");
        }
    }

    #[test]
    fn nothing_and_what_is_all_alike_differ_in_nothing() {
        assert!(near(two_sided_p(&[], &[1.0]), 1.0));
        assert!(near(two_sided_p(&[1.0], &[]), 1.0));
        let (first, second) = ([4.0; 40], [4.0; 50]);
        assert!(near(two_sided_p(&first, &second), 1.0));
    }

    #[test]
    fn intervals_are_those_of_published_tables() {
        // Critical values of U at 0.05, two-sided: 0 for 4 and 4, 2 for 5 and 5, 23 for 10 and 10, 64 for 15 and 15, 127 for
        // 20 and 20; and so many differences and one more lie outside.
        for (n, m, critical) in [(4, 4, 0), (5, 5, 2), (10, 10, 23), (15, 15, 64), (20, 20, 127)] {
            let (outside, coverage) = differences_outside(n, m).expect("enough values");
            assert_eq!(outside, critical + 1, "{n} and {m}");
            assert!((0.95..1.0).contains(&coverage), "{coverage}");
        }
        for (n, m) in [(3, 3), (1, 30), (0, 5), (2, 7)] {
            assert_eq!(differences_outside(n, m), None, "{n} and {m}");
        }
    }

    #[test]
    fn where_counting_ends_the_normal_distribution_goes_on() {
        // The same data on both sides of the limit: 30 and 30 exactly, 30 and 31 as normal.
        let first: Vec<f64> = (0..30).map(|it| f64::from(it) * 1.7).collect();
        let second: Vec<f64> = (0..30).map(|it| f64::from(it) * 1.7 + 7.9).collect();
        let exact = two_sided_p(&first, &second);
        let distance = {
            let seen: u64 = doubled_ranks(&first, &second)[..30].iter().sum();
            seen.abs_diff(30 * 61)
        };
        let normal = normal_p(&doubled_ranks(&first, &second), 30, distance);
        assert!((exact - normal).abs() < 0.01 && exact > 0.01, "{exact} {normal}");
        let (exact, _) = differences_outside(30, 30).expect("enough values");
        let (normal, _) = differences_outside(30, 31).expect("enough values");
        assert!(normal.abs_diff(exact) < 15, "{exact} {normal}");
    }

    #[test]
    fn the_normal_distribution_is_that_of_tables() {
        for (z, p) in [(0.0, 1.0), (1.0, 0.317_310_5), (1.959_964, 0.05), (3.0, 0.002_699_8)] {
            assert!((two_sided_normal(z) - p).abs() < 1e-6, "{z}");
        }
    }
}
