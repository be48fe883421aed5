//! What each flow of an end sends, and when that is due. Arithmetic on a plan.

use pathscope_core::id::Role;
use pathscope_core::quantity::{BitRate, Bytes};
use pathscope_flow::SendWant;

use super::{DatagramsPlan, HEADER_BYTES};
use crate::load::Extent;

/// What leaves at once is not more than the rate allows in so long, or one datagram: a burst is no longer than
/// a queue of that much, and there are no more wake-ups than 4,000 a second.
const BATCH_NS: u64 = 250_000;
/// A sender that fell behind its schedule sends the rest of it late, for at most so long.
const CATCH_UP_NS: u64 = 50_000_000;

/// What each flow of an end sends, and when that is due.
#[derive(Clone, Copy, Debug)]
pub(super) struct Schedule {
    pub size: u64,
    pub rate: Option<BitRate>,
    /// Nothing is sent from then on, in time since the start.
    pub end_ns: Option<u64>,
    /// Datagrams to send, where that is known, and the length of the last.
    pub total: Option<u64>,
    last_bytes: u64,
}

impl Schedule {
    /// That of a plan at the end of this role.
    pub fn of(plan: &DatagramsPlan, role: Role) -> Self {
        let (size, rate) = (plan.datagram_bytes.0, plan.rate_bps);
        let unending = Self { size, rate, end_ns: None, total: None, last_bytes: size };
        match plan.extent {
            Extent::DurationNs(duration) => Self {
                end_ns: Some(duration.0 + rate.map_or(0, |_| CATCH_UP_NS)),
                // Those that are due before the end; the first is at the start.
                total: rate.map(|rate| rate.bytes_in(duration.0.saturating_sub(1)) / size + 1),
                ..unending
            },
            Extent::TransferBytes(Bytes(all)) => {
                let bytes = plan.pattern.part(role, all);
                let total = bytes.div_ceil(size);
                let rest = bytes - total.saturating_sub(1) * size;
                // A rest that holds no header is made as long as one.
                let last_bytes = rest.max(HEADER_BYTES as u64).min(size);
                Self { total: Some(total), last_bytes, ..unending }
            }
        }
    }

    /// The last one, too, is as long as the others.
    pub fn make_whole(&mut self) {
        self.last_bytes = self.size;
    }

    /// Datagrams from this number on that are to be sent.
    pub fn left(&self, next: u64) -> u64 {
        self.total.map_or(u64::MAX, |total| total.saturating_sub(next))
    }

    pub fn at_once(&self, rate: BitRate) -> u64 {
        (rate.bytes_in(BATCH_NS) / self.size).max(1)
    }

    /// How many are due after so long.
    pub fn due(&self, rate: BitRate, since_start: u64) -> u64 {
        rate.bytes_in(since_start) / self.size + 1
    }

    /// When a datagram is due, in time since the start: the first at once.
    pub fn due_ns(&self, rate: BitRate, number: u64) -> u64 {
        rate.nanos_for(number.saturating_mul(self.size))
    }

    /// Bytes of `count` datagrams from number `next` on.
    pub fn bytes(&self, next: u64, count: u64) -> u64 {
        let missing = if self.left(next) <= count { self.size - self.last_bytes } else { 0 };
        (count * self.size).saturating_sub(missing)
    }

    pub fn want(&self, count: u64) -> SendWant {
        // The engine makes as many of them a batch as it can.
        let max = usize::try_from(count).unwrap_or(usize::MAX);
        SendWant::Datagrams { stride: self.size as usize, max }
    }
}
