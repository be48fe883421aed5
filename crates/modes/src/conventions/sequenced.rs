//! The datagrams of iperf3's streams, as they stand on the wire. Not here: when one is due, which is the mode's, and the 4 bytes by which a
//! stream is opened, which are the peer's.
//!
//! ```text
//!  0         4              8          12 or 16
//!  +---------+--------------+----------+---------
//!  | seconds | microseconds | sequence | filler
//!  +---------+--------------+----------+---------
//! ```
//!
//! All numbers are big-endian. The time is of the sender's clock, of which only differences mean something, since 3.9: before that a
//! receiver's jitter begins with the time between the two clocks, which is a transit where both tell the same time. Up to 3.6 that is the
//! time of day, in 3.7 and 3.8 the time since the machine began, so that nothing helps there but one machine for both. Sequences count
//! from 1, here from 0. Nobody says what the filler is, nor which stream a datagram is of: that is its address.

use pathscope_core::Tick;

/// By so many bytes, which may come twice, a stream is opened: they are none of it.
const OPENING_BYTES: usize = 4;
/// A sequence beyond this is none: so many datagrams nobody sends, and sums of them do not overflow.
const SEQUENCES: u64 = 1 << 48;

/// How wide sequences are: both ends of a test agree on that.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Width {
    /// 32 bits, which begin anew after as many datagrams.
    Bits32,
    /// 64 bits.
    Bits64,
}

/// How the datagrams of a test are laid out.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Layout {
    /// How wide their sequences are.
    pub width: Width,
    /// By how much the clock of their stamps is ahead of ours.
    pub ahead_ns: u64,
}

impl Layout {
    /// Stamps of our own clock.
    pub const fn of(width: Width) -> Self {
        Self { width, ahead_ns: 0 }
    }

    /// Writes the header of a datagram to its start, which must have room for it.
    #[inline]
    pub fn write(self, header: Header, datagram: &mut [u8]) {
        let sent = header.sent.plus_nanos(self.ahead_ns);
        self.width.write(Header { sent, ..header }, datagram);
    }
}

/// What stands before the filler.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Header {
    /// Which datagram, from 0.
    pub sequence: u64,
    /// When it left, by the sender's clock.
    pub sent: Tick,
}

/// What a datagram is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Sight {
    /// One of the stream.
    Data(Header),
    /// What opens a stream, once more.
    Opening,
    /// Neither.
    Foreign,
}

impl Width {
    /// How long headers are.
    pub const fn header_bytes(self) -> usize {
        match self {
            Self::Bits32 => 12,
            Self::Bits64 => 16,
        }
    }

    /// Writes the header of a datagram to its start, which must have room for it.
    #[inline]
    pub fn write(self, header: Header, datagram: &mut [u8]) {
        let Some((before, behind)) = datagram.split_first_chunk_mut::<8>() else { return };
        let micros = header.sent.as_nanos() / 1_000;
        // What no 32 bits hold begins anew: receivers take differences.
        let (seconds, rest) = ((micros / 1_000_000) as u32, (micros % 1_000_000) as u32);
        *before = (u64::from(seconds) << 32 | u64::from(rest)).to_be_bytes();
        let number = header.sequence.wrapping_add(1);
        match self {
            Self::Bits32 => {
                let Some(place) = behind.first_chunk_mut::<4>() else { return };
                *place = (number as u32).to_be_bytes();
            }
            Self::Bits64 => {
                let Some(place) = behind.first_chunk_mut::<8>() else { return };
                *place = number.to_be_bytes();
            }
        }
    }

