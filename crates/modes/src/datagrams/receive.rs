//! The receiving half of a datagram flow: verifies each, and tells what was lost, doubled, overtaken, late and wrong.

mod sequenced;
mod unnumbered;

use std::ops::RangeInclusive;

use pathscope_core::Tick;
use pathscope_core::id::FlowId;
use pathscope_core::quantity::Period;
use pathscope_core::record::{FlowError, FlowErrorKind};
use pathscope_flow::FlowDatagrams;

use super::shared::DatagramShared;
use super::window::FlowWindow;
use super::{Damage, DatagramCorruption, DatagramTally, HEADER_BYTES};
use crate::arrivals::{LastTransit, Order, Seen, Sight, difference};
use crate::conventions::Framing;
use crate::load::Verify;
use crate::pattern::StreamKey;
use crate::streams::{Consent, Header, Identity, Reading, Receives};

/// After the sender's total is known, datagrams are awaited for three times the spread of their transit times: a
/// queue that delayed some delays the last of them as much. Within these bounds.
const DRAIN_NS: RangeInclusive<u64> = 500_000_000..=10_000_000_000;
/// Once all have come, copies that the network made are awaited for that spread, within these bounds: they come
/// right behind.
const COPIES_NS: RangeInclusive<u64> = 20_000_000..=1_000_000_000;
/// After the drain, for so long more those that come are told as late.
const LATE_NS: u64 = 500_000_000;
/// There is room at once for a gap in the order of arrivals for so many numbers that are remembered.
const NUMBERS_OF_A_GAP: usize = 16;
/// Corrupt datagrams of a worker that are told one by one.
const CORRUPTIONS_TOLD: usize = 16;
/// A sender that has not said how many it sent for so long after the end that the plan states has broken its word: where
/// nothing comes any more either, the session gives up sooner.
const UNTOLD_NS: u64 = 12_000_000_000;

/// The receiving half.
#[derive(Debug)]
pub struct Receiver {
    key: StreamKey,
    identity: Identity,
    seen: Seen,
    order: Order,
    last: LastTransit,
    /// The least and the most transit time, by two clocks.
    transit_ns: Option<(i64, i64)>,
    /// Numbers of which only something damaged has come.
    spoilt: u64,
    corrupt_headers: u64,
    late: u64,
    duplicates: u64,
    reordered: u64,
    /// Never came, as far as is known at the end.
    pub(super) lost: u64,
    /// What was received in the window that counts.
    pub(super) window: FlowWindow,
    /// What the sender says it sent in all.
    pub(super) total: Option<u64>,
    until: Until,
    /// Those that came of a stream that says no numbers; none of one that does.
    unnumbered: Option<u64>,
    /// Whether all flows together have what they are to receive.
    has_enough: bool,
}

/// Until when datagrams are awaited.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Until {
    /// Until the sender has told its total, which it does by then.
    Told(Tick),
    /// Some are missing: until then they count.
    Drained(Tick),
    /// All have come: copies until then.
    Copied(Tick),
    /// Late ones until then.
    Late(Tick),
    /// No more.
    Over,
}

impl Receiver {
    /// For a flow that remembers so many numbers.
    pub(super) fn new((key, identity): (StreamKey, Identity), window: usize) -> Self {
        Self {
            key,
            identity,
            seen: Seen::new(window),
            order: Order::with_room(window / NUMBERS_OF_A_GAP),
            last: LastTransit::default(),
            transit_ns: None,
            spoilt: 0,
            corrupt_headers: 0,
            late: 0,
            duplicates: 0,
            reordered: 0,
            lost: 0,
            window: FlowWindow::default(),
            total: None,
            until: Until::Told(Tick::NEVER),
            unnumbered: None,
            has_enough: false,
        }
    }

