//! What was sent again: as many segments as the kernel counts, the last ones included.

use std::net::SocketAddr;

use pathscope_core::record::FlowFacts;
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
        let account = stand.settled().since(&before);
        let link = account.link("a:b").expect("the only one");
        let direction = if sender == "a" { &link.forward } else { &link.backward };
        // Of the run before, an acknowledgement may still have come: rows are those of the ports of this one.
        let ports = |port| if sender == "a" { [port, PORT] } else { [PORT, port] };
        let rows =
            |port| direction.truth.flows.iter().filter(move |row| is_flow(row, TCP, ports(port)));
        let flows_told = &end.goodput.as_ref().expect("it is of goodput").flows;
        let client = |flow: &FlowFacts| {
            let address = if sender == "a" { &flow.local } else { &flow.remote };
            address.as_ref()?.parse::<SocketAddr>().ok()
        };
        let of_data: Vec<u16> =
            flows_told.iter().filter_map(|flow| Some(client(flow)?.port())).collect();
        let data: Vec<_> = of_data.iter().flat_map(|&port| rows(port)).collect();
        assert_eq!(data.len(), 8, "{pattern}: {data:?}");
        // What is sent again on the control connection is told nowhere. Of all others that moved meanwhile it moved most.
        let others =
            rows(0).filter(|row| of_data.iter().all(|&port| !is_flow(row, TCP, ports(port))));
        let control = others.map(|row| row.counts.offered.frames).max().expect("it was there");
        // Shorter frames may bear no data: a bare acknowledgement is never sent again, and the end of a connection after the
        // last look.
        let dropped: u64 = data.iter().map(|row| row.counts.dropped.bytes / FRAME_BYTES).sum();
        println!("{pattern}: dropped {dropped}, told {flows} and {host}, counted {counted}");
        assert!(dropped > 0, "{pattern}: nothing was dropped");
        assert!(dropped <= flows, "{pattern}: {flows} of {dropped} that were dropped");
        assert!(flows <= host && host <= counted, "{pattern}: {flows} {host} of {counted}");
        assert!(counted - flows <= control, "{pattern}: {flows} of {counted}, {control}");
    }
}
