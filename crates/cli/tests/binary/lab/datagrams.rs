//! Datagram goodput over links of known faults: what it finds lost, twice, overtaken or damaged is what the relay
//! did, datagram by datagram.

use pathscope_lab::link::Counts;
use pathscope_modes::datagrams::DatagramsReport;

use super::truth::pings;
use super::{PORT, Stand, UDP, only, only_flow};
use crate::common::Ran;

/// What the sender and the receiver counted, and what the relay did to what went between them.
struct Found {
    ran: Ran,
    sender: DatagramsReport,
    receiver: DatagramsReport,
    truth: Counts,
    /// Length of the other datagrams of that flow and direction: those that set it up.
    other: u64,
}

/// A thousand datagrams of 200 bytes in two seconds, while the link is like this on their way. As so many bytes: a sender
/// that stands still at the end of a time leaves some unsent.
fn send(stand: &Stand, pattern: &str, condition: &str) -> Found {
    let from = if pattern == "push" { "a" } else { "b" };
    stand.set(&[(condition, 0)], "a:b", Some(from));
    let before = stand.settled();
    let words = ["goodput", "b", "--protocol", "udp", "--pattern", pattern, "--datagram", "200"];
    let more = ["--rate", "800kbit", "-n", "200000", "--no-probe", "--json"];
    let ran = stand.pathscope("a", &[&words[..], &more].concat()).finish().exits(0);
    let account = stand.settled().since(&before);
    let document = ran.document();
    let measurement = only(&document);
    let near = measurement.client.datagrams.clone().expect("it reported");
    let far = measurement.server.as_ref().and_then(|end| end.datagrams.clone());
    let far = far.expect("it reported");
    let link = account.link("a:b").expect("the only one");
    let (sender, receiver, truth, other) = if pattern == "push" {
        (near, far, only_flow(&link.forward, UDP, [0, PORT]), 64)
    } else {
        (far, near, only_flow(&link.backward, UDP, [PORT, 0]), 32)
    };
    Found { ran, sender, receiver, truth, other }
}

#[test]
fn every_lost_doubled_and_overtaken_datagram_is_found_and_no_other() {
    let Some(stand) = Stand::up(super::PAIR) else { return };
    let _server = stand.server("b");
    for pattern in ["push", "pull"] {
        let Found { ran, sender, receiver, truth, other } = send(&stand, pattern, "loss=5%");
        let lost = pings(truth.lost, other);
        assert!(lost > 0, "5 % of a thousand: {}", ran.said());
        assert_eq!((sender.sent, pings(truth.offered, other)), (1_000, 1_000));
        assert_eq!(receiver.received, pings(truth.delivered, other), "{}", ran.said());
        assert_eq!((receiver.lost, receiver.bursts.lost), (lost, lost), "{}", ran.said());
        assert_eq!((receiver.duplicates, receiver.corrupt, receiver.foreign), (0, 0, 0));
        assert_eq!((receiver.late, receiver.socket_drops), (0, Some(0)));

        let doubling = send(&stand, pattern, "loss=none dup=5%");
        let doubled = pings(doubling.truth.duplicated, other);
        assert!(doubled > 0, "{}", doubling.ran.said());
        let receiver = doubling.receiver;
        assert_eq!((receiver.received, receiver.duplicates, receiver.lost), (1_000, doubled, 0));

        let overtaken = send(&stand, pattern, "dup=0% reorder=3%x3");
        let reordered = pings(overtaken.truth.reordered, other);
        assert!(reordered > 0, "{}", overtaken.ran.said());
        let receiver = overtaken.receiver;
        assert_eq!((receiver.received, receiver.reordered, receiver.lost), (1_000, reordered, 0));
        assert!((3..=8).contains(&receiver.reordering_extent_max), "{}", overtaken.ran.said());
        stand.set(&[("reorder=none", 0)], "a:b", Some("a"));
        stand.set(&[("reorder=none", 0)], "a:b", Some("b"));
    }
}

#[test]
fn a_path_that_is_cut_for_a_while_loses_what_was_sent_meanwhile_and_nothing_else() {
    let Some(stand) = Stand::up(super::PAIR) else { return };
    let _server = stand.server("b");
    let file = stand.folder.path().join("run.json");
    for (pattern, from, ports, other) in
        [("push", "a", [0, PORT], 64), ("pull", "b", [PORT, 0], 32)]
    {
        let before = stand.settled();
        let words = ["goodput", "b", "--protocol", "udp", "--pattern", pattern, "--datagram"];
        let more = ["200", "--rate", "800kbit", "-n", "300000", "--no-probe", "-o"];
        let client =
            stand.pathscope("a", &[&words[..], &more, &[file.to_str().expect("plain")]].concat());
        stand.await_frames(&before, from, (UDP, ports), 200);
        // Both ways: what the ends say to each other has to come through afterwards.
        stand.set(&[("cut", 0), ("restore", 300)], "a:b", None);
        let ran = client.finish().exits(0);
        let account = stand.settled().since(&before);
        let link = account.link("a:b").expect("the only one");
        let direction = if from == "a" { &link.forward } else { &link.backward };
        let cut = pings(only_flow(direction, UDP, ports).cut, other);
        assert!(cut > 0, "{}", ran.said());
        let document = crate::common::document_in(&file);
        let measurement = only(&document);
        let receiver = if from == "a" {
            measurement.server.as_ref().and_then(|end| end.datagrams.as_ref())
        } else {
            measurement.client.datagrams.as_ref()
        };
        let receiver = receiver.expect("it reported");
        assert_eq!((receiver.received, receiver.lost), (1_500 - cut, cut), "{}", ran.said());
        let bursts = &receiver.bursts;
        assert_eq!((bursts.bursts, bursts.longest), (1, cut), "{}", ran.said());
    }
}

