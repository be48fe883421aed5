//! What a test of datagram goodput may ask for, beside what all modes may.

use std::ops::RangeInclusive;

use pathscope_core::quantity::Bytes;

use crate::conventions::Framing;

/// The most that a datagram carries.
const DATAGRAM_MOST: Bytes = Bytes(65_507);
/// The least that is taken for a datagram of iperf3, whose header may be shorter; and of ntttcp, which has none.
const SEQUENCED_LEAST: Bytes = Bytes(16);
/// Bytes of a datagram of goodput, however it is laid out.
pub(super) const DATAGRAM: RangeInclusive<Bytes> = SEQUENCED_LEAST..=DATAGRAM_MOST;

/// The same of those that are laid out so: from their header on.
pub(super) const fn datagram(framing: Framing) -> RangeInclusive<Bytes> {
    match framing {
        Framing::Sequenced(_) | Framing::Unnumbered => DATAGRAM,
        Framing::Own | Framing::Bare | Framing::Frames => {
            Bytes(super::HEADER_BYTES as u64)..=DATAGRAM_MOST
        }
    }
}
/// Flows of datagrams.
pub(super) const DATAGRAM_FLOWS: RangeInclusive<u64> = 1..=1_000_000;
