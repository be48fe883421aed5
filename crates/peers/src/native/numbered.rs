//! The frames of protocol version 2: numbered, and checked before anything in them is believed. What a body says is in
//! `message`; which numbers are to come in `link`.
//!
//! ```text
//!  0     2      3   4      6        8        16         24            28         28 + length
//!  +-------+-------+---+------+--------+--------+----------+-------------+------+------------+
//!  | f5 32 | parts | 0 | type | length | number | received | crc of this | body | crc of all |
//!  +-------+-------+---+------+--------+--------+----------+-------------+------+------------+
//! ```
//!
//! Numbers are in network order. A header has a checksum of its own, so that a length that was damaged is found before
//! anything is awaited for it.

use std::fmt;

use super::checksum::crc32c;
use super::frame::MessageType;
use super::opening::hex;
use super::unfinished::Unfinished;

/// What each frame begins with. The first byte begins no frame of version 1, whose lengths are below 2²¹; damaged into
/// a 0, the second makes a length that no frame of version 1 has.
pub(super) const FRAME_MAGIC: [u8; 2] = [0xf5, 0x32];
/// Length of what precedes each body.
pub(super) const HEADER_BYTES: usize = 28;
/// Length of what follows it.
const TRAILER_BYTES: usize = 4;
/// The longest body. A longer message is several frames, so that a path that damages one segment in two hundred still
/// lets a message of a megabyte through, piece by piece.
pub(super) const PART_MOST: usize = 4_096;

/// One frame: a message, or a part of one.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Numbered {
    /// What the message is.
    pub kind: MessageType,
    /// Whether the message goes on in the next frame.
    pub goes_on: bool,
    /// Its place in what its sender says, from 1; 0: it has none, and is not said again.
    pub number: u64,
    /// The last number that its sender has received.
    pub received: u64,
    /// What it says.
    pub body: Vec<u8>,
}

impl Numbered {
    /// As it goes on the wire. A body is no longer than [`PART_MOST`].
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEADER_BYTES + self.body.len() + TRAILER_BYTES);
        bytes.extend_from_slice(&FRAME_MAGIC);
        bytes.extend_from_slice(&[u8::from(self.goes_on), 0]);
        bytes.extend_from_slice(&self.kind.0.to_be_bytes());
        bytes.extend_from_slice(&(self.body.len() as u16).to_be_bytes());
        bytes.extend_from_slice(&self.number.to_be_bytes());
        bytes.extend_from_slice(&self.received.to_be_bytes());
        bytes.extend_from_slice(&crc32c(&[&bytes]).to_be_bytes());
        bytes.extend_from_slice(&self.body);
        bytes.extend_from_slice(&crc32c(&[&bytes]).to_be_bytes());
        bytes
    }
}

/// What was said is not what came.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Damage {
    /// Where a frame was to begin.
    Header {
        /// What came, in hexadecimal.
        came: String,
    },
    /// A frame whose header is good.
    Body {
        /// What it was.
        kind: MessageType,
        /// Which one.
        number: u64,
    },
    /// A good frame that is not the next: bytes were lost, or came again.
    Order {
        /// The next.
        expected: u64,
        /// What came.
        number: u64,
    },
}

impl fmt::Display for Damage {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Header { came } => {
                write!(formatter, "the checksum of the header of a message does not hold: {came}")
            }
            Self::Body { kind, number } => {
                write!(formatter, "the checksum of message {number} {kind} does not hold")
            }
            Self::Order { expected, number } => {
                write!(formatter, "message {number} came where {expected} was next")
            }
        }
    }
}

/// Cuts what comes into frames. Holds one unfinished frame and no more.
#[derive(Debug, Default)]
pub(super) struct NumberedDecoder {
    unfinished: Unfinished,
}

