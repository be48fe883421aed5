//! The end of a stream that sends: frames when they are due, and how late they left.

use pathscope_core::Tick;
use pathscope_core::id::FlowId;
use pathscope_flow::{Batch, SendWant};

use super::header::Header;
use super::{Layout, MediaShared};
use crate::pattern::{SessionKey, StreamKey};

/// A sender that fell behind its schedule sends the rest of it late, for at most so long after its end.
const CATCH_UP_NS: u64 = 1_000_000_000;

/// The sending half of one stream.
#[derive(Debug)]
pub(super) struct Sending {
    flow: FlowId,
    token: u64,
    key: StreamKey,
    /// When frame 0 is due.
    begin: Tick,
    frame: u64,
    index: u32,
    /// The stamp in the datagrams that were filled last.
    stamp: Tick,
    is_stopped: bool,
    is_over: bool,
    pub stats: SentStream,
}

/// What one stream sent.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SentStream {
    pub frames: u64,
    pub datagrams: u64,
    pub bytes: u64,
}

/// What a sender wants now.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Wish {
    /// These datagrams may leave.
    Send(SendWant),
    /// The next one is due then.
    Wait(Tick),
    /// None will leave any more.
    Over,
}

impl Sending {
    pub fn new(session: SessionKey, flow: FlowId, from_client: bool) -> Self {
        Self {
            flow,
            token: session.token(),
            key: session.stream(flow.0, from_client),
            begin: Tick::NEVER,
            frame: 0,
            index: 0,
            stamp: Tick::ZERO,
            is_stopped: false,
            is_over: false,
            stats: SentStream::default(),
        }
    }

    /// The stream begins. Streams beside each other share the time of a frame among them, so that not all of
    /// them send at once.
    pub fn start(&mut self, shared: &MediaShared, now: Tick) {
        let streams = u128::from(shared.streams.max(1));
        let period = u128::from(shared.layout.frame_at_ns(1));
        let shift = period * (u128::from(self.flow.0) % streams) / streams;
        self.begin = now.plus_nanos(shift as u64);
    }

    /// A frame that was begun is finished, and none follows it.
    pub fn stop(&mut self) {
        self.is_stopped = true;
    }

    pub fn is_over(&self) -> bool {
        self.is_over
    }

    pub fn wish(&mut self, shared: &mut MediaShared, now: Tick) -> Wish {
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
            return Wish::Over;
        }
        let due = self.due(&shared.layout, self.frame, self.index);
        if now < due {
            return Wish::Wait(due);
        }
        let left = shared.layout.datagrams - self.index;
        // Those that are spread are each due at a time of their own.
        let max = if shared.layout.is_spread() { 1 } else { left as usize };
        let stride = shared.layout.len(self.index);
        Wish::Send(SendWant::Datagrams { stride, max })
    }

    pub fn fill<'data>(
        &mut self,
        shared: &'data mut MediaShared,
        batch: &mut Batch<'data>,
        now: Tick,
    ) {
        self.stamp = now;
        let MediaShared { layout, image, .. } = shared;
        let (stride, len) = layout.stretch(self.index, batch.room());
        let first = self.frame * u64::from(layout.datagrams) + u64::from(self.index);
        let position = first * u64::from(layout.datagram_bytes);
        let datagrams = image.stretch(self.key, position, len, stride);
        for (index, datagram) in (self.index..).zip(datagrams.chunks_mut(stride)) {
            let header = Header {
                flow: self.flow.0,
                token: self.token,
                frame: self.frame,
                index,
                due: self.due(layout, self.frame, index),
                sent: now,
            };
            header.write(datagram);
        }
        batch.lend(datagrams);
    }

    /// The kernel took so many of those that were filled.
    pub fn sent(&mut self, shared: &mut MediaShared, amount: usize) {
        for _ in 0..amount {
            if self.index == 0 || shared.layout.is_spread() {
                let due = self.due(&shared.layout, self.frame, self.index);
                shared.tally.send_lag.record(self.stamp.nanos_since(due));
            }
            let bytes = shared.layout.len(self.index) as u64;
            self.stats.datagrams += 1;
            self.stats.bytes += bytes;
            shared.tally.counts.sent_datagrams += 1;
            shared.tally.counts.sent_bytes += bytes;
            self.index += 1;
            if self.index >= shared.layout.datagrams {
                self.index = 0;
                self.frame += 1;
                self.stats.frames += 1;
                shared.tally.counts.frames_sent += 1;
            }
        }
    }

    fn due(&self, layout: &Layout, frame: u64, index: u32) -> Tick {
        self.begin.plus_nanos(layout.due_ns(frame, index))
    }
}
