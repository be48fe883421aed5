//! Ethernet, IPv4 (RFC 791), IPv6 with its extension headers (RFC 8200), TCP (RFC 9293), UDP
//! (RFC 768), and ICMP (RFC 792, RFC 4443), each read as far as a link needs.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::ops::Range;

use super::{Flow, Guard, Packet, Payload, Ports};

const ETHERNET: usize = 14;
const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;

const ICMP: u8 = 1;
const TCP: u8 = 6;
const UDP: u8 = 17;
const ICMPV6: u8 = 58;

/// More extension headers than any real packet has: a bound for those that are made up.
const MOST_EXTENSIONS: usize = 8;

/// Reads a frame.
pub(in crate::link) fn read(frame: &[u8]) -> Packet {
    let ether_type = word(frame, 12).unwrap_or(0);
    let packet = match ether_type {
        IPV4 => ipv4(frame),
        IPV6 => ipv6(frame),
        _ => None,
    };
    packet.unwrap_or(Packet {
        flow: Flow::Other { ether_type },
        ip_id: None,
        tcp_sequence: None,
        payload: None,
    })
}

/// What an IP header says about what follows it.
struct Ip {
    source: IpAddr,
    destination: IpAddr,
    protocol: u8,
    ip_id: Option<u16>,
    fragment: Fragment,
    /// What the packet carries, within the frame.
    body: Range<usize>,
}

#[derive(Clone, Copy, Eq, PartialEq)]
enum Fragment {
    Whole,
    First,
    Later,
}

impl Fragment {
    fn of(offset: u16, more: bool) -> Self {
        match (offset, more) {
            (0, false) => Self::Whole,
            (0, true) => Self::First,
            _ => Self::Later,
        }
    }
}

fn ipv4(frame: &[u8]) -> Option<Packet> {
    let first = byte(frame, ETHERNET)?;
    let header = usize::from(first & 0x0f) * 4;
    if first >> 4 != 4 || header < 20 {
        return None;
    }
    let address = |at| {
        let bytes: [u8; 4] = frame.get(at..at + 4)?.try_into().ok()?;
        Some(IpAddr::V4(Ipv4Addr::from(bytes)))
    };
    let fragment = word(frame, ETHERNET + 6)?;
    let end = ETHERNET + usize::from(word(frame, ETHERNET + 2)?);
    Some(transport(
        frame,
        &Ip {
            source: address(ETHERNET + 12)?,
            destination: address(ETHERNET + 16)?,
            protocol: byte(frame, ETHERNET + 9)?,
            ip_id: word(frame, ETHERNET + 4),
            fragment: Fragment::of(fragment & 0x1fff, fragment & 0x2000 != 0),
            body: ETHERNET + header..end.min(frame.len()),
        },
    ))
}

fn ipv6(frame: &[u8]) -> Option<Packet> {
    if byte(frame, ETHERNET)? >> 4 != 6 {
        return None;
    }
    let address = |at| {
        let bytes: [u8; 16] = frame.get(at..at + 16)?.try_into().ok()?;
        Some(IpAddr::V6(Ipv6Addr::from(bytes)))
    };
    let start = ETHERNET + 40;
    let end = start + usize::from(word(frame, ETHERNET + 4)?);
    let (protocol, fragment, at) = extensions(frame, byte(frame, ETHERNET + 6)?, start);
    Some(transport(
        frame,
        &Ip {
            source: address(ETHERNET + 8)?,
            destination: address(ETHERNET + 24)?,
            protocol,
            ip_id: None,
            fragment,
            body: at..end.min(frame.len()),
        },
    ))
}

