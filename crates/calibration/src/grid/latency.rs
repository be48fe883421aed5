//! Of round trips.

use super::{Axis, Chosen, Design, Extent, words};
use crate::cell::{Asked, Cell, Conditions, SAMPLES};
use crate::place::Place;

pub(super) const DESIGN: Design = Design {
    group: "latency",
    axes: &[
        Axis::new("protocol", &["udp", "tcp"]),
        Axis {
            name: "schedule",
            values: &["closed", "2/s", "50/s", "2000/s", "20000/s"],
            long: &["0.2/s", "100000/s"],
        },
        Axis::new("bytes", &["88", "200", "1400", "8000", "60000"]),
        Axis::new("flows", &["1", "8", "100"]),
        Axis::new("wait", &["sleep", "spin"]),
        Axis::new("engine", &["epoll", "plain"]),
        Axis::new("place", &["loopback", "wire", "wide wire", "link"]),
        Axis::new("addresses", &["IPv4", "IPv6"]),
        Axis::new("congestion", &["cubic", "reno", "bbr"]),
        Axis::new("stamps", &["user", "kernel"]),
    ],
    is_possible,
    cell,
};

/// The most bytes and pings a second of all flows that a relay on a shared processor carries, and any other place.
const MOST: [(f64, f64); 2] = [(4e6, 4_000.0), (60e6, 100_000.0)];

/// Pings a second from which on a tenth of a run's time has enough of them for a median.
const FOR_A_MEDIAN: f64 = 2_000.0;

fn is_possible(chosen: &Chosen) -> bool {
    let is_tcp = chosen.is("protocol", "tcp");
    let (most_bytes, most_pings) = MOST[usize::from(!chosen.is("place", "link"))];
    let most_at_once = if chosen.is("place", "link") { 10_000 } else { 800_000 };
    let pings = rate(chosen).unwrap_or(0.0) * chosen.number("flows") as f64;
    (if is_tcp { chosen.is("stamps", "user") } else { chosen.is("congestion", "cubic") })
        && !(chosen.is("place", "wide wire") && chosen.is("addresses", "IPv6"))
        && pings <= most_pings
        && pings * chosen.number("bytes") as f64 <= most_bytes
        // What comes back at once is as fast as the machine: a hundred of the largest are more than it has.
        && (rate(chosen).is_some()
            || chosen.number("flows") * chosen.number("bytes") <= most_at_once)
}

/// Pings of each flow a second, in an open loop.
fn rate(chosen: &Chosen) -> Option<f64> {
    chosen.get("schedule").strip_suffix("/s").and_then(|rate| rate.parse().ok())
}

/// As it is typed: a rate is whole, and what is slower has a period.
fn schedule(rate: f64) -> [String; 2] {
    if rate < 1.0 {
        return ["--period".to_owned(), format!("{}ms", 1_000.0 / rate)];
    }
    ["--rate".to_owned(), format!("{rate}/s")]
}

fn cell(chosen: &Chosen, extent: Extent) -> Cell {
    let (place, family) = (chosen.place(), chosen.family());
    let (flows, bytes) = (chosen.number("flows"), chosen.number("bytes"));
    // Of a closed loop so many that it takes about as long.
    let each = rate(chosen).unwrap_or(200.0) * extent.of(1_000) as f64 / 1_000.0;
    let pings = (each as u64).clamp(2, 50_000);
    let mut words = words(&format!(
        "latency {} --protocol {} -n {pings} -c {flows} --size {bytes} --wait {} --engine {} --timestamps {}",
        place.target(family),
        chosen.get("protocol"),
        chosen.get("wait"),
        chosen.get("engine"),
        chosen.get("stamps"),
    ));
    if let Some(rate) = rate(chosen) {
        words.extend(schedule(rate));
        if rate >= FOR_A_MEDIAN {
            // Intervals, from which it is told how the median moves.
            let tenth = extent.duration().0 / 10_000_000;
            words.extend(["--report-every".to_owned(), format!("{tenth}ms")]);
        }
    }
    if chosen.is("protocol", "tcp") {
        words.extend(["--congestion", chosen.get("congestion")].map(str::to_owned));
    }
    let has_samples = pings * flows <= 100_000;
    if has_samples {
        words.extend(["--samples", SAMPLES].map(str::to_owned));
    }
    Cell {
        name: String::new(),
        settings: Vec::new(),
        place,
        family,
        conditions: if place == Place::Link { vec![Conditions::plain()] } else { Vec::new() },
        later: Vec::new(),
        words,
        duration: extent.duration(),
        ping_bytes: Some(bytes),
        has_samples,
        asked: Asked {
            flows,
            number: Some(pings * flows),
            bytes: chosen.is("protocol", "udp").then_some(bytes),
            ..Asked::default()
        },
    }
}
