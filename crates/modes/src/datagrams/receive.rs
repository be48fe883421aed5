//! The receiving half of a datagram flow: verifies each, and tells what was lost, doubled, overtaken, late and wrong.

use pathscope_core::Tick;
use pathscope_core::id::FlowId;

use super::header::{Header, Identity, Reading};
use super::window::{CommonWindow, FlowWindow, Opening};
use super::{Damage, DatagramCorruption, DatagramTally, HEADER_BYTES};
use crate::arrivals::{LastTransit, LossBursts, Order, Seen, Sight};
use crate::consent::{Consent, is_consent};
use crate::load::{ReceiveWindow, Verify};
use crate::pattern::StreamKey;

/// After the sender's total is known, datagrams are awaited for three times the spread of their transit times: a
/// queue that delayed some delays the last of them as much. Within these bounds.
const DRAIN_NS: std::ops::RangeInclusive<u64> = 500_000_000..=10_000_000_000;
/// Once all have come, copies that the network made are awaited for that spread, within these bounds: they come
/// right behind.
const COPIES_NS: std::ops::RangeInclusive<u64> = 20_000_000..=1_000_000_000;
/// After the drain, for so long more those that come are told as late.
const LATE_NS: u64 = 500_000_000;
/// Corrupt datagrams of a worker that are told one by one.
const CORRUPTIONS_TOLD: usize = 16;

/// What the receiving flows of a worker have in common.
#[derive(Debug)]
pub(super) struct ReceiveShared {
    pub verify: Verify,
    pub opening: Opening,
    /// When the first flow started.
    pub started: Option<Tick>,
    pub window: CommonWindow,
    pub corruptions: Vec<DatagramCorruption>,
}

/// The receiving half.
#[derive(Debug)]
pub(super) struct Receiver {
    key: StreamKey,
    identity: Identity,
    size: u64,
    seen: Seen,
    order: Order,
    last: LastTransit,
    /// The least and the most transit time, by two clocks.
    transit_ns: Option<(i64, i64)>,
    /// Numbers of which only something damaged has come.
    spoilt: u64,
    corrupt_headers: u64,
    late: u64,
    window: FlowWindow,
    /// What the sender says it sent in all; zero where this end receives nothing.
    total: Option<u64>,
    is_started: bool,
    until: Until,
    outcome: Option<Outcome>,
}

/// Until when datagrams are awaited.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Until {
    /// Until the sender has told its total.
    Told,
    /// Some are missing: until then they count.
    Drained(Tick),
    /// All have come: copies until then.
    Copied(Tick),
    /// Late ones until then.
    Late(Tick),
    /// No more.
    Over,
}

/// What became of the datagrams of one flow.
#[derive(Clone, Debug)]
pub(super) struct Outcome {
    /// Never came.
    pub lost: u64,
    /// Numbers that are missing, in runs. Those that came late or with a damaged header are among them.
    pub bursts: LossBursts,
}

impl Receiver {
    /// For a flow that remembers so many numbers. Of an end that receives nothing, the total is known.
    pub fn new(
        (key, identity): (StreamKey, Identity),
        size: u64,
        window: usize,
        receives: bool,
    ) -> Self {
        Self {
            key,
            identity,
            size,
            seen: Seen::new(if receives { window } else { 0 }),
            order: Order::new(),
            last: LastTransit::default(),
            transit_ns: None,
            spoilt: 0,
            corrupt_headers: 0,
            late: 0,
            window: FlowWindow::default(),
            total: (!receives).then_some(0),
            is_started: false,
            until: if receives { Until::Told } else { Until::Over },
            outcome: None,
        }
    }

    pub fn start(&mut self, shared: &mut ReceiveShared, now: Tick) {
        self.is_started = true;
        shared.started.get_or_insert(now);
    }

    /// First arrivals, whole and right.
    pub fn received(&self) -> u64 {
        self.order.arrived()
    }

    /// What the sender said that it sent.
    pub fn total(&self) -> Option<u64> {
        self.total
    }

    /// What was received in the window that counts.
    pub fn window(&self) -> ReceiveWindow {
        self.window.window
    }

    /// Whether it has to be known what waits in the socket.
    pub fn weighs(&self) -> bool {
        self.window.is_to_be_weighed()
    }

    /// So many bytes wait there.
    pub fn weighed(&mut self, held: u64) {
        self.window.weighed(held);
    }

    pub fn outcome(&self) -> Option<&Outcome> {
        self.outcome.as_ref()
    }

    pub fn is_done(&self) -> bool {
        self.is_started && self.until == Until::Over
    }

    /// Whether the sender may have more to send, for all that is known here.
    pub fn awaits(&self) -> bool {
        self.is_started && self.until == Until::Told
    }

    /// The sender has sent so many and will send no more.
    pub fn told(&mut self, total: u64, now: Tick) {
        if self.until == Until::Over {
            return;
        }
        self.total = Some(total);
        self.until = Until::Drained(now.plus_nanos(self.drain_ns()));
        self.consider_copies(now);
    }

    /// The run is ended. Where the sender tells no total soon, what came is all there is to say.
    pub fn stop(&mut self, now: Tick) {
        if self.until == Until::Told {
            self.until = Until::Drained(now.plus_nanos(self.drain_ns()));
        }
    }