    #[inline]
    fn take_one(
        &mut self,
        shared: &mut DatagramShared,
        datagram: &[u8],
        consent: &mut Consent,
        now: Tick,
    ) {
        match shared.framing {
            Framing::Sequenced(layout) => {
                return self.take_sequenced(shared, layout.width, datagram, now);
            }
            Framing::Unnumbered => return self.take_unnumbered(shared, datagram),
            Framing::Own | Framing::Bare | Framing::Frames => {}
        }
        let header = match Header::read(self.identity, datagram) {
            Reading::Sound(header) => header,
            _ if consent.hears(datagram, now) => return,
            Reading::Damaged => {
                self.corrupt_headers += 1;
                shared.tally.counts.corrupt_headers += 1;
                return self.spoilt(shared, None, datagram, || Damage::Header);
            }
            Reading::Foreign => return shared.tally.counts.foreign += 1,
        };
        let sequence = header.sequence;
        if datagram.len() != header.length as usize {
            let damage = || Damage::Length { sent_bytes: header.length.into() };
            return self.spoilt(shared, Some(sequence), datagram, damage);
        }
        let begin = sequence.wrapping_mul(shared.schedule.size);
        let filler = &datagram[HEADER_BYTES..];
        let position = begin.wrapping_add(HEADER_BYTES as u64);
        let wrong = match shared.verify {
            Verify::Full => self.key.first_wrong(position, filler),
            Verify::Sampled => self.key.first_wrong_sampled(position, filler),
            Verify::Off => None,
        };
        if let Some(wrong) = wrong {
            let key = self.key;
            let damage = || Damage::filler(key, begin, HEADER_BYTES + wrong, datagram);
            return self.spoilt(shared, Some(sequence), datagram, damage);
        }
        self.count(&mut shared.tally, (sequence, header.sent), datagram, now);
    }

    /// What came right.
    #[inline]
    fn count(
        &mut self,
        tally: &mut DatagramTally,
        (sequence, sent): (u64, Tick),
        datagram: &[u8],
        now: Tick,
    ) {
        if matches!(self.until, Until::Late(_)) {
            return self.came_late(tally);
        }
        let was_spoilt = self.spoilt > 0 && self.seen.is_spoilt(sequence);
        match self.seen.saw(sequence) {
            Sight::First => {}
            Sight::Again => {
                self.duplicates += 1;
                tally.counts.duplicates += 1;
                return;
            }
            Sight::Forgotten => return self.came_late(tally),
        }
        self.spoilt -= u64::from(was_spoilt);
        if let Some(extent) = self.order.saw(sequence) {
            self.reordered += 1;
            tally.counts.reordered += 1;
            tally.counts.reordering_extent_sum += extent;
            tally.counts.reordering_extent_max = tally.counts.reordering_extent_max.max(extent);
        }
        tally.counts.received += 1;
        tally.counts.received_bytes += datagram.len() as u64;
        let transit = difference(now, sent);
        self.last.arrived(sequence, transit, &mut tally.variation);
        let (least, most) = self.transit_ns.unwrap_or((transit, transit));
        self.transit_ns = Some((least.min(transit), most.max(transit)));
    }

    /// One above the highest number that came, and how much transit times varied of late.
    pub(super) fn seen_last(&self) -> (u64, f64) {
        (self.order.next_expected(), self.last.smoothed_ns())
    }

    fn came_late(&mut self, tally: &mut DatagramTally) {
        self.late += 1;
        tally.counts.late += 1;
    }

    #[cold]
    fn spoilt(
        &mut self,
        shared: &mut DatagramShared,
        sequence: Option<u64>,
        datagram: &[u8],
        damage: impl FnOnce() -> Damage,
    ) {
        shared.tally.counts.corrupt += 1;
        if let Some(sequence) = sequence {
            self.spoilt += u64::from(self.seen.saw_spoilt(sequence) == Sight::First);
        }
        if shared.corruptions.len() < CORRUPTIONS_TOLD {
            shared.corruptions.push(DatagramCorruption {
                flow: FlowId(self.key.flow()),
                from_client: self.key.is_from_client(),
                sequence,
                came_bytes: datagram.len() as u64,
                damage: damage(),
            });
        }
    }

    /// Whether nothing is missing any more, so that only copies may come.
    fn consider_copies(&mut self, now: Tick) {
        let Some(total) = self.total else { return };
        let come = self.order.arrived() + self.spoilt + self.corrupt_headers;
        if matches!(self.until, Until::Drained(_)) && come >= total {
            let wait = self.spread_ns().clamp(*COPIES_NS.start(), *COPIES_NS.end());
            self.until = Until::Copied(now.plus_nanos(wait));
        }
    }

    /// So many bytes came right, together.
    #[inline]
    fn record(&mut self, shared: &mut DatagramShared, bytes: u64, now: Tick) {
        let since_start = now.nanos_since(shared.started.unwrap_or(now));
        self.window.record(bytes, since_start, shared.opening, &mut shared.window);
    }

    fn spread_ns(&self) -> u64 {
        self.transit_ns.map_or(0, |(least, most)| most.wrapping_sub(least) as u64)
    }

    fn drain_ns(&self) -> u64 {
        self.spread_ns().saturating_mul(3).clamp(*DRAIN_NS.start(), *DRAIN_NS.end())
    }

