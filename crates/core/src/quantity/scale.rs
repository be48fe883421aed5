//! One unit for figures that stand side by side, so that they compare at a glance: 0.812 above 72.15, both Gbit/s, and
//! not 812.0 Mbit/s above 72.15 Gbit/s.
//!
//! A figure that stands alone is formatted by the functions of this module's neighbour instead.

use super::format::{ALMOST_ALL, bit_rate, duration_ns, group};

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

    /// The finest step that is told: there is no half of a nanosecond, and nobody reads a share to less than a thousandth
    /// of a percent.
    const fn least_step(self) -> f64 {
        match self {
            Self::BitRate | Self::Bytes | Self::Duration => 1.0,
            Self::Frequency => 0.001,
            Self::Ratio => 0.000_01,
        }
    }
}

/// A unit that suits several figures of one dimension. Each is told to four digits; their points stand below each other
/// where a view aligns them there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    dimension: Dimension,
    unit: &'static str,
    multiple: f64,
}

/// From one length of time to another, in one unit: `135.5 to 646.3 µs`.
pub fn duration_range(least_ns: u64, most_ns: u64) -> String {
    range(Dimension::Duration, least_ns as f64, most_ns as f64, |end| duration_ns(end as u64))
}

/// From one rate to another, in one unit: `2.560 to 2.567 Gbit/s`.
pub fn rate_range(least_bps: f64, most_bps: f64) -> String {
    range(Dimension::BitRate, least_bps, most_bps, bit_rate)
}

fn range(dimension: Dimension, least: f64, most: f64, alone: impl Fn(f64) -> String) -> String {
    match Scale::of(dimension, [least, most]) {
        Some(scale) => {
            format!("{} to {} {}", scale.number(least), scale.number(most), scale.unit())
        }
        None => format!("{} to {}", alone(least), alone(most)),
    }
}

