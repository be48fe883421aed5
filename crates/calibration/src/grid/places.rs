//! Ways through a network that is no plain wire: addresses translated, packets that have to be shorter further on, and a route
//! that goes by the source.

use super::Extent;
use super::impairments::{LINE_BPS, datagrams, latency, media, streams};
use super::shape::{Run, Shape, setting};
use crate::cell::{Cell, Conditions};
use crate::evidence::Way;
use crate::place::{Family, Place, SECOND_WAY};

const PLACES: [(&str, Place); 3] = [
    ("translated", Place::Translated),
    ("shrinking MTU", Place::Shrinking),
    ("policy route", Place::Routed),
];
const LINE: Conditions = Conditions {
    up: "rate=20Mbit queue=100p",
    down: "rate=20Mbit queue=100p",
    rate_bps: Some(LINE_BPS),
    ..Conditions::plain()
};

/// Each mode at each of them; in a quick run two of the four.
pub(super) fn cells(extent: Extent) -> Vec<Cell> {
    let mut cells = Vec::new();
    for (number, (name, place)) in PLACES.into_iter().enumerate() {
        let shape: Shape = (1_200, 1, Family::Four, number.is_multiple_of(2));
        let run = Run { millis: extent.millis(), shape };
        let way = if number == 1 { Way::Down } else { Way::Up };
        let delay_ns = if place == Place::Routed { 3_000_000 } else { 2_000_000 };
        let plain = Conditions { delay_ns, ..Conditions::plain() };
        let modes = [
            ("latency", latency(plain, run)),
            ("datagrams", datagrams(way, plain, run)),
            ("media", media(way, plain, run)),
            ("goodput", streams(way, Conditions { delay_ns, ..LINE }, 2 * number)),
        ];
        for (index, (mode, cell)) in modes.into_iter().enumerate() {
            if extent == Extent::Quick && index % 2 != number % 2 {
                continue;
            }
            let mut cell =
                Cell { place, family: Family::Four, name: format!("{mode}, {name}"), ..cell };
            cell.settings.push(setting("place", name));
            if place == Place::Routed {
                cell.words.extend(["--bind", SECOND_WAY[0]].map(str::to_owned));
            }
            cells.push(cell);
        }
    }
    cells
}
