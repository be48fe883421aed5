//! The end of a stream that receives: what came, and whether each frame was there when it was to be played.
//!
//! In one file: one stream, from its first datagram to its last.

use pathscope_core::Tick;
use pathscope_core::id::FlowId;
use pathscope_core::record::FlowError;

use super::frame::{FrameRow, Outcome};
use super::header::{HEADER_BYTES, Header};
use super::ledger::{Ring, window_of};
use super::summary::DamagedDatagram;
use super::tally::ReceivedStream;
use super::{Layout, MediaShared, unnumbered};
use crate::arrivals::{LastTransit, Order, Seen, Sight, difference};
use crate::conventions::{Framing, frames};
use crate::last_look::LastLook;
use crate::pattern::StreamKey;
use crate::streams::{Consent, Identity, Reading, Receives};

/// Frames are judged as datagrams come; where none come, so often.
const LOOK_EVERY_NS: u64 = 100_000_000;
/// What never came is awaited for so long after the play-out of the last frame, or after a stop.
const DRAIN_NS: u64 = 1_000_000_000;
/// The same where it is not known yet how many were sent: a sender that fell behind may go on for a second.
const UNTOLD_DRAIN_NS: u64 = 2_500_000_000;
/// How long the socket is looked into once the time is over.
const LAST_LOOK_NS: u64 = 1_000_000;

/// The receiving half of one stream.
#[derive(Debug)]
pub struct Receiving {
    key: StreamKey,
    identity: Identity,
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
    last_look: LastLook,
    is_done: bool,
    /// Datagrams that came, each once, and those of which something damaged came.
    came: u64,
    /// Frames in a row that were not played.
    frozen: u64,
    /// The first frame that was whole in time, and the last: how long the last of each travelled.
    first_transit: Option<i64>,
    last_transit: Option<i64>,
    pub(super) stats: ReceivedStream,
}

impl Receiving {
    pub(super) fn new((key, identity): (StreamKey, Identity), layout: &Layout) -> Self {
        Self {
            key,
            identity,
            ring: Ring::new(layout),
            seen: Seen::new(window_of(layout)),
            order: Order::with_room(window_of(layout)),
            transit: LastTransit::default(),
            started: Tick::ZERO,
            anchor: None,
            judged: 0,
            expected: layout.frames,
            total: None,
            stop_at: Tick::NEVER,
            look_at: Tick::ZERO,
            last_look: LastLook::default(),
            is_done: false,
            came: 0,
            frozen: 0,
            first_transit: None,
            last_transit: None,
            stats: ReceivedStream::default(),
        }
    }

    /// Frames of which, or of a later one, something came.
    fn known_frames(&self, layout: &Layout) -> u64 {
        self.order.next_expected().div_ceil(u64::from(layout.datagrams))
    }

    /// When nothing is awaited any more.
    fn end(&self, shared: &MediaShared) -> Tick {
        let layout = &shared.layout;
        let Some(anchor) = self.anchor else {
            return self.patience(shared).plus_nanos(1).min(self.stop_at);
        };
        let total = self.total.or(unnumbered::total(shared));
        let all_came = total.is_some_and(|total| self.came >= total);
        let last = self.expected.saturating_sub(1);
        let played = anchor.plus_nanos(layout.played_at_ns(last));
        let drain_ns = if total.is_some() { DRAIN_NS } else { UNTOLD_DRAIN_NS };
        let natural = if all_came { played } else { played.plus_nanos(drain_ns) };
        natural.min(self.stop_at)
    }

    /// Until when the first datagram is awaited.
    fn patience(&self, shared: &MediaShared) -> Tick {
        self.started.plus_nanos(shared.layout.depth_ns.max(unnumbered::least_patience_ns(shared)))
    }

