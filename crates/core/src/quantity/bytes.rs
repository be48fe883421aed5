//! Amounts of data: `64KiB`, `1GiB`, `10MB`, `1448B`.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::number::{Grammar, QuantityError};

/// An amount of data in bytes. Serialised as a plain number of bytes.
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
pub struct Bytes(pub u64);

const GRAMMAR: Grammar = Grammar {
    quantity: "bytes",
    example: "64KiB, 10MB or 1448B",
    units: &[
        ("B", 1),
        ("KiB", 1 << 10),
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
        ("TiB", 1 << 40),
        ("K", 1 << 10),
        ("M", 1 << 20),
        ("G", 1 << 30),
        ("T", 1 << 40),
        ("KB", 1_000),
        ("MB", 1_000_000),
        ("GB", 1_000_000_000),
        ("TB", 1_000_000_000_000),
    ],
    unit_names: "B; KiB, MiB, GiB, TiB (or K, M, G, T: powers of 1024); kB, MB, GB, TB (powers of 1000)",
    base: "bytes",
    most: "16 EiB",
    bare: Some(1),
};

impl FromStr for Bytes {
    type Err = QuantityError;

    fn from_str(typed: &str) -> Result<Self, QuantityError> {
        GRAMMAR.parse(typed).map(Self)
    }
}

/// Exact: in the largest unit that leaves nothing over.
impl fmt::Display for Bytes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
        let power = if self.0 == 0 { 0 } else { (self.0.trailing_zeros() / 10) as usize };
        formatter.pad(&format!("{} {}", self.0 >> (10 * power), UNITS[power]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_is_what_is_meant() {
        for (typed, bytes) in [
            ("0", 0),
            ("1448", 1448),
            ("1448B", 1448),
            ("64KiB", 65_536),
            ("64kib", 65_536),
            ("64K", 65_536),
            ("1.5MiB", 1_572_864),
            ("10MB", 10_000_000),
            ("1 GiB", 1 << 30),
            ("1_000kB", 1_000_000),
        ] {
            assert_eq!(typed.parse(), Ok(Bytes(bytes)), "{typed}");
        }
    }

    #[test]
    fn what_is_shown_is_exact() {
        for (bytes, shown) in
            [(0, "0 B"), (48, "48 B"), (65_536, "64 KiB"), (65_507, "65507 B"), (1 << 60, "1 EiB")]
        {
            assert_eq!(Bytes(bytes).to_string(), shown);
        }
    }

    #[test]
    fn what_cannot_be_meant_is_explained() {
        for (typed, words) in [
            ("", "is not a number"),
            ("-1", "is less than nothing"),
            ("KiB", "is not a number"),
            ("1.2.3K", "is not a number"),
            ("1parsec", "is not a unit of bytes"),
            ("0.3B", "not a whole number of bytes"),
            ("99999999TiB", "more than 16 EiB"),
            ("99999999999999999999999999999999999999999", "more than 16 EiB"),
        ] {
            let error = typed.parse::<Bytes>().expect_err(typed).to_string();
            assert!(error.contains(words), "{typed}: {error}");
        }
    }
}
