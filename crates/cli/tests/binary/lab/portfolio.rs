//! The portfolio network through and through: what an instrument says on it is what its links are, and
//! what the relay counted is what both ends, or the kernel, counted.

use pathscope_lab::relay::RelayAccount;

use super::{PORT, Stand, TCP, UDP, directions, is_flow, only, only_flow};

const PORTFOLIO: &str = include_str!("../../../../../labs/portfolio.toml");

#[test]
fn round_trips_have_the_delay_of_the_links_and_every_ping_is_in_the_ledger() {
    let Some(stand) = Stand::up(PORTFOLIO) else { return };
    let server = stand.server("h4");
    let before = stand.account();
    let words =
        ["latency", "h4", "--protocol", "udp", "--duration", "2s", "--size", "200", "--json"];
    let ran = stand.pathscope("h1", &words).finish().exits(0);
    let account = stand.settled().since(&before);
    let document = ran.document();
    let measurement = only(&document);
    let summary = measurement.summary.latency.as_ref().expect("it is latency");
    assert!(summary.received > 0, "{}", ran.said());
    // Twice L1's 10 ms and L2's 20 ms.
    assert!(summary.rtt.min_ns >= Some(60_000_000), "{:?}", summary.rtt.min_ns);
    assert_eq!((summary.lost, summary.duplicates, summary.corrupt, summary.foreign), (0, 0, 0, 0));
    let far =
        measurement.server.as_ref().and_then(|end| end.latency.as_ref()).expect("it reported");
    assert_eq!((far.received, far.sent), (summary.sent, summary.sent));
    for name in ["r1:r2", "r2:r3"] {
        let link = account.link(name).expect(name);
        let there = only_flow(&link.forward, UDP, [0, PORT]);
        let back = only_flow(&link.backward, UDP, [PORT, 0]);
        // Before the pings, the client proves its address: two requests of 64 bytes at least, and as
        // many answers of 32. They are told from pings by their size.
        let pings = super::truth::pings;
        assert_eq!(pings(there.offered, 64), summary.sent, "{name}");
        assert_eq!(pings(back.offered, 32), summary.sent, "{name}");
        for counts in [there, back] {
            assert_eq!(counts.offered, counts.delivered, "{name}");
        }
    }
    assert!(account.link("r3:r4").is_some_and(|link| link.forward.truth.flows.is_empty()));
    nothing_is_lost_by_the_lab(&account);
    server.signal("TERM");
    server.finish().exits(0);
}

#[test]
fn goodput_stays_below_the_narrowest_link_and_its_queue_is_all_that_drops() {
    let Some(stand) = Stand::up(PORTFOLIO) else { return };
    let server = stand.server("h4");
    let before = stand.settled();
    let kernel_before = dropped_between(&stand);
    let words = ["goodput", "h4", "-c", "1", "--duration", "3s", "--no-probe", "--json"];
    let ran = stand.pathscope("h1", &words).finish().exits(0);
    server.signal("TERM");
    server.finish().exits(0);
    let account = stand.settled().since(&before);
    let kernel_dropped = dropped_between(&stand) - kernel_before;
    let document = ran.document();
    let measurement = only(&document);
    let up = measurement.summary.goodput.as_ref().and_then(|it| it.up).expect("it went up");
    let received = up.received_bytes.expect("the server reported");
    assert!(received > 0 && up.verified);

    // Of 1514 bytes of a frame at L2's 30 Mbit/s, 1448 are payload: headers are 14 of Ethernet, 20 of
    // IP, 20 of TCP and 12 of its time stamps. All that was received passed L2 within the run.
    let bytes_a_second = 30e6 / 8.0 * 1448.0 / 1514.0;
    let run_s = measurement.duration_ns as f64 / 1e9;
    assert!((received as f64) < bytes_a_second * run_s, "{received} bytes in {run_s} s");
    let window_bytes = up.goodput_bps.expect("a window") / 8.0 * up.window_ns as f64 / 1e9;
    assert!(window_bytes < bytes_a_second * run_s, "{window_bytes} bytes in {run_s} s");

    let flow = &measurement.client.goodput.as_ref().expect("it reported").flows[0];
    let local = flow.local.as_ref().and_then(|it| it.rsplit_once(':')?.1.parse().ok());
    let ports = [local.expect("an address with a port"), PORT];
    let [first, second] = ["r1:r2", "r2:r3"].map(|name| account.link(name).expect(name));
    for link in [first, second] {
        let counts = only_flow(&link.forward, TCP, ports);
        // No frame has fewer than those 66 bytes of headers.
        let payload = counts.delivered.bytes - 66 * counts.delivered.frames;
        assert!(payload >= received, "{}: {payload} bytes for {received}", link.name);
    }
    // What one link delivers is offered to the next.
    let [into, out_of] = [&second.forward, &first.forward].map(|it| only_flow(it, TCP, ports));
    assert_eq!(into.offered, out_of.delivered);
    assert_eq!(into.offered.frames, into.delivered.frames + into.dropped.frames);
    // And what L2's queue drops is what the kernel counts to be missing behind it.
    assert_eq!(second.forward.truth.total.dropped.frames, kernel_dropped);

    nothing_is_lost_by_the_lab(&account);
    for direction in directions(&account) {
        let total = direction.truth.total;
        assert_eq!((total.lost.frames, total.cut.frames, total.duplicated.frames), (0, 0, 0));
        // Only the two narrow links on the way of the data have anything to queue.
        if !["r1", "r2"].contains(&direction.from.as_str()) || direction.to < direction.from {
            assert_eq!(total.dropped.frames, 0, "{} to {}", direction.from, direction.to);
        }
        let of_flows: u64 = direction.truth.flows.iter().map(|row| row.counts.dropped.frames).sum();
        assert_eq!(total.dropped.frames, of_flows);
    }
    let udp = |row| is_flow(row, UDP, [0, 0]);
    assert!(!directions(&account).any(|it| it.truth.flows.iter().any(udp)), "no probes");
}

fn nothing_is_lost_by_the_lab(account: &RelayAccount) {
    for direction in directions(account) {
        let overrun = direction.truth.total.overrun.frames;
        let lost = (overrun, direction.missed, direction.refused, direction.too_long);
        assert_eq!(lost, (0, 0, 0, 0), "{} to {}", direction.from, direction.to);
    }
}

/// Packets that r2 sent into L2 and that r3 did not get, as their kernel counts them.
fn dropped_between(stand: &Stand) -> u64 {
    let count = |node: &str, interface: &str, column: usize| -> u64 {
        let ran = stand.start(node, &["cat", "/proc/self/net/dev"]).finish().exits(0);
        let row = |line: &str| {
            let counts = line.trim().strip_prefix(interface)?.strip_prefix(':')?;
            counts.split_whitespace().nth(column)?.parse().ok()
        };
        ran.stdout.lines().find_map(row).unwrap_or_else(|| panic!("{}", ran.said()))
    };
    // Of its sixteen columns, the second is packets received and the tenth packets sent.
    count("r2", "to-r3", 9) - count("r3", "to-r2", 1)
}