/// Walks over extension headers: the protocol after them, what fragment it is, and where it begins.
/// Stops where the frame does, and after a fragment header that is not the first, since what
/// follows it belongs to no header.
fn extensions(frame: &[u8], next: u8, start: usize) -> (u8, Fragment, usize) {
    const HOP_BY_HOP: u8 = 0;
    const ROUTING: u8 = 43;
    const FRAGMENT: u8 = 44;
    const AUTHENTICATION: u8 = 51;
    const DESTINATION: u8 = 60;
    let (mut protocol, mut at, mut fragment) = (next, start, Fragment::Whole);
    for _ in 0..MOST_EXTENSIONS {
        let (Some(next), Some(size)) = (byte(frame, at), byte(frame, at + 1)) else { break };
        let size = match protocol {
            HOP_BY_HOP | ROUTING | DESTINATION => (usize::from(size) + 1) * 8,
            // RFC 4302, section 2.2: in words of four bytes, less two.
            AUTHENTICATION => (usize::from(size) + 2) * 4,
            FRAGMENT => {
                let Some(place) = word(frame, at + 2) else { break };
                fragment = Fragment::of(place >> 3, place & 1 != 0);
                8
            }
            _ => break,
        };
        (protocol, at) = (next, at + size);
        if fragment == Fragment::Later {
            break;
        }
    }
    (protocol, fragment, at)
}

fn transport(frame: &[u8], ip: &Ip) -> Packet {
    let is_known = matches!(
        (ip.protocol, ip.source),
        (TCP | UDP, _) | (ICMP, IpAddr::V4(_)) | (ICMPV6, IpAddr::V6(_))
    );
    // The header of a later fragment is in another frame, and with it the checksum to repair.
    let has_header = is_known && ip.fragment != Fragment::Later;
    let payload = if has_header {
        guarded(frame, ip)
    } else {
        (!is_known).then(|| Payload { at: ip.body.clone(), guard: None })
    };
    Packet {
        flow: Flow::Ip {
            source: ip.source,
            destination: ip.destination,
            protocol: ip.protocol,
            ports: if ip.fragment == Fragment::Whole { ports(frame, ip) } else { Ports::Fragments },
        },
        ip_id: ip.ip_id,
        tcp_sequence: (has_header && ip.protocol == TCP)
            .then(|| long(within(frame, ip), ip.body.start + 4))
            .flatten(),
        payload: payload.filter(|payload| !payload.at.is_empty()),
    }
}

fn ports(frame: &[u8], ip: &Ip) -> Ports {
    let (packet, at) = (within(frame, ip), ip.body.start);
    let ports = match (ip.protocol, ip.source) {
        (TCP | UDP, _) => word(packet, at)
            .zip(word(packet, at + 2))
            .map(|(source, destination)| Ports::Pair { source, destination }),
        (ICMP, IpAddr::V4(_)) => echo(packet, at, [8, 0]),
        (ICMPV6, IpAddr::V6(_)) => echo(packet, at, [128, 129]),
        _ => None,
    };
    ports.unwrap_or(Ports::None)
}

fn echo(packet: &[u8], at: usize, types: [u8; 2]) -> Option<Ports> {
    let is_echo = types.contains(&byte(packet, at)?);
    is_echo.then(|| word(packet, at + 4).map(Ports::Echo)).flatten()
}

/// The payload of a transport that is known, and the checksum that covers it.
fn guarded(frame: &[u8], ip: &Ip) -> Option<Payload> {
    let (packet, at) = (within(frame, ip), ip.body.start);
    let (header, length, checksum) = match ip.protocol {
        TCP => (usize::from(byte(packet, at + 12)? >> 4) * 4, None, 16),
        UDP => (8, Some(usize::from(word(packet, at + 4)?)), 6),
        _ => (8, None, 2),
    };
    // A header of TCP that claims to end before its own checksum is none.
    if header < checksum + 2 || packet.len() < at + header {
        return None;
    }
    // A datagram may be shorter than its packet, and longer where it goes on in other fragments.
    let end = length.map_or(packet.len(), |length| packet.len().min(at + length));
    let is_optional = ip.protocol == UDP;
    let guard = Guard { at: at + checksum, covers_from: at, is_optional };
    Some(Payload { at: at + header..end, guard: Some(guard) })
}

/// The frame up to where the packet ends, so that padding is never read as content.
fn within<'frame>(frame: &'frame [u8], ip: &Ip) -> &'frame [u8] {
    &frame[..ip.body.end.min(frame.len())]
}

fn byte(bytes: &[u8], at: usize) -> Option<u8> {
    bytes.get(at).copied()
}

fn word(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn long(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}
