//! Exact binomial ranks: which order statistics bracket a quantile.
//!
//! If n independent samples are sorted, the number of them below the true q-quantile is binomial
//! (n, q), whatever the distribution. So the l-th and u-th smallest bracket it with a probability
//! that is known exactly. Source: David and Nagaraja, "Order Statistics", 3rd ed., section 7.1.
//! Samples of a path are correlated, which makes the interval optimistic; the docs say so.

/// Of more samples than this the interval is that of the normal distribution with the same mean and variance (de Moivre
/// and Laplace), which is then within a thousandth of their deviation of the exact one. That takes steps by the square root of
/// their number, and a number may be anything that somebody else reports.
const EXACT_MOST: u64 = 1_000_000_000;

/// Ranks (l, u), 1-based, of the order statistics that bracket the `quantile` of `samples`
/// independent samples with a probability of at least 0.95, at most 0.025 on either side.
/// `None` where the samples are too few for such an interval to exist.
pub fn quantile_ranks(samples: u64, quantile: f64) -> Option<(u64, u64)> {
    const TAIL: f64 = 0.025;
    /// Where the standard normal distribution leaves that much.
    const DEVIATES: f64 = 1.959_963_984_540_054;
    if samples == 0 || !(quantile > 0.0 && quantile < 1.0) {
        return None;
    }
    let n = samples as f64;
    let deviation = (n * quantile * (1.0 - quantile)).sqrt();
    if samples > EXACT_MOST {
        let (middle, half) = (n * quantile, DEVIATES * deviation);
        let upper = ((middle + half).ceil() as u64).saturating_add(1).min(samples);
        return Some((((middle - half).floor() as u64).max(1), upper));
    }
    let start = (n * quantile - 12.0 * deviation - 40.0).floor().max(0.0);
    let odds = quantile / (1.0 - quantile);

    // Walk the distribution function upwards from where its mass is negligible.
    let mut below = start as u64;
    let mut mass = ln_probability(n, start, quantile).exp();
    let mut cumulative = mass;
    let mut lower = None;
    while below < samples {
        // `cumulative` is now P(B <= below).
        if cumulative <= TAIL {
            lower = Some(below + 1);
        }
        if cumulative >= 1.0 - TAIL {
            return lower.map(|lower| (lower, below + 1));
        }
        mass *= (n - below as f64) / (below as f64 + 1.0) * odds;
        below += 1;
        cumulative += mass;
    }
    None
}

/// The highest probability of an event of which none in `trials` independent trials is still seen one time in twenty:
/// above it, 95 % see at least one. For many trials about 3 / `trials`. 1 where there are none.
pub fn bound_of_none(trials: u64) -> f64 {
    const MISSED: f64 = 0.05;
    if trials == 0 { 1.0 } else { -(MISSED.ln() / trials as f64).exp_m1() }
}

/// ln P(B = k) for B binomial (n, q).
fn ln_probability(n: f64, k: f64, quantile: f64) -> f64 {
    ln_gamma(n + 1.0) - ln_gamma(k + 1.0) - ln_gamma(n - k + 1.0)
        + k * quantile.ln()
        + (n - k) * (-quantile).ln_1p()
}

