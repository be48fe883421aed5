//! One bit turned over so that nobody on the way notices: the damage that checksums let through, as
//! Stone and Partridge, "When the CRC and TCP Checksum Disagree" (2000), found it on real paths.
//!
//! A plain bit error would be found by the first checksum and dropped, which is loss; that there is
//! already. The frame must carry full checksums: where a kernel left them to a card, whoever reads
//! frames for the link has to turn that off.

use serde::{Deserialize, Serialize};

use super::checksum::repaired;
use super::{Guard, Packet};
use crate::link::random::Generator;

/// Which bit of a frame was turned over.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Damage {
    /// The identification of IPv4.
    pub ip_id: Option<u16>,
    /// The sequence number of TCP, of the first byte of its payload.
    pub tcp_sequence: Option<u32>,
    /// Bytes of the frame before the damaged one.
    pub frame_offset: usize,
    /// Bytes of the payload before the damaged one.
    pub payload_offset: usize,
    /// Which bit of that byte; 0 is the lowest.
    pub bit: u8,
}

/// Turns over one bit of the payload and repairs the checksum. `None`, and nothing done, where
/// there is no payload.
pub(in crate::link) fn damage(
    frame: &mut [u8],
    packet: &Packet,
    generator: &mut Generator,
) -> Option<Damage> {
    let payload = packet.payload.as_ref()?;
    let drawn = generator.below(payload.at.len() as u64 * 8);
    let (payload_offset, bit) = ((drawn / 8) as usize, (drawn % 8) as u8);
    let frame_offset = payload.at.start + payload_offset;
    turn_over(frame, frame_offset, bit, payload.guard);
    let (ip_id, tcp_sequence) = (packet.ip_id, packet.tcp_sequence);
    Some(Damage { ip_id, tcp_sequence, frame_offset, payload_offset, bit })
}

fn turn_over(frame: &mut [u8], at: usize, bit: u8, guard: Option<Guard>) {
    let Some(guard) = guard else {
        frame[at] ^= 1 << bit;
        return;
    };
    // The word of the sum that the byte is in, counted from where the sum begins. At an odd end its
    // other half is zero, which stands on neither side of the change.
    let is_high = (at - guard.covers_from).is_multiple_of(2);
    let in_word = |byte: u8| u16::from(byte) << if is_high { 8 } else { 0 };
    let before = frame[at];
    frame[at] ^= 1 << bit;
    let stands = u16::from_be_bytes([frame[guard.at], frame[guard.at + 1]]);
    if guard.is_optional && stands == 0 {
        return;
    }
    let fits = match repaired(stands, in_word(before), in_word(frame[at])) {
        // To UDP zero says that there is none, and its other form says zero (RFC 768).
        0 if guard.is_optional => 0xffff,
        fits => fits,
    };
    frame[guard.at..guard.at + 2].copy_from_slice(&fits.to_be_bytes());
}
