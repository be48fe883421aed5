//! What a multipath test may ask for, beside what all modes may.

use std::ops::RangeInclusive;

use pathscope_core::quantity::Period;

/// Datagrams of a multipath test that leave together.
pub(super) const GROUPING: RangeInclusive<u64> = 1..=10_000;
/// How long a sender that duplicates late ones waits for the primary.
pub(super) const LATE_BY: RangeInclusive<Period> = Period(1_000)..=Period::from_secs(5);
