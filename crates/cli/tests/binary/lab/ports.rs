//! Ports that run out, and the cure: connections that the client closes wait at the client, and those that
//! it resets wait nowhere.

use super::{Stand, only};

const PORTS: &str = "name = \"ports\"\nhosts = [\"a\", \"b\"]\n[links]\n\"a:b\" = {}\n";

/// Connections in `TIME_WAIT` on a node.
fn waiting(stand: &Stand, node: &str) -> usize {
    let ran = stand.start(node, &["cat", "/proc/net/tcp"]).finish().exits(0);
    ran.stdout.lines().filter(|line| line.split_whitespace().nth(3) == Some("06")).count()
}

#[test]
fn ports_run_out_where_connections_are_closed_and_not_where_they_are_reset() {
    // Told one by one, and quiet: then the worker that sees one end begins the next.
    for more in [&[][..], &["--quiet"]] {
        let Some(stand) = Stand::up(PORTS) else { return };
        run_out(&stand, more);
    }
}

fn run_out(stand: &Stand, more: &[&str]) {
    let _server = stand.server("b");
    let range = "echo 30000 30099 > /proc/sys/net/ipv4/ip_local_port_range";
    stand.start("a", &["sh", "-c", range]).finish().exits(0);
    let words = ["goodput", "b", "-c", "5", "--iterations", "40", "-n", "1KiB", "--no-probe"];
    let run = |how: &'static str| {
        let words = [&words[..], &["--json", "--shutdown", how], more].concat();
        stand.pathscope("a", &words).finish()
    };
    let rude = run("rude").exits(0);
    let counts = |ran: &crate::common::Ran| {
        let summary = only(&ran.document()).summary.goodput.clone().expect("it is goodput");
        (summary.completed, summary.failed)
    };
    assert_eq!(counts(&rude), (200, 0), "{}", rude.said());
    // The control connection, which is closed.
    assert_eq!((waiting(stand, "a"), waiting(stand, "b")), (1, 0));

    let graceful = run("graceful").exits(5);
    let graceful = match more {
        [] => graceful.complains(&["TIME_WAIT", "ip_local_port_range"]),
        _ => graceful,
    };
    let (completed, failed) = counts(&graceful);
    assert_eq!(completed + failed, 200, "{}", graceful.said());
    // A hundred ports, less those of two control connections.
    assert!(completed <= 98, "{}", graceful.said());
    assert_eq!(waiting(stand, "b"), 0);
    let document = graceful.document();
    let measurement = only(&document);
    let errnos = measurement.summary.goodput.iter().flat_map(|summary| &summary.errnos);
    let errnos: Vec<_> = errnos.map(|it| (it.errno.as_str(), it.client, it.server)).collect();
    assert_eq!(errnos, [("EADDRNOTAVAIL", failed, 0)]);
    let caveat = measurement.caveats.iter().find(|caveat| caveat.name == "ports_used_up");
    let text = caveat.map_or("", |caveat| caveat.text.as_str());
    assert!(text.contains("it has 100 from each of its addresses (30000 to 30099)"), "{text}");
}
