//! Quantities for people: four significant digits, the unit that keeps the number small.
//!
//! Rounding happens here and nowhere else; a view calls these and documents never do.

const DECIMAL: [&str; 7] = ["", "k", "M", "G", "T", "P", "E"];
const BINARY: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

/// Bits a second: `72.15 Gbit/s`.
pub fn bit_rate(bits_per_second: f64) -> String {
    let (value, prefix) = step_down(bits_per_second, 1_000.0, &DECIMAL);
    format!("{} {prefix}bit/s", digits(value))
}

/// An amount of data: `256 MiB`.
pub fn bytes(bytes: u64) -> String {
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let (value, unit) = step_down(bytes as f64, 1024.0, &BINARY);
    format!("{} {unit}", trim(&digits(value)))
}

/// A length of time in the unit that suits it: `6.51 µs`, `250 ms`, `10 s`.
pub fn duration_ns(nanoseconds: u64) -> String {
    let value = nanoseconds as f64;
    let (value, unit) = match nanoseconds {
        0 => return "0 s".to_owned(),
        1..1_000 => return format!("{nanoseconds} ns"),
        1_000..1_000_000 => (value / 1e3, "µs"),
        1_000_000..1_000_000_000 => (value / 1e6, "ms"),
        _ => (value / 1e9, "s"),
    };
    format!("{} {unit}", trim(&digits(value)))
}

/// A count with thousands set apart: `1,234,567`.
pub fn count(count: u64) -> String {
    group(&count.to_string())
}

/// So many of something: `1 connection`, `1,200 connections`; for words whose plural has an s more.
pub fn counted(number: u64, one: &str) -> String {
    let many = if number == 1 { "" } else { "s" };
    format!("{} {one}{many}", count(number))
}

/// The verb of so many: `1 datagram was`, `2 datagrams were`.
pub const fn were(number: u64) -> &'static str {
    if number == 1 { "was" } else { "were" }
}

/// So many echoes, whose plural is another than [`counted`] makes.
pub fn echoes(number: u64) -> String {
    let many = if number == 1 { "echo" } else { "echoes" };
    format!("{} {many}", count(number))
}

/// Things a second: `1,000 /s`, `12.50 /s`.
pub fn frequency(per_second: f64) -> String {
    if per_second.is_finite() && per_second.abs() >= 999.95 {
        format!("{} /s", group(&format!("{per_second:.0}")))
    } else {
        format!("{} /s", trim(&digits(per_second)))
    }
}

/// A mean of counts: `1.5`, `12`, `19,642`; a whole number where it is so large that parts say nothing.
pub fn average(mean: f64) -> String {
    if mean.abs() >= 99.95 { group(&format!("{mean:.0}")) } else { trim(&format!("{mean:.1}")) }
}

/// The least percentage that three decimals would round to 100.
pub(super) const ALMOST_ALL: f64 = 99.999_5;

/// A share of one, as a percentage: `97.1 %`. What is not nothing is not told as nothing, nor what is not all as all.
pub fn ratio(ratio: f64) -> String {
    if !ratio.is_finite() {
        return "n/a".to_owned();
    }
    let percent = ratio * 100.0;
    let is_almost_all = (99.95..100.0).contains(&percent);
    if percent != 0.0 && percent.abs() < 0.000_5 {
        "<0.001 %".to_owned()
    } else if is_almost_all && percent >= ALMOST_ALL {
        ">99.999 %".to_owned()
    } else if is_almost_all || percent != 0.0 && percent.abs() < 0.1 {
        format!("{percent:.3} %")
    } else {
        format!("{percent:.1} %")
    }
}

/// A whole number with thousands set apart; a sign stays in front.
pub(super) fn group(whole: &str) -> String {
    let digits = whole.trim_start_matches('-');
    let mut grouped = whole[..whole.len() - digits.len()].to_owned();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// Four significant digits, no exponent.
fn digits(value: f64) -> String {
    match value.abs() {
        size if !size.is_finite() => "n/a".to_owned(),
        size if size < 9.9995 => format!("{value:.3}"),
        size if size < 99.995 => format!("{value:.2}"),
        size if size < 999.95 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

/// Without the zeros that say nothing: `250.0` becomes `250`.
fn trim(number: &str) -> String {
    if number.contains('.') {
        number.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        number.to_owned()
    }
}

fn step_down<'unit>(value: f64, step: f64, units: &[&'unit str]) -> (f64, &'unit str) {
    let mut value = value;
    let mut index = 0;
    // 999.95 prints as 1000: take the next unit already there.
    while value.abs() >= step - step / 20_000.0 && index + 1 < units.len() {
        value /= step;
        index += 1;
    }
    (value, units[index])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_read_four_digits() {
        assert_eq!(bit_rate(72_150_000_000.0), "72.15 Gbit/s");
        assert_eq!(bit_rate(999_999_999.0), "1.000 Gbit/s");
        assert_eq!(bit_rate(0.0), "0.000 bit/s");
        assert_eq!(bit_rate(f64::NAN), "n/a bit/s");
        assert_eq!(bytes(268_435_456), "256 MiB");
        assert_eq!(bytes(1023), "1023 B");
        assert_eq!(duration_ns(6_512), "6.512 µs");
        assert_eq!(duration_ns(250_000_000), "250 ms");
        assert_eq!(duration_ns(0), "0 s");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(count(999), "999");
        assert_eq!(frequency(1_000.2), "1,000 /s");
        assert_eq!(frequency(12.5), "12.5 /s");
        assert_eq!(frequency(-1_234_567.0), "-1,234,567 /s");
        assert_eq!(average(19_642.04), "19,642");
        assert_eq!(average(1.071), "1.1");
        assert_eq!(average(3.0), "3");
        assert_eq!(ratio(0.000_001), "<0.001 %");
        assert_eq!(ratio(0.971_3), "97.1 %");
        assert_eq!(ratio(0.000_012), "0.001 %");
        assert_eq!(ratio(0.0), "0.0 %");
        assert_eq!(ratio(0.999_4), "99.9 %");
        assert_eq!(ratio(2_999.0 / 3_000.0), "99.967 %");
        assert_eq!(ratio(1.0 - 1e-5), "99.999 %");
        assert_eq!(ratio(1_999_999.0 / 2_000_000.0), ">99.999 %");
        assert_eq!(ratio(1.0), "100.0 %");
    }
}
