//! Whether a series rises or falls, and how steeply: the median of all pairwise slopes, which single
//! outliers cannot move, and a test of whether there is a trend at all.
//!
//! Sources: Sen, "Estimates of the regression coefficient based on Kendall's tau", JASA 63 (1968);
//! Mann, "Nonparametric tests against trend", Econometrica 13 (1945).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Points that enter; of a longer series, as many evenly spread ones. 300 make 45,000 pairs.
const MOST_POINTS: usize = 300;
/// Below so many points the normal approximation of the test does not hold.
const LEAST_POINTS: usize = 8;

/// How a series changes over time.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Trend {
    /// The median of the slopes between any two points (Theil and Sen), per second.
    pub slope_per_second: f64,
    /// Slope times length, as a share of the median of the series: 0.05 is 5 % more at the end.
    pub change_over_run: f64,
    /// The statistic of Mann and Kendall's test: beyond 1.96 either way, a series without trend looks
    /// like this less than one time in twenty.
    pub z: f64,
    /// Points that entered.
    pub points: u32,
}

impl Trend {
    /// The trend of points (time in nanoseconds, value), in order of time; `None` where they are too few.
    pub fn of(points: &[(u64, f64)]) -> Option<Self> {
        let step = points.len().div_ceil(MOST_POINTS).max(1);
        let points: Vec<(f64, f64)> = points
            .iter()
            .step_by(step)
            .filter(|(_, value)| value.is_finite())
            .map(|&(time, value)| (time as f64 / 1e9, value))
            .collect();
        if points.len() < LEAST_POINTS {
            return None;
        }
        let (mut slopes, mut balance) = (Vec::new(), 0_i64);
        for (index, earlier) in points.iter().enumerate() {
            for later in &points[index + 1..] {
                balance += match later.1.total_cmp(&earlier.1) {
                    std::cmp::Ordering::Less => -1,
                    std::cmp::Ordering::Equal => 0,
                    std::cmp::Ordering::Greater => 1,
                };
                if later.0 > earlier.0 {
                    slopes.push((later.1 - earlier.1) / (later.0 - earlier.0));
                }
            }
        }
        let slope_per_second = median(&mut slopes)?;
        let middle = median(&mut points.iter().map(|point| point.1).collect::<Vec<_>>())?;
        let length = points.last()?.0 - points.first()?.0;
        let change = slope_per_second * length / middle;
        Some(Self {
            slope_per_second,
            change_over_run: if change.is_finite() { change } else { 0.0 },
            z: z(balance, points.len()),
            points: points.len() as u32,
        })
    }

    /// Whether there is a trend beyond chance.
    pub fn is_significant(&self) -> bool {
        self.z.abs() > 1.96
    }
}

/// Balance of rises and falls over its standard deviation, moved by one towards zero since it has
/// whole numbers only.
fn z(balance: i64, points: usize) -> f64 {
    let n = points as f64;
    let deviation = (n * (n - 1.0) * (2.0 * n + 5.0) / 18.0).sqrt();
    let moved = balance - balance.signum();
    moved as f64 / deviation
}

fn median(values: &mut [f64]) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    let upper = *values.get(values.len() / 2)?;
    let lower = *values.get((values.len() - 1) / 2)?;
    Some(f64::midpoint(lower, upper))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(value: impl Fn(u64) -> f64) -> Vec<(u64, f64)> {
        (0..60).map(|second| (second * 1_000_000_000, value(second))).collect()
    }

    #[test]
    fn a_line_has_its_slope_whatever_an_outlier_says() {
        let points =
            series(|second| if second == 30 { 1e9 } else { 1_000.0 + 5.0 * second as f64 });
        let trend = Trend::of(&points).expect("60 points");
        assert!((trend.slope_per_second - 5.0).abs() < 1e-9, "{trend:?}");
        assert!(trend.is_significant() && trend.change_over_run > 0.2, "{trend:?}");
    }

    #[test]
    fn a_series_that_only_swings_has_no_trend() {
        let trend = Trend::of(&series(|second| [5.0, 7.0, 6.0][second as usize % 3]));
        assert!(!trend.expect("60 points").is_significant(), "{trend:?}");
        let flat = Trend::of(&series(|_| 0.0)).expect("60 points");
        assert_eq!((flat.slope_per_second, flat.change_over_run, flat.z), (0.0, 0.0, 0.0));
    }

    #[test]
    fn too_few_points_have_no_trend_and_many_are_thinned() {
        assert_eq!(Trend::of(&series(|_| 1.0)[..7]), None);
        let many: Vec<_> =
            (0..100_000).map(|second| (second * 1_000_000_000, second as f64)).collect();
        let trend = Trend::of(&many).expect("many points");
        assert!(trend.points <= 300 && (trend.slope_per_second - 1.0).abs() < 1e-9, "{trend:?}");
    }
}
