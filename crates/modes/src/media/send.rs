//! The end of a stream that sends: frames when they are due, and how late they left.

use pathscope_core::Tick;
use pathscope_flow::{Batch, SendWant};

use super::header::Header;
use super::{Layout, MediaShared};
use crate::conventions::{Framing, frames};
use crate::pattern::StreamKey;
use crate::streams::{Identity, Sends};

/// A sender that fell behind its schedule sends the rest of it late, for at most so long after its end.
const CATCH_UP_NS: u64 = 1_000_000_000;

/// The sending half of one stream.
#[derive(Debug)]
pub struct Sending {
    key: StreamKey,
    identity: Identity,
    /// When frame 0 is due.
    begin: Tick,
    /// When the stream began.
    started: Tick,
    /// The next frame, of which so many datagrams have left.
    pub(super) frame: u64,
    index: u32,
    /// The stamp in the datagrams that were filled last.
    stamp: Tick,
    is_stopped: bool,
    is_over: bool,
    pub(super) bytes: u64,
}

impl Sending {
    pub(super) fn new((key, identity): (StreamKey, Identity)) -> Self {
        Self {
            key,
            identity,
            begin: Tick::NEVER,
            started: Tick::ZERO,
            frame: 0,
            index: 0,
            stamp: Tick::ZERO,
            is_stopped: false,
            is_over: false,
            bytes: 0,
        }
    }

    /// Writes the next datagrams as ctsTraffic lays them out: each has the same pattern. Its clock is that of the stream, so that it stays
    /// small enough for readers which multiply it.
    fn fill_frame(&self, shared: &MediaShared, batch: &mut Batch<'_>, now: Tick) {
        let MediaShared { layout, conventions, .. } = shared;
        let sent = Tick::from_nanos(now.nanos_since(self.started));
        for index in self.index..layout.datagrams {
            let Some(datagram) = batch.datagram(layout.len(index)) else { return };
            frames::Header { frame: self.frame, sent }.write(datagram);
            if let Some(pattern) = datagram.get_mut(frames::HEADER_BYTES..) {
                conventions.payload.copy_to(self.key, 0, pattern);
            }
        }
    }

    fn due(&self, layout: &Layout, index: u32) -> Tick {
        self.begin.plus_nanos(layout.due_ns(self.frame, index))
    }
}

impl Sends for Sending {
    type Shared = MediaShared;

    /// Streams beside each other share the time of a frame among them, so that not all of them send at once.
    fn start(&mut self, shared: &mut MediaShared, now: Tick) {
        let streams = u128::from(shared.streams.max(1));
        let period = u128::from(shared.layout.frame_at_ns(1));
        let shift = period * (u128::from(self.key.flow()) % streams) / streams;
        // With ctsTraffic, the first frame is one that has a whole frame's time before it.
        let is_first_later = shared.conventions.framing == Framing::Frames;
        let before = if is_first_later { shared.layout.frame_at_ns(1) } else { 0 };
        self.started = now;
        self.begin = now.plus_nanos(before).plus_nanos(shift as u64);
    }

    /// A frame that was begun is finished, and none follows it.
    fn stop(&mut self, _: &mut MediaShared, _: Tick) {
        self.is_stopped = true;
    }

    fn offer(&mut self, shared: &mut MediaShared, now: Tick) -> (SendWant, Tick) {
        let layout = &shared.layout;
        if self.index == 0 && !self.is_over {
            let has_all = self.frame >= layout.frames;
            let end = self.begin.plus_nanos(layout.frame_at_ns(layout.frames));
            let gives_up = now >= end.plus_nanos(CATCH_UP_NS);
            self.is_over = has_all || self.is_stopped || gives_up;
            if self.is_over && !self.is_stopped {
                shared.tally.counts.unsent_frames += layout.frames.saturating_sub(self.frame);
            }
        }
        if self.is_over {
            return (SendWant::Nothing, Tick::NEVER);
        }
        let due = self.due(layout, self.index);
        if now < due {
            return (SendWant::Nothing, due);
        }
        let left = (layout.datagrams - self.index) as usize;
        // Those that are spread are each due at a time of their own.
        let max = if layout.is_spread { 1 } else { left };
        (SendWant::Datagrams { stride: layout.len(self.index), max }, Tick::NEVER)
    }

    fn fill<'data>(&mut self, shared: &'data mut MediaShared, batch: &mut Batch<'data>, now: Tick) {
        self.stamp = now;
        if shared.conventions.framing == Framing::Frames {
            return self.fill_frame(shared, batch, now);
        }
        let MediaShared { layout, image, .. } = shared;
        let (stride, len) = layout.stretch(self.index, batch.room());
        let position = layout.position(self.frame, self.index);
        let datagrams = image.stretch(self.key, position, len, stride);
        for (index, datagram) in (self.index..).zip(datagrams.chunks_mut(stride)) {
            let due = self.due(layout, index);
            Header { frame: self.frame, index, due, sent: now }.write(self.identity, datagram);
        }
        batch.lend(datagrams);
    }

    fn took(&mut self, shared: &mut MediaShared, count: u64, _: Tick) {
        let MediaShared { layout, tally, .. } = shared;
        for _ in 0..count {
            if self.index == 0 || layout.is_spread {
                tally.send_lag.record(self.stamp.nanos_since(self.due(layout, self.index)));
            }
            let bytes = layout.len(self.index) as u64;
            self.bytes += bytes;
            tally.counts.sent_datagrams += 1;
            tally.counts.sent_bytes += bytes;
            self.index += 1;
            if self.index >= layout.datagrams {
                self.index = 0;
                self.frame += 1;
                tally.counts.frames_sent += 1;
            }
        }
    }

    fn refused(&mut self, shared: &mut MediaShared, _: Tick) -> bool {
        shared.tally.counts.unreachable += 1;
        false
    }

    fn is_done(&self) -> bool {
        self.is_over
    }
}
