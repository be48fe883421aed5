//! Numbers as iperf3 takes them: with suffixes of tens or of twos, in C's ways of writing, and names of code points.

use pathscope_core::quantity::shown;

/// What a suffix counts.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Suffix {
    /// Bits a second: `K` is a thousand.
    Rate,
    /// Bytes and counts: `K` is 1,024.
    Size,
}

/// A number with a suffix, rounded down; or why it is none, behind the option's name.
pub(super) fn number(typed: &str, suffix: Suffix) -> Result<u64, String> {
    let digits = typed.trim_end_matches(|it: char| it.is_ascii_alphabetic());
    let unit: u64 = match suffix {
        Suffix::Rate => 1_000,
        Suffix::Size => 1_024,
    };
    let factor = match &typed[digits.len()..] {
        "" => 1,
        "k" | "K" => unit,
        "m" | "M" => unit.pow(2),
        "g" | "G" => unit.pow(3),
        "t" | "T" => unit.pow(4),
        _ => return Err(format!("'{}' has no suffix of K, M, G or T", shown(typed))),
    };
    let number: f64 = digits.parse().map_err(|_| format!("'{}' is no number", shown(typed)))?;
    let all = number * factor as f64;
    if all.is_finite() && (0.0..u64::MAX as f64).contains(&all) {
        Ok(all as u64)
    } else {
        Err(format!("'{}' is no number that can be counted", shown(typed)))
    }
}

/// A whole number as C reads it: 52, 064 and 0x34 are one.
pub(super) fn c_number(typed: &str) -> Option<u64> {
    let lower = typed.to_ascii_lowercase();
    match lower.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None if lower.len() > 1 && lower.starts_with('0') => {
            u64::from_str_radix(&lower[1..], 8).ok()
        }
        None => lower.parse().ok(),
    }
}

/// A code point by its name, or its number.
pub(super) fn code_point(typed: &str) -> Option<u64> {
    let name = typed.to_ascii_lowercase();
    let digits = |prefix: &str| {
        name.strip_prefix(prefix).filter(|it| it.bytes().all(|it| it.is_ascii_digit()))
    };
    if let Some(class) = digits("af") {
        // A class from 1 to 4, and in it a precedence to be dropped from 1 to 3 (RFC 2597).
        return match class.as_bytes() {
            [class @ b'1'..=b'4', drop @ b'1'..=b'3'] => {
                Some(u64::from(class - b'0') * 8 + u64::from(drop - b'0') * 2)
            }
            _ => None,
        };
    }
    if let Some(class) = digits("cs") {
        return class.parse().ok().filter(|class| *class <= 7).map(|class: u64| class * 8);
    }
    match name.as_str() {
        "ef" => Some(46),
        "va" => Some(44),
        // The names of RFC 1349 are of the whole byte, of which these are the upper bits.
        "lowdelay" => Some(4),
        "throughput" => Some(2),
        "reliability" => Some(1),
        _ => c_number(&name),
    }
    .filter(|point| *point <= 63)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suffixes_of_rates_are_of_tens_and_those_of_sizes_of_twos() {
        for (typed, rate, size) in [
            ("10", 10, 10),
            ("1k", 1_000, 1_024),
            ("1.5M", 1_500_000, 1_572_864),
            ("2G", 2_000_000_000, 2 << 30),
            ("1t", 1_000_000_000_000, 1 << 40),
            ("0", 0, 0),
        ] {
            assert_eq!(number(typed, Suffix::Rate), Ok(rate), "{typed}");
            assert_eq!(number(typed, Suffix::Size), Ok(size), "{typed}");
        }
        for typed in ["1X", "1KB", "", "K", "-1", "nan", "1e99T"] {
            assert!(number(typed, Suffix::Size).is_err(), "{typed}");
        }
    }

    #[test]
    fn code_points_have_names_and_numbers_are_those_of_c() {
        for (typed, point) in [
            ("af11", 10),
            ("AF43", 38),
            ("cs0", 0),
            ("CS7", 56),
            ("ef", 46),
            ("va", 44),
            ("lowdelay", 4),
            ("0x2e", 46),
            ("056", 46),
            ("46", 46),
            ("0", 0),
        ] {
            assert_eq!(code_point(typed), Some(point), "{typed}");
        }
        for typed in ["af44", "af51", "cs8", "64", "best", "", "afé", "08"] {
            assert_eq!(code_point(typed), None, "{typed}");
        }
    }
}
