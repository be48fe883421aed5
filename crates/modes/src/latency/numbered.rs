//! Pings over streams that say their number (`conventions::NumberedPings`): the bytes of each, and whether bytes are those. Not
//! here: those of a keyed stream (`content`), and when they leave.

use pathscope_flow::Gather;

use crate::conventions::NumberedPings;

const NUMBER_BYTES: usize = NumberedPings::NUMBER_BYTES;

impl NumberedPings {
    /// The stream of pings of this length from `position` on, to the end of the ping that this is in or as much as fits.
    pub(super) fn gather_ping(self, length: usize, position: u64, gather: &mut Gather<'_>) {
        let (number, offset) = place(length, position);
        self.gather_message(said(number), (length, offset), gather);
    }

    /// The first message, which is no ping, from `offset` on.
    pub(super) fn gather_opening(self, length: usize, offset: usize, gather: &mut Gather<'_>) {
        self.gather_message(self.opening, (length, offset), gather);
    }

    /// Whether these bytes continue the stream of pings of this length at `position`.
    pub(super) fn continues(self, length: usize, mut position: u64, mut bytes: &[u8]) -> bool {
        while !bytes.is_empty() {
            let (number, offset) = place(length, position);
            let (piece, rest) = bytes.split_at((length - offset).min(bytes.len()));
            if !self.is_of(said(number), offset, piece) {
                return false;
            }
            position = position.wrapping_add(piece.len() as u64);
            bytes = rest;
        }
        true
    }

    /// Whether these are the bytes of the first message from `offset` on.
    pub(super) fn is_opening(self, offset: usize, bytes: &[u8]) -> bool {
        self.is_of(self.opening, offset, bytes)
    }

    fn gather_message(
        self,
        head: [u8; NUMBER_BYTES],
        (length, offset): (usize, usize),
        gather: &mut Gather<'_>,
    ) {
        let unsaid = head.get(offset..).unwrap_or_default();
        if gather.copy(unsaid) == unsaid.len() {
            let limit = length.saturating_sub(offset.max(NUMBER_BYTES));
            self.filler.gather(offset.saturating_sub(NUMBER_BYTES) as u64, limit, gather);
        }
    }

    fn is_of(self, head: [u8; NUMBER_BYTES], offset: usize, bytes: &[u8]) -> bool {
        let said = head.get(offset..).unwrap_or_default();
        let (first, filled) = bytes.split_at(said.len().min(bytes.len()));
        let position = offset.saturating_sub(NUMBER_BYTES) as u64;
        said.starts_with(first) && self.filler.first_wrong(position, filled).is_none()
    }
}

/// The number of the ping in which a byte of the stream is, and where in it.
fn place(length: usize, position: u64) -> (u64, usize) {
    let length = length.max(1) as u64;
    (position / length, (position % length) as usize)
}

/// What a ping says of its number: the low bits of it.
fn said(number: u64) -> [u8; NUMBER_BYTES] {
    (number as u32).to_le_bytes()
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::pattern::Block;

    pub(in crate::latency) const PINGS: NumberedPings =
        NumberedPings { opening: [0xd0, 0x14, 0, 0], filler: Block::new(b"AAAAAAA") };

    fn gathered(room: usize, gather_into: impl Fn(&mut Gather<'_>)) -> Vec<u8> {
        let mut scratch = [0; 64];
        let mut gather = Gather::new(&mut scratch, room);
        gather_into(&mut gather);
        gather.slices().iter().flat_map(|slice| slice.to_vec()).collect()
    }

    #[test]
    fn a_ping_is_its_number_and_the_filler() {
        let ping = |length, position| {
            gathered(1 << 20, |gather| PINGS.gather_ping(length, position, gather))
        };
        assert_eq!(ping(4, 0), [0, 0, 0, 0]);
        assert_eq!(ping(4, 4 * 0x0102_0304), [4, 3, 2, 1]);
        assert_eq!(ping(6, 6), *b"\x01\0\0\0AA");
        assert_eq!(ping(6, 9), *b"\0AA");
        assert_eq!(ping(4, 4 << 32), [0, 0, 0, 0], "the low bits alone are said");
        assert_eq!(ping(64, 0), [&[0; 4][..], &[b'A'; 60]].concat());
        let opening =
            |length, offset| gathered(99, |gather| PINGS.gather_opening(length, offset, gather));
        assert_eq!(opening(4, 0), [0xd0, 0x14, 0, 0]);
        assert_eq!(opening(9, 1), *b"\x14\0\0AAAAA");
    }

    proptest! {
        #[test]
        fn what_is_sent_in_whatever_pieces_is_what_is_awaited(
            length in 4_usize..300, first in 0_u64..1 << 34, room in 1_usize..90, flip in 1_u8..,
        ) {
            let from = first * length as u64;
            let (mut position, mut stream) = (from, Vec::new());
            while stream.len() < 5 * length {
                let piece = gathered(room, |gather| PINGS.gather_ping(length, position, gather));
                prop_assert!(!piece.is_empty());
                position += piece.len() as u64;
                stream.extend(piece);
            }
            prop_assert!(PINGS.continues(length, from, &stream));
            let (head, tail) = stream.split_at(room.min(stream.len()));
            prop_assert!(PINGS.continues(length, from, head));
            prop_assert!(PINGS.continues(length, from + head.len() as u64, tail));
            let index = (first as usize * 31 + room) % stream.len();
            stream[index] ^= flip;
            prop_assert!(!PINGS.continues(length, from, &stream));
        }
    }
}
