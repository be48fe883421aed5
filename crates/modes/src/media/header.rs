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

use crate::codec;
use crate::streams::{Identity, Reading};

/// Length of the header.
pub const HEADER_BYTES: usize = 48;

/// First four bytes of every datagram of a stream.
pub(super) const MAGIC: [u8; 4] = *b"PSMV";
/// The set-up of a flow speaks on the same port, and its last word may come twice.
const ATTACH: [u8; 4] = *b"PSAT";

/// Which datagram of a flow, and when it left.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Header {
    pub frame: u64,
    pub index: u32,
    pub due: Tick,
    pub sent: Tick,
}

impl Header {
    /// Writes the header to the start of `datagram`, which must have room for it.
    pub fn write(&self, identity: Identity, datagram: &mut [u8]) {
        let Identity { first, token } = identity;
        let [due, sent] = [self.due, self.sent].map(Tick::as_nanos);
        let fourth = codec::word(self.index, self.check(identity));
        codec::write([first, token, self.frame, fourth, due, sent], datagram);
    }

    /// Reads what came to the flow of this identity. What is no header and came here all the same counts as damaged.
    pub fn read(identity: Identity, datagram: &[u8]) -> Reading<Self> {
        if datagram.starts_with(&ATTACH) {
            return Reading::Foreign;
        }
        let Some([first, token, frame, fourth, due, sent]) = codec::read(datagram) else {
            return Reading::Damaged;
        };
        let [index, check] = codec::halves(fourth);
        let [due, sent] = [due, sent].map(Tick::from_nanos);
        let (header, came) = (Self { frame, index, due, sent }, Identity { first, token });
        if !datagram.starts_with(&MAGIC) || check != header.check(came) {
            return Reading::Damaged;
        }
        if came == identity { Reading::Sound(header) } else { Reading::Foreign }
    }

    /// Thirty-two bits of all fields.
    fn check(&self, Identity { first, token }: Identity) -> u32 {
        let [_, flow] = codec::halves(first);
        let [due, sent] = [self.due, self.sent].map(Tick::as_nanos);
        let words = [codec::word(self.index, flow), token, self.frame, due, sent];
        codec::digest(0x7061_7468_7363_6f70, &words) as u32
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const HEADER: Header =
        Header { frame: 9, index: 5, due: Tick::from_nanos(10), sent: Tick::from_nanos(11) };

    fn ours() -> Identity {
        Identity::new(MAGIC, 0x1122_3344_5566_7788, 0x0102_0304, false)
    }

    #[test]
    fn the_header_is_a_promise() {
        let mut datagram = [0xff; 50];
        HEADER.write(ours(), &mut datagram);
        assert_eq!(datagram[..16], *b"PSMV\x04\x03\x02\x01\x88\x77\x66\x55\x44\x33\x22\x11");
        assert_eq!(datagram[16..28], [9, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0]);
        // The example of docs/method/media.md.
        assert_eq!(datagram[28..32], [0xa1, 0x19, 0x35, 0x40]);
        assert_eq!(datagram[32..], [10, 0, 0, 0, 0, 0, 0, 0, 11, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff]);
        assert_eq!(Header::read(ours(), &datagram), Reading::Sound(HEADER));
    }

    #[test]
    fn a_bit_that_is_turned_over_is_seen_wherever_it_is() {
        let mut datagram = [0; HEADER_BYTES];
        HEADER.write(ours(), &mut datagram);
        for bit in 0..HEADER_BYTES * 8 {
            let mut damaged = datagram;
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Header::read(ours(), &damaged), Reading::Damaged, "bit {bit}");
        }
        assert_eq!(Header::read(ours(), &datagram[..HEADER_BYTES - 1]), Reading::Damaged);
        assert_eq!(Header::read(ours(), b"PSAT and so on"), Reading::Foreign);
        for (token, flow) in [(ours().token, 5), (7, 0x0102_0304)] {
            let other = Identity::new(MAGIC, token, flow, false);
            assert_eq!(Header::read(other, &datagram), Reading::Foreign);
        }
    }

    proptest! {
        #[test]
        fn garbage_is_no_datagram_of_ours(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
            prop_assert!(!matches!(Header::read(ours(), &bytes), Reading::Sound(_)));
        }
    }
}
