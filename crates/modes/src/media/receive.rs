//! The end of a stream that receives: what came, and whether each frame was there when it was to be played.

use pathscope_core::Tick;
use pathscope_core::id::FlowId;

use super::frame::{FrameCounts, FrameRow, Outcome};
use super::header::{HEADER_BYTES, Header, Reading};
use super::ledger::{Ring, Slot, window_of};
use super::summary::DamagedDatagram;
use super::{Layout, MediaPlan, MediaShared};
use crate::arrivals::{LastTransit, Order, Seen, Sight};
use crate::pattern::{SessionKey, StreamKey};

/// Play-out counts from the first datagram that comes. Where none has come by the depth of the buffer, and by
/// then, it counts from the start.
const LEAST_PATIENCE_NS: u64 = 1_000_000_000;
/// Frames are judged as datagrams come; where none come, so often.
const LOOK_EVERY_NS: u64 = 100_000_000;
/// What never came is awaited for so long after the play-out of the last frame, or after a stop.
const DRAIN_NS: u64 = 1_000_000_000;
/// The same where it is not known yet how many were sent: a sender that fell behind may go on for a second.
const UNTOLD_DRAIN_NS: u64 = 2_500_000_000;
/// How long the socket is looked into once the time is over. Where this machine stood still meanwhile,
/// datagrams wait there that the network brought in time.
const LAST_LOOK_NS: u64 = 1_000_000;

/// The receiving half of one stream.
#[derive(Debug)]
pub(super) struct Receiving {
    flow: FlowId,
    token: u64,
    key: StreamKey,
    depth_ns: u64,
    ring: Ring,
    seen: Seen,
    order: Order,
    transit: LastTransit,
    started: Tick,
    /// When frame 0 came, or would have come.
    anchor: Option<Tick>,
    /// Frames below it are judged.
    judged: u64,
    /// Frames that are to come: as planned, or as the sender says.
    expected: u64,
    /// Datagrams that the sender says it sent.
    total: Option<u64>,
    /// No frame is waited for any more from then on: the stream was stopped.
    stop_at: Tick,
    look_at: Tick,
    last_look: Option<Tick>,
    /// The control connection is lost. What the sender sent after what came may be said later, or never.
    away: bool,
    is_done: bool,
    /// Datagrams that came, each once, and those of which something damaged came.
    came: u64,
    /// Frames in a row that were not played.
    frozen: u64,
    /// The first frame that was whole in time, and the last: how long the last of each travelled.
    first_transit: Option<i64>,
    last_transit: Option<i64>,
    pub stats: ReceivedStream,
}

/// What one stream came to.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ReceivedStream {
    pub frames: FrameCounts,
    pub datagrams: u64,
    pub bytes: u64,
    pub lost: u64,
    pub longest_freeze_ns: u64,
    pub needed_depth_ns: Option<u64>,
}

impl Receiving {
    pub fn new(plan: &MediaPlan, session: SessionKey, flow: FlowId, from_client: bool) -> Self {
        let layout = &Layout::of(plan);
        Self {
            flow,
            token: session.token(),
            key: session.stream(flow.0, from_client),
            depth_ns: plan.buffer_depth_ns.0,
            ring: Ring::new(plan, layout),
            seen: Seen::new(window_of(plan, layout)),
            order: Order::new(),
            transit: LastTransit::default(),
            started: Tick::ZERO,
            anchor: None,
            judged: 0,
            expected: layout.frames,
            total: None,
            stop_at: Tick::NEVER,
            look_at: Tick::ZERO,
            last_look: None,
            away: false,
            is_done: false,
            came: 0,
            frozen: 0,
            first_transit: None,
            last_transit: None,
            stats: ReceivedStream::default(),
        }
    }

    pub fn start(&mut self, now: Tick) {
        self.started = now;
    }

    /// The stream is stopped: what is on its way may still come.
    pub fn stop(&mut self, now: Tick) {
        self.stop_at = self.stop_at.min(now.plus_nanos(DRAIN_NS));
    }

    /// The sender has sent so many datagrams, whole frames all of them.
    pub fn sender_is_done(&mut self, shared: &mut MediaShared, total: u64) {
        let frames = total.div_ceil(u64::from(shared.layout.datagrams));
        // What came was sent, whatever is said.
        let known = self.known_frames(shared);
        let sent = frames.min(shared.layout.frames).max(known);
        // What was to be played before this was said, and had never left.
        let unsent = self.judged.saturating_sub(sent);
        shared.tally.counts.frames.unsent += unsent;
        self.stats.frames.unsent += unsent;
        self.expected = sent.max(self.judged);
        self.total = Some(total);
    }

