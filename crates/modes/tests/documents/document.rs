//! Documents of every version are read for ever: a fixture of each, what it says, and nothing of it lost.

use pathscope_modes::document::Document;
use serde_json::Value;

const VERSION_1: &str = include_str!("../fixtures/document-1.json");
/// Of version 2, of a run of two servers.
const SERVERS: &str = include_str!("../fixtures/document-2-servers.json");

#[test]
fn version_1_is_read() {
    let document = Document::from_json(VERSION_1).expect("a document of version 1");
    let names: Vec<&str> =
        document.measurements.iter().map(|measurement| measurement.name.as_str()).collect();
    assert_eq!(names, ["latency idle", "goodput up", "goodput down", "goodput both ways"]);
    let value: Value = serde_json::from_str(VERSION_1).expect("JSON");
    let up = document.measurements[1]
        .summary
        .goodput
        .as_ref()
        .and_then(|goodput| goodput.up)
        .expect("it was measured");
    let there = &value["measurements"][1]["summary"]["goodput"]["up"];
    assert_eq!(up.received_bytes, there["received_bytes"].as_u64());
    assert_eq!(up.goodput_bps, there["goodput_bps"].as_f64());
    let idle = document.measurements[0].summary.latency.as_ref().expect("it was measured");
    let there = &value["measurements"][0]["summary"]["latency"]["rtt"];
    assert_eq!(idle.rtt.max_ns, there["max_ns"].as_u64());
    assert_eq!(idle.rtt.count, there["count"].as_u64().expect("a count"));
    assert!(document.hosts.is_one_machine());
}

#[test]
fn nothing_of_version_1_is_lost() {
    let document = Document::from_json(VERSION_1).expect("a document of version 1");
    let written = serde_json::to_value(&document).expect("plain data");
    let read: Value = serde_json::from_str(VERSION_1).expect("JSON");
    assert_survives("document", &read, &written);
}

#[test]
fn a_document_of_several_servers_is_read_and_nothing_of_it_is_lost() {
    let document = Document::from_json(SERVERS).expect("a document of several servers");
    let targets: Vec<&str> = document.servers.iter().map(|it| it.target.as_str()).collect();
    assert_eq!(targets, ["127.0.0.1:7101", "127.0.0.1:7102"]);
    let read: Value = serde_json::from_str(SERVERS).expect("JSON");
    let up = |summary: &Value| summary["goodput"]["up"]["received_bytes"].as_u64();
    let of_each = document.servers.iter().map(|server| {
        let goodput = server.measurements[0].summary.goodput.as_ref();
        goodput.and_then(|goodput| goodput.up?.received_bytes).expect("it was measured")
    });
    assert_eq!(up(&read["together"]["summary"]), Some(of_each.sum()));
    let together = document.together.as_ref().expect("both were measured");
    assert_eq!(
        together.servers.start_spread_ns,
        read["together"]["servers"]["start_spread_ns"].as_u64()
    );
    assert_survives("document", &read, &serde_json::to_value(&document).expect("plain data"));
}

/// Everything in `old` is in `new`, at the same place; `new` may hold more.
fn assert_survives(place: &str, old: &Value, new: &Value) {
    match (old, new) {
        (Value::Object(old), Value::Object(new)) => {
            for (name, value) in old {
                let place = format!("{place}.{name}");
                let kept = new.get(name).unwrap_or_else(|| panic!("{place} is lost"));
                assert_survives(&place, value, kept);
            }
        }
        (Value::Array(old), Value::Array(new)) => {
            assert_eq!(old.len(), new.len(), "{place}");
            old.iter().zip(new).enumerate().for_each(|(index, (old, new))| {
                assert_survives(&format!("{place}[{index}]"), old, new);
            });
        }
        _ => assert_eq!(old, new, "{place}"),
    }
}
