//! Totals of flows in few bytes, for tests with very many: 13 for each, where JSON takes some 50. Not when they are told, nor to
//! whom.
//!
//! ```text
//!  0       1         5          13
//!  +-------+---------+----------+--
//!  | group | flow    | total    | the next
//!  +-------+---------+----------+--
//! ```
//!
//! Numbers are in network order.

use pathscope_core::id::FlowId;
use pathscope_flow::GroupId;

use super::body::BodyError;

/// A flow of a group, and its total.
pub(super) type Total = (GroupId, FlowId, u64);

/// Bytes of one flow.
pub(super) const FLOW_BYTES: usize = 13;

/// These totals, one after the other.
pub(super) fn pack(totals: impl ExactSizeIterator<Item = Total>) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(totals.len() * FLOW_BYTES);
    for (group, flow, total) in totals {
        bytes.push(group.0);
        bytes.extend_from_slice(&flow.0.to_be_bytes());
        bytes.extend_from_slice(&total.to_be_bytes());
    }
    bytes
}

/// The totals in a body, or that it holds none.
pub(super) fn unpack(bytes: &[u8]) -> Result<impl Iterator<Item = Total>, BodyError> {
    let (flows, rest) = bytes.as_chunks::<FLOW_BYTES>();
    if !rest.is_empty() {
        return Err(BodyError::Totals(bytes.len()));
    }
    let read = |&[group, f0, f1, f2, f3, ref total @ ..]: &[u8; FLOW_BYTES]| {
        let flow = FlowId(u32::from_be_bytes([f0, f1, f2, f3]));
        (GroupId(group), flow, u64::from_be_bytes(*total))
    };
    Ok(flows.iter().map(read))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn packed(totals: &[Total]) -> Vec<u8> {
        pack(totals.iter().copied())
    }

    #[test]
    fn the_bytes_are_a_promise() {
        let total = (GroupId(1), FlowId(0x0203_0405), 0x0607);
        assert_eq!(packed(&[total]), [1, 2, 3, 4, 5, 0, 0, 0, 0, 0, 0, 6, 7]);
        assert!(packed(&[]).is_empty());
    }

    proptest! {
        #[test]
        fn totals_come_back_as_they_were_and_nothing_else_is_read(
            totals in prop::collection::vec(any::<(u8, u32, u64)>(), 0..40),
            cut in 1..FLOW_BYTES,
        ) {
            let total = |(group, flow, total)| (GroupId(group), FlowId(flow), total);
            let totals: Vec<Total> = totals.into_iter().map(total).collect();
            let mut bytes = packed(&totals);
            prop_assert_eq!(unpack(&bytes).ok().map(Vec::from_iter), Some(totals));
            bytes.extend(std::iter::repeat_n(7, cut));
            prop_assert!(unpack(&bytes).is_err());
        }
    }
}
