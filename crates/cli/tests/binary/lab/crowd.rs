//! More flows of datagrams than a process may have open, and more than an address has ports, between two processes of one machine.

use pathscope_modes::document::{Interval, Measurement};
use pathscope_modes::registry::EndInterval;

use super::{BINARY, PORT, Stand, only};
use crate::common::Ran;

const NODES: &str = "name = \"crowd\"\nhosts = [\"a\", \"b\"]\n[links]\n\"a:b\" = {}\n";

/// Of which each end holds as many in each of its tables of descriptors as it may.
const FLOWS: u64 = 5_001;
const DESCRIPTORS: u64 = 1_024;

/// The ports that a node takes by itself: 2,000.
const RANGE: &str = "echo 30000 31999 > /proc/sys/net/ipv4/ip_local_port_range";

/// The program on a node, with that much room in each of its tables.
fn limited(words: &str) -> String {
    format!("ulimit -n {DESCRIPTORS} && exec {BINARY} {words}")
}

/// A node whose server takes them all.
struct Crowd(Stand);

impl Crowd {
    /// What a client came to that says these words of a test at that server, with what the server has printed; nothing where this system
    /// gives no thread a table.
    fn run(&self, test: &str, words: &str) -> Option<Ran> {
        let limits = "--limit-descriptors 0 --limit-descriptors-per-address 0 --limit-memory 0";
        let server = limited(&format!("server --listen 127.0.0.1 {limits}"));
        let mut server = self.0.start("a", &["sh", "-c", &server]);
        server.await_stderr("listening on");
        let words = limited(&format!("{test} 127.0.0.1:{PORT} --json {words}"));
        let ran = self.0.start("a", &["sh", "-c", &words]).finish();
        if ran.said().contains("a table of descriptors of its own") {
            println!("skipped, because this system gives no thread a table: {}", ran.said());
            return None;
        }
        Some(ran)
    }

    fn up() -> Option<Self> {
        let stand = Stand::up(NODES)?;
        stand.start("a", &["sh", "-c", RANGE]).finish().exits(0);
        Some(Self(stand))
    }
}

/// All of it was right, there were several tables at this end, and what is told of it is no more than of few.
fn is_whole(ran: &Ran, measurement: &Measurement) {
    let failed = measurement.checks.iter().find(|check| check.passed != Some(true));
    assert_eq!(failed, None, "{}", ran.stderr);
    let chosen = |what: &str| measurement.substitutions.iter().any(|it| it.what.starts_with(what));
    // 666 ports of an address are found at once.
    assert!(chosen("bind") && chosen("workers"), "{:?}", measurement.substitutions);
    assert!(ran.stdout.len() < 5_000_000, "{} bytes of document", ran.stdout.len());
}

#[test]
fn five_thousand_udp_flows_of_pings_have_their_seats_and_each_ping_is_accounted_for() {
    let Some(crowd) = Crowd::up() else { return };
    let pings = format!("--protocol udp --connections {FLOWS} --period 1s --iterations 3");
    let Some(ran) = crowd.run("latency", &pings) else { return };
    let ran = ran.exits(0);
    let document = ran.document();
    let measurement = only(&document);
    is_whole(&ran, measurement);
    let client = measurement.client.latency.as_ref().expect("it is latency");
    assert_eq!((client.sent, client.received + client.lost), (3 * FLOWS, 3 * FLOWS));
    let server = measurement.server.as_ref().and_then(|end| end.latency.as_ref());
    let server = server.expect("the server has reported");
    assert!((client.received..=client.sent).contains(&server.received), "{}", server.received);
    // What is told of an interval is of all workers.
    let told = |end: fn(&Interval) -> Option<&EndInterval>| {
        let each = measurement.intervals.iter().filter_map(|it| end(it)?.latency.as_ref());
        each.fold((0, 0), |(sent, received), it| (sent + it.sent, received + it.received))
    };
    assert_eq!(told(|it| it.client.as_ref()), (client.sent, client.received));
    assert_eq!(told(|it| it.server.as_ref()), (server.sent, server.received));

    // With one address there are not as many ports, which is said before any is opened.
    let Some(ran) = crowd.run("latency", &format!("{pings} --bind 127.0.0.1")) else { return };
    ran.exits(4).complains(&["5,001 flows", "there are 2,000", "--bind 3 addresses"]);
}

#[test]
fn five_thousand_media_streams_have_their_seats_and_both_ends_count_the_same() {
    let Some(crowd) = Crowd::up() else { return };
    let streams = format!("--streams {FLOWS} --rate 8kbit --frame-rate 1 --duration 3s");
    let Some(ran) = crowd.run("media", &streams) else { return };
    let ran = ran.exits(0);
    let document = ran.document();
    let measurement = only(&document);
    is_whole(&ran, measurement);
    let client = measurement.client.media.as_ref().expect("it is media");
    let server = measurement.server.as_ref().and_then(|end| end.media.as_ref());
    let server = server.expect("the server has reported");
    assert_eq!((client.failed, server.failed), (0, 0));
    assert_eq!(server.sent_datagrams + server.unsent_frames, 3 * FLOWS);
    assert_eq!(client.received_datagrams + client.lost_datagrams, server.sent_datagrams);
}
