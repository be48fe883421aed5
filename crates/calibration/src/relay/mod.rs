//! The relay itself beside what is not ours: interfaces' counters, packet captures with the kernel's stamps, counters of its packet
//! filter, and its own shaper. Its ledger is the truth for most figures of the modes, so it is held to a truth of its own, in the
//! same cells and by rows of the same kind.
//!
//! `pcap`, `crossing`, `round_trips` and `filters` read what others wrote down, and are pure;
//! `relay_figures` says what the ledger claims, `rules/relay` what that is held to. `watch` starts captures and filters.

mod crossing;
mod filters;
mod pcap;
mod round_trips;
pub mod shaped;
pub mod watch;

use pathscope_lab::relay::LinkCounters;
use serde_json::Value;

pub use crossing::Crossing;
pub use filters::Filtered;
pub use round_trips::RoundTrips;

use crate::against::Against;
use crate::change::Change;

/// The setting of a cell that is done a second time where the kernel shapes the link, and its value.
pub const SHAPED_TOO: (&str, &str) = ("shaper", "relay, tbf");

/// What others than the relay and pathscope say of a cell. Nothing of a kind that there is not.
#[derive(Clone, Debug, Default)]
pub struct Witnesses {
    /// What the interfaces at the ends of its links counted, in the order of the links.
    pub counters: Vec<LinkCounters>,
    /// Each frame at both ends of its link.
    pub crossing: Option<Crossing>,
    /// Each ping over TCP, on the wire.
    pub round_trips: Option<RoundTrips>,
    /// What the kernel's packet filter counted at both ends.
    pub filtered: Option<Filtered>,
    /// What the same programs measured over the kernel's shaper.
    pub shaped: Option<Value>,
}

impl Witnesses {
    /// Whether there is anything of this source, of those that are told here.
    pub fn has(&self, against: Against) -> bool {
        match against {
            Against::Counters => !self.counters.is_empty(),
            Against::Captures => self.crossing.is_some() || self.round_trips.is_some(),
            Against::Filter => self.filtered.is_some(),
            Against::Shaper => self.shaped.is_some(),
            _ => true,
        }
    }

    /// Has one source say something else: a frame more or less, times moved by this much, rates by a share.
    pub fn change(&mut self, against: Against, change: Change, by_ns: u64) {
        match against {
            Against::Counters => {
                for end in self.counters.iter_mut().flat_map(|link| &mut link.interfaces) {
                    for frames in [&mut end.sent_frames, &mut end.received_frames] {
                        *frames = change.number(*frames, 1);
                    }
                    for bytes in [&mut end.sent_bytes, &mut end.received_bytes] {
                        *bytes = change.number(*bytes, 60);
                    }
                }
            }
            Against::Captures => {
                let by_ns = by_ns as f64 * if change == Change::More { 1.0 } else { -1.0 };
                self.crossing.iter_mut().for_each(|it| it.delay_by(by_ns));
                self.round_trips.iter_mut().for_each(|it| it.delay_by(by_ns));
            }
            Against::Filter => {
                self.filtered.iter_mut().for_each(|it| it.change(change));
            }
            Against::Shaper => {
                self.shaped.iter_mut().for_each(|it| crate::change::alter(it, change));
            }
            _ => {}
        }
    }
}
