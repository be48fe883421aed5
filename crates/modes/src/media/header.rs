//! A datagram of a stream on the wire.
//!
//! ```text
//!  0       4       8         16        24       28       32        40       48
//!  +-------+-------+---------+---------+--------+--------+---------+--------+---------
//!  | PSMV  | flow  | token   | frame   | index  | check  | due     | sent   | filler
//!  +-------+-------+---------+---------+--------+--------+---------+--------+---------
//! ```
//!
//! All numbers little-endian. `frame` counts from 0 and `index` is the place within it. `due` and `sent` are of
//! the sender's clock: when the datagram was to leave and when it did. `check` covers all else of the header,
//! since a stamp that was altered on the way would be taken for a delay. The filler is the stream of this
//! direction at position (frame × datagrams of a frame + index) × size of a datagram + 48.

use pathscope_core::Tick;

/// Length of the header.
pub const HEADER_BYTES: usize = 48;

/// First four bytes of every datagram of a stream.
const MAGIC: [u8; 4] = *b"PSMV";
/// The set-up of a flow speaks on the same port, and its last word may come twice.
const ATTACH: [u8; 4] = *b"PSAT";

/// Which datagram of which flow, and when it left.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Header {
    pub flow: u32,
    pub token: u64,
    pub frame: u64,
    pub index: u32,
    pub due: Tick,
    pub sent: Tick,
}

/// What the first bytes of a datagram are.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Reading {
    /// A header.
    Whole(Header),
    /// A header that was damaged, or something that is none and came here all the same.
    Damaged,
    /// A datagram of something else.
    Foreign,
}

impl Header {
    /// Writes the header to the start of `datagram`, which must have room for it.
    pub fn write(&self, datagram: &mut [u8]) {
        let (head, rest) = datagram[..HEADER_BYTES].split_at_mut(4);
        head.copy_from_slice(&MAGIC);
        rest[..4].copy_from_slice(&self.flow.to_le_bytes());
        rest[4..12].copy_from_slice(&self.token.to_le_bytes());
        rest[12..20].copy_from_slice(&self.frame.to_le_bytes());
        rest[20..24].copy_from_slice(&self.index.to_le_bytes());
        rest[24..28].copy_from_slice(&self.check().to_le_bytes());
        rest[28..36].copy_from_slice(&self.due.as_nanos().to_le_bytes());
        rest[36..44].copy_from_slice(&self.sent.as_nanos().to_le_bytes());
    }

    /// Reads the header of `datagram`.
    pub fn read(datagram: &[u8]) -> Reading {
        let Some(bytes) = datagram.first_chunk::<HEADER_BYTES>() else {
            let is_other = datagram.starts_with(&ATTACH);
            return if is_other { Reading::Foreign } else { Reading::Damaged };
        };
        if bytes.starts_with(&ATTACH) {
            return Reading::Foreign;
        }
        let header = Self {
            flow: four(bytes, 4),
            token: eight(bytes, 8),
            frame: eight(bytes, 16),
            index: four(bytes, 24),
            due: Tick::from_nanos(eight(bytes, 32)),
            sent: Tick::from_nanos(eight(bytes, 40)),
        };
        let is_whole = bytes.starts_with(&MAGIC) && four(bytes, 28) == header.check();
        if is_whole { Reading::Whole(header) } else { Reading::Damaged }
    }

    /// Thirty-two bits of all fields. Against damage, not against anybody.
    fn check(&self) -> u32 {
        let words = [
            u64::from(self.flow) << 32 | u64::from(self.index),
            self.token,
            self.frame,
            self.due.as_nanos(),
            self.sent.as_nanos(),
        ];
        let sum = words.iter().fold(0x7061_7468_7363_6f70, |sum: u64, word| {
            // Each step is one to one, so that a single bit that differs makes another sum.
            let mixed = (sum ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            mixed ^ (mixed >> 32)
        });
        sum as u32
    }
}

fn four(bytes: &[u8; HEADER_BYTES], from: usize) -> u32 {
    let mut word = [0; 4];
    word.copy_from_slice(&bytes[from..from + 4]);
    u32::from_le_bytes(word)
}

fn eight(bytes: &[u8; HEADER_BYTES], from: usize) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&bytes[from..from + 8]);
    u64::from_le_bytes(word)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const HEADER: Header = Header {
        flow: 0x0102_0304,
        token: 0x1122_3344_5566_7788,
        frame: 9,
        index: 5,
        due: Tick::from_nanos(10),
        sent: Tick::from_nanos(11),
    };

    #[test]
    fn the_header_is_a_promise() {
        let mut datagram = [0xff; 50];
        HEADER.write(&mut datagram);
        assert_eq!(datagram[..16], *b"PSMV\x04\x03\x02\x01\x88\x77\x66\x55\x44\x33\x22\x11");
        assert_eq!(datagram[16..28], [9, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0]);
        // The example of docs/method/media.md.
        assert_eq!(datagram[28..32], [0xa1, 0x19, 0x35, 0x40]);
        assert_eq!(datagram[32..], [10, 0, 0, 0, 0, 0, 0, 0, 11, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff]);
        assert_eq!(Header::read(&datagram), Reading::Whole(HEADER));
    }

    #[test]
    fn a_bit_that_is_turned_over_is_seen_wherever_it_is() {
        let mut datagram = [0; HEADER_BYTES];
        HEADER.write(&mut datagram);
        for bit in 0..HEADER_BYTES * 8 {
            let mut damaged = datagram;
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Header::read(&damaged), Reading::Damaged, "bit {bit}");
        }
        assert_eq!(Header::read(&datagram[..HEADER_BYTES - 1]), Reading::Damaged);
        assert_eq!(Header::read(b"PSAT and so on"), Reading::Foreign);
    }

    proptest! {
        #[test]
        fn garbage_is_no_datagram_of_ours(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
            prop_assert!(!matches!(Header::read(&bytes), Reading::Whole(_)));
        }
    }
}
