//! One direction of a stream between two sockets: bytes in order and never lost, bounded by the buffers
//! at both ends.
//!
//! The window is exact: what is on the link, in the receiving socket, or taken there without the sender
//! knowing yet, is never more than the receive buffer.

use pathscope_core::Tick;

use super::Link;
use super::bytes::ByteQueue;
use super::outcome::Traffic;
use super::script::{Edit, Passing};
use super::transit::{Listener, Transit};
use super::world::{Happening, Parcel, PipeKey, World};

#[derive(Debug)]
pub(super) struct StreamPipe {
    pub(super) transit: Transit,
    pub(super) listener: Listener,
    pub(super) traffic: Traffic,
    unsent: ByteQueue,
    stage: Stage,
    window_used: usize,
    /// How long word of the receiver takes to the sender; `None`: for ever.
    credit_delay_ns: Option<u64>,
    /// The one furthest back in the stream first.
    edits: Vec<Edit>,
    unread: ByteQueue,
    ended: bool,
    last_arrival: Tick,
    /// Of `unread`, what the machine was shown and did not consume; whether it consumed nothing at all.
    held: usize,
    refused: bool,
    /// Of `unread`, what was received before the machine consumed it.
    taken: usize,
}

/// How far the sender is with its stream.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Stage {
    /// It may write more.
    Open,
    /// It has written everything.
    Written,
    /// The end of the stream is on its way, or the socket is gone.
    Over,
}

/// At the sender.
impl StreamPipe {
    pub(super) fn new(link: Link, credit_delay_ns: u64) -> Self {
        Self {
            transit: Transit::new(link),
            listener: Listener::Open,
            traffic: Traffic::default(),
            unsent: ByteQueue::default(),
            stage: Stage::Open,
            window_used: 0,
            credit_delay_ns: Some(credit_delay_ns),
            edits: Vec::new(),
            unread: ByteQueue::default(),
            ended: false,
            last_arrival: Tick::ZERO,
            held: 0,
            refused: false,
            taken: 0,
        }
    }

    pub(super) fn edit(&mut self, edit: Edit) {
        self.edits.push(edit);
        self.edits.sort_by_key(|edit| std::cmp::Reverse(edit.offset()));
    }

    /// How many bytes the sending socket can take.
    pub(super) fn room(&self) -> usize {
        self.transit.link.send_buffer_bytes.saturating_sub(self.unsent.len())
    }

    pub(super) fn unsent_bytes(&self) -> usize {
        self.unsent.len()
    }

    pub(super) fn write(&mut self, bytes: &[u8]) {
        self.unsent.push(bytes);
    }

    /// The sender will write no more: the end of the stream follows what is written.
    pub(super) fn finish(&mut self) {
        self.stage = self.stage.max(Stage::Written);
    }

    /// The sending socket is gone, with what it held; nothing follows what is on the link.
    pub(super) fn stop_sending(&mut self) {
        self.unsent.clear();
        self.stage = Stage::Over;
    }

    /// Puts on the link what link and window allow.
    pub(super) fn transmit(&mut self, key: PipeKey, world: &mut World) {
        while self.transit.is_free(world.now) && self.sendable() > 0 {
            let piece = self.unsent.take(self.sendable());
            self.enter_link(piece, key, world);
            world.make_ready(key.sender());
        }
        if self.sendable() > 0 {
            self.transit.await_freedom(key, world);
        }
        if self.stage == Stage::Written && self.unsent.len() == 0 {
            self.stage = Stage::Over;
            self.emit(self.transit.behind_all(world.now), Parcel::Fin, key, world);
        }
    }

    /// Word from the receiver: it has taken `bytes`.
    pub(super) fn credit(&mut self, bytes: usize) {
        self.window_used = self.window_used.saturating_sub(bytes);
    }

    fn sendable(&self) -> usize {
        let window = self.transit.link.receive_buffer_bytes.saturating_sub(self.window_used);
        let segment =
            self.transit.link.rate.map_or(usize::MAX, |_| self.transit.link.segment_bytes.max(1));
        self.unsent.len().min(window).min(segment)
    }

