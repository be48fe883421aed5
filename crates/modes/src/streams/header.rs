//! A datagram on the wire: a header that names it and checks itself, then the flow's stream, or nothing.
//!
//! ```text
//!  0       4       8         16         24        32       36      40
//!  +-------+-------+---------+----------+---------+--------+-------+--------
//!  | magic | flow  | token   | sequence | sent    | length | check | filler
//!  +-------+-------+---------+----------+---------+--------+-------+--------
//! ```
//!
//! All numbers little-endian. A datagram of goodput begins with `PSDG`, a consent with `PSCN`. The highest bit of `flow` says
//! that the client sends. `sent` is of the sender's clock,
//! read before the system call that took the datagram, and so the same for all of a batch. `length` is that of the
//! whole payload, this header included. `check` is a digest of all before it, so that a damaged header is told from a
//! damaged filler. The filler is the flow's stream of this direction at position sequence × size + 40, where
//! size is that of the plan.

use pathscope_core::Tick;

use crate::codec;

/// Length of the header, and so of the smallest datagram.
pub const HEADER_BYTES: usize = 40;

/// Bits of `flow` that are not its number.
const FROM_CLIENT: u32 = 1 << 31;
/// Bits of the token that may differ in a damaged datagram of ours. A stranger's differ in 32 on average, and in so few
/// once in three millions.
const TOKEN_BITS: u32 = 12;
/// The same for what is too short to hold a token: bits of the first four bytes.
const MAGIC_BITS: u32 = 4;

/// Whose datagrams they are, and of which kind: the first two words of each.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Identity {
    pub first: u64,
    pub token: u64,
}

impl Identity {
    /// Those of a flow that begin so. Which direction it is stands in the highest bit of its number.
    pub fn new(magic: [u8; 4], token: u64, flow: u32, from_client: bool) -> Self {
        let flow = flow & !FROM_CLIENT | if from_client { FROM_CLIENT } else { 0 };
        Self { first: codec::word(u32::from_le_bytes(magic), flow), token }
    }
}

/// What a header says beyond whose it is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Header {
    pub sequence: u64,
    pub sent: Tick,
    pub length: u32,
}

/// What the first bytes of a datagram are.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Reading<H> {
    /// A header of this flow.
    Sound(H),
    /// What was one, as far as one can tell.
    Damaged,
    /// Somebody else's.
    Foreign,
}

impl Header {
    /// Writes the header to the start of `datagram`, which must have room for it.
    #[inline]
    pub fn write(&self, identity: Identity, datagram: &mut [u8]) {
        let words = [identity.first, identity.token, self.sequence, self.sent.as_nanos()];
        let [first, token, sequence, sent] = words;
        codec::write([first, token, sequence, sent, last_word(words, self.length)], datagram);
    }

    /// Reads what came to the flow of this identity.
    #[inline]
    pub fn read(identity: Identity, datagram: &[u8]) -> Reading<Self> {
        let Some([first, token, sequence, sent, last]) = codec::read(datagram) else {
            return not_ours(identity, datagram);
        };
        let [length, _] = codec::halves(last);
        let is_ours = Identity { first, token } == identity;
        if !is_ours || last != last_word([first, token, sequence, sent], length) {
            return not_ours(identity, datagram);
        }
        Reading::Sound(Self { sequence, sent: Tick::from_nanos(sent), length })
    }
}

/// The length, and above it the check.
#[inline]
fn last_word([first, token, sequence, sent]: [u64; 4], length: u32) -> u64 {
    let words = [first, token, sequence, sent, length.into()];
    let digest = codec::digest(0x5053_4447, &words);
    codec::word(length, (digest ^ digest >> 32) as u32)
}

/// Off the usual way: what came is no sound header of this flow.
#[cold]
fn not_ours(identity: Identity, datagram: &[u8]) -> Reading<Header> {
    let (first, token) = (identity.first.to_le_bytes(), identity.token.to_le_bytes());
    let is_near = match (datagram.get(..4), datagram.get(8..16)) {
        (_, Some(came)) => differing_bits(&token, came) <= TOKEN_BITS,
        (Some(magic), None) => differing_bits(&first, magic) <= MAGIC_BITS,
        (None, None) => false,
    };
    if is_near { Reading::Damaged } else { Reading::Foreign }
}

/// Bits in which the one is not as the other.
pub(super) fn differing_bits(one: &[u8], other: &[u8]) -> u32 {
    one.iter().zip(other).map(|(a, b)| (a ^ b).count_ones()).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MAGIC: [u8; 4] = *b"PSDG";
    const OURS: Identity = Identity {
        first: (FROM_CLIENT as u64 | 7) << 32 | u32::from_le_bytes(MAGIC) as u64,
        token: 0x1122_3344_5566_7788,
    };
    const HEADER_OF_ONE: Header = Header { sequence: 9, sent: Tick::from_nanos(10), length: 1_400 };

    fn written() -> [u8; HEADER_BYTES] {
        let mut datagram = [0xff; HEADER_BYTES];
        HEADER_OF_ONE.write(OURS, &mut datagram);
        datagram
    }

    #[test]
    fn the_header_is_a_promise() {
        assert_eq!(Identity::new(MAGIC, OURS.token, 7, true), OURS);
        let datagram = written();
        assert_eq!(datagram[..16], *b"PSDG\x07\x00\x00\x80\x88\x77\x66\x55\x44\x33\x22\x11");
        assert_eq!(
            datagram[16..36],
            [9, 0, 0, 0, 0, 0, 0, 0, 10, 0, 0, 0, 0, 0, 0, 0, 0x78, 5, 0, 0]
        );
        assert_eq!(datagram[36..], [69, 104, 81, 128]);
        assert_eq!(Header::read(OURS, &datagram), Reading::Sound(HEADER_OF_ONE));
    }

    #[test]
    fn another_session_s_flow_s_or_direction_s_is_foreign_or_damaged_and_never_ours() {
        let datagram = written();
        for token in [0, !0, OURS.token.rotate_left(9)] {
            assert_eq!(Header::read(Identity { token, ..OURS }, &datagram), Reading::Foreign);
        }
        for (flow, from_client) in [(8, true), (7, false)] {
            let other = Identity::new(MAGIC, OURS.token, flow, from_client);
            assert_eq!(Header::read(other, &datagram), Reading::Damaged);
        }
    }

    proptest! {
        #[test]
        fn each_changed_bit_shows(bit in 0..8 * HEADER_BYTES) {
            let mut datagram = written();
            datagram[bit / 8] ^= 1 << (bit % 8);
            prop_assert_eq!(Header::read(OURS, &datagram), Reading::Damaged);
        }

        #[test]
        fn what_was_cut_short_is_damaged(len in 4..HEADER_BYTES) {
            prop_assert_eq!(Header::read(OURS, &written()[..len]), Reading::Damaged);
        }

        #[test]
        fn garbage_is_never_ours(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
            prop_assert!(!matches!(Header::read(OURS, &bytes), Reading::Sound(_)));
        }
    }
}
