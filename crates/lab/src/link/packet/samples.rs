//! Frames for tests, with valid checksums, made byte by byte and independently of what is tested.

use super::checksum::sum;

const V4: [u8; 8] = [10, 0, 0, 1, 10, 0, 0, 2];
const V6: [u8; 32] = {
    let mut both = [0; 32];
    (both[0], both[1], both[15]) = (0xfd, 0, 1);
    (both[16], both[17], both[31]) = (0xfd, 0, 2);
    both
};

/// Which IP.
#[derive(Clone, Copy, Debug)]
pub enum Version {
    Four,
    Six,
}

/// A segment of TCP, 1000 to 2000, sequence 77, with twelve bytes of options.
pub fn tcp(version: Version, payload: &[u8]) -> Vec<u8> {
    let mut segment = vec![0; 32];
    segment[..8].copy_from_slice(&[0x03, 0xe8, 0x07, 0xd0, 0, 0, 0, 77]);
    (segment[12], segment[13]) = (8 << 4, 0x18);
    segment[20..32].fill(1);
    segment.extend(payload);
    ip(version, 6, &summed(version, 6, segment, 16))
}

/// A datagram of UDP, 1000 to 2000.
pub fn udp(version: Version, payload: &[u8]) -> Vec<u8> {
    let mut datagram = vec![0x03, 0xe8, 0x07, 0xd0, 0, 0, 0, 0];
    datagram[4..6].copy_from_slice(&(8 + payload.len() as u16).to_be_bytes());
    datagram.extend(payload);
    let mut datagram = summed(version, 17, datagram, 6);
    if datagram[6..8] == [0, 0] {
        datagram[6..8].fill(0xff);
    }
    ip(version, 17, &datagram)
}

/// An echo request with the identifier 9.
pub fn echo(version: Version, payload: &[u8]) -> Vec<u8> {
    let (protocol, kind) = match version {
        Version::Four => (1, 8),
        Version::Six => (58, 128),
    };
    let mut message = vec![kind, 0, 0, 0, 0, 9, 0, 1];
    message.extend(payload);
    ip(version, protocol, &summed(version, protocol, message, 2))
}

/// A packet of any protocol.
pub fn ip(version: Version, protocol: u8, body: &[u8]) -> Vec<u8> {
    let mut frame = vec![2; 12];
    match version {
        Version::Four => {
            frame.extend([8, 0, 0x45, 0]);
            frame.extend((20 + body.len() as u16).to_be_bytes());
            frame.extend([0x12, 0x34, 0, 0, 64, protocol, 0, 0]);
            frame.extend(V4);
        }
        Version::Six => {
            frame.extend([0x86, 0xdd, 0x60, 0, 0, 0]);
            frame.extend((body.len() as u16).to_be_bytes());
            frame.extend([protocol, 64]);
            frame.extend(V6);
        }
    }
    frame.extend(body);
    frame
}

/// The sum over pseudo header and body; 0xffff where the checksum in it is right. The frame has no
/// options and no padding.
pub fn transport_sum(frame: &[u8]) -> u16 {
    let (version, protocol, body) = match frame[12..14] {
        [8, 0] => (Version::Four, frame[23], &frame[34..]),
        _ => (Version::Six, frame[20], &frame[54..]),
    };
    sum(&[pseudo_header(version, protocol, body.len()), body.to_vec()].concat())
}

fn summed(version: Version, protocol: u8, mut body: Vec<u8>, at: usize) -> Vec<u8> {
    let all = [pseudo_header(version, protocol, body.len()), body.clone()].concat();
    body[at..at + 2].copy_from_slice(&(!sum(&all)).to_be_bytes());
    body
}

fn pseudo_header(version: Version, protocol: u8, length: usize) -> Vec<u8> {
    let tail = [&(length as u32).to_be_bytes()[..], &[0, 0, 0, protocol]].concat();
    match version {
        Version::Four if protocol == 1 => Vec::new(),
        Version::Four => [&V4[..], &tail].concat(),
        Version::Six => [&V6[..], &tail].concat(),
    }
}
