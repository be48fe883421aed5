//! Of goodput over TCP.

use pathscope_core::quantity::Period;

use super::{Axis, Chosen, Design, Extent, words};
use crate::cell::{Asked, Cell, Conditions};
use crate::place::Place;

pub(super) const DESIGN: Design = Design {
    group: "goodput",
    axes: &[
        Axis::new("pattern", &["push", "pull", "duplex", "bidir", "pushpull"]),
        Axis::new("connections", &["1", "8", "100"]),
        Axis::new("wait", &["sleep", "spin"]),
        Axis::new("engine", &["epoll", "plain"]),
        Axis::new("place", &["loopback", "wire", "link"]),
        Axis::new("addresses", &["IPv4", "IPv6"]),
        Axis::new("congestion", &["cubic", "reno", "bbr"]),
        Axis::new("rate", &["any", "20Mbit"]),
        Axis::new("until", &["time", "bytes"]),
        Axis::new("probes", &["none", "250/s"]),
    ],
    is_possible,
    cell,
};

/// Of each way of the link.
const LINE_BPS: f64 = 60e6;
const LINE: Conditions = Conditions {
    up: "rate=60Mbit queue=200p",
    down: "rate=60Mbit queue=200p",
    delay_ns: 2_000_000,
    rate_bps: Some(LINE_BPS),
    queue_packets: Some(200),
};
/// What is transferred in a second of a cell, of all connections together.
const TRANSFER: [(&str, u64); 2] = [("link", 4_000_000), ("", 40_000_000)];

fn is_possible(chosen: &Chosen) -> bool {
    // A rate that is shared out among a hundred has each of them send one segment now and then.
    !(chosen.is("rate", "20Mbit")
        && (chosen.is("pattern", "pushpull") || chosen.is("connections", "100")))
}

fn cell(chosen: &Chosen, extent: Extent) -> Cell {
    // In less a hundred streams do not get up to speed.
    let seconds = extent.of(1_000).max(1_000) / 1_000;
    let (place, family) = (chosen.place(), chosen.family());
    let flows = chosen.number("connections");
    let is_limited = chosen.is("rate", "20Mbit");
    let mut words = words(&format!(
        "goodput {} --pattern {} -c {flows} --wait {} --engine {} --congestion {}",
        place.target(family),
        chosen.get("pattern"),
        chosen.get("wait"),
        chosen.get("engine"),
        chosen.get("congestion"),
    ));
    match chosen.get("probes") {
        "none" => words.push("--no-probe".to_owned()),
        rate => words.extend(["--probe-rate", rate].map(str::to_owned)),
    }
    if is_limited {
        words.extend(["--total-rate", "20Mbit"].map(str::to_owned));
    }
    let mut transfer_bytes = None;
    if chosen.is("until", "bytes") {
        let found = TRANSFER.iter().find(|(at, _)| at.is_empty() || chosen.is("place", at));
        let all = seconds * found.map_or(0, |(_, bytes)| *bytes);
        let each = if is_limited { seconds * 2_000_000 / flows } else { all / flows };
        words.extend(["-n".to_owned(), each.to_string()]);
        // Two ways that share connections share it as their pattern has it.
        let is_one_way = matches!(chosen.get("pattern"), "push" | "pull" | "bidir");
        transfer_bytes = is_one_way.then_some(each * flows);
    } else {
        words.extend(["-t".to_owned(), format!("{seconds}s")]);
    }
    Cell {
        name: String::new(),
        settings: Vec::new(),
        place,
        family,
        conditions: if place == Place::Link { vec![LINE] } else { Vec::new() },
        later: Vec::new(),
        words,
        duration: Period::from_secs(seconds),
        ping_bytes: None,
        has_samples: false,
        asked: Asked {
            // Each way has as many.
            flows: if chosen.is("pattern", "bidir") { 2 * flows } else { flows },
            rate_bps: (is_limited && chosen.is("until", "time")).then_some(20e6),
            transfer_bytes,
            ..Asked::default()
        },
    }
}
