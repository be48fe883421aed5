//! Kernel stamps and one-way delay through the binary.

use pathscope_modes::document::Document;
use pathscope_modes::latency::LatencySummary;

use crate::common::{Server, run};

fn summary(document: &Document) -> &LatencySummary {
    document.measurements[0].summary.latency.as_ref().expect("it is latency")
}

#[test]
fn a_round_trip_is_split_by_the_kernels_of_both_ends() {
    let server = Server::start();
    for more in ["--wait sleep", "--wait spin --engine epoll", "--rate 1k/s -c 3 --size 1400"] {
        let host = server.host();
        let words = ["latency", &host, "--protocol", "udp", "--timestamps", "kernel", "-n", "500"];
        let words: Vec<&str> = words.into_iter().chain(more.split(' ')).collect();
        let document = run(&[&words[..], &["--json"]].concat()).exits(0).document();
        let figures = summary(&document);
        let parts = figures.parts.as_ref().expect("they were asked for");
        let flows = if more.contains("-c 3") { 3 } else { 1 };
        assert_eq!((figures.received, figures.corrupt, parts.of), (500 * flows, 0, 500 * flows));
        // Of the last one of each flow nobody is told; and a client's first may come before the server's socket stamps.
        assert!(parts.pings >= 490 * flows, "{more}: {} of {}", parts.pings, parts.of);
        assert_eq!(parts.implausible, 0, "{more}");
        for facts in [&parts.client, &parts.server] {
            let facts = facts.as_ref().expect("both ends stamp");
            assert_eq!((facts.refused.as_ref(), facts.wall_clock_steps), (None, 0));
            assert!(facts.error_ns < 1_000_000, "{facts:?}");
        }
        // They add up to the round trips of those pings, and so to no more than that of all.
        let sum = |of: &pathscope_core::stats::LatencyFigures| of.mean_ns.unwrap_or(0.0);
        let whole = sum(&figures.rtt) * parts.of as f64;
        let split: f64 = parts.named().iter().map(|(_, part)| sum(part)).sum();
        assert!(split * parts.pings as f64 <= whole * 1.001, "{more}: {split} {whole}");
        assert!(parts.named().iter().all(|(_, part)| part.count == parts.pings), "{more}");
        let shown = run(&words).exits(0).stdout;
        for label in ["with all stamps", "client send p50", "wire p50", "server receive p50"] {
            assert!(shown.contains(label), "{label}: {shown}");
        }
    }
}

#[test]
fn one_way_delay_is_told_where_both_ends_read_one_clock() {
    let server = Server::start();
    let words = ["latency", &server.host(), "--protocol", "udp", "-n", "300", "--wait", "sleep"];
    let document = run(&[&words[..], &["--json"]].concat()).exits(0).document();
    let figures = summary(&document);
    let one_way = figures.one_way.as_ref().expect("one machine");
    assert_eq!((one_way.forward.count, one_way.back.count), (300, 300));
    assert!(one_way.error_bound_ns.is_some_and(|bound| (1..1_000_000).contains(&bound)));
    // There, in the server and back: the round trip.
    let mean = |of: &pathscope_core::stats::LatencyFigures| of.mean_ns.expect("300 of them");
    let residence = mean(figures.server_residence.as_ref().expect("UDP"));
    let sum = mean(&one_way.forward) + residence + mean(&one_way.back);
    assert!((sum - mean(&figures.rtt)).abs() < 1.0, "{sum} {:?}", figures.rtt.mean_ns);
    assert!(run(&words).exits(0).stdout.contains("one way there p50"));
}