    /// A datagram came.
    fn datagram(
        &mut self,
        shared: &mut MediaShared,
        bytes: &[u8],
        consent: &mut Consent,
        now: Tick,
    ) {
        let (layout, framing) = (shared.layout, shared.conventions.framing);
        let counts = &mut shared.tally.counts;
        let header = match unnumbered::read(self.identity, framing, bytes) {
            Reading::Sound(header) if layout.holds(header.frame, header.index) => header,
            _ if unnumbered::is_name(framing, bytes) || consent.hears(bytes, now) => return,
            Reading::Damaged => {
                counts.damaged_datagrams += 1;
                return counts.unreadable_datagrams += 1;
            }
            // Also where its check is right: nobody who follows the plan sends that.
            Reading::Foreign | Reading::Sound(_) => return counts.foreign += 1,
        };
        let Header { frame, mut index, .. } = header;
        self.anchor.get_or_insert_with(|| {
            Tick::from_nanos(now.as_nanos().saturating_sub(layout.due_ns(frame, index)))
        });
        self.advance(shared, now, u64::MAX);
        self.make_room(shared, frame);
        if frame >= self.ring.end() {
            return shared.tally.counts.early += 1;
        }
        let (filler_at, position) = if framing == Framing::Frames {
            index = unnumbered::place_of(&mut self.ring, &layout, frame, bytes.len());
            (frames::HEADER_BYTES, 0)
        } else {
            (HEADER_BYTES, layout.position(frame, index).wrapping_add(HEADER_BYTES as u64))
        };
        let header = Header { index, ..header };
        let filler = bytes.get(filler_at..).unwrap_or_default();
        let wrong = shared.conventions.payload.first_wrong(self.key, position, filler);
        let is_alike = bytes.len() == layout.len(index);
        if wrong.is_none() && (is_alike || !framing.is_numbered()) {
            shared.tally.counts.unlike_datagrams += u64::from(!is_alike);
            return self.sound(shared, header, bytes.len() as u64, now);
        }
        // Something of a frame came damaged.
        let offset_bytes = (filler_at + wrong.unwrap_or(filler.len())) as u64;
        let flow = FlowId(self.key.flow());
        let damaged = DamagedDatagram { flow, frame, datagram: index, offset_bytes };
        shared.tally.counts.damaged_datagrams += 1;
        shared.tally.counts.first_damaged.get_or_insert(damaged);
        let sight = self.seen.saw_spoilt(layout.sequence(frame, index));
        self.came += u64::from(sight == Sight::First);
        self.ring.slot(frame).into_iter().for_each(|slot| slot.is_spoilt = true);
    }

    /// One that is as it was sent.
    fn sound(&mut self, shared: &mut MediaShared, header: Header, bytes: u64, now: Tick) {
        let Header { frame, index, due, sent } = header;
        let (layout, is_judged) = (shared.layout, frame < self.judged);
        let sequence = layout.sequence(frame, index);
        let tally = &mut shared.tally;
        match self.seen.saw(sequence) {
            Sight::First => {}
            Sight::Again => {
                tally.counts.duplicates += 1;
                if let Some(slot) = self.ring.slot(frame).filter(|_| !is_judged) {
                    slot.repeats += 1;
                    slot.bytes += bytes;
                }
                return;
            }
            Sight::Forgotten => return tally.counts.forgotten += 1,
        }
        self.came += 1;
        self.stats.bytes += bytes;
        tally.counts.received_datagrams += 1;
        tally.counts.received_bytes += bytes;
        tally.counts.reordered += u64::from(self.order.saw(sequence).is_some());
        tally.counts.late_datagrams += u64::from(is_judged);
        self.transit.arrived(sequence, difference(now, sent), &mut tally.variation);
        let Some(slot) = self.ring.slot(frame) else { return };
        let was_whole = unnumbered::is_whole(shared, slot);
        slot.came += 1;
        slot.bytes += bytes;
        (slot.sent, slot.received) = (sent, now);
        if was_whole || !unnumbered::is_whole(shared, slot) {
            return;
        }
        // The last datagram of a frame.
        let tally = &mut shared.tally;
        let expected = self.anchor.unwrap_or(now).plus_nanos(layout.frame_at_ns(frame));
        let depth = now.nanos_since(expected);
        self.stats.needed_depth_ns = self.stats.needed_depth_ns.max(Some(depth));
        tally.counts.needed_depth_ns = tally.counts.needed_depth_ns.max(Some(depth));
        tally.delays.record(difference(now, due));
        if slot.outcome == Some(Outcome::Dropped) {
            slot.outcome = Some(Outcome::Late);
            tally.counts.frames.late += 1;
            self.stats.frames.late += 1;
            // It would have been in time, had it left in time.
            let lag = sent.nanos_since(due);
            tally.counts.late_by_sender += u64::from(depth.saturating_sub(lag) <= layout.depth_ns);
        }
    }

