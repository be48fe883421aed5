//! What was sent again: as many segments as the kernel counts, the last ones included.

use pathscope_modes::registry::EndReport;

use super::{PORT, Stand, TCP, is_flow, only};

/// A path that is slow, and whose queue is short: most of what its senders hold is still to come when their time is up.
const PATH: &str = "hosts = [\"a\", \"b\"]\n[links]\n\
                    \"a:b\" = { rate = \"4Mbit\", delay = \"5ms\", queue = \"10p\" }\n";

/// A full frame of this path.
const FRAME_BYTES: u64 = 1_514;

/// What the kernel of a node has sent again since it was made.
fn sent_again(stand: &Stand, node: &str) -> u64 {
    let text = stand.start(node, &["cat", "/proc/net/snmp"]).finish().exits(0).stdout;
    let mut lines = text.lines().filter_map(|line| line.strip_prefix("Tcp: "));
    let (names, values) = (lines.next().expect("names"), lines.next().expect("values"));
    let mut both = names.split_whitespace().zip(values.split_whitespace());
    let (_, value) = both.find(|(name, _)| *name == "RetransSegs").expect("it counts them");
    value.parse().expect("a number")
}

fn told(end: &EndReport) -> (u64, u64) {
    let flows = end.goodput.iter().flat_map(|goodput| &goodput.flows);
    let flows = flows.filter_map(|flow| flow.tcp?.retransmits).sum();
    let host = end.host.as_ref().and_then(|host| host.protocols.get("Tcp.RetransSegs").copied());
    (flows, host.unwrap_or(0))
}

#[test]
fn all_that_the_kernel_sent_again_is_told_at_either_end() {
    let Some(stand) = Stand::up(PATH) else { return };
    let _server = stand.server("b");
    for (pattern, sender) in [("push", "a"), ("pull", "b")] {
        let before = stand.settled();
        let counted = sent_again(&stand, sender);
        // Nothing is said on the control connection while it runs, which would be sent again, too.
        let words = ["goodput", "b", "-c", "8", "-t", "2s", "--no-probe", "--json"];
        let more = ["--pattern", pattern, "--congestion", "cubic", "--report-every", "60s"];
        let ran = stand.pathscope("a", &[&words[..], &more].concat()).finish().exits(0);
        let counted = sent_again(&stand, sender) - counted;
        let document = ran.document();
        let measurement = only(&document);
        let end = match sender {
            "a" => &measurement.client,
            _ => measurement.server.as_ref().expect("it reported"),
        };
        let (flows, host) = told(end);
        // Of nine connections the control connection moves least, and what is sent again there is told nowhere.
        let account = stand.settled().since(&before);
        let link = account.link("a:b").expect("the only one");
        let (direction, ports) = match sender {
            "a" => (&link.forward, [0, PORT]),
            _ => (&link.backward, [PORT, 0]),
        };
        let rows = direction.truth.flows.iter().filter(|row| is_flow(row, TCP, ports));
        let mut rows: Vec<_> = rows.filter(|row| row.counts.offered.frames > 0).collect();
        rows.sort_by_key(|row| row.counts.offered.bytes);
        // Of connections of the run before, an acknowledgement may still have come.
        assert!(rows.len() >= 9, "{pattern}: {rows:?}");
        let data = &rows[rows.len() - 8..];
        // Shorter frames may bear no data: a bare acknowledgement is never sent again, and the end of a connection after the
        // last look.
        let dropped: u64 = data.iter().map(|row| row.counts.dropped.bytes / FRAME_BYTES).sum();
        println!("{pattern}: dropped {dropped}, told {flows} and {host}, counted {counted}");
        assert!(dropped > 0, "{pattern}: nothing was dropped");
        assert!(dropped <= flows, "{pattern}: {flows} of {dropped} that were dropped");
        assert!(flows <= host && host <= counted, "{pattern}: {flows} {host} of {counted}");
    }
}
