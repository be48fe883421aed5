//! What a few numbers come to, of any unit: their range, middle and spread. Exact, from the numbers themselves.
//!
//! Not here: durations by the million, which have a histogram and percentiles with their intervals.

/// Statistics of numbers, each of which counts the same.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NumberFigures {
    /// How many there were.
    pub count: u64,
    /// The smallest.
    pub min: f64,
    /// The smallest that a quarter of them do not exceed: nearest rank, ⌈n/4⌉.
    pub lower_quartile: f64,
    /// The same of a half.
    pub median: f64,
    /// The same of three quarters.
    pub upper_quartile: f64,
    /// The largest.
    pub max: f64,
    /// The arithmetic mean.
    pub mean: f64,
    /// The sample standard deviation, with n − 1; none of a single number.
    pub standard_deviation: Option<f64>,
}

impl NumberFigures {
    /// Of these numbers, where there is one or more; what is not finite is left out.
    pub fn of(numbers: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut sorted: Vec<f64> = numbers.into_iter().filter(|it| it.is_finite()).collect();
        sorted.sort_by(f64::total_cmp);
        let (&min, &max) = sorted.first().zip(sorted.last())?;
        let count = sorted.len();
        let quarter = |quarters: usize| sorted[(count * quarters).div_ceil(4) - 1];
        let mean = sorted.iter().sum::<f64>() / count as f64;
        let squares: f64 = sorted.iter().map(|it| (it - mean) * (it - mean)).sum();
        Some(Self {
            count: count as u64,
            min,
            lower_quartile: quarter(1),
            median: quarter(2),
            upper_quartile: quarter(3),
            max,
            mean,
            standard_deviation: (count > 1).then(|| (squares / (count - 1) as f64).sqrt()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_to_what_the_textbook_says() {
        let figures = NumberFigures::of([4.0, 2.0, f64::NAN, 9.0, 5.0, 4.0, 5.0, 7.0, 4.0]);
        let figures = figures.expect("eight numbers");
        let quartiles = [figures.lower_quartile, figures.median, figures.upper_quartile];
        assert_eq!((figures.count, figures.min, figures.max, figures.mean), (8, 2.0, 9.0, 5.0));
        assert_eq!(quartiles.map(|it| format!("{it}")), ["4", "4", "5"]);
        let deviation = figures.standard_deviation.expect("of several");
        assert!((deviation - (32.0_f64 / 7.0).sqrt()).abs() < 1e-12, "{deviation}");
        let one = NumberFigures::of([3.0]).expect("one number");
        assert_eq!(
            (one.lower_quartile, one.upper_quartile, one.standard_deviation),
            (3.0, 3.0, None)
        );
        assert_eq!(NumberFigures::of([f64::INFINITY]), None);
    }
}