    /// The control connection is lost, or there again.
    pub fn sender_is_away(&mut self, away: bool) {
        self.away = away;
    }

    /// The sender is gone. That it sent anything after the last that came is not known, so nothing of that was lost.
    pub fn sender_is_lost(&mut self, shared: &mut MediaShared, now: Tick) {
        if self.is_done {
            return;
        }
        if self.total.is_none() {
            self.sender_is_done(shared, self.order.next_expected());
        }
        self.stop_at = self.stop_at.min(now);
        self.finish(shared, now);
    }

    pub fn is_done(&self) -> bool {
        self.is_done
    }

    /// Whether the sender may have more to send, for all that is known here.
    pub fn awaits(&self) -> bool {
        !self.is_done && self.total.is_none() && self.stop_at == Tick::NEVER
    }

    /// Judges what is to be judged by now, and says when to be woken; nothing once it is over.
    pub fn next_wake(&mut self, shared: &mut MediaShared, now: Tick) -> Option<Tick> {
        // While no word comes, frames are judged as far as is known that they were sent.
        let most = if self.awaits_word(now) { self.known_frames(shared) } else { u64::MAX };
        self.advance_to(shared, now, most);
        let end = self.end(shared);
        if now >= end && !self.awaits_word(now) {
            let look = *self.last_look.get_or_insert(now.plus_nanos(LAST_LOOK_NS));
            if now >= look {
                self.finish(shared, now);
                return None;
            }
            return Some(look);
        }
        if now >= self.look_at {
            self.look_at = now.plus_nanos(LOOK_EVERY_NS);
        }
        Some(if now >= end { self.look_at } else { self.look_at.min(end) })
    }

    /// Whether the sender is to say yet how much it sent, and cannot for now.
    fn awaits_word(&self, now: Tick) -> bool {
        self.away && self.total.is_none() && now < self.stop_at
    }

    /// Frames of which, or of a later one, something came.
    fn known_frames(&self, shared: &MediaShared) -> u64 {
        self.order.next_expected().div_ceil(u64::from(shared.layout.datagrams))
    }

    /// When nothing is awaited any more.
    fn end(&self, shared: &MediaShared) -> Tick {
        let Some(anchor) = self.anchor else {
            return self.patience().plus_nanos(1).min(self.stop_at);
        };
        let all_came = self.total.is_some_and(|total| self.came >= total);
        let last = self.expected.saturating_sub(1);
        let played = anchor.plus_nanos(self.depth_ns).plus_nanos(shared.layout.frame_at_ns(last));
        let drain_ns = if self.total.is_some() { DRAIN_NS } else { UNTOLD_DRAIN_NS };
        let natural = if all_came { played } else { played.plus_nanos(drain_ns) };
        natural.min(self.stop_at)
    }

    /// Until when the first datagram is awaited.
    fn patience(&self) -> Tick {
        self.started.plus_nanos(self.depth_ns.max(LEAST_PATIENCE_NS))
    }

    /// A datagram came.
    pub fn datagram(&mut self, shared: &mut MediaShared, bytes: &[u8], now: Tick) {
        let header = match Header::read(bytes) {
            Reading::Whole(header) => header,
            Reading::Damaged => {
                shared.tally.counts.damaged_datagrams += 1;
                shared.tally.counts.unreadable_datagrams += 1;
                return;
            }
            Reading::Foreign => {
                shared.tally.counts.foreign += 1;
                return;
            }
        };
        let layout = shared.layout;
        if header.token != self.token || header.flow != self.flow.0 {
            shared.tally.counts.foreign += 1;
            return;
        }
        if header.frame >= layout.frames || header.index >= layout.datagrams {
            // Its check is right: nobody who follows the plan sends that.
            shared.tally.counts.foreign += 1;
            return;
        }
        self.anchor.get_or_insert_with(|| {
            let due_ns = layout.due_ns(header.frame, header.index);
            Tick::from_nanos(now.as_nanos().saturating_sub(due_ns))
        });
        self.advance(shared, now);
        self.make_room(shared, header.frame);
        if header.frame >= self.ring.end() {
            shared.tally.counts.early += 1;
            return;
        }
        let sequence = header.frame * u64::from(layout.datagrams) + u64::from(header.index);
        let position =
            sequence.wrapping_mul(layout.datagram_bytes.into()).wrapping_add(HEADER_BYTES as u64);
        let is_cut = bytes.len() != layout.len(header.index);
        let wrong = self.key.first_wrong(position, &bytes[HEADER_BYTES..]);
        if is_cut || wrong.is_some() {
            let offset_bytes = (HEADER_BYTES + wrong.unwrap_or(bytes.len() - HEADER_BYTES)) as u64;
            self.damaged(shared, &header, sequence, offset_bytes);
        } else {
            self.sound(shared, &header, sequence, bytes.len() as u64, now);
        }
    }

