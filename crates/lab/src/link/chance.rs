//! A probability as people type and read it: `1%`, `0.01`, `10ppm`. Exact, without floating point.

use std::fmt;
use std::str::FromStr;

use super::words::{WordError, decimal};

/// A probability, exact in parts of a thousand million: 1 % is 10,000,000.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Chance(pub u32);

impl Chance {
    /// Never.
    pub const NEVER: Self = Self(0);
    /// Always.
    pub const ALWAYS: Self = Self(1_000_000_000);

    /// So many hundredths.
    pub const fn percent(percent: u8) -> Self {
        Self(percent as u32 * 10_000_000)
    }

    /// As a share of one.
    pub fn share(self) -> f64 {
        f64::from(self.0) / f64::from(Self::ALWAYS.0)
    }
}

/// Units, each as (name, parts of a thousand million).
const UNITS: [(&str, u64); 3] = [("%", 10_000_000), ("ppm", 1_000), ("ppb", 1)];

/// A percentage, parts per million or a thousand million, or a share of one written with its point.
/// A bare `1` could be one per cent or certainty, and is refused.
impl FromStr for Chance {
    type Err = WordError;

    fn from_str(typed: &str) -> Result<Self, WordError> {
        let text = typed.trim();
        let unit = UNITS.iter().find_map(|&(name, parts)| {
            text.strip_suffix(name).map(|number| (number.trim_end(), parts))
        });
        let share = || (text == "0" || text.contains('.')).then_some((text, 1_000_000_000));
        let parts = unit.or_else(share).and_then(|(number, parts)| decimal(number, parts));
        match parts.map(u32::try_from) {
            Some(Ok(parts)) if parts <= Self::ALWAYS.0 => Ok(Self(parts)),
            Some(_) => Err(WordError::too_much(typed, "a chance", "100%")),
            None => Err(WordError::unknown(
                typed,
                "a chance in whole parts of a thousand million",
                "1%, 0.01 or 10ppm",
            )),
        }
    }
}

/// As a percentage, exact: `1%`, `0.001%`.
impl fmt::Display for Chance {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let exact = format!("{}.{:07}", self.0 / 10_000_000, self.0 % 10_000_000);
        write!(formatter, "{}%", exact.trim_end_matches('0').trim_end_matches('.'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_is_what_is_meant_and_shown_exactly() {
        for (typed, parts, shown) in [
            ("1%", 10_000_000, "1%"),
            ("0.01", 10_000_000, "1%"),
            ("10ppm", 10_000, "0.001%"),
            ("1ppb", 1, "0.0000001%"),
            ("0.1 %", 1_000_000, "0.1%"),
            ("33.3333333%", 333_333_333, "33.3333333%"),
            ("0", 0, "0%"),
            ("1.0", 1_000_000_000, "100%"),
            ("100%", 1_000_000_000, "100%"),
        ] {
            let chance: Chance = typed.parse().expect(typed);
            assert_eq!((chance, chance.to_string().as_str()), (Chance(parts), shown), "{typed}");
            assert_eq!(shown.parse(), Ok(chance));
        }
    }

    #[test]
    fn what_cannot_be_meant_is_explained() {
        for (typed, words) in [
            ("1", "'1' is not a chance"),
            ("", "is not a chance"),
            ("%", "is not a chance"),
            ("-1%", "is not a chance"),
            ("1.2.3%", "is not a chance"),
            ("0.00000001%", "whole parts"),
            ("101%", "more than 100%"),
            ("1.1", "more than 100%"),
            ("99999999999999999999%", "is not a chance"),
        ] {
            let error = typed.parse::<Chance>().expect_err(typed).to_string();
            assert!(error.contains(words), "{typed}: {error}");
        }
    }
}
