//! Known delay, jitter and order: what a measurement says of them is what the relay did.

use pathscope_modes::arrivals::VariationFigures;
use pathscope_modes::document::Document;
use pathscope_modes::latency::LatencySummary;

use super::truth::pings;
use super::{PORT, Stand, UDP, only, only_flow};

/// Pings of 200 bytes in a schedule, while the link is like this there and back.
fn ping(stand: &Stand, forth: &str, back: &str) -> Document {
    stand.set(&[(forth, 0)], "a:b", Some("a"));
    stand.set(&[(back, 0)], "a:b", Some("b"));
    let words = ["latency", "b", "--protocol", "udp", "--rate", "500/s", "-t", "2s"];
    let words = [&words[..], &["--size", "200", "--json"]].concat();
    stand.pathscope("a", &words).finish().exits(0).document()
}

fn summary(document: &Document) -> &LatencySummary {
    only(document).summary.latency.as_ref().expect("it is latency")
}

#[test]
fn a_known_delay_is_the_least_that_is_measured() {
    let Some(stand) = Stand::up(super::PAIR) else { return };
    let _server = stand.server("b");
    let document = ping(&stand, "delay=20ms", "delay=7ms");
    let figures = summary(&document);
    assert_eq!((figures.sent, figures.lost, figures.reordered), (1_000, 0, 0));
    // No frame may arrive before its time; that the fastest of a thousand is not much later holds on any
    // machine.
    let least = figures.rtt.min_ns.expect("round trips");
    assert!((27_000_000..54_000_000).contains(&least), "{least}");
}

/// Of which at least one is made at the pace of the path: where others have work to do, one may take any time.
const CONNECTIONS: u32 = 10;

#[test]
fn a_connection_takes_a_round_trip_to_be_established() {
    let Some(stand) = Stand::up(super::PAIR) else { return };
    let _server = stand.server("b");
    stand.set(&[("delay=20ms", 0)], "a:b", Some("a"));
    stand.set(&[("delay=7ms", 0)], "a:b", Some("b"));
    let words = ["latency", "b", "--protocol", "tcp", "-n", "1", "--json"];
    let mut least = u64::MAX;
    for _ in 0..CONNECTIONS {
        let document = stand.pathscope("a", &words).finish().exits(0).document();
        let connect = only(&document).client.connect.as_ref().expect("a connection");
        let took = connect.min_ns.expect("one");
        assert!(took >= 27_000_000, "{took}");
        least = least.min(took);
    }
    assert!(least < 54_000_000, "{least}");
}

#[test]
fn jitter_of_one_direction_is_found_in_that_direction() {
    let Some(stand) = Stand::up(super::PAIR) else { return };
    let _server = stand.server("b");
    let document = ping(&stand, "delay=20ms jitter=8ms", "delay=20ms jitter=0ms");
    let figures = summary(&document);
    assert_eq!(figures.lost, 0);
    let variation = &figures.jitter.as_ref().expect("echoes").variation;
    let spread = |way: &Option<VariationFigures>| {
        way.as_ref().and_then(|way| way.ipdv.mean_ns).expect("stamps")
    };
    let (there, home) = (spread(&variation.forward), spread(&variation.back));
    // Independent delays of a spread of some milliseconds differ by a millisecond and more on average.
    assert!(there > 1_000_000.0, "{there} {home}");
    assert!(there > home, "{there} {home}");
}

#[test]
fn reordering_by_a_known_distance_is_counted_ping_by_ping() {
    let Some(stand) = Stand::up(super::PAIR) else { return };
    let _server = stand.server("b");
    for from_client in [true, false] {
        let (forth, back) =
            ("delay=1ms jitter=0ms reorder=3%x3", "delay=1ms jitter=0ms reorder=none");
        let (forth, back) = if from_client { (forth, back) } else { (back, forth) };
        stand.set(&[(forth, 0)], "a:b", Some("a"));
        stand.set(&[(back, 0)], "a:b", Some("b"));
        let before = stand.settled();
        let document = ping(&stand, forth, back);
        let account = stand.settled().since(&before);
        let link = account.link("a:b").expect("the only one");
        let there = only_flow(&link.forward, UDP, [0, PORT]);
        let home = only_flow(&link.backward, UDP, [PORT, 0]);
        let (there, home) = (pings(there.reordered, 64), pings(home.reordered, 32));

        let figures = summary(&document);
        assert_eq!((figures.sent, figures.lost, figures.duplicates), (1_000, 0, 0));
        assert!(there + home > 0, "3 % of a thousand");
        assert_eq!(figures.reordered, there + home);
        assert_eq!(figures.reordered_forward, Some(there));
        assert_eq!(figures.reordered_return, Some(home));
        // Three pings pass each, and those that were held back with it come before it, too.
        let most = figures.reordering_extent_max.expect("some were reordered");
        assert!((3..=8).contains(&most), "{most}");
    }
}
