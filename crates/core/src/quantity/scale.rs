//! One unit and one number of decimals for figures that stand side by side, so that they compare at a
//! glance: 0.812 above 72.150, both Gbit/s, and not 812.0 Mbit/s above 72.15 Gbit/s.
//!
//! A figure that stands alone is formatted by the functions of this module's neighbour instead.

use super::format::group;

/// What kind of quantity is to be shown, and so which units it has.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Dimension {
    /// Bits a second.
    BitRate,
    /// Bytes.
    Bytes,
    /// Nanoseconds.
    Duration,
    /// Things a second.
    Frequency,
    /// Shares of one.
    Ratio,
}

impl Dimension {
    /// The units, each as (name, multiple of the base unit), by rising size.
    const fn units(self) -> &'static [(&'static str, f64)] {
        match self {
            Self::BitRate => &[
                ("bit/s", 1.0),
                ("kbit/s", 1e3),
                ("Mbit/s", 1e6),
                ("Gbit/s", 1e9),
                ("Tbit/s", 1e12),
            ],
            Self::Bytes => &[
                ("B", 1.0),
                ("KiB", 1024.0),
                ("MiB", 1_048_576.0),
                ("GiB", 1_073_741_824.0),
                ("TiB", 1_099_511_627_776.0),
            ],
            Self::Duration => &[("ns", 1.0), ("µs", 1e3), ("ms", 1e6), ("s", 1e9)],
            Self::Frequency => &[("/s", 1.0)],
            Self::Ratio => &[("%", 0.01)],
        }
    }

    /// Whether fractions of the smallest unit say nothing.
    const fn is_counted(self) -> bool {
        matches!(self, Self::BitRate | Self::Bytes | Self::Duration)
    }

    const fn most_decimals(self) -> usize {
        match self {
            Self::Ratio => 1,
            _ => 3,
        }
    }
}

/// A unit and a number of decimals that suit several figures of one dimension.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    dimension: Dimension,
    unit: &'static str,
    multiple: f64,
    decimals: usize,
}

/// Below this a number in the common unit has lost its digits.
const LEAST: f64 = 0.1;
/// From this on a number in the common unit has too many of them.
const MOST: f64 = 1e6;

impl Scale {
    /// The largest unit in which the smallest of `values` is at least 1 and the largest has no more than
    /// four digits before the point, or else one that comes near. `None` where there is no value, or no
    /// one unit suits all. Zero suits every unit; values that are not finite are not asked.
    pub fn of(dimension: Dimension, values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let sizes: Vec<f64> =
            values.into_iter().filter(|value| value.is_finite()).map(f64::abs).collect();
        let most = sizes.iter().copied().reduce(f64::max)?;
        let least = sizes.into_iter().filter(|&size| size > 0.0).reduce(f64::min);
        match least {
            Some(least) => Self::between(dimension, least, most),
            None => Some(Self::of_nothing(dimension)),
        }
    }

    /// Zero in the smallest unit.
    const fn of_nothing(dimension: Dimension) -> Self {
        let (unit, multiple) = dimension.units()[0];
        Self { dimension, unit, multiple, decimals: 0 }
    }

    fn between(dimension: Dimension, least: f64, most: f64) -> Option<Self> {
        let units = dimension.units();
        let natural = units.iter().rposition(|&(_, multiple)| most >= multiple * 0.999_95);
        let candidates = || units[..=natural.unwrap_or(0)].iter().rev().copied();
        let (unit, multiple) = candidates()
            .find(|&(_, multiple)| least / multiple >= 1.0 && most / multiple < 10_000.0)
            .or_else(|| candidates().find(|&(_, multiple)| least / multiple >= LEAST))?;
        // Four digits of the largest, three of the smallest.
        let wanted = digits_after(most / multiple, 4).max(digits_after(least / multiple, 3));
        let is_whole = multiple <= 1.0 && dimension.is_counted();
        let decimals = if is_whole { 0 } else { wanted.min(dimension.most_decimals()) };
        let scale = Self { dimension, unit, multiple, decimals };
        scale.suits(most).then_some(scale)
    }

    /// What kind of quantity this is a scale of.
    pub const fn dimension(&self) -> Dimension {
        self.dimension
    }