    fn finish(&mut self, shared: &mut DatagramShared) {
        self.until = Until::Over;
        let (bursts, spoilt) = self.seen.close(self.total.unwrap_or(0));
        debug_assert!(spoilt <= self.spoilt, "what left the window was spoilt before");
        // A damaged number may be that of a missing one.
        self.lost = bursts.lost.saturating_sub(self.late + self.corrupt_headers);
        shared.tally.counts.bursts.merge(&bursts);
    }
}

impl Receives for Receiver {
    type Shared = DatagramShared;

    fn start(&mut self, shared: &mut DatagramShared, now: Tick) {
        shared.started.get_or_insert(now);
        if shared.framing == Framing::Unnumbered {
            // Nobody ever says how many there were.
            self.unnumbered = Some(0);
            return;
        }
        if let Some(lasts_ns) = shared.lasts_ns.filter(|_| self.awaits()) {
            self.until = Until::Told(now.plus_nanos(lasts_ns).plus_nanos(UNTOLD_NS));
        }
    }

    /// Where the sender tells no total soon, what came is all there is to say.
    fn stop(&mut self, now: Tick) {
        if self.awaits() {
            self.until = Until::Drained(now.plus_nanos(self.drain_ns()));
        }
    }

    fn told(&mut self, _: &mut DatagramShared, total: u64, now: Tick) {
        if self.until == Until::Over {
            return;
        }
        self.total = Some(total);
        self.until = Until::Drained(now.plus_nanos(self.drain_ns()));
        self.consider_copies(now);
    }

    fn wake(&mut self, shared: &mut DatagramShared, _: bool, now: Tick) -> Result<Tick, FlowError> {
        loop {
            match self.until {
                Until::Over => return Ok(Tick::NEVER),
                Until::Told(at) | Until::Drained(at) | Until::Copied(at) | Until::Late(at)
                    if now < at =>
                {
                    return Ok(at);
                }
                Until::Told(_) => return Err(untold()),
                Until::Drained(at) if self.total.is_some() => {
                    self.until = Until::Late(at.plus_nanos(LATE_NS));
                }
                _ => self.finish(shared),
            }
        }
    }

    #[inline]
    fn take<'data>(
        &mut self,
        shared: &mut DatagramShared,
        datagrams: impl Iterator<Item = &'data [u8]>,
        consent: &mut Consent,
        now: Tick,
    ) {
        let before = (shared.tally.counts.received_bytes, self.order.next_expected());
        let mut came = 0;
        datagrams.for_each(|datagram| {
            came += datagram.len() as u64;
            self.take_one(shared, datagram, consent, now);
        });
        let tally = &mut shared.tally;
        let buffer_bytes = Some(came).filter(|&bytes| bytes > 0);
        tally.counts.largest_buffer_bytes = tally.counts.largest_buffer_bytes.max(buffer_bytes);
        tally.expected += self.order.next_expected() - before.1;
        let right = tally.counts.received_bytes - before.0;
        if let Some(joint) = shared.joint.as_ref().filter(|_| right > 0) {
            let _ = joint.take(right);
            self.has_enough |= joint.is_over();
        }
        if right > 0 {
            self.record(shared, right, now);
            consent.sign_of_life(now);
        }
        self.consider_copies(now);
    }

    fn came_before(&mut self, shared: &mut DatagramShared, came: (u64, u64), now: Tick) {
        self.unnumbered_came_before(shared, came, now);
    }

    fn weighs(&self) -> bool {
        self.window.is_to_be_weighed()
    }

    fn weighed(&mut self, held: u64) {
        self.window.weighed(held);
    }

    fn awaits(&self) -> bool {
        matches!(self.until, Until::Told(_))
    }

    fn is_done(&self) -> bool {
        self.until == Until::Over
    }

    fn has_enough(&self) -> bool {
        self.has_enough
    }

    /// First arrivals, whole and right.
    fn received(&self) -> u64 {
        self.unnumbered.unwrap_or_else(|| self.order.arrived())
    }

    fn so_far(&self) -> Option<FlowDatagrams> {
        let (expected, jitter_ns) = self.seen_last();
        let jitter_ns = jitter_ns.round() as u64;
        let (duplicates, reordered) = (self.duplicates, self.reordered);
        let last_ns = self.window.window.last_ns;
        let expected = self.unnumbered.is_none().then_some(expected);
        Some(FlowDatagrams { expected, duplicates, reordered, jitter_ns, last_ns })
    }
}

/// The sender ought to have ended and said so.
#[cold]
fn untold() -> FlowError {
    let text = format!(
        "its sender has not said how many datagrams it sent, {} after the end of the run",
        Period(UNTOLD_NS)
    );
    FlowError { kind: FlowErrorKind::Protocol, text, errno: None }
}
