//! A test over TCP: what was received, what was sent, and how often again.

use pathscope_core::figure::Part;
use pathscope_core::presentation::{Chart, Section, Series};
use serde_json::json;

use super::{Document, Read, Way};
use crate::goodput;

pub(super) fn read(document: &Document) -> Read {
    let group = &goodput::figures::GROUP;
    let (mut figures, mut over_time, mut summary) = (Vec::new(), Vec::new(), json!({}));
    let mut unknown = Vec::new();
    for way in document.ways() {
        let [sent, received] = ["sum_sent", "sum_received"].map(|sum| bytes(document, sum, way));
        let rate = received.and(document.sum("sum_received", way, "bits_per_second"));
        if let Some(rate) = rate {
            figures.push(group.of(way.name, "rate", rate));
        } else {
            unknown.push(format!("what was received {}", way.name));
        }
        figures.extend(sent.map(|bytes| group.of(way.name, "sent", bytes)));
        figures.extend(received.map(|bytes| group.of(way.name, "received", bytes)));
        if sent.is_none() {
            unknown.push(format!("what was sent {}", way.name));
        }
        summary[way.name] =
            json!({ "goodput_bps": rate, "sent_bytes": sent, "received_bytes": received });
        let points = document.over_time(way, "bits_per_second");
        if points.iter().any(|point| point.value.is_some()) {
            let name = if way.sends { "sent" } else { "rate" };
            let mut source = group.source(&Part::Side(way.name), name);
            source.chart = Chart::Area;
            if way.sends {
                // Amounts that the sender's kernel took, a second.
                source.unit = crate::figure::Unit::BitRate;
                source.label = format!("{} a second", source.label);
            }
            over_time.push(Series { source, points });
        }
    }
    let again = document.ways().into_iter().filter_map(|way| {
        let place = format!("/end/sum_sent{}/retransmits", way.suffix);
        document.count(&place).filter(|_| way.sends || !document.is_of_server())
    });
    let retransmits = again.reduce(u64::saturating_add);
    figures.extend(retransmits.map(|count| group.figure("retransmits", count)));
    summary["retransmits"] = json!(retransmits);
    let section = Section {
        subtitle: document.subtitle("TCP"),
        settings: document.settings(),
        figures,
        series: over_time,
        caveats: document.caveats(&told(&unknown)),
        ..Section::default()
    };
    let client = json!({ "cpu_utilization_percent": document.processors() });
    Read { name: "goodput", section, summary: json!({ "goodput": summary }), client }
}

/// The bytes of a sum, if whoever wrote the file knows them: a server never learns what its client counted, and writes zero.
fn bytes(document: &Document, sum: &str, way: Way) -> Option<u64> {
    let is_own = way.sends == (sum == "sum_sent");
    let bytes = document.count(&format!("/end/{sum}{}/bytes", way.suffix))?;
    (is_own || !document.is_of_server() || bytes > 0).then_some(bytes)
}

/// What is not known, as the begin of a sentence.
pub(super) fn told(unknown: &[String]) -> String {
    match unknown {
        [] => "what the ends' machines did".to_owned(),
        some => format!("{}, and what the ends' machines did", some.join(", ")),
    }
}
