//! Numbers of figures in words: as people type them, and as they are told.

use std::str::FromStr;

use pathscope_core::figure::Unit;
use pathscope_core::quantity::{
    BitRate, Bytes, Period, bit_rate, bytes, count, duration_ns, ratio,
};

/// A value of this unit as people type it, in the unit of documents.
pub fn read(unit: Unit, typed: &str) -> Result<f64, String> {
    fn of<T: FromStr<Err: ToString>>(typed: &str, number: fn(T) -> u64) -> Result<f64, String> {
        typed.parse().map(|value| number(value) as f64).map_err(|error: T::Err| error.to_string())
    }
    let number = |typed: &str, what: &str| {
        let number = typed.parse::<f64>().ok().filter(|number| number.is_finite());
        number.ok_or_else(|| format!("write {what}"))
    };
    match unit {
        Unit::Duration => of(typed, |Period(nanoseconds)| nanoseconds),
        Unit::BitRate => of(typed, |BitRate(bits)| bits),
        Unit::Bytes => of(typed, |Bytes(bytes)| bytes),
        Unit::Share => match typed.strip_suffix('%') {
            Some(percent) => {
                number(percent.trim_end(), "a share, as 1% or 0.01").map(|it| it / 100.0)
            }
            None => number(typed, "a share, as 1% or 0.01"),
        },
        _ => number(typed, "a number"),
    }
}

/// A number of this unit in words.
pub fn told(unit: Unit, number: f64) -> String {
    match unit {
        _ if number < 0.0 => format!("-{}", told(unit, -number)),
        Unit::Duration => duration_ns(number.round() as u64),
        Unit::BitRate => bit_rate(number),
        Unit::Bytes => bytes(number.round() as u64),
        Unit::Share => ratio(number),
        Unit::Count if number.fract() == 0.0 => count(number as u64),
        _ => plain(number),
    }
}

/// A number without a unit, to six digits: what sums leave behind that says nothing.
fn plain(number: f64) -> String {
    format!("{number:.5e}").parse().unwrap_or(number).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_told_in_their_unit() {
        for (unit, number, words) in [
            (Unit::Duration, -1_500.4, "-1.5 µs"),
            (Unit::Count, 1_234.0, "1,234"),
            (Unit::Count, 7.5, "7.5"),
            (Unit::Count, 0.05, "0.05"),
            (Unit::Bytes, 65_535.5, "64 KiB"),
            (Unit::Number, 0.1 + 0.2, "0.3"),
            (Unit::Number, -3.0, "-3"),
            (Unit::Share, 0.125, "12.5 %"),
        ] {
            assert_eq!(told(unit, number), words);
        }
    }
}