/// What the smallest and the largest number of a group may be in its unit, best first: 24.10 beside 1,930; else 0.0395 beside
/// 2,012; else the widest that can be read at all.
const RANGES: [(f64, f64); 3] = [(1.0, 1e4), (0.01, 1e5), (0.001, 1e6)];
/// Below this a later number has lost its digits.
const LEAST: f64 = 0.1;
/// From this on a later number has too many of them.
const MOST: f64 = 1e5;

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

    /// Zero in the base unit that people name: 0 s, 0 B.
    const fn of_nothing(dimension: Dimension) -> Self {
        let units = dimension.units();
        let at = if matches!(dimension, Dimension::Duration) { units.len() - 1 } else { 0 };
        let (unit, multiple) = units[at];
        Self { dimension, unit, multiple }
    }

    fn between(dimension: Dimension, least: f64, most: f64) -> Option<Self> {
        let units = dimension.units();
        let natural = units.iter().rposition(|&(_, multiple)| most >= multiple * 0.999_95);
        let candidates = || units[..=natural.unwrap_or(0)].iter().rev().copied();
        let suiting = |(low, high)| {
            candidates().find(|&(_, multiple)| least / multiple >= low && most / multiple < high)
        };
        // Of shares and of things a second there is one unit, however small they are.
        let only = || units.first().copied().filter(|_| units.len() == 1 && most < 1e12);
        let (unit, multiple) = RANGES.into_iter().find_map(suiting).or_else(only)?;
        Some(Self { dimension, unit, multiple })
    }

    /// What kind of quantity this is a scale of.
    pub const fn dimension(&self) -> Dimension {
        self.dimension
    }

    /// The unit's name.
    pub const fn unit(&self) -> &'static str {
        self.unit
    }

    /// How many of the base unit one of this is.
    pub const fn multiple(&self) -> f64 {
        self.multiple
    }

    /// Whether a `value` that comes later can be read in this unit.
    pub fn suits(&self, value: f64) -> bool {
        let size = (value / self.multiple).abs();
        size == 0.0 || (LEAST..MOST).contains(&size)
    }

    /// The number that stands before the unit: `72.15`, `1,930`, `0.0395`.
    pub fn number(&self, value: f64) -> String {
        if !value.is_finite() {
            return "n/a".to_owned();
        }
        let decimals = self.decimals(value);
        let size = value / self.multiple;
        let least = 10_f64.powi(-(decimals as i32));
        if size != 0.0 && size.abs() < least / 2.0 {
            // What is there is not told as nothing.
            return format!("<{least:.decimals$}");
        }
        if self.dimension == Dimension::Ratio && (ALMOST_ALL..100.0).contains(&size) {
            return ">99.999".to_owned();
        }
        let plain = format!("{size:.decimals$}");
        match plain.split_once('.') {
            Some((whole, fraction)) => format!("{}.{fraction}", group(whole)),
            None => group(&plain),
        }
    }

    /// Digits after the point that tell this value to four digits, below one to three, and no finer than its dimension
    /// can be told.
    fn decimals(&self, value: f64) -> usize {
        let size = (value / self.multiple).abs();
        let wanted = match size {
            0.0 => 0,
            // What is not all is not told as all.
            _ if self.dimension == Dimension::Ratio && (99.95..100.0).contains(&size) => 3,
            _ if self.dimension == Dimension::Ratio && size >= 0.1 => 1,
            _ if size >= 999.95 => 0,
            _ if size >= 99.995 => 1,
            _ if size >= 9.999_5 => 2,
            _ if size >= 0.999_5 => 3,
            _ => 3 - size.log10().floor().max(-9.0) as i32 - 1,
        };
        let finest = (self.multiple / self.dimension.least_step()).log10().round();
        wanted.clamp(0, finest as i32) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(dimension: Dimension, values: &[f64]) -> Option<(&'static str, Vec<String>)> {
        let scale = Scale::of(dimension, values.iter().copied())?;
        Some((scale.unit(), values.iter().map(|&value| scale.number(value)).collect()))
    }

    #[test]
    fn figures_of_a_group_share_a_unit_and_have_four_digits() {
        for (dimension, values, unit, numbers) in [
            (Dimension::BitRate, &[72.15e9, 9.412e9][..], "Gbit/s", &["72.15", "9.412"][..]),
            (Dimension::BitRate, &[812e6, 9.412e9], "Mbit/s", &["812.0", "9,412"]),
            (Dimension::BitRate, &[812e6, 72.15e9], "Gbit/s", &["0.812", "72.15"]),
            (Dimension::BitRate, &[812e6], "Mbit/s", &["812.0"]),
            (Dimension::BitRate, &[0.0, 0.0], "bit/s", &["0", "0"]),
            (Dimension::Duration, &[0.0], "s", &["0"]),
            (Dimension::BitRate, &[0.0, 5e6], "Mbit/s", &["0", "5.000"]),
            (Dimension::Duration, &[24_100.0, 1_930_000.0], "µs", &["24.10", "1,930"]),
            (
                Dimension::Duration,
                &[39_510.0, 97_220.0, 2.012e9],
                "ms",
                &["0.0395", "0.0972", "2,012"],
            ),
            (Dimension::Duration, &[20.4e6, 250e6], "ms", &["20.40", "250.0"]),
            (Dimension::Duration, &[7.0, 900.0], "ns", &["7", "900"]),
            (Dimension::Duration, &[999_949.0, 999_950.0], "µs", &["999.9", "1,000"]),
            (Dimension::Bytes, &[1024.0 * 1024.0, 2.5 * 1_048_576.0], "MiB", &["1.000", "2.500"]),
            (Dimension::Ratio, &[0.971, 1.0, 0.0], "%", &["97.1", "100.0", "0"]),
            (Dimension::Ratio, &[0.999_594, 1.0], "%", &["99.959", "100.0"]),
            (Dimension::Ratio, &[1.0 - 1e-6, 0.5], "%", &[">99.999", "50.0"]),
            (Dimension::Ratio, &[0.000_012, 0.000_000_1], "%", &["0.001", "<0.001"]),
            (Dimension::Frequency, &[12.5, 1_000.0], "/s", &["12.50", "1,000"]),
        ] {
            let shown = column(dimension, values).expect("one unit suits all");
            let numbers = numbers.iter().map(ToString::to_string).collect::<Vec<_>>();
            assert_eq!(shown, (unit, numbers), "{values:?}");
        }
    }

    #[test]
    fn a_range_has_one_unit_where_one_suits() {
        assert_eq!(duration_range(135_500, 646_300), "135.5 to 646.3 µs");
        assert_eq!(duration_range(7, 1_000_000_000_000), "7 ns to 1000 s");
        assert_eq!(rate_range(61.22e9, 72.15e9), "61.22 to 72.15 Gbit/s");
    }

    #[test]
    fn what_no_unit_suits_has_no_scale() {
        assert_eq!(Scale::of(Dimension::Duration, [24.0, 1e12]), None);
        assert_eq!(Scale::of(Dimension::BitRate, []), None);
        assert_eq!(Scale::of(Dimension::BitRate, [f64::NAN, f64::INFINITY]), None);
        assert_eq!(Scale::of(Dimension::BitRate, [1e300]), None);
        assert_eq!(Scale::of(Dimension::Ratio, [1e300]), None);
    }

    #[test]
    fn a_later_figure_may_not_suit() {
        let scale = Scale::of(Dimension::BitRate, [9.4e9]).expect("one value has a unit");
        assert!(scale.suits(0.0) && scale.suits(72e9));
        assert!(!scale.suits(3e6) && !scale.suits(f64::NAN));
    }
}