    /// Something of a frame came damaged.
    fn damaged(
        &mut self,
        shared: &mut MediaShared,
        header: &Header,
        sequence: u64,
        offset_bytes: u64,
    ) {
        let Header { frame, index, .. } = *header;
        shared.tally.counts.damaged_datagrams += 1;
        shared.tally.counts.first_damaged.get_or_insert(DamagedDatagram {
            flow: self.flow,
            frame,
            datagram: index,
            offset_bytes,
        });
        self.came += u64::from(self.seen.saw_spoilt(sequence) == Sight::First);
        if let Some(slot) = self.ring.slot(frame) {
            slot.is_spoilt = true;
        }
    }

    fn sound(
        &mut self,
        shared: &mut MediaShared,
        header: &Header,
        sequence: u64,
        bytes: u64,
        now: Tick,
    ) {
        let Header { frame, due, sent, .. } = *header;
        let sight = self.seen.saw(sequence);
        let is_judged = frame < self.judged;
        match sight {
            Sight::First => {}
            Sight::Again => {
                shared.tally.counts.duplicates += 1;
                if let Some(slot) = self.ring.slot(frame).filter(|_| !is_judged) {
                    slot.repeats += 1;
                }
                return;
            }
            Sight::Forgotten => {
                shared.tally.counts.forgotten += 1;
                return;
            }
        }
        self.came += 1;
        self.stats.datagrams += 1;
        self.stats.bytes += bytes;
        let tally = &mut shared.tally;
        tally.counts.received_datagrams += 1;
        tally.counts.received_bytes += bytes;
        tally.counts.reordered += u64::from(self.order.saw(sequence).is_some());
        tally.counts.late_datagrams += u64::from(is_judged);
        self.transit.arrived(sequence, difference(now, sent), &mut tally.variation);
        let datagrams = shared.layout.datagrams;
        let Some(slot) = self.ring.slot(frame) else { return };
        slot.came += 1;
        (slot.sent, slot.received) = (sent, now);
        if slot.came == datagrams {
            let was_missed = slot.outcome == Some(Outcome::Dropped);
            if was_missed {
                slot.outcome = Some(Outcome::Late);
            }
            self.whole(shared, frame, (due, sent), now, was_missed);
        }
    }

    /// The last datagram of a frame came, sent then though it was due then.
    fn whole(
        &mut self,
        shared: &mut MediaShared,
        frame: u64,
        (due, sent): (Tick, Tick),
        now: Tick,
        was_missed: bool,
    ) {
        let at_ns = shared.layout.frame_at_ns(frame);
        let expected = self.anchor.unwrap_or(now).plus_nanos(at_ns);
        let depth = now.nanos_since(expected);
        self.stats.needed_depth_ns = self.stats.needed_depth_ns.max(Some(depth));
        let tally = &mut shared.tally;
        tally.counts.needed_depth_ns = tally.counts.needed_depth_ns.max(Some(depth));
        tally.delays.record(difference(now, due));
        if was_missed {
            tally.counts.frames.late += 1;
            self.stats.frames.late += 1;
            // It would have been in time, had it left in time.
            let lag = sent.nanos_since(due);
            tally.counts.late_by_sender += u64::from(depth.saturating_sub(lag) <= self.depth_ns);
        }
    }

    /// Judges the frames whose play-out moment has come.
    fn advance(&mut self, shared: &mut MediaShared, now: Tick) {
        self.advance_to(shared, now, u64::MAX);
    }

    /// The same, of the first `most` frames.
    fn advance_to(&mut self, shared: &mut MediaShared, now: Tick, most: u64) {
        if self.anchor.is_none() && now > self.patience() {
            self.anchor = Some(self.started);
        }
        let Some(anchor) = self.anchor else { return };
        let begin = anchor.plus_nanos(self.depth_ns);
        while self.judged < self.expected.min(most)
            && begin.plus_nanos(shared.layout.frame_at_ns(self.judged)) <= now
        {
            self.make_room(shared, self.judged);
            self.judge(shared);
        }
    }

