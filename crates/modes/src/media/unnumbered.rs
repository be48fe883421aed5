//! Datagrams that do not say which of their frame they are, nor when they were due: those of ctsTraffic. What can be known of them all the
//! same, by their lengths.

use pathscope_core::quantity::Period;
use pathscope_core::record::{FlowError, FlowErrorKind};

use super::frame::Outcome;
use super::header::Header;
use super::ledger::{Ring, Slot};
use super::{Layout, MediaShared};
use crate::conventions::{Framing, frames};
use crate::streams::{Identity, Reading};

const LEAST_PATIENCE_NS: u64 = 1_000_000_000;
const ANSWER_WITHIN_NS: u64 = 5_000_000_000;

/// What a datagram says, of a peer of whichever conventions. Where it does not say its place in its frame, [`place_of`] tells it later; and
/// where it does not say when it was due, it is taken to have left then.
pub(super) fn read(identity: Identity, framing: Framing, bytes: &[u8]) -> Reading<Header> {
    if framing != Framing::Frames {
        return Header::read(identity, bytes);
    }
    match frames::read(bytes) {
        frames::Sight::Data(frames::Header { frame, sent }) => {
            Reading::Sound(Header { frame, index: 0, due: sent, sent })
        }
        frames::Sight::Name | frames::Sight::Neither => Reading::Damaged,
    }
}

/// Whether one is that by which a server names a connection, which is no part of its stream.
pub(super) fn is_name(framing: Framing, bytes: &[u8]) -> bool {
    framing == Framing::Frames && frames::read(bytes) == frames::Sight::Name
}

/// The place in its frame of one that does not say it: the first that is free among those of its length. One that is of no such length, or
/// has no place there any more, is at the last of them.
pub(super) fn place_of(ring: &mut Ring, layout: &Layout, frame: u64, bytes: usize) -> u32 {
    let last = layout.datagrams.saturating_sub(1);
    let usual = layout.datagram_bytes as usize;
    // Only the last two may be of other lengths.
    let mut short = (last.saturating_sub(1)..=last).rev();
    if let Some(index) = short.find(|&index| bytes != usual && layout.len(index) == bytes) {
        return index;
    }
    let usual_last = (0..=last).rev().find(|&index| layout.len(index) == usual).unwrap_or(last);
    let Some(slot) = ring.slot(frame) else { return 0 };
    let index = slot.usual.min(usual_last);
    slot.usual = slot.usual.saturating_add(1);
    index
}

/// Whether a frame has all that it is made of. Where datagrams do not say their places, as many bytes as it has are all of it, whichever they
/// are.
#[inline]
pub(super) fn is_whole(shared: &MediaShared, slot: &Slot) -> bool {
    let layout = &shared.layout;
    if shared.conventions.framing.is_numbered() {
        slot.came == layout.datagrams
    } else {
        slot.bytes >= layout.frame_bytes
    }
}

/// What becomes of a frame that is to be played now, or that would have been, had the stream not been stopped.
pub(super) fn outcome(shared: &MediaShared, slot: &Slot, is_stopped: bool) -> Outcome {
    let has_more = if shared.conventions.framing.is_numbered() {
        slot.repeats > 0
    } else {
        slot.bytes > shared.layout.frame_bytes
    };
    match (is_whole(shared, slot), has_more, slot.is_spoilt) {
        (true, false, _) => Outcome::Completed,
        (true, true, _) => Outcome::Repeated,
        (false, ..) if is_stopped => Outcome::Cut,
        (false, _, true) => Outcome::Erroneous,
        (false, ..) => Outcome::Dropped,
    }
}

/// How many datagrams a stream has, where the other end never says how many it sent: as many as the plan has.
pub(super) fn total(shared: &MediaShared) -> Option<u64> {
    let layout = &shared.layout;
    (!shared.conventions.framing.is_numbered()).then(|| layout.sequence(layout.frames, 0))
}

/// Play-out counts from the first datagram that comes. Where none has come by the depth of the buffer, and by then, it counts from the
/// start. A stream that has to be asked for may be so twice.
pub(super) const fn least_patience_ns(shared: &MediaShared) -> u64 {
    if shared.conventions.framing.is_numbered() { LEAST_PATIENCE_NS } else { ANSWER_WITHIN_NS }
}

/// Nothing came of a stream. One that had to be asked for has failed: its server did not do its part, as ctsTraffic has it too.
#[cold]
pub(super) fn unanswered(shared: &MediaShared) -> Result<(), FlowError> {
    if shared.conventions.framing.is_numbered() {
        return Ok(());
    }
    let text = format!(
        "nothing came within {} of the stream that was asked for; see whether a server of ctsTraffic runs there with -protocol:udp, and \
         whether a firewall drops its datagrams",
        Period(ANSWER_WITHIN_NS)
    );
    Err(FlowError { kind: FlowErrorKind::Protocol, text, errno: None })
}