    fn enter_link(&mut self, mut piece: Vec<u8>, key: PipeKey, world: &mut World) {
        let position = self.traffic.entered;
        self.traffic.entered += piece.len() as u64;
        let arrival = self.transit.carry(piece.len(), world.now);
        self.edits.iter().for_each(|edit| edit.apply(position, &mut piece));
        if let Some(tamper) = &mut world.tampering {
            let PipeKey { flow, lane, from } = key;
            tamper(&mut Passing { flow, lane, from, position, at: world.now, bytes: &mut piece });
        }
        self.window_used += piece.len();
        if !piece.is_empty() {
            self.emit(arrival, Parcel::Payload(piece), key, world);
        }
    }

    fn emit(&self, arrival: Tick, parcel: Parcel, pipe: PipeKey, world: &mut World) {
        if !self.transit.cut {
            world.at(arrival, Happening::Arrive { pipe, parcel });
        }
    }
}

/// At the receiver.
impl StreamPipe {
    pub(super) fn arrive(&mut self, parcel: Parcel, now: Tick) {
        self.last_arrival = now;
        match parcel {
            Parcel::Payload(bytes) => self.unread.push(&bytes),
            Parcel::Fin => self.ended = true,
        }
    }

    pub(super) fn unread_bytes(&self) -> usize {
        self.unread.len()
    }

    pub(super) fn last_arrival(&self) -> Tick {
        self.last_arrival
    }

    /// Whether there is something to show to a machine that takes up to `limit` bytes. What it refused
    /// whole is shown again only with more behind it, or after something else has happened.
    pub(super) fn is_readable(&self, limit: usize) -> bool {
        let most = self.unread.len().min(limit);
        most > if self.refused { self.held } else { 0 }
    }

    /// Whether the machine has been shown everything, and nothing will follow.
    pub(super) fn is_at_end(&self) -> bool {
        self.ended && self.held == self.unread.len()
    }

    /// What to show: all that was shown before and not consumed, and up to `portion` bytes behind it.
    pub(super) fn present(&self, limit: usize, portion: usize) -> &[u8] {
        let most = self.unread.len().min(limit);
        &self.unread.as_slice()[..most.min(self.held.saturating_add(portion))]
    }

    /// Receives all that is there, for the machine to be shown later.
    pub(super) fn take_ahead(&mut self, key: PipeKey, world: &mut World) {
        let ahead = self.unread.len() - self.taken;
        self.taken = self.unread.len();
        self.give_credit(ahead, key, world);
    }

    /// The machine has consumed so many of the bytes shown.
    pub(super) fn consume(
        &mut self,
        presented: usize,
        consumed: usize,
        key: PipeKey,
        world: &mut World,
    ) {
        self.held = presented - consumed;
        self.refused = consumed == 0;
        self.release(consumed, key, world);
    }

    /// Something else has happened: the machine may want what it refused.
    pub(super) fn reconsider(&mut self) {
        self.refused = false;
    }

    /// Drops all that has come, as a socket does that nobody reads any more but is still open.
    pub(super) fn discard(&mut self, key: PipeKey, world: &mut World) {
        self.held = 0;
        self.release(self.unread.len(), key, world);
    }

    /// The sender hears nothing of the receiver any more.
    pub(super) fn silence(&mut self) {
        self.credit_delay_ns = None;
    }

    /// The receiving socket is gone, with what it held.
    pub(super) fn stop_receiving(&mut self, listener: Listener) {
        self.unread.clear();
        (self.held, self.taken) = (0, 0);
        self.listener = listener;
    }

    fn release(&mut self, bytes: usize, pipe: PipeKey, world: &mut World) {
        self.unread.consume(bytes);
        let known = bytes.min(self.taken);
        self.taken -= known;
        self.give_credit(bytes - known, pipe, world);
    }

    fn give_credit(&self, bytes: usize, pipe: PipeKey, world: &mut World) {
        if bytes > 0
            && let Some(delay_ns) = self.credit_delay_ns
        {
            let at = world.now.plus_nanos(delay_ns);
            world.at(at, Happening::Credit { pipe, bytes });
        }
    }
}
