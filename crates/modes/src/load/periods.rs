//! From one share of a rate to the next. Not here: who sends what is due, which is each mode's.

use std::ops::RangeInclusive;

use pathscope_core::quantity::{BitRate, Period};

/// How long that may be.
pub const RATE_PERIOD: RangeInclusive<Period> = Period(1_000_000)..=Period::from_secs(60);

/// In which blocks of so many bytes leave whole at such a rate, at least so many at once: as many as make up the shortest. None where they
/// take longer than the longest.
pub fn period_of_whole_blocks(rate: BitRate, block_bytes: u64, at_once: u64) -> Option<Period> {
    let block_bytes = block_bytes.max(1);
    let least = rate.bytes_in(RATE_PERIOD.start().0).div_ceil(block_bytes);
    let bytes = at_once.max(1).max(least).saturating_mul(block_bytes);
    // Rounded up: a period that were short of a byte would hold no whole block.
    Some(Period(rate.nanos_for(bytes))).filter(|period| RATE_PERIOD.contains(period))
}
