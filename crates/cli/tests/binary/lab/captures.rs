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

/// The packets in a file, each with the bytes of it that were kept.
fn packets(bytes: &[u8]) -> usize {
    let (mut rest, mut packets) = (&bytes[24..], 0);
    while !rest.is_empty() {
        rest = &rest[16 + word(rest, 8) as usize..];
        packets += 1;
    }
    packets
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

#[test]
fn a_disk_that_becomes_full_holds_whole_packets_and_as_many_as_are_told() {
    let Some(stand) = Stand::up(super::PAIR) else { return };
    if !super::is_root() {
        return println!("skipped, because a disk of our own takes root");
    }
    let (disk, copy) = (stand.folder.path().join("disk"), stand.folder.path().join("copy.pcap"));
    fs::create_dir(&disk).expect("ours");
    // A disk of one page, which is gone with the shell's mounts.
    let script = "mount -t tmpfs -o size=4k none \"$DISK\" || exit 99
                  \"$@\"; code=$?; cp \"$DISK/x.pcap\" \"$COPY\"; exit $code";
    let output = disk.join("x.pcap");
    let words = stand.folder.command(&["capture", "a:b", "-o", output.to_str().expect("plain")]);
    let mut command = std::process::Command::new("unshare");
    command.args(["--mount", "sh", "-c", script, "sh"]).env("DISK", &disk).env("COPY", &copy);
    command.arg(words.get_program()).args(words.get_args()).stdin(std::process::Stdio::null());
    let mut capture = crate::common::Running::start(command);
    capture.await_stderr("capturing");
    traffic(&stand);
    let ran = capture.finish().exits(6).complains(&["cannot write", "No space left"]);
    let bytes = fs::read(&copy).expect("it was copied");
    let told = format!("when {} packets were written", packets(&bytes));
    assert!(bytes.len() <= 4_096 && packets(&bytes) > 5, "{} bytes", bytes.len());
    ran.complains(&[&told]);
}

#[test]
fn a_capture_that_does_not_begin_leaves_the_file_as_it_was() {
    let Some(stand) = Stand::up(super::PAIR) else { return };
    let path = stand.folder.file("old.pcap", "dear");
    let words = ["capture", "a:b", "-o", &path];
    // A keeper that is gone cannot be entered.
    let keeper = stand.lab.running().keeper;
    super::ends::signal(keeper, "KILL");
    super::wait_until("it is dead", || super::ends::has_ended(keeper));
    stand.folder.run(&words).exits(4).complains(&["is gone"]);
    assert_eq!(fs::read_to_string(&path).expect("ours"), "dear");
}

#[test]
fn standard_output_is_no_file() {
    let Some(stand) = Stand::up(super::PAIR) else { return };
    for words in [&["capture", "a:b", "-o", "-"][..], &["show", "--svg", "-"]] {
        stand.folder.run(words).exits(2).complains(&["does not write to standard output", "./-"]);
    }
}
