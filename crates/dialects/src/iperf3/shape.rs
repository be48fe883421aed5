//! What a test is to be, as far as its rows go: which streams there are, and when each row of theirs ends. Not here: what went through
//! them.

use super::asked::Way;

/// What is known of a test before anything moves.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Shape {
    pub is_client: bool,
    pub is_udp: bool,
    pub way: Way,
    /// In each direction.
    pub streams: u32,
    pub omit_ns: u64,
    /// From one row to the next; 0: there is one.
    pub interval_ns: u64,
    /// How long all takes, with the warm-up, where that was said.
    pub planned_ns: Option<u64>,
}

impl Shape {
    /// Streams of all directions.
    pub fn all_streams(&self) -> u32 {
        if self.way == Way::Both { self.streams.saturating_mul(2) } else { self.streams }
    }

    /// Whether this end sends on this one of them.
    pub fn sends(&self, flow: u32) -> bool {
        let is_by_client = match self.way {
            Way::Push => true,
            Way::Pull => false,
            Way::Both => flow < self.streams,
        };
        is_by_client == self.is_client
    }

    /// By so much a report may come early and count as in time.
    pub fn tolerance_ns(&self) -> u64 {
        (self.interval_ns / 20).max(1_000_000)
    }

    /// Whether a row that begins then is of the warm-up.
    pub fn is_omitted(&self, start_ns: u64) -> bool {
        start_ns.saturating_add(self.tolerance_ns()) < self.omit_ns
    }

    /// When the row ends that has begun then.
    pub fn row_end_ns(&self, start_ns: u64) -> u64 {
        let start_ns = start_ns.saturating_add(self.tolerance_ns());
        let origin_ns = if start_ns < self.omit_ns { 0 } else { self.omit_ns };
        let next_ns = match self.interval_ns {
            0 => u64::MAX,
            interval_ns => {
                let whole = (start_ns - origin_ns) / interval_ns + 1;
                origin_ns.saturating_add(interval_ns.saturating_mul(whole))
            }
        };
        if origin_ns < self.omit_ns { next_ns.min(self.omit_ns) } else { next_ns }
    }
}