    /// Judges those of the first `most` frames whose play-out moment has come.
    fn advance(&mut self, shared: &mut MediaShared, now: Tick, most: u64) {
        if self.anchor.is_none() && now > self.patience(shared) {
            self.anchor = Some(self.started);
        }
        let Some(anchor) = self.anchor else { return };
        while self.judged < self.expected.min(most)
            && anchor.plus_nanos(shared.layout.played_at_ns(self.judged)) <= now
        {
            self.judge(shared, false);
        }
    }

    /// Judges the next frame: what is there of it is played now. After a stop it will not be played, and whole, it would have
    /// been.
    fn judge(&mut self, shared: &mut MediaShared, is_stopped: bool) {
        self.make_room(shared, self.judged);
        let Some(slot) = self.ring.slot(self.judged) else { return };
        let outcome = unnumbered::outcome(shared, slot, is_stopped);
        let is_played = matches!(outcome, Outcome::Completed | Outcome::Repeated);
        let MediaShared { layout, tally, .. } = shared;
        slot.outcome = Some(outcome);
        if is_played {
            let transit = difference(slot.received, slot.sent);
            let first = *self.first_transit.get_or_insert(transit);
            let last = self.last_transit.replace(transit);
            let change = last.map(|last| transit.wrapping_sub(last).unsigned_abs());
            slot.flight_ns = Some((transit.wrapping_sub(first), change.unwrap_or(0)));
            change.into_iter().for_each(|change| tally.frame_jitter.record(change));
        }
        if outcome != Outcome::Cut {
            self.frozen = if is_played { 0 } else { self.frozen + 1 };
            let freeze = layout.frame_at_ns(self.frozen);
            self.stats.longest_freeze_ns = self.stats.longest_freeze_ns.max(freeze);
            tally.counts.longest_freeze_ns = tally.counts.longest_freeze_ns.max(freeze);
        }
        tally.counts.frames.count(outcome);
        self.stats.frames.count(outcome);
        self.judged += 1;
    }

    /// Gives frame `frame` a place, as far as those before it are judged.
    fn make_room(&mut self, shared: &mut MediaShared, frame: u64) {
        while frame >= self.ring.end() && self.ring.settled < self.judged {
            self.settle(shared);
        }
    }

    /// Nothing came of the stream, and nothing will: all its frames are missing.
    #[cold]
    fn miss_all(&mut self, shared: &mut MediaShared, now: Tick) {
        (self.judged..self.expected).for_each(|_| self.judge(shared, false));
        self.finish(shared, now);
    }

    /// Nothing is awaited any more.
    fn finish(&mut self, shared: &mut MediaShared, now: Tick) {
        self.is_done = true;
        self.advance(shared, now, u64::MAX);
        // Those that were sent and never came to be judged. Without word of the sender nothing is known of what it sent.
        if self.total.is_some() && now >= self.stop_at {
            (self.judged..self.expected).for_each(|_| self.judge(shared, true));
        }
        while self.ring.settled < self.judged {
            self.settle(shared);
        }
        if self.order.arrived() > 0 && unnumbered::total(shared).is_some() {
            let silent = self.judged.saturating_sub(self.known_frames(&shared.layout));
            shared.tally.counts.silent_frames += silent;
        }
        let sent = self.total.unwrap_or(shared.layout.sequence(self.judged, 0));
        let (bursts, spoilt) = self.seen.close(sent);
        self.stats.lost = bursts.lost;
        shared.tally.counts.spoilt_datagrams += spoilt;
        shared.tally.counts.bursts.merge(&bursts);
    }

