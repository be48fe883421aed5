//! What cells have in common whose links do something to packets: how long each lasts, with what, and how it is told.

use pathscope_core::quantity::Period;

use super::words;
use crate::cell::{Asked, Cell, Conditions, SAMPLES, Setting};
use crate::place::{Family, Place};

/// Datagrams a second, of all flows together.
pub(super) const PER_SECOND: u64 = 1_000;

/// How long a cell is measured, and with what.
#[derive(Clone, Copy)]
pub(super) struct Run {
    pub millis: u64,
    pub shape: Shape,
}

impl Run {
    /// Of so many a second, how many there are in that time.
    pub const fn of(self, per_second: u64) -> u64 {
        per_second * self.millis / 1_000
    }
}

/// Payload of each datagram, flows, addresses and whether both ends send.
pub(super) type Shape = (u64, u64, Family, bool);

pub(super) fn setting(axis: &str, value: &str) -> Setting {
    Setting { axis: axis.to_owned(), value: value.to_owned() }
}

pub(super) fn cell(
    text: &str,
    asked: Asked,
    conditions: Vec<Conditions>,
    (family, run): (Family, Run),
) -> Cell {
    Cell {
        name: String::new(),
        settings: Vec::new(),
        place: if conditions.len() == 1 { Place::Link } else { Place::Both },
        family,
        conditions,
        later: Vec::new(),
        words: words(text),
        duration: Period::from_millis(run.millis),
        ping_bytes: None,
        has_samples: text.contains(SAMPLES),
        asked,
    }
}
