//! Known faults: what is found of streams is what the relay did, datagram by datagram.

use pathscope_lab::link::Counts;
use pathscope_lab::relay::RelayAccount;
use pathscope_modes::document::Document;
use pathscope_modes::media::{MediaReport, MediaSummary};

use super::truth::pings;
use super::{PORT, Stand, UDP, only, only_flow};
use crate::common::Ran;

/// What both ends and the relay counted of a stream from b to a.
struct Streamed {
    ran: Ran,
    near: MediaReport,
    summary: MediaSummary,
    home: Counts,
}

const STREAM: [&str; 10] =
    ["media", "b", "--rate", "320kbit", "--frame-rate", "50", "--datagram", "200", "-t", "4s"];

/// Two hundred frames of four datagrams of 200 bytes, while the way home is like this.
fn stream(stand: &Stand, home: &str, code: i32, more: &[&str]) -> Streamed {
    stand.set(&[(home, 0)], "a:b", Some("b"));
    let before = stand.settled();
    let words = [&STREAM[..], &["--json"], more].concat();
    let ran = stand.pathscope("a", &words).finish().exits(code);
    let document = ran.document();
    streamed(stand, ran, &document, &before)
}

/// What is known of such a stream, once it is over.
fn streamed(stand: &Stand, ran: Ran, document: &Document, before: &RelayAccount) -> Streamed {
    let account = stand.settled().since(before);
    let measurement = only(document);
    let far = measurement.server.as_ref().and_then(|end| end.media.as_ref());
    let far = far.unwrap_or_else(|| panic!("the server reported: {}", ran.said()));
    let near = measurement.client.media.clone().expect("it reported");
    let link = account.link("a:b").expect("the only one");
    let home = only_flow(&link.backward, UDP, [PORT, 0]);
    // Answers of the set-up have 32 bytes.
    assert_eq!((far.frames_sent, far.sent_datagrams), (200, 800), "{}", ran.said());
    assert_eq!(far.sent_datagrams, pings(home.offered, 32));
    let sum = near.received_datagrams + near.spoilt_datagrams + near.lost_datagrams;
    assert_eq!(far.sent_datagrams, sum);
    assert_eq!(near.frames.judged() + near.frames.cut, 200);
    let summary = measurement.summary.media.clone().expect("it is media");
    Streamed { ran, near, summary, home }
}

#[test]
fn every_datagram_that_the_path_lost_doubled_or_damaged_is_found() {
    let Some(stand) = Stand::up(super::PAIR) else { return };
    let _server = stand.server("b");

    let Streamed { ran, near, summary, home } = stream(&stand, "loss=4%", 0, &[]);
    let lost = pings(home.lost, 32);
    // Of eight hundred at 4 % to lose none has a chance of one in a hundred thousand billion.
    assert!(lost > 0, "{}", ran.said());
    assert_eq!((near.lost_datagrams, near.duplicates), (lost, 0));
    assert_eq!(near.received_datagrams, pings(home.delivered, 32));
    assert_eq!(near.bursts.lost, lost);
    // Each frame that is dropped lacks one to four, and no other frame lacks any.
    let dropped = near.frames.dropped();
    assert!(dropped <= lost && lost <= 4 * dropped, "{dropped} {lost}");
    let down = summary.down.expect("it has that");
    assert_eq!((down.lost_in_network, down.lost_in_socket), (Some(lost), Some(0)));

    let Streamed { ran, near, home, .. } = stream(&stand, "loss=none dup=4%", 0, &[]);
    let doubled = pings(home.duplicated, 32);
    assert!(doubled > 0, "{}", ran.said());
    assert_eq!((near.duplicates, near.lost_datagrams), (doubled, 0));
    assert!(near.frames.repeated > 0 && near.frames.repeated <= doubled);

    stand.set(&[("dup=0%", 0)], "a:b", Some("b"));
    let before = stand.settled();
    let file = stand.folder.path().join("run.json");
    // The first report would be due after the end, and the first sign of life a second after the start: half a second
    // after it the ends say nothing to each other.
    let words = ["--report-every", "60s", "-o", file.to_str().expect("plain")];
    let client = stand.pathscope("a", &[&STREAM[..], &words].concat());
    stand.await_frames(&before, "b", (UDP, [PORT, 0]), 100);
    // All frames of 60 ms, some twelve.
    stand.set(&[("corrupt=100%", 0), ("corrupt=0%", 60)], "a:b", Some("b"));
    let ran = client.finish().exits(5);
    let document = crate::common::document_in(&file);
    let Streamed { ran, near, home, .. } = streamed(&stand, ran, &document, &before);
    let damaged = pings(home.corrupted, 32);
    assert!(damaged > 0, "{}", ran.said());
    assert_eq!(near.damaged_datagrams, damaged);
    assert_eq!(near.spoilt_datagrams + near.lost_datagrams, damaged);
    assert_eq!(near.lost_datagrams, near.unreadable_datagrams);
}

