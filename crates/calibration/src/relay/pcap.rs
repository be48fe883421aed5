//! Reading captures: the classic pcap format with nanosecond stamps, as the lab writes it.

/// The header of a file, and that of a packet, in bytes.
const FILE_HEADER: usize = 24;
const PACKET_HEADER: usize = 16;
/// Of Ethernet.
const ETHERNET: usize = 14;
/// Nanoseconds, written by a machine of our byte order.
const MAGIC: u32 = 0xa1b2_3c4d;

/// A frame that passed an interface.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Captured<'file> {
    /// When, by the wall clock.
    pub stamp_ns: u64,
    /// As much of it as was kept, with its Ethernet header.
    pub bytes: &'file [u8],
    /// How long it was.
    pub length: u64,
}

/// A segment of TCP, as far as its place in a stream goes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Segment {
    /// When it passed.
    pub stamp_ns: u64,
    /// The ports.
    pub source: u16,
    /// Where it goes.
    pub destination: u16,
    /// The number of its first byte.
    pub sequence: u32,
    /// Bytes of the stream.
    pub length: u32,
    /// Whether it opens the connection.
    pub is_first: bool,
}

/// The frames of a file; absent where it is none, or ends within a packet.
pub fn frames(file: &[u8]) -> Option<Vec<Captured<'_>>> {
    if word(file, 0)? != MAGIC {
        return None;
    }
    let (mut at, mut frames) = (FILE_HEADER, Vec::new());
    file.get(..FILE_HEADER)?;
    while at < file.len() {
        let number = |index: usize| word(file, at + 4 * index).map(u64::from);
        let (seconds, nanos) = (number(0)?, number(1)?);
        let (kept, length) = (number(2)? as usize, number(3)?);
        let begin = at + PACKET_HEADER;
        let bytes = file.get(begin..begin.checked_add(kept)?)?;
        frames.push(Captured { stamp_ns: seconds * 1_000_000_000 + nanos, bytes, length });
        at = begin + kept;
    }
    Some(frames)
}

impl Captured<'_> {
    /// Whether an interface of this address sent it.
    pub fn is_from(&self, address: [u8; 6]) -> bool {
        self.bytes.get(6..12) == Some(&address[..])
    }

    /// As a segment of TCP; absent where it is none. Fragments and headers between those of IP and TCP are none of a test.
    pub fn segment(&self) -> Option<Segment> {
        let packet = self.bytes.get(ETHERNET..)?;
        let (header, total, protocol) = match short(self.bytes, 12)? {
            0x0800 => {
                let header = usize::from(packet.first()? & 0xf) * 4;
                (header, usize::from(short(packet, 2)?), *packet.get(9)?)
            }
            0x86dd => (40, 40 + usize::from(short(packet, 4)?), *packet.get(6)?),
            _ => return None,
        };
        let segment = packet.get(header..).filter(|_| protocol == crate::way::TCP)?;
        let own = usize::from(segment.get(12)? >> 4) * 4;
        Some(Segment {
            stamp_ns: self.stamp_ns,
            source: short(segment, 0)?,
            destination: short(segment, 2)?,
            sequence: u32::from_be_bytes(segment.get(4..8)?.try_into().ok()?),
            length: total.checked_sub(header + own)? as u32,
            is_first: segment.get(13)? & 0b10 != 0,
        })
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn short(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

#[cfg(test)]
pub mod tests {
    use super::{MAGIC, Segment, frames};

    /// A file with these frames, each at its time.
    pub fn file(frames: &[(u64, Vec<u8>)]) -> Vec<u8> {
        let words = [MAGIC, 4 << 16 | 2, 0, 0, 128, 1];
        let mut file: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        for (stamp_ns, bytes) in frames {
            let kept = bytes.len().min(128);
            let (seconds, nanos) = (stamp_ns / 1_000_000_000, stamp_ns % 1_000_000_000);
            let words = [seconds as u32, nanos as u32, kept as u32, bytes.len() as u32];
            file.extend(words.iter().flat_map(|word| word.to_le_bytes()));
            file.extend(&bytes[..kept]);
        }
        file
    }

    /// A frame with a segment from one interface to another, over either version of IP.
    pub fn frame(from: u8, is_six: bool, segment: Segment) -> Vec<u8> {
        let mut bytes = vec![0; 6];
        bytes.extend([from; 6]);
        // Of TCP with its stamps.
        let tcp = 32 + segment.length as u16;
        if is_six {
            bytes.extend([0x86, 0xdd, 0x60, 0, 0, 0]);
            bytes.extend(tcp.to_be_bytes());
            bytes.extend([6, 64]);
            bytes.extend([0; 32]);
        } else {
            bytes.extend([0x08, 0x00, 0x45, 0]);
            bytes.extend((20 + tcp).to_be_bytes());
            bytes.extend([0, 0, 0, 0, 64, 6]);
            bytes.extend([0; 10]);
        }
        bytes.extend(segment.source.to_be_bytes());
        bytes.extend(segment.destination.to_be_bytes());
        bytes.extend(segment.sequence.to_be_bytes());
        bytes.extend([0, 0, 0, 0, 8 << 4, if segment.is_first { 2 } else { 16 }]);
        bytes.extend(vec![0; 18 + segment.length as usize]);
        bytes
    }

    #[test]
    fn frames_and_segments_are_as_they_were_written() {
        for is_six in [false, true] {
            let segment = Segment {
                stamp_ns: 5_000_000_007,
                source: 4_000,
                destination: 80,
                sequence: 7,
                length: 600,
                is_first: false,
            };
            let bytes = frame(9, is_six, segment);
            let (length, file) =
                (bytes.len() as u64, file(&[(segment.stamp_ns, bytes), (6, vec![1; 60])]));
            let read = frames(&file).expect("a capture");
            assert_eq!((read.len(), read[0].bytes.len(), read[0].length), (2, 128, length));
            assert!(read[0].is_from([9; 6]) && !read[0].is_from([8; 6]));
            assert_eq!((read[0].segment(), read[1].segment()), (Some(segment), None));
            // A file that breaks off, and another kind of file.
            assert_eq!(frames(&file[..file.len() - 1]), None);
            assert_eq!(frames(&file[4..]), None);
        }
    }
}
