//! Frames are read for what they are, damage passes every checksum, and no bytes panic.

use proptest::prelude::*;

use super::samples::{self, Version, transport_sum};
use super::*;
use crate::link::random::{Generator, Kind, Seed, Way};

fn generator(seed: u64) -> Generator {
    Generator::new(Seed { lab: seed, link: 0, way: Way::Forth }, Kind::Corruption)
}

fn ports(frame: &[u8]) -> Ports {
    match read(frame).flow {
        Flow::Ip { ports, .. } => ports,
        Flow::Other { .. } => Ports::None,
    }
}

const PAIR: Ports = Ports::Pair { source: 1000, destination: 2000 };

#[test]
fn flows_are_told_apart() {
    for version in [Version::Four, Version::Six] {
        assert_eq!(ports(&samples::tcp(version, b"x")), PAIR);
        assert_eq!(ports(&samples::udp(version, b"x")), PAIR);
        assert_eq!(ports(&samples::echo(version, b"x")), Ports::Echo(9));
        assert_eq!(ports(&samples::ip(version, 50, b"xyz")), Ports::None);
    }
    let packet = read(&samples::tcp(Version::Four, b"x"));
    let (source, destination) = ([10, 0, 0, 1].into(), [10, 0, 0, 2].into());
    assert_eq!(packet.flow, Flow::Ip { source, destination, protocol: 6, ports: PAIR });
    assert_eq!((packet.ip_id, packet.tcp_sequence), (Some(0x1234), Some(77)));
}

#[test]
fn what_is_not_ip_is_known_by_its_type() {
    let mut arp = vec![0; 60];
    arp[12..14].copy_from_slice(&[8, 6]);
    assert_eq!(read(&arp).flow, Flow::Other { ether_type: 0x0806 });
    assert_eq!(read(&arp).payload, None);
    assert_eq!(read(&[]).flow, Flow::Other { ether_type: 0 });
}

#[test]
fn payload_lies_behind_all_headers_and_before_the_padding() {
    let mut frame = samples::udp(Version::Four, b"abc");
    frame.resize(60, 0);
    let payload = read(&frame).payload.expect("three bytes");
    assert_eq!(&frame[payload.at], b"abc");

    let mut frame = samples::tcp(Version::Four, b"");
    frame.resize(80, 0);
    assert_eq!(read(&frame).payload, None, "an acknowledgement has no payload");

    let frame = samples::ip(Version::Four, 50, b"sealed");
    let payload = read(&frame).payload.expect("of IP, the transport being unknown");
    assert_eq!((&frame[payload.at], payload.guard), (&b"sealed"[..], None));
}

#[test]
fn options_of_ipv4_are_stepped_over() {
    let plain = samples::udp(Version::Four, b"abc");
    let mut frame = plain[..34].to_vec();
    frame[14] = 0x46;
    frame[17] += 4;
    frame.extend([1; 4]);
    frame.extend(&plain[34..]);
    assert_eq!(ports(&frame), PAIR);
    assert_eq!(&frame[read(&frame).payload.expect("three bytes").at], b"abc");
}

#[test]
fn extension_headers_of_ipv6_are_stepped_over() {
    let datagram = samples::udp(Version::Six, b"abc")[54..].to_vec();
    // Hop-by-hop, destination options of sixteen bytes, authentication, then UDP.
    let mut body = vec![60, 0, 0, 0, 0, 0, 0, 0];
    body.extend([51, 1]);
    body.extend([0; 14]);
    body.extend([17, 1]);
    body.extend([0; 10]);
    body.extend(datagram);
    let frame = samples::ip(Version::Six, 0, &body);
    assert_eq!(ports(&frame), PAIR);
    assert_eq!(&frame[read(&frame).payload.expect("three bytes").at], b"abc");
}

#[test]
fn only_the_first_fragment_can_be_repaired() {
    let mut frame = samples::udp(Version::Four, &[7; 64]);
    frame[20] = 0x20;
    assert_eq!(ports(&frame), Ports::Fragments);
    assert!(read(&frame).payload.is_some_and(|payload| payload.guard.is_some()));
    frame[21] = 8;
    assert_eq!((ports(&frame), read(&frame).payload), (Ports::Fragments, None));

    let mut body = vec![17, 0, 0, 1, 0, 0, 0, 5];
    body.extend(&samples::udp(Version::Six, &[7; 64])[54..]);
    let first = samples::ip(Version::Six, 44, &body);
    assert_eq!(ports(&first), Ports::Fragments);
    assert!(read(&first).payload.is_some_and(|payload| payload.guard.is_some()));
    body[3] = 8;
    assert_eq!(read(&samples::ip(Version::Six, 44, &body)).payload, None);
}

