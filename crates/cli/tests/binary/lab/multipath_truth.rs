//! Two paths of known rate, delay and queue: what each answer took is what the relay's account says of its link.

use pathscope_core::stats::LatencyFigures;
use pathscope_lab::relay::DirectionAccount;

use super::multipath::{Course, TWO_WAYS, datagrams, summary};
use super::{PORT, Stand, UDP, only_flow};

/// A frame of 1,024 bytes of payload.
const FRAME_BITS: u64 = (14 + 20 + 8 + 1_024) * 8;

#[test]
fn groups_wait_in_the_queue_of_their_path_as_long_as_the_relay_says() {
    let Some(stand) = Stand::up(TWO_WAYS) else { return };
    let _server = stand.server("server");
    // Ten datagrams at once, the tenth 15 ms behind the first on the slow path; the ways home are as fast as may be.
    let ways = [("to-ap", "laptop:ap", 20, 4), ("to-modem", "laptop:modem", 5, 2)];
    for (_, link, megabits, _) in ways {
        let order = format!("rate={megabits}Mbit queue=100p");
        stand.set(&[(&order, 0)], link, Some("laptop"));
    }
    let before = stand.settled();
    let paths = ["--path", "to-ap", "--path", "to-modem"];
    let rest = ["-t", "3s", "--rate", "1Mbit", "--grouping", "10"];
    let (ran, document) = Course::start(&stand, &[&paths[..], &rest].concat()).finish();
    let ran = ran.exits(0);
    let account = stand.settled().since(&before);
    let summary = summary(&document);
    for (path, (name, link, megabits, delay_ms)) in summary.paths.iter().zip(ways) {
        assert_eq!((path.sent, path.received, path.lost), (366, 366, 0), "{name}: {}", ran.said());
        let there = &account.link(link).expect("it is there").forward;
        let flow = only_flow(there, UDP, [0, PORT]);
        assert_eq!((datagrams(flow.delivered, 64), flow.dropped.frames), (366, 0), "{name}");
        let sent_ns = FRAME_BITS * 1_000 / megabits;
        let on_the_wire_ns = 2 * delay_ms * 1_000_000 + sent_ns;
        is_no_sooner(&path.latency, there, on_the_wire_ns, name);
    }
    let [ap, modem] = &summary.paths[..] else { panic!("two paths: {}", ran.said()) };
    // The tenth of a group is there sooner by the fast link, the first by the near one.
    assert!(ap.first > 0 && modem.first > 0, "{} {}: {}", ap.first, modem.first, ran.said());
}

/// No answer came sooner than its way lets it, and on average each waited no less than the relay had it wait.
fn is_no_sooner(found: &LatencyFigures, there: &DirectionAccount, on_the_wire_ns: u64, path: &str) {
    let queue = there.truth.queue;
    assert!(queue.waited_ns > 0, "{path}: groups met a queue: {queue:?}");
    assert!(found.min_ns >= Some(on_the_wire_ns), "{path}: {found:?}");
    // Others than these may have waited, too: those of the control connection.
    let others = (queue.begun - found.count).saturating_mul(queue.longest_wait_ns);
    let waited_ns = queue.waited_ns.saturating_sub(others) as f64 / found.count as f64;
    let mean_ns = found.mean_ns.expect("there are answers");
    assert!(mean_ns >= on_the_wire_ns as f64 + waited_ns, "{path}: {mean_ns}, {queue:?}");
}

#[test]
fn damage_on_one_path_is_found_there_and_costs_the_other_nothing() {
    let Some(stand) = Stand::up(TWO_WAYS) else { return };
    let _server = stand.server("server");
    // The control connection goes by the other one.
    stand.set(&[("corrupt=4%", 0)], "laptop:modem", None);
    let before = stand.settled();
    let paths = ["--path", "to-ap", "--path", "to-modem"];
    let rest = ["-t", "3s", "--rate", "2Mbit", "--grouping", "10"];
    let (ran, document) = Course::start(&stand, &[&paths[..], &rest].concat()).finish();
    let ran = ran.exits(5).complains(&["came with other bytes than were sent"]);
    let account = stand.settled().since(&before);
    let link = account.link("laptop:modem").expect("it is there");
    let flows = [
        (only_flow(&link.forward, UDP, [0, PORT]), 64),
        (only_flow(&link.backward, UDP, [PORT, 0]), 32),
    ];
    let damaged: u64 = flows.iter().map(|(flow, other)| datagrams(flow.corrupted, *other)).sum();
    let summary = summary(&document);
    let [ap, modem] = &summary.paths[..] else { panic!("two paths: {}", ran.said()) };
    assert_eq!((ap.sent, ap.received, ap.corrupt), (732, 732, 0), "{}", ran.said());
    assert_eq!((summary.received, summary.lost), (732, 0), "{}", ran.said());
    // What names a datagram may be damaged, and then it is nobody's; the server's own stamps, 16 bytes of 1,024, are
    // compared with nothing.
    let found = modem.corrupt + summary.foreign;
    assert!(modem.corrupt > 0 && found <= damaged, "{found} of {damaged}: {}", ran.said());
    assert!(10 * found >= 8 * damaged, "{found} of {damaged}: {}", ran.said());
    // Each damaged one is an answer less, and nothing else is.
    assert_eq!(modem.lost, found, "{}", ran.said());
    assert_eq!((modem.sent, modem.received + modem.lost), (732, 732), "{}", ran.said());
}
