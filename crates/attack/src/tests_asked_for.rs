//! Tests as they are proposed, in as few words as the protocol needs.

use serde_json::{Value, json};

/// An hour: longer than any attack.
pub const LONG_NS: u64 = 3_600_000_000_000;

fn test(plan: &Value) -> Value {
    json!({ "plan": plan, "probe": null, "report_every_ns": 1_000_000_000_u64 })
}

/// Goodput over that many connections, for an hour. `more` is merged into its plan.
pub fn goodput(pattern: &str, connections: u32, more: &Value) -> Value {
    let mut plan = json!({
        "pattern": pattern, "connections": connections, "extent": { "duration_ns": LONG_NS },
        "buffer_bytes": 65_536, "push_bytes": 1_048_576, "pull_bytes": 1_048_576,
        "rate_bps": null, "warm_up_ns": 0, "verify": "full", "congestion_control": null,
        "engine": null, "wait": "auto",
    });
    merge(&mut plan, more);
    test(&json!({ "goodput": plan }))
}

/// The same with a probe beside it, over TCP, so that a session has two groups of flows.
pub fn goodput_with_probe(pattern: &str, connections: u32) -> Value {
    let mut whole = goodput(pattern, connections, &json!({}));
    whole["probe"] = json!({
        "protocol": "tcp", "load_model": { "open": { "period_ns": 1_000_000_000_u64 } },
        "extent": "with_load", "size_bytes": 64, "warm_up_ns": 0, "engine": null,
        "wait": "sleep",
    });
    whole
}

/// A connection that is replaced again and again, each one after so many bytes.
pub fn replaced(connections: u32, transfer_bytes: u64) -> Value {
    let more = json!({
        "extent": { "transfer_bytes": transfer_bytes },
        "shape": { "iterations": "forever", "connect_limit": 1_000, "time_limit_ns": null,
                   "shutdown": "graceful", "transfer_most_bytes": null,
                   "buffer_most_bytes": null, "seed": 0 },
    });
    goodput("push", connections, &more)
}

/// Pings over TCP, for an hour. `more` is merged into its plan.
pub fn latency(more: &Value) -> Value {
    let mut plan = json!({
        "protocol": "tcp", "load_model": { "open": { "period_ns": 100_000_000_u64 } },
        "extent": { "duration_ns": LONG_NS }, "size_bytes": 64, "warm_up_ns": 0,
        "engine": null, "wait": "sleep",
    });
    merge(&mut plan, more);
    test(&json!({ "latency": plan }))
}

/// Goodput over UDP at a rate.
pub fn datagrams(pattern: &str, flows: u32, rate_bps: u64) -> Value {
    let plan = json!({
        "pattern": pattern, "connections": flows, "extent": { "duration_ns": LONG_NS },
        "datagram_bytes": 1_400, "rate_bps": rate_bps, "warm_up_ns": 0, "verify": "full",
        "offload": "auto", "engine": null, "wait": "sleep", "client_cpus": [],
        "server_cpus": [],
    });
    test(&json!({ "datagrams": plan }))
}

/// One stream of media both ways, of so many frames a second, with that depth.
pub fn media(rate_bps: u64, frame_rate: u32, depth_ns: u64) -> Value {
    let plan = json!({
        "profile": null, "direction": "both", "rate_bps": rate_bps, "frame_rate": frame_rate,
        "buffer_depth_ns": depth_ns, "duration_ns": LONG_NS, "streams": 1,
        "datagram_bytes": 1_400, "pacing": "back_to_back", "engine": null, "wait": "auto",
    });
    test(&json!({ "media": plan }))
}

/// A test of several paths.
pub fn multipath() -> Value {
    let plan = json!({
        "rate_bps": 500_000, "grouping": 30, "datagram_bytes": 1_024, "duration_ns": LONG_NS,
        "paths": [], "lanes": 3, "order": "primary-first", "late_by_ns": 50_000_000,
    });
    test(&json!({ "multipath": plan }))
}

fn merge(plan: &mut Value, more: &Value) {
    if let (Some(plan), Some(more)) = (plan.as_object_mut(), more.as_object()) {
        plan.extend(more.iter().map(|(key, value)| (key.clone(), value.clone())));
    }
}
