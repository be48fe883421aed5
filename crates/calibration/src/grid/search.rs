//! Of the search for the highest rate without loss, which takes longer than a cell of a quick run.

use pathscope_core::quantity::Period;

use super::shape::setting;
use super::{Extent, words};
use crate::cell::{Asked, Cell, Conditions};
use crate::place::{Family, Place};

/// What the line carries.
const LINE_BPS: f64 = 20e6;
const LINE: &str = "rate=20Mbit queue=40p";
const LOSING: &str = "rate=20Mbit queue=40p loss=0.1%";
/// Each trial of the whole duration; the others are shorter.
const MILLIS: u64 = 2_500;
/// Of a search: more trials than most take.
const TRIALS: u64 = 12;
const BYTES: u64 = 1_200;

/// Those of each direction, and one in which datagrams are lost at any rate.
pub(super) fn cells(extent: Extent) -> Vec<Cell> {
    if extent == Extent::Quick {
        return Vec::new();
    }
    let of = |name: &str, pattern: &str, family: Family, line: &'static str| {
        let text = format!(
            "goodput {{to}} --protocol udp --find-rate --pattern {pattern} --rate 40Mbit --datagram {BYTES} -t {MILLIS}ms --no-probe"
        );
        let (up, down) = if pattern == "push" { (line, LINE) } else { (LINE, line) };
        let conditions = Conditions {
            up,
            down,
            rate_bps: Some(LINE_BPS),
            queue_packets: Some(40),
            ..Conditions::plain()
        };
        Cell {
            name: format!("search, {name}"),
            settings: vec![setting("pattern", pattern), setting("line", line)],
            place: Place::Link,
            family,
            conditions: vec![conditions],
            later: Vec::new(),
            words: words(&text),
            duration: Period::from_millis(TRIALS * MILLIS),
            ping_bytes: None,
            has_samples: false,
            asked: Asked { flows: 1, bytes: Some(BYTES), rate_bps: Some(40e6), ..Asked::default() },
        }
    };
    vec![
        of("up", "push", Family::Four, LINE),
        of("down", "pull", Family::Six, LINE),
        of("0.1 % lost, up", "push", Family::Four, LOSING),
        of("0.1 % lost, down", "pull", Family::Six, LOSING),
    ]
}
