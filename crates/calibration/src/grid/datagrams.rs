//! Of goodput over UDP.

use super::{Axis, Chosen, Design, Extent, words};
use crate::cell::{Asked, Cell, Conditions};
use crate::place::Place;

pub(super) const DESIGN: Design = Design {
    group: "datagrams",
    axes: &[
        Axis::new("pattern", &["push", "pull", "duplex"]),
        Axis::new("rate", &["1", "20", "200"]),
        Axis::new("bytes", &["40", "200", "1200", "8000"]),
        Axis::new("flows", &["1", "8", "50"]),
        Axis::new("wait", &["sleep", "spin"]),
        Axis::new("engine", &["epoll", "plain"]),
        Axis::new("place", &["loopback", "wire", "wide wire", "link"]),
        Axis::new("addresses", &["IPv4", "IPv6"]),
        Axis::new("offload", &["auto", "off"]),
        Axis::new("until", &["bytes", "time"]),
    ],
    is_possible,
    cell,
};

/// Megabits a second and datagrams a second that a relay on a shared processor carries, and any other place.
const MOST: [(u64, u64); 2] = [(20, 2_500), (200, 60_000)];

fn is_possible(chosen: &Chosen) -> bool {
    let (most_rate, most_number) = MOST[usize::from(!chosen.is("place", "link"))];
    let rate = chosen.number("rate");
    let header_bytes = chosen.family().header_bytes() + 8;
    rate <= most_rate
        && chosen.number("bytes") + header_bytes <= chosen.place().mtu()
        && rate * 125_000 / chosen.number("bytes") <= most_number
        && !(chosen.is("place", "wide wire") && chosen.is("addresses", "IPv6"))
}

fn cell(chosen: &Chosen, extent: Extent) -> Cell {
    let (place, family) = (chosen.place(), chosen.family());
    let (flows, bytes) = (chosen.number("flows"), chosen.number("bytes"));
    let each = (extent.of(chosen.number("rate") * 125_000) / bytes / flows).max(1);
    // Both directions share a transfer.
    let ways = if chosen.is("pattern", "duplex") { 2 } else { 1 };
    let is_timed = chosen.is("until", "time");
    let until = if is_timed {
        format!("-t {}ms", extent.millis())
    } else {
        format!("-n {}", each * bytes * ways)
    };
    let text = format!(
        "goodput {} --protocol udp --pattern {} --total-rate {}Mbit --datagram {bytes} {until} -c {flows} --wait {} --engine {} --offload {} --no-probe",
        place.target(family),
        chosen.get("pattern"),
        chosen.get("rate"),
        chosen.get("wait"),
        chosen.get("engine"),
        chosen.get("offload"),
    );
    Cell {
        name: String::new(),
        settings: Vec::new(),
        place,
        family,
        conditions: if place == Place::Link { vec![Conditions::plain()] } else { Vec::new() },
        later: Vec::new(),
        words: words(&text),
        duration: extent.duration(),
        ping_bytes: None,
        has_samples: false,
        asked: Asked {
            flows,
            number: (!is_timed).then_some(each * flows),
            bytes: Some(bytes),
            rate_bps: Some(chosen.number("rate") as f64 * 1e6),
            ..Asked::default()
        },
    }
}