#[test]
fn a_udp_checksum_of_zero_stays_zero() {
    let mut frame = samples::udp(Version::Four, b"abc");
    frame[40..42].fill(0);
    let before = frame.clone();
    let packet = read(&frame);
    let damage = damage(&mut frame, &packet, &mut generator(1)).expect("there is payload");
    assert_eq!(frame[40..42], [0, 0]);
    assert_eq!(frame[damage.frame_offset], before[damage.frame_offset] ^ (1 << damage.bit));
}

/// Every bit of every kind of packet, found by drawing until all have come up.
#[test]
fn damage_at_any_bit_of_any_packet_passes_the_checksum() {
    type Make = fn(Version, &[u8]) -> Vec<u8>;
    let makers: [Make; 3] = [samples::tcp, samples::udp, samples::echo];
    for (maker, version) in makers.into_iter().flat_map(|maker| {
        [Version::Four, Version::Six].into_iter().map(move |version| (maker, version))
    }) {
        for payload in [&[0; 5][..], &[0xff; 6], b"pathscope"] {
            let whole = maker(version, payload);
            assert_eq!(transport_sum(&whole), 0xffff);
            let mut generator = generator(3);
            let mut seen = std::collections::HashSet::new();
            while seen.len() < payload.len() * 8 {
                let mut frame = whole.clone();
                let packet = read(&frame);
                let damage = damage(&mut frame, &packet, &mut generator).expect("payload");
                assert_eq!(transport_sum(&frame), 0xffff, "{version:?} {damage:?}");
                assert_eq!(
                    frame[damage.frame_offset] ^ (1 << damage.bit),
                    whole[damage.frame_offset]
                );
                let start = whole.len() - payload.len();
                assert_eq!(damage.frame_offset, start + damage.payload_offset);
                let bits: u32 =
                    frame[start..].iter().zip(payload).map(|(a, b)| (a ^ b).count_ones()).sum();
                assert_eq!(bits, 1);
                seen.insert((damage.frame_offset, damage.bit));
            }
        }
    }
}

#[test]
fn a_udp_checksum_never_becomes_zero() {
    // With this word as its payload the datagram adds up to 0xffff, and its checksum to zero.
    let empty = samples::udp(Version::Four, &[0, 0]);
    let checksum = u16::from_be_bytes([empty[40], empty[41]]);
    let word = checksum.to_be_bytes();
    assert_eq!(samples::udp(Version::Four, &word)[40..42], [0xff; 2]);

    let one_bit_off = [word[0], word[1] ^ 1];
    let comes_up = (0..200).any(|seed| {
        let mut frame = samples::udp(Version::Four, &one_bit_off);
        let packet = read(&frame);
        damage(&mut frame, &packet, &mut generator(seed)).expect("there is payload");
        assert_eq!(transport_sum(&frame), 0xffff);
        assert_ne!(frame[40..42], [0, 0]);
        frame[42..44] == word && frame[40..42] == [0xff; 2]
    });
    assert!(comes_up, "one bit in sixteen is the one");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn no_bytes_panic(
        mut frame in prop::collection::vec(any::<u8>(), 0..120),
        ether_type in prop::sample::select(vec![[8_u8, 0], [0x86, 0xdd], [8, 6]]),
        first in prop::sample::select(vec![0x45_u8, 0x4f, 0x60, 0x40]),
        next in prop::sample::select(vec![0_u8, 1, 6, 17, 43, 44, 51, 58, 60]),
        seed: u64,
    ) {
        let [high, low] = ether_type;
        for (at, byte) in [(12, high), (13, low), (14, first), (20, next), (23, next)] {
            if let Some(there) = frame.get_mut(at) {
                *there = byte;
            }
        }
        let packet = read(&frame);
        let before = frame.clone();
        let found = damage(&mut frame, &packet, &mut generator(seed));
        prop_assert_eq!(found.is_some(), packet.payload.is_some());
        prop_assert_eq!(found.is_some(), frame != before);
    }

    #[test]
    fn packets_cut_short_do_not_panic(keep in 0_usize..100, which in 0_usize..6) {
        let version = if which < 3 { Version::Four } else { Version::Six };
        let whole = match which % 3 {
            0 => samples::tcp(version, b"pathscope"),
            1 => samples::udp(version, b"pathscope"),
            _ => samples::echo(version, b"pathscope"),
        };
        let mut frame = whole[..keep.min(whole.len())].to_vec();
        let packet = read(&frame);
        damage(&mut frame, &packet, &mut generator(1));
    }
}
