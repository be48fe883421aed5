//! The sending half of a datagram flow: on schedule from the start time, or as fast as it goes.

use pathscope_core::Tick;
use pathscope_flow::{Batch, SendWant};

use super::shared::DatagramShared;
use crate::conventions::{Framing, sequenced};
use crate::pattern::StreamKey;
use crate::streams::{Header, Identity, Sends};

/// After the system has refused a datagram, nothing is offered for so long.
const REST_NS: u64 = 1_000_000;
/// A system that has taken nothing for so long takes nothing: the flow fails.
const REFUSED_NS: u64 = 1_000_000_000;

/// The sending half.
#[derive(Debug)]
pub struct Sender {
    key: StreamKey,
    identity: Identity,
    started: Tick,
    stop_at: Tick,
    /// Number of the next datagram.
    next: u64,
    /// Numbers below this have begun to leave, in as many batches as that takes.
    burst_end: u64,
    is_stopped: bool,
    is_done: bool,
    /// When the system first refused what it has not taken since.
    refused: Tick,
    rests_until: Tick,
}

impl Sender {
    pub(super) fn new((key, identity): (StreamKey, Identity)) -> Self {
        Self {
            key,
            identity,
            started: Tick::NEVER,
            stop_at: Tick::NEVER,
            next: 0,
            burst_end: 0,
            is_stopped: false,
            is_done: false,
            refused: Tick::NEVER,
            rests_until: Tick::ZERO,
        }
    }
}

impl Sends for Sender {
    type Shared = DatagramShared;

    fn start(&mut self, shared: &mut DatagramShared, now: Tick) {
        self.started = now;
        self.stop_at = shared.schedule.end_ns.map_or(Tick::NEVER, |end_ns| now.plus_nanos(end_ns));
    }

    /// What is not due yet is not unsent.
    fn stop(&mut self, shared: &mut DatagramShared, now: Tick) {
        let schedule = shared.schedule;
        if let Some(rate) = schedule.rate.filter(|_| !self.is_done) {
            let due = schedule.due(rate, now.nanos_since(self.started)).saturating_sub(self.next);
            let missing = due.min(schedule.left(self.next));
            // One burst may be due at any moment.
            let is_burst = missing <= schedule.at_once(rate);
            shared.tally.counts.unsent += if is_burst { 0 } else { missing };
        }
        self.is_stopped = true;
    }

    fn offer(&mut self, shared: &mut DatagramShared, now: Tick) -> (SendWant, Tick) {
        let schedule = &shared.schedule;
        let left = schedule.left(self.next);
        let is_late = now >= self.stop_at;
        if !self.is_done && (self.is_stopped || left == 0 || is_late) {
            self.is_done = true;
            let is_unsent = is_late && schedule.total.is_some();
            shared.tally.counts.unsent += if is_unsent { left } else { 0 };
        }
        if self.is_done {
            return (SendWant::Nothing, Tick::NEVER);
        }
        if now < self.rests_until {
            return (SendWant::Nothing, self.rests_until);
        }
        let Some(rate) = schedule.rate else { return (schedule.want(left), self.stop_at) };
        let at_once = schedule.at_once(rate).min(left);
        let due = schedule.due(rate, now.nanos_since(self.started));
        if self.next >= self.burst_end && due.saturating_sub(self.next) >= at_once {
            self.burst_end = self.next + at_once;
        }
        // What the system took only a part of, too.
        if self.next < self.burst_end {
            return (schedule.want(self.burst_end - self.next), self.stop_at);
        }
        let wake = self.started.plus_nanos(schedule.due_ns(rate, self.next + at_once - 1));
        (SendWant::Nothing, wake.min(self.stop_at))
    }

    fn fill<'data>(
        &mut self,
        shared: &'data mut DatagramShared,
        batch: &mut Batch<'data>,
        now: Tick,
    ) {
        let DatagramShared { schedule, image, framing, .. } = shared;
        let len = schedule.bytes(self.next, batch.room() as u64);
        let (stride, position) = (schedule.size as usize, self.next * schedule.size);
        let datagrams = image.stretch(self.key, position, len as usize, stride);
        let numbered = (self.next..).zip(datagrams.chunks_mut(stride));
        match *framing {
            Framing::Unnumbered => {}
            Framing::Sequenced(layout) => numbered.for_each(|(sequence, datagram)| {
                layout.write(sequenced::Header { sequence, sent: now }, datagram);
            }),
            Framing::Own | Framing::Bare | Framing::Frames => {
                numbered.for_each(|(sequence, datagram)| {
                    let header = Header { sequence, sent: now, length: datagram.len() as u32 };
                    header.write(self.identity, datagram);
                });
            }
        }
        batch.lend(datagrams);
    }

    fn took(&mut self, shared: &mut DatagramShared, count: u64, at: Tick) {
        let DatagramShared { schedule, tally, .. } = shared;
        if let Some(rate) = schedule.rate.filter(|_| count > 0) {
            let due = self.started.plus_nanos(schedule.due_ns(rate, self.next + count - 1));
            tally.send_lag.record(at.nanos_since(due));
        }
        tally.counts.sent += count;
        tally.counts.sent_bytes += schedule.bytes(self.next, count);
        self.next += count;
        self.refused = Tick::NEVER;
    }

    fn refused(&mut self, shared: &mut DatagramShared, now: Tick) -> bool {
        shared.tally.counts.unreachable += 1;
        if self.is_done {
            return false;
        }
        self.refused = self.refused.min(now);
        self.rests_until = now.plus_nanos(REST_NS);
        now.nanos_since(self.refused) >= REFUSED_NS
    }

    fn is_done(&self) -> bool {
        self.is_done
    }
}
