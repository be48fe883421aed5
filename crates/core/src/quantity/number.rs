//! A decimal number followed by a unit, without going through floating point.

use std::path::Path;

use thiserror::Error;

/// Why a typed quantity could not be understood.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
pub enum QuantityError {
    /// Nothing that starts with a digit.
    #[error("'{typed}' is not a number followed by a unit; write for example {example}")]
    NotANumber {
        /// What was typed.
        typed: String,
        /// Something that would have been understood.
        example: &'static str,
    },
    /// Less than nothing.
    #[error("'{typed}' is less than nothing; write for example {example}")]
    Negative {
        /// What was typed.
        typed: String,
        /// Something that would have been understood.
        example: &'static str,
    },
    /// A number with no unit where several are possible.
    #[error("'{typed}' has no unit; write for example {example}")]
    NoUnit {
        /// What was typed.
        typed: String,
        /// Something that would have been understood.
        example: &'static str,
    },
    /// A unit that is not known for this quantity.
    #[error("'{unit}' in '{typed}' is not a unit of {quantity}; the units are {units}")]
    UnknownUnit {
        /// What was typed.
        typed: String,
        /// Its unit.
        unit: String,
        /// What was being read.
        quantity: &'static str,
        /// The units that are known.
        units: &'static str,
    },
    /// More than fits.
    #[error("'{typed}' is more than {most}")]
    TooLarge {
        /// What was typed.
        typed: String,
        /// The largest value.
        most: &'static str,
    },
    /// A fraction of the smallest unit.
    #[error("'{typed}' is not a whole number of {base}")]
    NotWhole {
        /// What was typed.
        typed: String,
        /// The base unit.
        base: &'static str,
    },
}

/// A file's name as part of a sentence: whole, of one line, with its bytes that are no text as `\xff`, and nothing in it that
/// a terminal takes for an order.
pub fn named(file: &Path) -> String {
    let mut named = String::new();
    for chunk in file.as_os_str().as_encoded_bytes().utf8_chunks() {
        for character in chunk.valid().chars() {
            if character.is_control() {
                named.extend(character.escape_default());
            } else {
                named.push(character);
            }
        }
        named.extend(chunk.invalid().iter().flat_map(|byte| byte.escape_ascii().map(char::from)));
    }
    named
}

/// What was typed, as part of a sentence: of one line, not longer than a name, and nothing in it that a terminal takes
/// for an order.
pub fn shown(typed: &str) -> String {
    const MOST: usize = 64;
    let mut shown = String::new();
    for character in typed.chars().take(MOST) {
        if character.is_control() {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    if typed.chars().nth(MOST).is_some() {
        shown.push('…');
    }
    shown
}

/// How one quantity is written: its units, each as (name, multiple of the base unit).
pub(super) struct Grammar {
    pub quantity: &'static str,
    pub example: &'static str,
    pub units: &'static [(&'static str, u64)],
    pub unit_names: &'static str,
    pub base: &'static str,
    pub most: &'static str,
    /// What a bare number counts, where only one unit is possible.
    pub bare: Option<u64>,
}

impl Grammar {
    /// Reads `typed` as a whole number of base units.
    pub fn parse(&self, typed: &str) -> Result<u64, QuantityError> {
        let (text, typed) = (typed.trim(), &*shown(typed));
        if text
            .strip_prefix('-')
            .is_some_and(|rest| rest.starts_with(|it: char| it.is_ascii_digit()))
        {
            return Err(QuantityError::Negative { typed: typed.to_owned(), example: self.example });
        }
        let digits_end = text
            .find(|character: char| {
                !character.is_ascii_digit() && character != '.' && character != '_'
            })
            .unwrap_or(text.len());
        let (number, unit) = text.split_at(digits_end);
        let multiple = self.multiple(typed, number, unit.trim())?;
        self.scale(typed, number, multiple)
    }

    fn multiple(&self, typed: &str, number: &str, unit: &str) -> Result<u64, QuantityError> {
        if !number.starts_with(|character: char| character.is_ascii_digit()) {
            return Err(QuantityError::NotANumber {
                typed: typed.to_owned(),
                example: self.example,
            });
        }
        if unit.is_empty() {
            // Nothing is nothing in every unit.
            let zero = number.bytes().all(|byte| matches!(byte, b'0' | b'.' | b'_'));
            return self
                .bare
                .or(zero.then_some(1))
                .ok_or(QuantityError::NoUnit { typed: typed.to_owned(), example: self.example });
        }
        let known = self.units.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit));
        known.map(|&(_, multiple)| multiple).ok_or_else(|| QuantityError::UnknownUnit {
            typed: typed.to_owned(),
            unit: shown(unit),
            quantity: self.quantity,
            units: self.unit_names,
        })
    }

    fn scale(&self, typed: &str, number: &str, multiple: u64) -> Result<u64, QuantityError> {
        let too_large = || QuantityError::TooLarge { typed: typed.to_owned(), most: self.most };
        let not_a_number =
            || QuantityError::NotANumber { typed: typed.to_owned(), example: self.example };
        let number = number.replace('_', "");
        let (whole, fraction) = number.split_once('.').unwrap_or((&number, ""));
        if fraction.contains('.') || fraction.len() > 18 {
            return Err(not_a_number());
        }
        let whole: u128 = whole.parse().map_err(|_| too_large())?;
        let fraction_digits = fraction.len() as u32;
        let fraction: u128 =
            if fraction.is_empty() { 0 } else { fraction.parse().map_err(|_| not_a_number())? };
        let denominator = 10_u128.pow(fraction_digits);
        let whole_units = whole.checked_mul(u128::from(multiple)).ok_or_else(too_large)?;
        let fraction_units = fraction * u128::from(multiple);
        if !fraction_units.is_multiple_of(denominator) {
            return Err(QuantityError::NotWhole { typed: typed.to_owned(), base: self.base });
        }
        let total = whole_units.checked_add(fraction_units / denominator).ok_or_else(too_large)?;
        u64::try_from(total).map_err(|_| too_large())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_whole_and_steer_no_terminal() {
        assert_eq!(named(Path::new("a b/\u{e4}.json")), "a b/\u{e4}.json");
        assert_eq!(named(Path::new("a\u{1b}[2J\n.json")), "a\\u{1b}[2J\\n.json");
        let long = "x".repeat(200);
        assert_eq!(named(Path::new(&long)), long);
    }
}
