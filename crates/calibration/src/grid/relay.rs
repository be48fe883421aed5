//! Of the relay itself: the same programs over a link of the relay's and over one that the kernel shapes.

use pathscope_core::quantity::Period;

use super::{Extent, words};
use crate::cell::{Asked, Cell, Conditions, Setting};
use crate::place::{Family, Place};
use crate::relay::SHAPED_TOO;

/// The rate of `SHAPED` in `place`, and a queue that holds less than a socket does: else a program waits and nothing is dropped.
const LINE: Conditions = Conditions {
    up: "rate=20Mbit queue=50p",
    down: "rate=20Mbit queue=50p",
    delay_ns: 2_000_000,
    rate_bps: Some(20e6),
    queue_packets: Some(50),
};
/// Payload of a datagram.
const BYTES: u64 = 1_200;

/// An overload of UDP, and a stream of TCP.
pub(super) fn cells(extent: Extent) -> [Cell; 2] {
    let seconds = extent.duration().0.div_ceil(1_000_000_000);
    let datagrams = Cell {
        words: words(&format!(
            "goodput {{to}} --protocol udp --pattern push --total-rate 40Mbit --datagram {BYTES} -t {}ms -c 1 --offload off --no-probe",
            extent.millis()
        )),
        duration: extent.duration(),
        asked: Asked { flows: 1, bytes: Some(BYTES), ..Asked::default() },
        ..cell("relay 1", &[])
    };
    let stream = Cell {
        words: words(&format!(
            "goodput {{to}} --pattern push -c 1 --congestion cubic -t {seconds}s --no-probe"
        )),
        duration: Period::from_secs(seconds),
        asked: Asked { flows: 1, ..Asked::default() },
        ..cell("relay 2", &[("congestion", "cubic"), ("until", "time")])
    };
    [datagrams, stream]
}

fn cell(name: &str, settings: &[(&str, &str)]) -> Cell {
    let settings = [SHAPED_TOO, ("pattern", "push")].iter().chain(settings);
    let setting = |(axis, value): &(&str, &str)| Setting {
        axis: (*axis).to_owned(),
        value: (*value).to_owned(),
    };
    Cell {
        name: name.to_owned(),
        settings: settings.map(setting).collect(),
        place: Place::Link,
        family: Family::Four,
        conditions: vec![LINE],
        later: Vec::new(),
        words: Vec::new(),
        duration: Period(0),
        ping_bytes: None,
        has_samples: false,
        asked: Asked::default(),
    }
}
