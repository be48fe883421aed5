//! What a latency test may ask for, beside what all modes may.

use std::ops::RangeInclusive;

use pathscope_core::quantity::{Bytes, Period};

/// From one ping to the next.
pub(super) const PERIOD: RangeInclusive<Period> = Period(1_000)..=Period::from_secs(3_600);
/// Pings of one test.
pub(super) const ITERATIONS: RangeInclusive<u64> = 1..=1_000_000_000_000;
/// Bytes of a ping over TCP.
pub(super) const TCP_PING: RangeInclusive<Bytes> = Bytes(1)..=Bytes(1 << 20);
/// Bytes of a ping over UDP: its header, to the most that a datagram carries.
pub(super) const UDP_PING: RangeInclusive<Bytes> =
    Bytes(super::HEADER_BYTES as u64)..=Bytes(65_507);
/// The same, with the note that stands behind the header where kernel stamps are asked for.
pub(super) const STAMPED_PING: RangeInclusive<Bytes> =
    Bytes(super::NOTED_BYTES as u64)..=Bytes(65_507);
/// Flows of a latency test.
pub(super) const PINGING_FLOWS: RangeInclusive<u64> = 1..=1_000_000;
/// Pings of one flow on their way at a time.
pub(super) const OUTSTANDING: RangeInclusive<u64> = 1..=1_024;
/// Pings of all flows on their way at a time: each takes four places in a window of memory, in 160 bytes.
pub(super) const PINGS_ON_THEIR_WAY: u64 = 1 << 20;
/// Bytes of one ping of each flow of a test: what a server holds for a stranger.
pub(super) const PING_BYTES_OF_ALL: u64 = 64 << 20;
/// How many percentiles can be asked for.
pub(super) const PERCENTILES: RangeInclusive<u64> = 0..=32;
/// A percentile, in 10⁻⁹.
pub(super) const PERCENTILE_PPB: RangeInclusive<u32> = 1..=999_999_999;
/// Where a histogram of equal ranges begins.
pub(super) const HISTOGRAM_START: RangeInclusive<Period> = Period(0)..=Period::from_secs(60);
/// The width of its ranges.
pub(super) const HISTOGRAM_WIDTH: RangeInclusive<Period> = Period(1)..=Period::from_secs(60);
/// Their number.
pub(super) const HISTOGRAM_COUNT: RangeInclusive<u32> = 1..=10_000;