    /// Judges the next frame: what is there of it is played now.
    fn judge(&mut self, shared: &mut MediaShared) {
        let datagrams = shared.layout.datagrams;
        let Some(slot) = self.ring.slot(self.judged) else { return };
        let is_played = slot.came == datagrams;
        let outcome = match (is_played, slot.repeats, slot.is_spoilt) {
            (true, 0, _) => Outcome::Completed,
            (true, ..) => Outcome::Repeated,
            (false, _, true) => Outcome::Erroneous,
            (false, ..) => Outcome::Dropped,
        };
        slot.outcome = Some(outcome);
        if is_played {
            let transit = difference(slot.received, slot.sent);
            let first = *self.first_transit.get_or_insert(transit);
            let last = self.last_transit.replace(transit);
            let change = last.map(|last| transit.wrapping_sub(last).unsigned_abs());
            slot.relative_ns = Some(transit.wrapping_sub(first));
            slot.change_ns = Some(change.unwrap_or(0));
            change.into_iter().for_each(|change| shared.tally.frame_jitter.record(change));
        }
        self.frozen = if is_played { 0 } else { self.frozen + 1 };
        let freeze = shared.layout.frame_at_ns(self.frozen);
        self.stats.longest_freeze_ns = self.stats.longest_freeze_ns.max(freeze);
        shared.tally.counts.longest_freeze_ns = shared.tally.counts.longest_freeze_ns.max(freeze);
        shared.tally.counts.frames.count(outcome);
        self.stats.frames.count(outcome);
        self.judged += 1;
    }

    /// Gives frame `frame` a place, as far as those before it are judged.
    fn make_room(&mut self, shared: &mut MediaShared, frame: u64) {
        while frame >= self.ring.end() && self.ring.settled() < self.judged {
            let (settled, slot) = self.ring.settle();
            self.tell(shared, settled, &slot);
        }
    }

    /// Nothing is awaited any more.
    fn finish(&mut self, shared: &mut MediaShared, now: Tick) {
        if std::mem::replace(&mut self.is_done, true) {
            return;
        }
        self.advance(shared, now);
        while self.judged < self.expected && self.is_stopped_before_play_out(now) {
            self.cut(shared);
        }
        while self.ring.settled() < self.judged {
            let (settled, slot) = self.ring.settle();
            self.tell(shared, settled, &slot);
        }
        let sent = self.total.unwrap_or(self.judged * u64::from(shared.layout.datagrams));
        let (bursts, spoilt) = self.seen.close(sent);
        self.stats.lost = bursts.lost;
        shared.tally.counts.spoilt_datagrams += spoilt;
        shared.tally.counts.bursts.merge(&bursts);
    }

    /// Whether the next frame was sent and never came to be judged. Without word of the sender nothing is
    /// known of what it sent.
    fn is_stopped_before_play_out(&self, now: Tick) -> bool {
        self.total.is_some() && now >= self.stop_at
    }

    /// The next frame will not be played: whole, it would have been.
    fn cut(&mut self, shared: &mut MediaShared) {
        self.make_room(shared, self.judged);
        let datagrams = shared.layout.datagrams;
        let is_whole = self.ring.slot(self.judged).is_some_and(|slot| slot.came == datagrams);
        if is_whole {
            return self.judge(shared);
        }
        if let Some(slot) = self.ring.slot(self.judged) {
            slot.outcome = Some(Outcome::Cut);
        }
        shared.tally.counts.frames.count(Outcome::Cut);
        self.stats.frames.count(Outcome::Cut);
        self.judged += 1;
    }

    /// A frame is settled: nothing more is to be said of it.
    fn tell(&self, shared: &mut MediaShared, frame: u64, slot: &Slot) {
        let Some(rows) = &mut shared.rows else { return };
        let datagrams = shared.layout.datagrams;
        let play_out = self
            .anchor
            .unwrap_or(self.started)
            .plus_nanos(self.depth_ns.saturating_add(shared.layout.frame_at_ns(frame)));
        rows.push(FrameRow {
            flow: self.flow,
            frame,
            outcome: slot.outcome.unwrap_or(Outcome::Cut),
            missing: datagrams - slot.came.min(datagrams),
            repeats: slot.repeats,
            sent: slot.sent,
            received: slot.received,
            relative_ns: slot.relative_ns,
            change_ns: slot.change_ns,
            margin_ns: (slot.came == datagrams).then(|| difference(play_out, slot.received)),
        });
    }
}

/// From `earlier` to `later`, which may be of another clock.
fn difference(later: Tick, earlier: Tick) -> i64 {
    later.as_nanos().wrapping_sub(earlier.as_nanos()) as i64
}