    /// When something changes by itself, or `None`.
    pub fn wake(&mut self, now: Tick) -> Option<Tick> {
        loop {
            match self.until {
                Until::Told | Until::Over => return None,
                Until::Drained(at) | Until::Copied(at) | Until::Late(at) if now < at => {
                    return Some(at);
                }
                Until::Drained(at) if self.total.is_some() => {
                    self.until = Until::Late(at.plus_nanos(LATE_NS));
                }
                _ => self.finish(),
            }
        }
    }

    /// Datagrams of `stride` bytes came together.
    #[inline]
    pub fn take(
        &mut self,
        bytes: &[u8],
        stride: usize,
        (tally, shared): (&mut DatagramTally, &mut ReceiveShared),
        consent: &mut Consent,
        now: Tick,
    ) {
        let before = (tally.counts.received_bytes, self.order.next_expected());
        if bytes.is_empty() {
            tally.counts.foreign += 1;
        }
        let buffer_bytes = Some(bytes.len() as u64).filter(|&bytes| bytes > 0);
        tally.counts.largest_buffer_bytes = tally.counts.largest_buffer_bytes.max(buffer_bytes);
        for datagram in bytes.chunks(stride) {
            self.take_one(datagram, (&mut *tally, &mut *shared), consent, now);
        }
        tally.expected += self.order.next_expected() - before.1;
        let right = tally.counts.received_bytes - before.0;
        if right > 0 {
            self.count(right, shared, now);
            consent.sign_of_life(now);
        }
        self.consider_copies(now);
    }

    #[inline]
    fn take_one(
        &mut self,
        datagram: &[u8],
        (tally, shared): (&mut DatagramTally, &mut ReceiveShared),
        consent: &mut Consent,
        now: Tick,
    ) {
        let header = match Header::read(self.identity, datagram) {
            Reading::Sound(header) => header,
            Reading::Damaged | Reading::Foreign if is_consent(datagram) => {
                return consent.hear(datagram, now);
            }
            Reading::Damaged => {
                self.corrupt_headers += 1;
                tally.counts.corrupt_headers += 1;
                return self.spoilt(None, datagram, || Damage::Header, (tally, shared));
            }
            Reading::Foreign => return tally.counts.foreign += 1,
        };
        let sequence = header.sequence;
        if datagram.len() != header.length as usize {
            let damage = || Damage::Length { sent_bytes: header.length.into() };
            return self.spoilt(Some(sequence), datagram, damage, (tally, shared));
        }
        let begin = sequence.wrapping_mul(self.size);
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
            return self.spoilt(Some(sequence), datagram, damage, (tally, shared));
        }
        if matches!(self.until, Until::Late(_)) {
            return self.came_late(tally);
        }
        let was_spoilt = self.spoilt > 0 && self.seen.is_spoilt(sequence);
        match self.seen.saw(sequence) {
            Sight::First => {}
            Sight::Again => return tally.counts.duplicates += 1,
            Sight::Forgotten => return self.came_late(tally),
        }
        self.spoilt -= u64::from(was_spoilt);
        if let Some(extent) = self.order.saw(sequence) {
            tally.counts.reordered += 1;
            tally.counts.reordering_extent_sum += extent;
            tally.counts.reordering_extent_max = tally.counts.reordering_extent_max.max(extent);
        }
        tally.counts.received += 1;
        tally.counts.received_bytes += datagram.len() as u64;
        let transit = now.as_nanos().wrapping_sub(header.sent.as_nanos()) as i64;
        self.last.arrived(sequence, transit, &mut tally.variation);
        let (least, most) = self.transit_ns.unwrap_or((transit, transit));
        self.transit_ns = Some((least.min(transit), most.max(transit)));
    }

    fn came_late(&mut self, tally: &mut DatagramTally) {
        self.late += 1;
        tally.counts.late += 1;
    }

    #[cold]
    fn spoilt(
        &mut self,
        sequence: Option<u64>,
        datagram: &[u8],
        damage: impl FnOnce() -> Damage,
        (tally, shared): (&mut DatagramTally, &mut ReceiveShared),
    ) {
        tally.counts.corrupt += 1;
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

    fn count(&mut self, bytes: u64, shared: &mut ReceiveShared, now: Tick) {
        let since_start = now.nanos_since(shared.started.unwrap_or(now));
        self.window.record(bytes, since_start, shared.opening, &mut shared.window);
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

    fn spread_ns(&self) -> u64 {
        self.transit_ns.map_or(0, |(least, most)| most.wrapping_sub(least) as u64)
    }

    fn drain_ns(&self) -> u64 {
        self.spread_ns().saturating_mul(3).clamp(*DRAIN_NS.start(), *DRAIN_NS.end())
    }

    fn finish(&mut self) {
        self.until = Until::Over;
        let (bursts, spoilt) = self.seen.close(self.total.unwrap_or(0));
        // A damaged number may be that of a missing one.
        let lost = bursts.lost.saturating_sub(self.late + self.corrupt_headers);
        debug_assert!(spoilt <= self.spoilt, "what left the window was spoilt before");
        self.outcome = Some(Outcome { lost, bursts });
    }
}
