//! The sending half of a datagram flow: on schedule from the start time, or as fast as it goes.

use pathscope_core::Tick;
use pathscope_core::quantity::BitRate;
use pathscope_flow::{Batch, SendWant};

use super::header::{Header, Identity};
use super::{DatagramTally, HEADER_BYTES};
use crate::pattern::{StreamImage, StreamKey};

/// What leaves at once is not more than the rate allows in so long, or one datagram: a burst is no longer than
/// a queue of that much, and there are no more wake-ups than 4,000 a second.
const BATCH_NS: u64 = 250_000;
/// A sender that fell behind its schedule sends the rest of it late, for at most so long.
const CATCH_UP_NS: u64 = 50_000_000;

/// The sending half.
#[derive(Debug)]
pub(super) struct Sender {
    key: StreamKey,
    identity: Identity,
    size: u64,
    rate: Option<BitRate>,
    duration_ns: Option<u64>,
    /// Datagrams to send, where that is known, and the length of the last.
    total: Option<u64>,
    last_bytes: u64,
    started: Option<Tick>,
    stop_at: Tick,
    /// Number of the next datagram.
    next: u64,
    /// Numbers below this have begun to leave, in as many batches as that takes.
    burst_end: u64,
    is_stopped: bool,
    is_done: bool,
}

impl Sender {
    /// Sends `transfer` bytes, or for so long, or nothing where neither is stated.
    pub fn new(
        (key, identity): (StreamKey, Identity),
        size: u64,
        rate: Option<BitRate>,
        (transfer, duration_ns): (Option<u64>, Option<u64>),
    ) -> Self {
        // A rest that holds no header is made as long as one.
        let whole = |bytes: u64| (bytes.div_ceil(size), bytes - (bytes - 1) / size * size);
        let (total, last_bytes) = match (transfer, duration_ns.zip(rate)) {
            (Some(0), _) => (Some(0), size),
            (Some(bytes), _) => {
                let (total, last) = whole(bytes);
                (Some(total), last.max(HEADER_BYTES as u64).min(size))
            }
            // Those that are due before the end; the first is at the start.
            (None, Some((duration, rate))) => {
                (Some(rate.bytes_in(duration.saturating_sub(1)) / size + 1), size)
            }
            (None, None) => (if duration_ns.is_none() { Some(0) } else { None }, size),
        };
        Self {
            key,
            identity,
            size,
            rate,
            duration_ns,
            total,
            last_bytes,
            started: None,
            stop_at: Tick::NEVER,
            next: 0,
            burst_end: 0,
            is_stopped: false,
            is_done: false,
        }
    }

    pub fn start(&mut self, now: Tick) {
        self.started = Some(now);
        if let Some(duration_ns) = self.duration_ns {
            let grace = if self.rate.is_some() { CATCH_UP_NS } else { 0 };
            self.stop_at = now.plus_nanos(duration_ns).plus_nanos(grace);
        }
    }

    /// Sends nothing new. What is not due yet is not unsent.
    pub fn stop(&mut self, tally: &mut DatagramTally, now: Tick) {
        if let (Some(started), Some(rate), false) = (self.started, self.rate, self.is_done) {
            let due = rate.bytes_in(now.nanos_since(started)) / self.size + 1;
            let due = self.total.map_or(due, |total| due.min(total));
            // One burst may be due at any moment.
            let missing = due.saturating_sub(self.next);
            tally.counts.unsent += if missing > self.at_once(rate) { missing } else { 0 };
        }
        self.is_stopped = true;
    }

    pub fn is_done(&self) -> bool {
        self.is_done
    }

    /// Whether it never had anything to send.
    pub fn is_idle(&self) -> bool {
        self.total == Some(0)
    }

    /// Datagrams sent.
    pub fn sent(&self) -> u64 {
        self.next
    }

    /// What to send now, and when to look again.
    pub fn offer(&mut self, tally: &mut DatagramTally, now: Tick) -> (SendWant, Option<Tick>) {
        let Some(started) = self.started.filter(|_| !self.is_done) else {
            return (SendWant::Nothing, None);
        };
        let left = self.total.map_or(u64::MAX, |total| total.saturating_sub(self.next));
        let is_late = now >= self.stop_at;
        if self.is_stopped || left == 0 || is_late {
            self.is_done = true;
            tally.counts.unsent += if is_late && self.total.is_some() { left } else { 0 };
            return (SendWant::Nothing, None);
        }
        let stop = (self.stop_at != Tick::NEVER).then_some(self.stop_at);
        let Some(rate) = self.rate else { return (self.want(left), stop) };
        let at_once = self.at_once(rate).min(left);
        let due = rate.bytes_in(now.nanos_since(started)) / self.size + 1;
        if self.next >= self.burst_end && due.saturating_sub(self.next) >= at_once {
            self.burst_end = self.next + at_once;
        }
        // What the system took only a part of, too.
        if self.next < self.burst_end {
            return (self.want(self.burst_end - self.next), stop);
        }
        let wake = started.plus_nanos(self.due_ns(rate, self.next + at_once - 1));
        (SendWant::Nothing, Some(wake.min(self.stop_at)))
    }

    fn want(&self, count: u64) -> SendWant {
        // The engine makes as many of them a batch as it can.
        SendWant::Datagrams {
            stride: self.size as usize,
            max: usize::try_from(count).unwrap_or(usize::MAX),
        }
    }

    fn at_once(&self, rate: BitRate) -> u64 {
        (rate.bytes_in(BATCH_NS) / self.size).max(1)
    }

    /// When a datagram is due, in time since the start: the first at once.
    fn due_ns(&self, rate: BitRate, number: u64) -> u64 {
        rate.nanos_for(number.saturating_mul(self.size))
    }

    fn len_of(&self, number: u64) -> u64 {
        let is_last = self.total.is_some_and(|total| number + 1 == total);
        if is_last { self.last_bytes } else { self.size }
    }

    pub fn fill<'data>(
        &self,
        image: &'data mut StreamImage<HEADER_BYTES>,
        batch: &mut Batch<'data>,
        now: Tick,
    ) {
        let count = batch.room() as u64;
        if count == 0 {
            return;
        }
        let len = (count - 1) * self.size + self.len_of(self.next + count - 1);
        let (stride, position) = (self.size as usize, self.next * self.size);
        let datagrams = image.stretch(self.key, position, len as usize, stride);
        for (sequence, datagram) in (self.next..).zip(datagrams.chunks_mut(stride)) {
            let header = Header { sequence, sent: now, length: datagram.len() as u32 };
            header.write(self.identity, datagram);
        }
        batch.lend(datagrams);
    }

    /// The kernel took `count` of them.
    pub fn took(&mut self, tally: &mut DatagramTally, count: u64, at: Tick) {
        if let (Some(started), Some(rate), true) = (self.started, self.rate, count > 0) {
            let due = started.plus_nanos(self.due_ns(rate, self.next + count - 1));
            tally.send_lag.record(at.nanos_since(due));
        }
        let is_end = self.total.is_some_and(|total| self.next + count >= total);
        let bytes = count * self.size - if is_end { self.size - self.last_bytes } else { 0 };
        self.next += count;
        tally.counts.sent += count;
        tally.counts.sent_bytes += bytes;
    }
}
