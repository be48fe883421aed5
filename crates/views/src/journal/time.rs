//! Times as rows have them.

/// Seconds with three decimals.
pub fn seconds(nanoseconds: u64) -> String {
    three_decimals(nanoseconds, 1_000_000_000)
}

/// Milliseconds with three decimals.
pub fn milliseconds(nanoseconds: u64) -> String {
    three_decimals(nanoseconds, 1_000_000)
}

/// `nanoseconds` in a unit, with three decimals, rounded down.
fn three_decimals(nanoseconds: u64, unit: u64) -> String {
    format!("{}.{:03}", nanoseconds / unit, nanoseconds % unit / (unit / 1_000))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_has_three_decimals() {
        assert_eq!(seconds(5_002_999_999), "5.002");
        assert_eq!(seconds(1_000_000), "0.001");
        assert_eq!(milliseconds(1_500), "0.001");
    }
}
