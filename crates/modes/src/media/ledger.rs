//! The frames of one stream as they come: a ring over those that are not settled yet, and the judgement on each
//! when its play-out moment comes.
//!
//! A frame is judged once, when it is to be played, and settled when its place in the ring is needed for a
//! later one: until then it may still become whole, and is late instead of dropped.

use pathscope_core::Tick;

use super::Layout;
use super::frame::Outcome;
use crate::arrivals::{Order, Seen};

/// Frames that come before their time, as the first datagram of a stream was delayed: so long before it.
const EARLY_NS: u64 = 1_000_000_000;
/// A frame that was missed may become whole for as long as the buffer is deep, and at least for so long.
const LEAST_AFTERWARDS_NS: u64 = 1_000_000_000;

/// What is remembered of a frame.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Slot {
    /// Datagrams that came, each counted once.
    pub came: u32,
    /// Datagrams that came once more before it was judged.
    pub repeats: u32,
    /// Payload of all of those.
    pub bytes: u64,
    /// Datagrams of the usual length, or of none, of which something came, where they do not say their places.
    pub usual: u32,
    /// Something of it came damaged.
    pub is_spoilt: bool,
    /// What was judged.
    pub outcome: Option<Outcome>,
    /// When the datagram that came last was sent.
    pub sent: Tick,
    /// When it came.
    pub received: Tick,
    /// See [`FrameRow`](super::FrameRow).
    pub flight_ns: Option<(i64, u64)>,
}

/// The frames from the first that is not settled on.
#[derive(Debug)]
pub(super) struct Ring {
    slots: Box<[Slot]>,
    /// Frames below it are settled.
    pub settled: u64,
}

impl Ring {
    pub fn new(layout: &Layout) -> Self {
        let slots = usize::try_from(slots_of(layout)).unwrap_or(usize::MAX);
        Self { slots: vec![Slot::default(); slots].into_boxed_slice(), settled: 0 }
    }

    /// The first frame that has no place.
    pub fn end(&self) -> u64 {
        self.settled.saturating_add(self.slots.len() as u64)
    }

    /// What is known of a frame that has a place.
    pub fn slot(&mut self, frame: u64) -> Option<&mut Slot> {
        let has_place = (self.settled..self.end()).contains(&frame);
        let index = (frame % self.slots.len() as u64) as usize;
        has_place.then(|| &mut self.slots[index])
    }

    /// Gives the place of the first frame to a later one.
    pub fn settle(&mut self) -> (u64, Slot) {
        let frame = self.settled;
        let index = (frame % self.slots.len() as u64) as usize;
        self.settled += 1;
        (frame, std::mem::take(&mut self.slots[index]))
    }
}

/// Frames of one stream that are remembered.
fn slots_of(layout: &Layout) -> u64 {
    let depth = layout.depth_ns;
    let time = depth.saturating_add(depth.max(LEAST_AFTERWARDS_NS)).saturating_add(EARLY_NS);
    layout.frames_in(time).saturating_add(2).min(layout.frames).max(1)
}

/// Datagrams of one stream that are remembered.
pub(super) fn window_of(layout: &Layout) -> usize {
    let datagrams = slots_of(layout).saturating_mul(layout.datagrams.into());
    usize::try_from(datagrams).unwrap_or(usize::MAX)
}

/// What an end needs to remember what came of one stream: its frames, a bit for each datagram of what came and another of what came damaged, and
/// the gaps in their order, of which there are no more than datagrams.
pub(super) fn memory_bytes(layout: &Layout) -> u64 {
    let slots = slots_of(layout).saturating_mul(size_of::<Slot>() as u64);
    let window = window_of(layout);
    slots.saturating_add(Seen::memory_bytes(window)).saturating_add(Order::memory_bytes(window))
}