    /// Nothing more is to be said of the first frame that has a place.
    fn settle(&mut self, shared: &mut MediaShared) {
        let (frame, slot) = self.ring.settle();
        let is_whole = unnumbered::is_whole(shared, &slot);
        let Some(rows) = &mut shared.rows else { return };
        let datagrams = shared.layout.datagrams;
        let begin = self.anchor.unwrap_or(self.started);
        let play_out = begin.plus_nanos(shared.layout.played_at_ns(frame));
        rows.push(FrameRow {
            flow: FlowId(self.key.flow()),
            frame,
            outcome: slot.outcome.unwrap_or(Outcome::Cut),
            missing: datagrams - slot.came.min(datagrams),
            repeats: slot.repeats,
            sent: slot.sent,
            received: slot.received,
            flight_ns: slot.flight_ns,
            margin_ns: is_whole.then(|| difference(play_out, slot.received)),
        });
    }
}

impl Receives for Receiving {
    type Shared = MediaShared;

    fn start(&mut self, _: &mut MediaShared, now: Tick) {
        self.started = now;
    }

    fn stop(&mut self, now: Tick) {
        self.stop_at = self.stop_at.min(now.plus_nanos(DRAIN_NS));
    }

    /// Of whole frames, all of them.
    fn told(&mut self, shared: &mut MediaShared, total: u64, _: Tick) {
        let frames = total.div_ceil(u64::from(shared.layout.datagrams));
        // What came was sent, whatever is said.
        let sent = frames.min(shared.layout.frames).max(self.known_frames(&shared.layout));
        // What was to be played before this was said, and had never left.
        let unsent = self.judged.saturating_sub(sent);
        shared.tally.counts.frames.unsent += unsent;
        self.stats.frames.unsent += unsent;
        self.expected = sent.max(self.judged);
        self.total = Some(total);
    }

    /// Nothing of what may have been sent after the last that came was lost.
    fn lost(&mut self, shared: &mut MediaShared, now: Tick) {
        if self.is_done {
            return;
        }
        if self.total.is_none() {
            self.told(shared, self.order.next_expected(), now);
        }
        self.stop_at = self.stop_at.min(now);
        self.finish(shared, now);
    }

    fn wake(&mut self, shared: &mut MediaShared, away: bool, now: Tick) -> Result<Tick, FlowError> {
        // While no word comes, frames are judged as far as is known that they were sent.
        let awaits_word = away && self.total.is_none() && now < self.stop_at;
        let most = if awaits_word { self.known_frames(&shared.layout) } else { u64::MAX };
        self.advance(shared, now, most);
        if self.order.arrived() == 0 && now > self.patience(shared) && self.stop_at == Tick::NEVER {
            let answered = unnumbered::unanswered(shared);
            answered.inspect_err(|_| self.miss_all(shared, now))?;
        }
        let end = self.end(shared);
        if now >= end && !awaits_word {
            let look = self.last_look.until(LAST_LOOK_NS, now);
            if look.is_none() {
                self.finish(shared, now);
            }
            return Ok(look.unwrap_or(Tick::NEVER));
        }
        if now >= self.look_at {
            self.look_at = now.plus_nanos(LOOK_EVERY_NS);
        }
        Ok(if now >= end { self.look_at } else { self.look_at.min(end) })
    }

    fn take<'data>(
        &mut self,
        shared: &mut MediaShared,
        datagrams: impl Iterator<Item = &'data [u8]>,
        consent: &mut Consent,
        now: Tick,
    ) {
        let before = self.order.arrived();
        datagrams.for_each(|datagram| self.datagram(shared, datagram, consent, now));
        if self.order.arrived() > before {
            consent.sign_of_life(now);
        }
    }

    fn weighs(&self) -> bool {
        self.last_look.is_on() && !self.is_done
    }

    fn weighed(&mut self, held: u64) {
        self.last_look.weighed(held);
    }

    fn awaits(&self) -> bool {
        !self.is_done && self.total.is_none() && self.stop_at == Tick::NEVER
    }

    fn is_done(&self) -> bool {
        self.is_done
    }

    fn received(&self) -> u64 {
        self.order.arrived()
    }
}
