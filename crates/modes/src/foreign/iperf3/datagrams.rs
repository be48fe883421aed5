//! A test over UDP: what came of what was sent, as far as iperf3's counts say it.
//!
//! It counts gaps below the highest number that came: what was lost behind that is in no figure, and where nothing came nothing counts as
//! lost. So what was sent and what came is told beside that, and losses are those of the two, where both are known.

use pathscope_core::figure::Part;
use pathscope_core::presentation::{Chart, Section, Series};
use serde_json::{Value, json};

use super::streams::told;
use super::{Document, Read, Way};

/// What is known of one way.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    sent: Option<u64>,
    received: Option<u64>,
    lost: Option<u64>,
    reordered: Option<u64>,
    received_bps: Option<f64>,
    jitter_ns: Option<u64>,
}

pub(super) fn read(document: &Document) -> Read {
    let group = &crate::datagrams::figures::GROUP;
    let (mut figures, mut over_time, mut summary) = (Vec::new(), Vec::new(), json!({}));
    let mut unknown = Vec::new();
    for way in document.ways() {
        let counts = counts(document, way);
        let share = counts
            .sent
            .filter(|sent| *sent > 0)
            .zip(counts.lost)
            .map(|(sent, lost)| lost as f64 / sent as f64);
        figures.extend(counts.received_bps.map(|rate| group.of(way.name, "rate", rate)));
        figures.extend(share.map(|share| group.of(way.name, "lost_share", share)));
        for (name, count) in [
            ("sent", counts.sent),
            ("received", counts.received),
            ("lost", counts.lost),
            ("reordered", counts.reordered),
        ] {
            figures.extend(count.map(|count| group.of(way.name, name, count)));
        }
        figures.extend(counts.jitter_ns.map(|jitter| group.of(way.name, "jitter.last", jitter)));
        if counts.received.is_none() {
            unknown.push(format!("what came of what was sent {}", way.name));
        }
        summary[way.name] = json!({
            "goodput_bps": counts.received_bps, "sent": counts.sent, "received": counts.received, "lost": counts.lost,
            "lost_ratio": share, "reordered": counts.reordered,
            "jitter": { "rfc3550": { "last_ns": counts.jitter_ns } },
        });
        let points = document.over_time(way, "bits_per_second");
        if !way.sends && points.iter().any(|point| point.value.is_some()) {
            let mut source = group.source(&Part::Side(way.name), "rate");
            source.chart = Chart::Area;
            over_time.push(Series { source, points });
        }
    }
    let section = Section {
        subtitle: document.subtitle("UDP"),
        settings: document.settings(),
        figures,
        series: over_time,
        caveats: document.caveats(&told(&unknown)),
        ..Section::default()
    };
    let client = json!({ "cpu_utilization_percent": document.processors() });
    Read { name: "datagrams", section, summary: json!({ "datagrams": summary }), client }
}

fn counts(document: &Document, way: Way) -> Counts {
    // Who wrote the file knows what came where it received, and a client what its server told it.
    let knows_received = !way.sends || !document.is_of_server();
    let sum = |name: &str, key: &str| document.count(&format!("/end/{name}{}/{key}", way.suffix));
    // Until 3.10 there is one sum: packets as they were sent, and how many of them are missing.
    let told = if document.root.pointer(&format!("/end/sum_received{}", way.suffix)).is_some() {
        "sum_received"
    } else {
        "sum"
    };
    let sent = sum("sum_sent", "packets").or_else(|| sum("sum", "packets"));
    // A server does not learn how many its client has sent: what it writes is the highest number.
    let sent = sent.filter(|sent| *sent > 0 && (way.sends || !document.is_of_server()));
    if !knows_received {
        return Counts { sent, ..Counts::default() };
    }
    let (seen, missing) = (sum(told, "packets"), sum(told, "lost_packets"));
    let received = seen.zip(missing).map(|(seen, missing)| seen.saturating_sub(missing));
    let lost = match (sent, received) {
        (Some(sent), Some(received)) => Some(sent.saturating_sub(received)),
        _ => missing,
    };
    let seconds = document.sum(told, way, "seconds").filter(|seconds| *seconds > 0.0);
    let size = document.number("/start/test_start/blksize").filter(|size| *size > 0.0);
    let received_bps = received
        .zip(size)
        .zip(seconds)
        .map(|((count, size), seconds)| count as f64 * size * 8.0 / seconds);
    let jitter_ms = document.sum(told, way, "jitter_ms").filter(|jitter| *jitter >= 0.0);
    Counts {
        sent,
        received,
        lost,
        reordered: reordered(document, way),
        received_bps,
        jitter_ns: jitter_ms.map(|jitter| (jitter * 1e6).round() as u64),
    }
}

/// What came after one of a higher number, over the streams of a way: known where this end received.
fn reordered(document: &Document, way: Way) -> Option<u64> {
    let streams = document.root.pointer("/end/streams").and_then(Value::as_array)?;
    let udp = streams.iter().filter_map(|stream| stream.get("udp"));
    let own = udp.filter(|udp| {
        udp.get("sender").and_then(Value::as_bool).is_none_or(|sends| sends == way.sends)
    });
    let counts = own.filter_map(|udp| udp.get("out_of_order")?.as_u64());
    if way.sends { None } else { counts.reduce(u64::saturating_add) }
}
