//! What a goodput test may ask for, beside what all modes may.

use std::ops::RangeInclusive;

use pathscope_core::quantity::{Bytes, Period};

/// Connections of one test.
pub(super) const CONNECTIONS: RangeInclusive<u64> = 1..=1_000_000;
/// Connects in progress at once.
pub(super) const CONNECT_LIMIT: RangeInclusive<u64> = 1..=100_000;
/// Bytes of one segment of `pushpull`.
pub(super) const SEGMENT: RangeInclusive<Bytes> = Bytes(1)..=Bytes(1 << 40);
/// Sends of one burst.
pub(super) const BURST: RangeInclusive<u64> = 1..=1_000_000;
/// The pause after a burst.
pub(super) const BURST_PAUSE: RangeInclusive<Period> = Period(1_000)..=Period::from_secs(3_600);
