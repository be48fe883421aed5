//! How ctsTraffic's words are made: `-Name:value`, numbers in tens or sixteens, ranges in brackets. What each name means is
//! not told here.

use std::ops::RangeInclusive;

use pathscope_core::quantity::shown;

/// One value, or a range of them, both ends included.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Range {
    /// The value, or the least.
    pub low: u64,
    /// The most: of one value, the value.
    pub high: u64,
}

impl Range {
    /// One value.
    pub const fn one(value: u64) -> Self {
        Self { low: value, high: value }
    }

    /// Whether it is more than one value.
    pub const fn is_range(self) -> bool {
        self.low != self.high
    }

    /// How many values there are.
    pub const fn count(self) -> u64 {
        (self.high - self.low).saturating_add(1)
    }

    /// As our own options take it, each value in this unit.
    pub fn typed(self, unit: &str) -> String {
        let Self { low, high } = self;
        if self.is_range() { format!("[{low}{unit},{high}{unit}]") } else { format!("{low}{unit}") }
    }
}

/// The name and the value of a word. The name ends at the first colon, so that addresses of IPv6 are values.
pub fn split(word: &str) -> Result<(&str, &str), String> {
    let said = shown(word);
    let Some(rest) = word.strip_prefix('-') else {
        let bare = word.strip_prefix('/').unwrap_or(word);
        return Err(format!("'{said}' is no option: options begin with '-', as -{}", shown(bare)));
    };
    match rest.split_once(':') {
        Some((name, value)) if !name.is_empty() && !value.is_empty() => Ok((name, value)),
        Some((name, _)) if !name.is_empty() => {
            Err(format!("'{said}' has no value: write -{}:value", shown(name)))
        }
        None if !rest.is_empty() => {
            Err(format!("'{said}' has no value: write -{}:value", shown(rest)))
        }
        _ => Err(format!("'{said}' is no option: write -Name:value")),
    }
}

/// A whole number in this range: in tens, or in sixteens where it has an `x`.
pub fn number(typed: &str, within: &RangeInclusive<u64>) -> Result<u64, String> {
    let (digits, base) = match typed.split_once(['x', 'X']) {
        Some(("" | "0", digits)) => (digits, 16),
        _ => (typed, 10),
    };
    // A sign is no digit, though the parser of numbers takes one.
    let is_digits = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let read = is_digits.then(|| u64::from_str_radix(digits, base).ok()).flatten();
    let (least, most) = (within.start(), within.end());
    match read {
        Some(value) if within.contains(&value) => Ok(value),
        _ if *most == u64::MAX => {
            Err(format!("'{}' is not a whole number from {least} on, as 100 or 0x64", shown(typed)))
        }
        _ => Err(format!(
            "'{}' is not a whole number from {least} to {most}, as 100 or 0x64",
            shown(typed)
        )),
    }
}

/// One number, or `[low,high]`.
pub fn range(typed: &str, within: &RangeInclusive<u64>) -> Result<Range, String> {
    let Some(rest) = typed.strip_prefix('[') else {
        return number(typed, within).map(Range::one);
    };
    let ends = rest.strip_suffix(']').and_then(|inner| inner.split_once(','));
    let no_range = || format!("'{}' is no range: write [low,high]", shown(typed));
    let (low, high) = ends.ok_or_else(no_range)?;
    let (low, high) = (number(low, within)?, number(high, within)?);
    if low > high {
        return Err(format!("'{}' ends before it begins: write [low,high]", shown(typed)));
    }
    Ok(Range { low, high })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_ends_at_the_first_colon() {
        assert_eq!(split("-listen:*"), Ok(("listen", "*")));
        assert_eq!(split("-Target:fe80::1"), Ok(("Target", "fe80::1")));
        assert_eq!(split("-listen:::1"), Ok(("listen", "::1")));
        for (word, part) in [
            ("framerate:60", "begin with '-', as -framerate:60"),
            ("/listen:*", "begin with '-', as -listen:*"),
            ("-listen", "write -listen:value"),
            ("-listen:", "write -listen:value"),
            ("-:5", "-Name:value"),
            ("-", "-Name:value"),
            ("", "begin with '-'"),
        ] {
            let error = split(word).expect_err(word);
            assert!(error.contains(part), "{word}: {error}");
        }
        assert!(!split("a\u{1b}[31m").expect_err("no option").contains('\u{1b}'));
    }

    #[test]
    fn numbers_are_in_tens_or_in_sixteens_and_whole() {
        let all = &(0..=u64::MAX);
        for (typed, value) in [
            ("0", 0),
            ("65536", 65_536),
            ("0x10000", 65_536),
            ("0X1f", 31),
            ("x1F", 31),
            ("0xffffffffffffffff", u64::MAX),
        ] {
            assert_eq!(number(typed, all), Ok(value), "{typed}");
        }
        for typed in [
            "",
            "x",
            "0x",
            "-1",
            "+1",
            "1.5",
            "128KB",
            "10h",
            "1 ",
            "0x1g",
            "0x-1",
            "1x2",
            "18446744073709551616",
        ] {
            let error = number(typed, all).expect_err(typed);
            assert!(error.contains("is not a whole number"), "{typed}: {error}");
        }
        assert_eq!(number("65535", &(1..=65_535)), Ok(65_535));
        let error = number("65536", &(1..=65_535)).expect_err("too large");
        assert!(error.contains("from 1 to 65535"), "{error}");
    }

    #[test]
    fn a_range_has_two_ends_in_order() {
        let all = &(1..=u64::MAX);
        let whole = Range { low: 1_024, high: 1_048_576 };
        assert_eq!(range("[1024,1048576]", all), Ok(whole));
        assert_eq!(range("[0x400,0x100000]", all), Ok(whole));
        assert_eq!((whole.typed("B"), whole.count()), ("[1024B,1048576B]".to_owned(), 1_047_553));
        assert_eq!(range("7", all), Ok(Range::one(7)));
        assert_eq!((Range::one(7).typed("bit"), Range::one(7).count()), ("7bit".to_owned(), 1));
        assert_eq!(range("[5,5]", all), Ok(Range::one(5)));
        for (typed, part) in [
            ("[1,2", "write [low,high]"),
            ("[12]", "write [low,high]"),
            ("[2,1]", "ends before it begins"),
            ("[,2]", "whole number"),
            ("[1,2,3]", "'2,3'"),
            ("[0,2]", "from 1 on"),
        ] {
            let error = range(typed, all).expect_err(typed);
            assert!(error.contains(part), "{typed}: {error}");
        }
    }
}