    /// Reads a datagram of a stream of which `next` is one above the highest sequence that came.
    #[inline]
    pub fn read(self, datagram: &[u8], next: u64) -> Sight {
        let Some((before, behind)) = datagram.split_first_chunk::<8>() else {
            return if datagram.len() == OPENING_BYTES { Sight::Opening } else { Sight::Foreign };
        };
        let sequence = match self {
            Self::Bits32 => behind.first_chunk().and_then(|place| {
                // Of all numbers that end so, the one that is nearest to what came before.
                let number = u32::from_be_bytes(*place).wrapping_sub(1);
                next.checked_add_signed(number.wrapping_sub(next as u32).cast_signed().into())
            }),
            Self::Bits64 => {
                behind.first_chunk().and_then(|place| u64::from_be_bytes(*place).checked_sub(1))
            }
        };
        let Some(sequence) = sequence.filter(|&it| it < SEQUENCES) else { return Sight::Foreign };
        let time = u64::from_be_bytes(*before);
        let (seconds, micros) = (time >> 32, time & u64::from(u32::MAX));
        let sent = Tick::from_nanos(seconds * 1_000_000_000 + micros * 1_000);
        Sight::Data(Header { sequence, sent })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const WIDTHS: [Width; 2] = [Width::Bits32, Width::Bits64];

    #[test]
    fn a_header_is_these_bytes() {
        let header = Header { sequence: 0x1_0000_0006, sent: Tick::from_nanos(2_000_003_999) };
        for (width, expected) in [
            (Width::Bits32, &b"\0\0\0\x02\0\0\0\x03\0\0\0\x07"[..]),
            (Width::Bits64, b"\0\0\0\x02\0\0\0\x03\0\0\0\x01\0\0\0\x07"),
        ] {
            let mut datagram = vec![0xee; 20];
            width.write(header, &mut datagram);
            assert_eq!(datagram[..width.header_bytes()], *expected);
            assert!(datagram[width.header_bytes()..].iter().all(|&byte| byte == 0xee));
            let sent = Tick::from_nanos(2_000_003_000);
            let came = width.read(&datagram, 0x1_0000_0000);
            assert_eq!(came, Sight::Data(Header { sent, ..header }));
        }
    }

    #[test]
    fn stamps_are_of_the_clock_that_was_asked_for() {
        let layout = Layout { width: Width::Bits32, ahead_ns: 1_700_000_000_000_000_000 };
        let mut datagram = [0; 12];
        layout.write(Header { sequence: 0, sent: Tick::from_nanos(5_000_006_000) }, &mut datagram);
        assert_eq!(datagram[..4], 1_700_000_005_u32.to_be_bytes());
        assert_eq!(datagram[4..], *b"\0\0\0\x06\0\0\0\x01");
    }

    #[test]
    fn what_opens_a_stream_is_none_of_it_and_what_is_too_short_is_foreign() {
        for width in WIDTHS {
            assert_eq!(width.read(&[9, 8, 7, 6], 0), Sight::Opening);
            for len in (0..width.header_bytes()).filter(|&len| len != OPENING_BYTES) {
                assert_eq!(width.read(&[1; 16][..len], 0), Sight::Foreign, "{width:?} {len}");
            }
            // Sequences count from 1.
            assert_eq!(width.read(&[0; 16], 0), Sight::Foreign);
        }
        assert_eq!(Width::Bits64.read(&[0xff; 16], 0), Sight::Foreign);
    }

    proptest! {
        #[test]
        fn sequences_are_read_as_they_were_written_however_often_32_bits_begin_anew(
            next in 0_u64..SEQUENCES / 2, ahead in -1_000_000_i64..1 << 30, micros in 0_u64..1 << 51,
        ) {
            let sequence = next.saturating_add_signed(ahead);
            let header = Header { sequence, sent: Tick::from_nanos(micros * 1_000) };
            for width in WIDTHS {
                let mut datagram = [0; 16];
                width.write(header, &mut datagram);
                prop_assert_eq!(width.read(&datagram, next), Sight::Data(header));
            }
        }

        #[test]
        fn garbage_makes_no_sequence_that_cannot_be_added_up(
            bytes in prop::collection::vec(any::<u8>(), 0..20), next in 0_u64..=SEQUENCES,
        ) {
            for width in WIDTHS {
                if let Sight::Data(header) = width.read(&bytes, next) {
                    prop_assert!(header.sequence < SEQUENCES);
                }
            }
        }
    }
}