#[test]
fn a_path_that_is_cut_for_a_while_is_a_freeze_of_the_frames_that_it_took() {
    let Some(stand) = Stand::up(super::PAIR) else { return };
    let _server = stand.server("b");
    let before = stand.settled();
    let file = stand.folder.path().join("run.json");
    let words = ["-o", file.to_str().expect("plain")];
    let client = stand.pathscope("a", &[&STREAM[..], &words].concat());
    stand.await_frames(&before, "b", (UDP, [PORT, 0]), 100);
    stand.set(&[("cut", 0), ("restore", 300)], "a:b", None);
    let ran = client.finish().exits(0);
    let document = crate::common::document_in(&file);
    let Streamed { ran, near, summary, home } = streamed(&stand, ran, &document, &before);
    let cut = pings(home.cut, 32);
    assert!(cut > 0, "{}", ran.said());
    assert_eq!((near.lost_datagrams, near.bursts.bursts), (cut, 1), "{}", ran.said());
    // Frames of four datagrams: the first and the last of those that it took may have been whole in part.
    let frames = near.frames.dropped();
    assert!(cut.div_ceil(4) <= frames && frames <= cut / 4 + 2, "{frames} of {cut}");
    // 20 ms a frame, and all of them in a row.
    assert_eq!(near.longest_freeze_ns, frames * 20_000_000, "{}", ran.said());
    let down = summary.down.expect("it has that");
    assert_eq!((down.lost_in_network, down.lost_in_socket), (Some(cut), Some(0)));
}

#[test]
fn order_and_jitter_of_the_path_are_found_and_a_deep_buffer_rides_them_out() {
    let Some(stand) = Stand::up(super::PAIR) else { return };
    let _server = stand.server("b");
    let Streamed { ran, near, home, .. } = stream(&stand, "reorder=4%x3", 0, &[]);
    let reordered = pings(home.reordered, 32);
    assert!(reordered > 0, "{}", ran.said());
    assert_eq!((near.reordered, near.lost_datagrams), (reordered, 0));

    // Spread, so that neighbours meet delays of their own.
    let path = "reorder=none delay=40ms jitter=15ms";
    let words = ["--pacing", "spread", "--buffer-depth", "10s"];
    let Streamed { near, .. } = stream(&stand, path, 0, &words);
    let variation = near.variation.expect("datagrams");
    // Independent delays of a spread of some milliseconds differ by a millisecond and more on average.
    assert!(variation.ipdv.mean_ns > Some(1_000_000.0), "{variation:?}");
    assert_eq!((near.frames.missed, near.lost_datagrams), (0, 0));
    assert!(near.needed_depth_ns > Some(1_000_000), "{:?}", near.needed_depth_ns);
    // What a buffer of a millisecond misses is late and not lost.
    let words = ["--pacing", "spread", "--buffer-depth", "1ms"];
    let Streamed { near, .. } = stream(&stand, path, 0, &words);
    assert!(near.frames.late > 0, "{:?}", near.frames);
    assert_eq!((near.frames.dropped(), near.lost_datagrams), (0, 0));
}

#[test]
fn a_datagram_above_the_mtu_travels_in_fragments_and_that_is_said() {
    let text = "hosts = [\"a\", \"b\"]\n[links]\n\"a:b\" = { delay = \"1ms\", mtu = 600 }\n";
    let Some(stand) = Stand::up(text) else { return };
    let _server = stand.server("b");
    let words = ["media", "b", "--rate", "1Mbit", "--datagram", "1200", "-t", "1s", "--json"];
    let document = stand.pathscope("a", &words).finish().exits(0).document();
    let caveats = &only(&document).caveats;
    let told = caveats.iter().find(|caveat| caveat.name == "fragmented");
    let told = told.unwrap_or_else(|| panic!("{caveats:?}"));
    assert!(told.text.contains("600 B") && told.text.contains("--datagram 552 B"), "{}", told.text);
}