    /// The unit's name.
    pub const fn unit(&self) -> &'static str {
        self.unit
    }

    /// Whether `value` can be read in this unit.
    pub fn suits(&self, value: f64) -> bool {
        let size = (value / self.multiple).abs();
        size == 0.0 || (LEAST..MOST).contains(&size)
    }

    /// The number that stands before the unit: `72.15`, `1,930.0`.
    pub fn number(&self, value: f64) -> String {
        if !value.is_finite() {
            return "n/a".to_owned();
        }
        let plain = format!("{:.*}", self.decimals, value / self.multiple);
        match plain.split_once('.') {
            Some((whole, fraction)) => format!("{}.{fraction}", group(whole)),
            None => group(&plain),
        }
    }
}

/// Digits after the point that give `value` this many in all.
fn digits_after(value: f64, significant: usize) -> usize {
    let whole_digits = match value {
        _ if value < 0.999_95 => 0,
        _ if value < 9.999_5 => 1,
        _ if value < 99.995 => 2,
        _ if value < 999.95 => 3,
        _ => 4,
    };
    significant.saturating_sub(whole_digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(dimension: Dimension, values: &[f64]) -> Option<(&'static str, Vec<String>)> {
        let scale = Scale::of(dimension, values.iter().copied())?;
        Some((scale.unit(), values.iter().map(|&value| scale.number(value)).collect()))
    }

    #[test]
    fn figures_of_a_column_share_unit_and_decimals() {
        for (dimension, values, unit, numbers) in [
            (Dimension::BitRate, &[72.15e9, 9.412e9][..], "Gbit/s", &["72.15", "9.41"][..]),
            (Dimension::BitRate, &[812e6, 9.412e9], "Mbit/s", &["812", "9,412"]),
            (Dimension::BitRate, &[812e6, 72.15e9], "Gbit/s", &["0.812", "72.150"]),
            (Dimension::BitRate, &[812e6], "Mbit/s", &["812.0"]),
            (Dimension::BitRate, &[0.0, 0.0], "bit/s", &["0", "0"]),
            (Dimension::BitRate, &[0.0, 5e6], "Mbit/s", &["0.000", "5.000"]),
            (Dimension::Duration, &[24_100.0, 1_930_000.0], "µs", &["24.1", "1,930.0"]),
            (Dimension::Duration, &[24_100.0, 250e6], "µs", &["24.1", "250,000.0"]),
            (Dimension::Duration, &[20.4e6, 250e6], "ms", &["20.4", "250.0"]),
            (Dimension::Duration, &[7.0, 900.0], "ns", &["7", "900"]),
            (Dimension::Bytes, &[1024.0 * 1024.0, 2.5 * 1_048_576.0], "MiB", &["1.000", "2.500"]),
            (Dimension::Duration, &[812_400.0, 1_930_000.0], "µs", &["812", "1,930"]),
            (Dimension::Ratio, &[0.971, 1.0], "%", &["97.1", "100.0"]),
            (Dimension::Frequency, &[12.5, 1_000.0], "/s", &["12.5", "1,000.0"]),
        ] {
            let shown = column(dimension, values).expect("one unit suits all");
            let numbers = numbers.iter().map(ToString::to_string).collect::<Vec<_>>();
            assert_eq!(shown, (unit, numbers), "{values:?}");
        }
    }

    #[test]
    fn what_no_unit_suits_has_no_scale() {
        assert_eq!(Scale::of(Dimension::Duration, [24.0, 10e9]), None);
        assert_eq!(Scale::of(Dimension::BitRate, []), None);
        assert_eq!(Scale::of(Dimension::BitRate, [f64::NAN, f64::INFINITY]), None);
        assert_eq!(Scale::of(Dimension::BitRate, [1e300]), None);
        assert_eq!(Scale::of(Dimension::Ratio, [0.000_01]), None);
    }

    #[test]
    fn a_later_figure_may_not_suit() {
        let scale = Scale::of(Dimension::BitRate, [9.4e9]).expect("one value has a unit");
        assert!(scale.suits(0.0) && scale.suits(72e9));
        assert!(!scale.suits(3e6) && !scale.suits(f64::NAN));
    }
}