impl NumberedDecoder {
    /// Takes the next frame's bytes, or what there is of them, from the front of `bytes`; `None`: all of it was taken
    /// and the frame is not complete.
    pub fn next(&mut self, bytes: &mut &[u8]) -> Result<Option<Numbered>, Damage> {
        let Some(header) = self.unfinished.header::<HEADER_BYTES>(bytes) else { return Ok(None) };
        let length = length_of(header)?;
        let whole = HEADER_BYTES + length + TRAILER_BYTES;
        let Some(frame) = self.unfinished.whole(bytes, whole) else { return Ok(None) };
        let (checked, trailer) = frame.split_at(HEADER_BYTES + length);
        let (header, body) = checked.split_at(HEADER_BYTES);
        let kind = MessageType(u16::from_be_bytes([header[4], header[5]]));
        let number = number_at(header, 8);
        if crc32c(&[checked]).to_be_bytes() != *trailer {
            return Err(Damage::Body { kind, number });
        }
        let (goes_on, received) = (header[2] & 1 == 1, number_at(header, 16));
        Ok(Some(Numbered { kind, goes_on, number, received, body: body.to_vec() }))
    }

    /// Whether a frame has begun and not ended.
    pub fn is_amid(&self) -> bool {
        self.unfinished.len() > 0
    }

    /// Bytes held.
    pub fn held(&self) -> usize {
        self.unfinished.len()
    }
}

/// The length of the body, of a header whose checksum holds.
fn length_of(header: &[u8; HEADER_BYTES]) -> Result<usize, Damage> {
    let (checked, checksum) = header.split_at(HEADER_BYTES - 4);
    let length = usize::from(u16::from_be_bytes([header[6], header[7]]));
    let is_good = checked.starts_with(&FRAME_MAGIC)
        && crc32c(&[checked]).to_be_bytes() == *checksum
        && length <= PART_MOST;
    if is_good { Ok(length) } else { Err(Damage::Header { came: hex(header) }) }
}

fn number_at(header: &[u8], at: usize) -> u64 {
    let bytes = header[at..].first_chunk().expect("numbers lie within a header");
    u64::from_be_bytes(*bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn frame(number: u64, body: &[u8]) -> Numbered {
        let kind = MessageType::REPORT;
        Numbered { kind, goes_on: number % 2 == 1, number, received: 4, body: body.to_vec() }
    }

    fn decode(bytes: &[u8]) -> Result<Option<Numbered>, Damage> {
        NumberedDecoder::default().next(&mut &bytes[..])
    }

    #[test]
    fn a_numbered_frame_on_the_wire() {
        let bytes = frame(3, b"{}").encode();
        let header = b"\xf5\x32\x01\0\0\x09\0\x02\0\0\0\0\0\0\0\x03\0\0\0\0\0\0\0\x04";
        assert_eq!(bytes[..24], *header);
        assert_eq!((bytes.len(), &bytes[28..30]), (34, &b"{}"[..]));
        assert_eq!(decode(&bytes), Ok(Some(frame(3, b"{}"))));
    }

    #[test]
    fn each_bit_that_is_flipped_is_found_and_none_awaits_more_than_a_frame() {
        let good = frame(7, br#"{"elapsed_ns":10000000000}"#).encode();
        for bit in 0..8 * good.len() {
            let mut bytes = good.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(decode(&bytes).is_err(), "bit {bit}");
        }
    }

    #[test]
    fn a_length_beyond_the_longest_is_no_header_though_its_checksum_holds() {
        let mut long = frame(1, b"").encode();
        long[6..8].copy_from_slice(&(PART_MOST as u16 + 1).to_be_bytes());
        let checksum = crc32c(&[&long[..24]]);
        long[24..28].copy_from_slice(&checksum.to_be_bytes());
        assert!(matches!(decode(&long), Err(Damage::Header { .. })));
    }

    proptest! {
        #[test]
        fn any_cut_gives_the_same_frames(
            bodies in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 0..6),
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
        ) {
            let numbers = 1..;
            let frames: Vec<_> =
                numbers.zip(&bodies).map(|(number, body)| frame(number, body)).collect();
            let bytes: Vec<u8> = frames.iter().flat_map(Numbered::encode).collect();
            let mut cuts: Vec<_> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let (mut decoder, mut decoded) = (NumberedDecoder::default(), Vec::new());
            for pair in cuts.windows(2) {
                let mut chunk = &bytes[pair[0]..pair[1]];
                while let Some(frame) = decoder.next(&mut chunk).expect("good frames") {
                    decoded.push(frame);
                }
            }
            prop_assert_eq!(decoded, frames);
            prop_assert!(!decoder.is_amid());
        }

        #[test]
        fn noise_is_no_frame_and_fills_no_memory(noise in prop::collection::vec(any::<u8>(), 28..40_000)) {
            prop_assert!(decode(&noise).is_err());
        }
    }
}
