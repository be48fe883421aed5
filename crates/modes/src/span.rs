//! `[low,high]`, as it is typed wherever a range is meant, or a single value.

use std::fmt;
use std::str::FromStr;

/// One value, or a range of them, both ends included.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Span<T> {
    /// The value, or the least.
    pub low: T,
    /// The most; absent: one value.
    pub high: Option<T>,
}

impl<T> Span<T> {
    /// One value.
    pub const fn one(value: T) -> Self {
        Self { low: value, high: None }
    }
}

impl<T> FromStr for Span<T>
where
    T: FromStr,
    T::Err: fmt::Display,
{
    type Err = String;

    fn from_str(typed: &str) -> Result<Self, String> {
        let value = |text: &str| text.trim().parse::<T>().map_err(|error| error.to_string());
        let Some(rest) = typed.strip_prefix('[') else {
            return Ok(Self::one(value(typed)?));
        };
        let ends = rest.strip_suffix(']').and_then(|inner| inner.split_once(','));
        let (low, high) =
            ends.ok_or_else(|| format!("'{typed}' is no range; write it as [low,high]"))?;
        Ok(Self { low: value(low)?, high: Some(value(high)?) })
    }
}

impl<T: fmt::Display> fmt::Display for Span<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.high {
            None => self.low.fmt(formatter),
            Some(high) => write!(formatter, "[{},{high}]", self.low),
        }
    }
}

#[cfg(test)]
mod tests {
    use pathscope_core::quantity::Bytes;

    use super::*;

    #[test]
    fn one_value_or_a_range() {
        let span = |typed: &str| typed.parse::<Span<Bytes>>();
        assert_eq!(span("64KiB"), Ok(Span::one(Bytes(65_536))));
        let range = Span { low: Bytes(1), high: Some(Bytes(2_048)) };
        assert_eq!(span("[1,2KiB]"), Ok(range));
        assert_eq!(span("[1, 2KiB]"), Ok(range));
        assert_eq!(range.to_string(), "[1 B,2 KiB]");
        for (typed, words) in [
            ("[1,2", "write it as [low,high]"),
            ("[1]", "write it as [low,high]"),
            ("[,2]", "not a number"),
            ("[1,2,3]", "'2,3'"),
            ("1,2", "'1,2'"),
        ] {
            let error = span(typed).expect_err(typed);
            assert!(error.contains(words), "{typed}: {error}");
        }
    }
}
