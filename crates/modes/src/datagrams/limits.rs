//! What a test of datagram goodput may ask for, beside what all modes may.

use std::ops::RangeInclusive;

use pathscope_core::quantity::Bytes;

/// Bytes of a datagram of goodput: its header, to the most that a datagram carries.
pub(super) const DATAGRAM: RangeInclusive<Bytes> =
    Bytes(super::HEADER_BYTES as u64)..=Bytes(65_507);
/// Flows of datagrams.
pub(super) const DATAGRAM_FLOWS: RangeInclusive<u64> = 1..=1_000_000;
