//! How much or how often in a second: `25Mbit`, `1000/s`.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::number::{Grammar, QuantityError};

/// Bits a second, decimal multiples: 1 Mbit is 1,000,000 bits. Serialised as bits a second.
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
pub struct BitRate(pub u64);

impl BitRate {
    /// How many whole bytes this rate allows in `nanoseconds`.
    pub fn bytes_in(self, nanoseconds: u64) -> u64 {
        let bits = u128::from(self.0) * u128::from(nanoseconds) / 1_000_000_000;
        u64::try_from(bits / 8).unwrap_or(u64::MAX)
    }

    /// Nanoseconds, rounded up, until this rate has allowed `bytes`.
    pub fn nanos_for(self, bytes: u64) -> u64 {
        let bits = u128::from(bytes) * 8 * 1_000_000_000;
        u64::try_from(bits.div_ceil(u128::from(self.0.max(1)))).unwrap_or(u64::MAX)
    }
}

const BIT_RATE: Grammar = Grammar {
    quantity: "bits a second",
    example: "25Mbit or 1Gbit",
    units: &[
        ("bit", 1),
        ("kbit", 1_000),
        ("Mbit", 1_000_000),
        ("Gbit", 1_000_000_000),
        ("Tbit", 1_000_000_000_000),
        ("bit/s", 1),
        ("kbit/s", 1_000),
        ("Mbit/s", 1_000_000),
        ("Gbit/s", 1_000_000_000),
    ],
    unit_names: "bit, kbit, Mbit, Gbit, Tbit (a second; powers of 1000)",
    base: "bits a second",
    most: "18 Ebit a second",
    bare: None,
};

impl FromStr for BitRate {
    type Err = QuantityError;

    fn from_str(typed: &str) -> Result<Self, QuantityError> {
        BIT_RATE.parse(typed).map(Self)
    }
}

impl fmt::Display for BitRate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&super::bit_rate(self.0 as f64))
    }
}

/// Events a second. Serialised as a plain number.
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
pub struct Frequency(pub u64);

impl Frequency {
    /// Nanoseconds from one event to the next; at least 1.
    pub const fn period_ns(self) -> u64 {
        match self.0 {
            0 => u64::MAX,
            hertz if hertz > 1_000_000_000 => 1,
            hertz => 1_000_000_000 / hertz,
        }
    }
}

const FREQUENCY: Grammar = Grammar {
    quantity: "events a second",
    example: "1000/s",
    units: &[("/s", 1), ("k/s", 1_000), ("M/s", 1_000_000), ("Hz", 1), ("kHz", 1_000)],
    unit_names: "/s, k/s, M/s, Hz, kHz",
    base: "events a second",
    most: "18 E/s",
    bare: None,
};

impl FromStr for Frequency {
    type Err = QuantityError;

    fn from_str(typed: &str) -> Result<Self, QuantityError> {
        FREQUENCY.parse(typed).map(Self)
    }
}

impl fmt::Display for Frequency {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/s", super::count(self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_decimal() {
        assert_eq!("25Mbit".parse(), Ok(BitRate(25_000_000)));
        assert_eq!("1.5gbit/s".parse(), Ok(BitRate(1_500_000_000)));
        assert_eq!("1000/s".parse(), Ok(Frequency(1000)));
    }

    #[test]
    fn a_bare_rate_is_ambiguous() {
        let error = "25".parse::<BitRate>().expect_err("no unit").to_string();
        assert!(error.contains("has no unit") && error.contains("25Mbit"), "{error}");
        assert!("10".parse::<Frequency>().is_err());
    }

    #[test]
    fn a_rate_and_its_time_are_inverse() {
        let rate = BitRate(8_000_000);
        assert_eq!(rate.bytes_in(1_000_000), 1_000);
        assert_eq!(rate.nanos_for(1_000), 1_000_000);
        assert_eq!(BitRate(3).nanos_for(1), 2_666_666_667);
    }
}
