//! Known faults: what a measurement finds lost, twice or damaged is what the relay lost, doubled or
//! damaged, packet by packet.

use pathscope_core::record::FlowErrorKind;
use pathscope_lab::link::{Counts, Tally};
use pathscope_modes::latency::LatencyReport;
use pathscope_modes::pattern::Nature;

use super::{PORT, Stand, TCP, UDP, is_flow, only, only_flow};
use crate::common::Ran;

/// Of frames of pings of 200 bytes and of `other` bytes in datagrams, how many are pings.
pub fn pings(tally: Tally, other: u64) -> u64 {
    const HEADERS: u64 = 14 + 20 + 8;
    let bytes_more = tally.bytes - tally.frames * (HEADERS + other);
    assert_eq!(bytes_more % (200 - other), 0, "only two sizes in {tally:?}");
    bytes_more / (200 - other)
}

/// What both ends and both directions counted of some thousand pings under these conditions.
struct Both {
    ran: Ran,
    near: LatencyReport,
    far: LatencyReport,
    there: Counts,
    back: Counts,
}

/// Pings from a to b in a schedule, while the link is like this.
fn ping(stand: &Stand, forth: &str, back: &str) -> Both {
    stand.set(&[(forth, 0)], "a:b", Some("a"));
    stand.set(&[(back, 0)], "a:b", Some("b"));
    let before = stand.settled();
    let words = ["latency", "b", "--protocol", "udp", "--rate", "500/s", "-t", "2s"];
    let words = [&words[..], &["--size", "200", "--json"]].concat();
    let ran = stand.pathscope("a", &words).finish().exits(0);
    let account = stand.settled().since(&before);
    let document = ran.document();
    let measurement = only(&document);
    let far = measurement.server.as_ref().and_then(|end| end.latency.clone());
    let link = account.link("a:b").expect("the only one");
    Both {
        near: measurement.client.latency.clone().expect("it reported"),
        far: far.expect("it reported"),
        there: only_flow(&link.forward, UDP, [0, PORT]),
        back: only_flow(&link.backward, UDP, [PORT, 0]),
        ran,
    }
}

#[test]
fn every_lost_and_every_doubled_ping_is_found_and_no_other() {
    let Some(stand) = Stand::up(super::PAIR) else { return };
    let _server = stand.server("b");

    let Both { ran, near, far, there, back } = ping(&stand, "loss=5%", "loss=3%");
    let (lost_there, lost_back) = (pings(there.lost, 64), pings(back.lost, 32));
    // Of nearly a thousand at 3 % to lose none has a chance of one in ten thousand billion.
    assert!(lost_there > 0 && lost_back > 0, "{}", ran.said());
    assert_eq!(near.sent, pings(there.offered, 64));
    assert_eq!(far.received, pings(there.delivered, 64));
    assert_eq!(far.sent, pings(back.offered, 32));
    assert_eq!(near.received + near.late, pings(back.delivered, 32));
    assert_eq!(near.lost, lost_there + lost_back);
    let summary = only(&ran.document()).summary.latency.clone().expect("it is latency");
    assert_eq!((summary.lost_forward, summary.lost_return), (Some(lost_there), Some(lost_back)));
    assert_eq!((near.duplicates, near.corrupt, near.foreign), (0, 0, 0));

    let Both { ran, near, far, there, back } = ping(&stand, "loss=none", "loss=none dup=5%");
    let doubled = pings(back.duplicated, 32);
    assert!(doubled > 0, "{}", ran.said());
    // An echo that comes after its time, on a busy machine, is known as that.
    let came = (near.received + near.late, near.lost);
    assert_eq!(came, (near.sent, near.late), "{near:?}: {}", ran.said());
    assert_eq!(
        (pings(there.delivered, 64), far.received, far.sent),
        (near.sent, near.sent, near.sent)
    );
    assert_eq!(near.duplicates, doubled);

    // Doubled on their way to the server, they come back twice as well.
    let Both { ran, near, far, there, back } = ping(&stand, "dup=5%", "dup=0%");
    let doubled = pings(there.duplicated, 64);
    assert!(doubled > 0, "{}", ran.said());
    assert_eq!((near.received, near.lost), (near.sent, 0));
    let both = near.sent + doubled;
    assert_eq!((far.received, far.duplicates, far.sent), (near.sent, doubled, both));
    assert_eq!((near.duplicates, pings(back.delivered, 32)), (doubled, both));
}

#[test]
fn damage_that_checksums_let_through_is_found_in_the_data() {
    let text = "hosts = [\"a\", \"b\"]\n[links]\n\
                \"a:b\" = { rate = \"20Mbit\", delay = \"20ms\", queue = \"200p\" }\n";
    let Some(stand) = Stand::up(text) else { return };
    let _server = stand.server("b");
    let words = ["goodput", "b", "-c", "1", "-t", "60s", "--no-probe", "--report-every", "90s"];
    let folder = stand.folder.path().join("run.json");
    let output = ["-o", folder.to_str().expect("plain")];
    // The first report would be due after the end, and the first sign of life a second after the start: a third of a
    // second after it the ends say nothing to each other.
    let before = stand.account();
    let client = stand.pathscope("a", &[&words[..], &output[..]].concat());
    // The queue holds 200: by now the link is full.
    stand.await_frames(&before, "a", (TCP, [0, PORT]), 500);
    // All frames of five milliseconds, some eight.
    stand.set(&[("corrupt=100%", 0), ("corrupt=0%", 5)], "a:b", Some("a"));
    let ran = client.finish().exits(5).complains(&["wrong data on 1 connection"]);
    let account = stand.account();
    let forward = &account.link("a:b").expect("the only one").forward.truth;
    let is_data = |flow: &_| is_flow(flow, TCP, [0, PORT]);
    let damaged: u64 =
        forward.flows.iter().filter(|it| is_data(it)).map(|it| it.counts.corrupted.frames).sum();
    assert!(damaged > 0, "{}", ran.said());
    assert_eq!(forward.total.corrupted.frames, damaged);

    let document = crate::common::document_in(&folder);
    let far = only(&document).server.as_ref().and_then(|end| end.goodput.as_ref());
    let far = far.expect("the server reported");
    let error = far.flows[0].error.as_ref().expect("it failed");
    assert_eq!((error.kind, far.failed), (FlowErrorKind::Data, 1), "{}", ran.said());
    // The relay turns over one bit of each frame, and the server looks at the first of them.
    let Nature::BitFlip { bits } = far.corruptions[0].corruption.nature else {
        panic!("{}: {:?}", error.text, far.corruptions)
    };
    assert!(bits > 0 && u64::from(bits) <= damaged, "{bits} bits in {damaged} frames");
}
