//! Other programs over links that lose, double, reorder or overflow, with as many datagrams of the same size a second as ours.

use super::shape::{PER_SECOND, Run, Shape, cell, setting};
use crate::cell::{Asked, Cell, Conditions};
use crate::place::{Family, LINK_ADDRESS};

const BYTES: u64 = 200;
const SECONDS: u64 = 3;
const SHAPE: Shape = (BYTES, 1, Family::Four, false);

/// Those that go there, and those that come back.
pub(super) fn cells(up: Conditions, down: Conditions) -> Vec<Cell> {
    let rate = PER_SECOND * BYTES * 8;
    let period_us = 1_000_000 / PER_SECOND;
    let iperf3 = format!("iperf3 -c {{to}} -u -b {rate} -l {BYTES} -t {SECONDS}");
    let irtt = format!("irtt client -i {period_us}us -d {SECONDS}s -l {BYTES} {{to}}");
    let sockperf = format!(
        "sockperf under-load -i {LINK_ADDRESS} -t {SECONDS} --mps {PER_SECOND} --reply-every 1 -m {BYTES}"
    );
    vec![
        one(&iperf3, up, "up"),
        one(&format!("{iperf3} -R"), down, "down"),
        one(&irtt, up, "up"),
        one(&irtt, down, "down"),
        one(&sockperf, up, "up"),
    ]
}

fn one(text: &str, conditions: Conditions, way: &str) -> Cell {
    let run = Run { millis: 1_000 * SECONDS, shape: SHAPE };
    let asked = Asked { flows: 1, bytes: Some(BYTES), ..Asked::default() };
    let mut cell = cell(text, asked, vec![conditions], (Family::Four, run));
    let program = cell.words.first().cloned().unwrap_or_default();
    cell.name = format!("{program}, {way}");
    cell.settings.extend([setting("program", &program), setting("way", way)]);
    cell
}
