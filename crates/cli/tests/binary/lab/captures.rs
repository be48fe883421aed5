//! Captures: the file is what tcpdump reads, packet by packet, and a disk that is full is a failure.

use std::fs;

use super::Stand;

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

/// More than ten packets each way on the link.
fn traffic(stand: &Stand) {
    let server = stand.server("b");
    stand.pathscope("a", &["latency", "b", "--protocol", "udp", "-n", "40"]).finish().exits(0);
    drop(server);
}

#[test]
fn a_capture_of_ten_packets_has_ten_packets() {
    let Some(stand) = Stand::up(super::PAIR) else { return };
    let path = stand.folder.path().join("ten.pcap");
    let output = path.to_str().expect("plain");
    // Both names of the link are its name; each is captured where it begins.
    for (link, place) in [("a:b", "at a;"), ("b:a", "at b;")] {
        let words = ["capture", link, "-o", output, "--count", "10", "--snap", "60"];
        let mut capture = crate::common::Running::start(stand.folder.command(&words));
        assert!(capture.await_stderr("capturing").contains(place));
        traffic(&stand);
        capture.finish().exits(0).complains(&["10 packets in"]);
        let bytes = fs::read(&path).expect("it was written");
        let header = [word(&bytes, 0), word(&bytes, 4), word(&bytes, 16), word(&bytes, 20)];
        assert_eq!(header, [0xa1b2_3c4d, 4 << 16 | 2, 60, 1]);
        let (mut rest, mut packets) = (&bytes[24..], 0);
        while !rest.is_empty() {
            assert!(word(rest, 4) < 1_000_000_000, "nanoseconds of a second");
            let (kept, whole) = (word(rest, 8), word(rest, 12));
            assert_eq!(kept, whole.min(60));
            let frame = &rest[16..16 + kept as usize];
            assert_eq!(frame[12..14], [0x08, 0x00], "neighbours are known, so all is IPv4");
            (rest, packets) = (&rest[16 + kept as usize..], packets + 1);
        }
        assert_eq!(packets, 10);
    }
}

#[test]
fn a_capture_to_a_full_disk_says_so() {
    let Some(stand) = Stand::up(super::PAIR) else { return };
    let words = ["capture", "a:b", "-o", "/dev/full"];
    let mut capture = crate::common::Running::start(stand.folder.command(&words));
    capture.await_stderr("capturing");
    traffic(&stand);
    capture.finish().exits(6).complains(&["cannot write /dev/full", "No space left"]);
}