#[test]
fn a_path_that_is_cut_for_longer_than_consent_holds_ends_the_flow_and_both_ends_say_why() {
    let Some(stand) = Stand::up(super::PAIR) else { return };
    let mut server = stand.server("b");
    let before = stand.settled();
    let words = ["goodput", "b", "--protocol", "udp", "--rate", "800kbit", "-t", "60s"];
    let client = stand.pathscope("a", &[&words[..], &["--no-probe"]].concat());
    stand.await_frames(&before, "a", (UDP, [0, PORT]), 10);
    stand.set(&[("cut", 0), ("restore", 7_000)], "a:b", None);
    let why =
        ["the server has not asked for its datagrams for 5", "for 5 s at most", "See whether"];
    let ran = client.finish().exits(5).complains(&why);
    let account = stand.settled().since(&before);
    let forward = &account.link("a:b").expect("the only one").forward;
    // A minute of it would be more than four thousand.
    let offered = only_flow(forward, UDP, [0, PORT]).offered.frames;
    assert!(offered < 1_500, "{offered}: {}", ran.said());
    server.await_stderr("session over");
}

#[test]
fn damage_that_checksums_let_through_is_counted_datagram_by_datagram() {
    let Some(stand) = Stand::up(super::PAIR) else { return };
    let _server = stand.server("b");
    let file = stand.folder.path().join("run.json");
    let words = ["goodput", "b", "--protocol", "udp", "--datagram", "200", "--rate", "4Mbit"];
    // The first report would be due after the end, and the first sign of life a second after the start: 0.4 s after it
    // the ends say nothing to each other.
    let more = ["-t", "6s", "--no-probe", "--report-every", "60s", "-o"];
    let file_name = file.to_str().expect("plain");
    let before = stand.account();
    let client = stand.pathscope("a", &[&words[..], &more, &[file_name]].concat());
    stand.await_frames(&before, "a", (UDP, [0, PORT]), 1_000);
    // All frames of 20 ms, some fifty.
    stand.set(&[("corrupt=100%", 0), ("corrupt=0%", 20)], "a:b", Some("a"));
    let ran = client.finish().exits(5).complains(&["not what was sent"]);
    let account = stand.settled();
    let forward = &account.link("a:b").expect("the only one").forward;
    let damaged = only_flow(forward, UDP, [0, PORT]).corrupted.frames;
    assert!(damaged > 0, "{}", ran.said());
    let document = crate::common::document_in(&file);
    let far = only(&document).server.as_ref().and_then(|end| end.datagrams.as_ref());
    let far = far.expect("the server reported");
    // On a busy machine a socket may be full before it is read, which is told.
    let dropped = far.socket_drops.unwrap_or(0);
    assert!(far.lost <= dropped, "{}", ran.said());
    assert_eq!((far.corrupt, far.foreign), (damaged, 0), "{}", ran.said());
    assert_eq!(far.received + damaged + far.lost, far.expected.expect("told"), "{}", ran.said());
    assert_eq!(far.corruptions.len() as u64, damaged.min(16));
}

#[test]
fn datagrams_that_the_path_does_not_take_whole_are_refused_with_its_limit() {
    let text = "hosts = [\"a\", \"b\"]\n[links]\n\"a:b\" = { delay = \"1ms\", mtu = 1400 }\n";
    let Some(stand) = Stand::up(text) else { return };
    let _server = stand.server("b");
    for pattern in ["push", "pull"] {
        let words = ["goodput", "b", "--protocol", "udp", "--pattern", pattern, "-t", "500ms"];
        let ran = stand.pathscope("a", &words).finish();
        assert_ne!(ran.code, Some(0), "{}", ran.said());
        let ran = ran.complains(&["datagrams of 1400 bytes", "ask for at most --datagram 1372"]);
        assert!(!ran.stderr.contains("bug"), "{}", ran.said());
        let words = [&words[..], &["--datagram", "1372", "--rate", "5Mbit"]].concat();
        stand.pathscope("a", &words).finish().exits(0);
    }
}
