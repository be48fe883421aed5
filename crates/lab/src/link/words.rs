//! What all words of a link's conditions share: how a decimal is read exactly, how quantities are
//! written so that they read back as they were, and why a word could not be understood.

use pathscope_core::quantity::{BitRate, Period, QuantityError};
use thiserror::Error;

/// Why one word could not be understood.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
pub enum WordError {
    /// Not of any form that is known.
    #[error("'{typed}' is not {what}; write for example {example}")]
    Unknown {
        /// What was typed.
        typed: String,
        /// What was to be read.
        what: &'static str,
        /// Something that would have been understood.
        example: &'static str,
    },
    /// Understood, and above the limit.
    #[error("'{typed}' is too much: {what} is never more than {most}")]
    TooMuch {
        /// What was typed.
        typed: String,
        /// What was to be read.
        what: &'static str,
        /// The largest value.
        most: &'static str,
    },
    /// A rate, a time or an amount of data that is none.
    #[error(transparent)]
    Quantity(#[from] QuantityError),
}

impl WordError {
    pub(super) fn unknown(typed: &str, what: &'static str, example: &'static str) -> Self {
        Self::Unknown { typed: typed.to_owned(), what, example }
    }

    pub(super) fn too_much(typed: &str, what: &'static str, most: &'static str) -> Self {
        Self::TooMuch { typed: typed.to_owned(), what, most }
    }
}

/// `number` times `multiple`, where that is a whole number that fits.
pub(super) fn decimal(number: &str, multiple: u64) -> Option<u64> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let is_number = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !is_number(whole) || !is_number(fraction) || fraction.len() > 18 {
        return None;
    }
    let whole = whole.parse::<u64>().ok()?.checked_mul(multiple)?;
    let parts: u128 = if fraction.is_empty() { 0 } else { fraction.parse().ok()? };
    let (parts, of) = (parts * u128::from(multiple), 10_u128.pow(fraction.len() as u32));
    let parts = parts.is_multiple_of(of).then(|| u64::try_from(parts / of).ok())??;
    whole.checked_add(parts)
}

/// A length of time in the largest unit that leaves nothing over. `Period` itself rounds for
/// people.
pub(super) fn period(period: Period) -> String {
    largest_unit(period.0, &[("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000), ("ns", 1)])
}

/// A rate in the largest unit that leaves nothing over. `BitRate` itself rounds for people.
pub(super) fn bit_rate(rate: BitRate) -> String {
    const UNITS: [(&str, u64); 4] =
        [("Gbit", 1_000_000_000), ("Mbit", 1_000_000), ("kbit", 1_000), ("bit", 1)];
    largest_unit(rate.0, &UNITS)
}

fn largest_unit(value: u64, units: &[(&str, u64)]) -> String {
    let fits = |multiple: &u64| value != 0 && value.is_multiple_of(*multiple);
    let unit = units.iter().find(|(_, multiple)| fits(multiple)).or(units.last());
    unit.map_or_else(|| value.to_string(), |(name, multiple)| format!("{}{name}", value / multiple))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn quantities_read_back_as_they_were(value: u64) {
            prop_assert_eq!(period(Period(value)).parse(), Ok(Period(value)));
            prop_assert_eq!(bit_rate(BitRate(value)).parse(), Ok(BitRate(value)));
        }

        #[test]
        fn no_text_makes_a_decimal_panic(text in "[0-9.]{0,24}|.*", multiple: u64) {
            decimal(&text, multiple);
        }
    }

    #[test]
    fn decimals_are_exact_or_refused() {
        assert_eq!(decimal("1.5", 10), Some(15));
        assert_eq!(decimal("1.55", 10), None);
        assert_eq!(decimal("1.", 10), Some(10));
        assert_eq!(decimal(".5", 10), None);
        assert_eq!(decimal("18446744073709551616", 1), None);
    }
}