/// ln Γ(x) for x ≥ 1, by Stirling's series (Abramowitz and Stegun 6.1.41) after shifting x above 10,
/// where the first omitted term is below 1e-12.
fn ln_gamma(x: f64) -> f64 {
    let mut x = x;
    let mut shift = 0.0;
    while x < 10.0 {
        shift += x.ln();
        x += 1.0;
    }
    let inverse = 1.0 / x;
    let square = inverse * inverse;
    let series = inverse
        * (1.0 / 12.0
            - square
                * (1.0 / 360.0
                    - square * (1.0 / 1260.0 - square * (1.0 / 1680.0 - square / 1188.0))));
    (x - 0.5) * x.ln() - x + 0.5 * std::f64::consts::TAU.ln() + series - shift
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition, summed term by term with exact products: only for n so small that its first term is representable.
    fn by_definition(samples: u64, quantile: f64) -> Option<(u64, u64)> {
        let mut cumulative = 0.0;
        let mut mass = (1.0 - quantile).powi(samples as i32);
        let mut lower = None;
        for k in 0..samples {
            cumulative += mass;
            if cumulative <= 0.025 {
                lower = Some(k + 1);
            }
            if cumulative >= 0.975 {
                return lower.map(|lower| (lower, k + 1));
            }
            mass *= (samples - k) as f64 / (k + 1) as f64 * quantile / (1.0 - quantile);
        }
        None
    }

    #[test]
    fn ranks_equal_the_definition() {
        for samples in [1, 2, 5, 6, 10, 30, 64, 100, 140] {
            for quantile in [0.05, 0.25, 0.5, 0.9, 0.99] {
                assert_eq!(
                    quantile_ranks(samples, quantile),
                    by_definition(samples, quantile),
                    "n {samples} q {quantile}"
                );
            }
        }
    }

    #[test]
    fn published_ranks_of_the_median() {
        // David and Nagaraja, and every table of the sign test since: n 10 -> 2..9, n 20 -> 6..15.
        assert_eq!(quantile_ranks(10, 0.5), Some((2, 9)));
        assert_eq!(quantile_ranks(20, 0.5), Some((6, 15)));
        assert_eq!(quantile_ranks(5, 0.5), None);
    }

    #[test]
    fn none_of_many_bounds_a_probability_by_the_rule_of_three() {
        assert!((bound_of_none(0) - 1.0).abs() < f64::EPSILON);
        assert!((bound_of_none(1) - 0.95).abs() < 1e-12);
        for trials in [10, 1_000, 1_000_000_000] {
            let bound = bound_of_none(trials);
            assert!(((1.0 - bound).ln() * trials as f64 - 0.05_f64.ln()).abs() < 1e-6, "{trials}");
        }
        assert!((bound_of_none(1_000_000) - 2.9957e-6).abs() < 1e-9);
    }

    #[test]
    fn an_interval_exists_from_the_known_minimum_on() {
        // n >= ln(0.025) / ln(q)
        assert_eq!(quantile_ranks(367, 0.99), None);
        assert!(quantile_ranks(368, 0.99).is_some());
        assert!(quantile_ranks(3_688, 0.999).is_some());
    }

    #[test]
    fn a_billion_samples_take_no_billion_steps() {
        let (lower, upper) = quantile_ranks(1_000_000_000, 0.5).expect("plenty of samples");
        let expected = 1.96 * (1e9_f64 * 0.25).sqrt();
        assert!((500_000_000.0 - lower as f64 - expected).abs() < 20.0, "{lower}");
        assert!((upper as f64 - 500_000_000.0 - expected).abs() < 20.0, "{upper}");
    }

    #[test]
    fn any_number_of_samples_has_its_interval_at_once() {
        for quantile in [0.5, 0.99, 0.999_99] {
            let deviation = (EXACT_MOST as f64 * quantile * (1.0 - quantile)).sqrt();
            let exact = quantile_ranks(EXACT_MOST, quantile).expect("many");
            let normal = quantile_ranks(EXACT_MOST + 1, quantile).expect("more");
            let near =
                |one: u64, other: u64| (one.abs_diff(other) as f64) < 2.0 + deviation / 1_000.0;
            assert!(near(exact.0, normal.0) && near(exact.1, normal.1), "{exact:?} {normal:?}");
        }
        let (lower, upper) = quantile_ranks(u64::MAX, 0.5).expect("plenty of samples");
        assert!(lower < u64::MAX / 2 && u64::MAX / 2 < upper);
        assert!(quantile_ranks(u64::MAX, 1e-30).is_some());
    }
}
