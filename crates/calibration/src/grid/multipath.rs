//! Of several paths at once.

use super::{Axis, Chosen, Design, Extent, words};
use crate::cell::{Asked, Cell, Conditions, SAMPLES};
use crate::place::{Family, Place};

/// The interfaces of the two paths.
pub(super) const PATHS: [&str; 2] = ["to-left", "to-right"];
/// What their links are like.
pub(super) const LINKS: [Conditions; 2] =
    [Conditions::plain(), Conditions { delay_ns: 3_000_000, ..Conditions::plain() }];

pub(super) const DESIGN: Design = Design {
    group: "multipath",
    axes: &[
        Axis::new("rate", &["1", "4"]),
        Axis::new("bytes", &["200", "1024"]),
        Axis::new("grouping", &["1", "30"]),
        Axis::new("order", &["primary-first", "alternate"]),
    ],
    is_possible: |chosen| chosen.number("rate") * 125_000 / chosen.number("bytes") <= 1_000,
    cell,
};

fn cell(chosen: &Chosen, extent: Extent) -> Cell {
    let bytes = chosen.number("bytes");
    let [primary, secondary] = PATHS;
    let text = format!(
        "multipath {{to}} --path {primary} --path {secondary} --rate {}Mbit --datagram {bytes} --grouping {} --order {} -t {}ms --samples {SAMPLES}",
        chosen.get("rate"),
        chosen.get("grouping"),
        chosen.get("order"),
        extent.millis(),
    );
    Cell {
        name: String::new(),
        settings: Vec::new(),
        place: Place::Both,
        family: Family::Four,
        conditions: LINKS.to_vec(),
        later: Vec::new(),
        words: words(&text),
        duration: extent.duration(),
        ping_bytes: None,
        has_samples: true,
        asked: Asked { flows: 2, bytes: Some(bytes), ..Asked::default() },
    }
}
