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
    let is_whole = number >= 0.0 && number.fract() == 0.0;
    match unit {
        Unit::Duration if number >= 0.0 => duration_ns(number.round() as u64),
        Unit::BitRate => bit_rate(number),
        Unit::Bytes if is_whole => bytes(number as u64),
        Unit::Count if is_whole => count(number as u64),
        Unit::Share => ratio(number),
        _ => number.to_string(),
    }
}
