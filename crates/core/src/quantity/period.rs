//! Lengths of time: `10s`, `500ms`, `20us`.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::number::{Grammar, QuantityError};

/// A length of time in nanoseconds. Serialised as a plain number of nanoseconds; the name of a field
/// that holds one ends in `_ns`.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    Deserialize,
    Eq,
    Hash,
    JsonSchema,
    Ord,
    PartialEq,
    PartialOrd,
    Serialize,
)]
#[serde(transparent)]
pub struct Period(pub u64);

impl Period {
    /// So many seconds.
    pub const fn from_secs(seconds: u64) -> Self {
        Self(seconds * 1_000_000_000)
    }

    /// So many milliseconds.
    pub const fn from_millis(milliseconds: u64) -> Self {
        Self(milliseconds * 1_000_000)
    }

    /// The same length for the standard library.
    pub const fn duration(self) -> Duration {
        Duration::from_nanos(self.0)
    }
}

const GRAMMAR: Grammar = Grammar {
    quantity: "time",
    example: "10s, 500ms or 20us",
    units: &[
        ("ns", 1),
        ("us", 1_000),
        ("µs", 1_000),
        ("ms", 1_000_000),
        ("s", 1_000_000_000),
        ("m", 60_000_000_000),
        ("min", 60_000_000_000),
        ("h", 3_600_000_000_000),
    ],
    unit_names: "ns, us, ms, s, min, h",
    base: "nanoseconds",
    most: "584 years",
    bare: None,
};

impl FromStr for Period {
    type Err = QuantityError;

    fn from_str(typed: &str) -> Result<Self, QuantityError> {
        GRAMMAR.parse(typed).map(Self)
    }
}

impl fmt::Display for Period {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&super::duration_ns(self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        assert_eq!("10s".parse(), Ok(Period::from_secs(10)));
        assert_eq!("1.5ms".parse(), Ok(Period(1_500_000)));
        assert_eq!("2min".parse(), Ok(Period::from_secs(120)));
        assert_eq!("0".parse(), Ok(Period(0)));
        assert!("10".parse::<Period>().is_err());
        assert!("0.5ns".parse::<Period>().is_err());
    }
}
