//! How a series moves, by the definitions: the median of the slopes between any two points (Sen, "Estimates of the regression
//! coefficient based on Kendall's tau", JASA 63, 1968), and Mann and Kendall's test (Mann, "Nonparametric tests against trend",
//! Econometrica 13, 1945).

use super::Durations;

/// What a series comes to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trend {
    /// A second.
    pub slope: f64,
    /// From the first point to the last, as a share of the median.
    pub change: f64,
    /// How many deviations the rises are more than the falls.
    pub z: f64,
    pub points: f64,
}

impl Trend {
    /// Of points: seconds and a value. Absent where none is stated: of fewer than eight.
    pub fn of(points: &[(f64, f64)]) -> Option<Self> {
        let (first, last) = (points.first()?, points.last()?);
        let pairs = || {
            let from = points.iter().enumerate();
            from.flat_map(|(at, one)| points[at + 1..].iter().map(move |other| (one, other)))
        };
        let slopes = pairs().map(|(one, other)| (other.1 - one.1) / (other.0 - one.0)).collect();
        let rises = pairs().filter(|(one, other)| other.1 > one.1).count() as f64;
        let falls = pairs().filter(|(one, other)| other.1 < one.1).count() as f64;
        let count = points.len() as f64;
        // Of counts a whole step lies between two values: half of it to either side.
        let excess = (rises - falls).abs() - 1.0;
        let signed = if rises < falls { -excess } else { excess };
        let deviation = (count * (count - 1.0) * (2.0 * count + 5.0) / 18.0).sqrt();
        let (slope, middle) = (median(slopes)?, median(points.iter().map(|it| it.1).collect())?);
        (points.len() >= 8).then(|| Self {
            slope,
            change: slope * (last.0 - first.0) / middle,
            z: if excess < 0.0 { 0.0 } else { signed / deviation },
            points: count,
        })
    }
}

/// The one in the middle, or the mean of the two.
fn median(values: Vec<f64>) -> Option<f64> {
    let half = values.len() / 2;
    let is_even = values.len().is_multiple_of(2);
    let sorted = Durations::new(values).sorted;
    let upper = *sorted.get(half)?;
    if is_even { Some((sorted.get(half.checked_sub(1)?)? + upper) / 2.0) } else { Some(upper) }
}

#[cfg(test)]
mod tests {
    use super::Trend;

    #[test]
    fn a_line_with_an_outlier_has_the_slope_of_the_line() {
        let at = |second: u32| if second == 4 { 900.0 } else { 100.0 + 10.0 * f64::from(second) };
        let points: Vec<_> = (0..9).map(|second| (f64::from(second), at(second))).collect();
        let trend = Trend::of(&points).expect("nine points");
        assert_eq!((trend.slope, trend.points), (10.0, 9.0));
        // Median 150: those of seconds 5 and more, and the outlier, are above it.
        assert!((trend.change - 80.0 / 150.0).abs() < 1e-12, "{trend:?}");
        // 36 pairs, of which 4 fall: (32 - 4 - 1) / sqrt(9 × 8 × 23 / 18).
        assert!((trend.z - 27.0 / 92.0_f64.sqrt()).abs() < 1e-12, "{trend:?}");
        assert_eq!(Trend::of(&points[..7]), None);
    }

    #[test]
    fn what_stays_has_no_trend_and_what_falls_a_negative_one() {
        let flat: Vec<_> = (0..8).map(|second| (f64::from(second), 5.0)).collect();
        let trend = Trend::of(&flat).expect("eight points");
        assert_eq!((trend.slope, trend.change, trend.z), (0.0, 0.0, 0.0));
        let falls: Vec<_> = (0..8).map(|second| (f64::from(second), -f64::from(second))).collect();
        let trend = Trend::of(&falls).expect("eight points");
        assert!(trend.slope < 0.0 && trend.z < -1.96, "{trend:?}");
    }
}
