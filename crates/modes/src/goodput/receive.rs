//! The receiving half of a goodput flow: counts nothing that it has not compared.

mod ending;

use pathscope_core::Tick;
use pathscope_core::id::{FlowId, Lane, Role};
use pathscope_core::record::{FlowError, FlowErrorKind};
use pathscope_flow::{
    ClockNeed, Close, Consumed, Event, Machine, Phase, RecvMeta, RecvWant, Totals, Want, Weigh,
};

use self::ending::Silence;
use super::counted_window::CountedWindow;
use super::{BufferRange, FlowCorruption, GoodputShared, errors};
use crate::conventions::StreamEnd;
use crate::draw::Draws;
use crate::flows::phase_of;
use crate::load::{FEWEST_RECEIVES, Verify};
use crate::pattern::{Examination, StreamKey};

/// Wrong bytes are judged after this time at the latest, with what evidence has come by then.
const EXAMINATION_NS: u64 = 1_000_000_000;

/// A connection that is closed early is judged after this time: that the other end was stopped is said on
/// the control connection, and that word may still be on its way.
const WORD_NS: u64 = 2_000_000_000;

/// A flow that has failed at the other end is over after this time: until then a reset, or what is on its way, may tell
/// this end why.
pub(super) const PEER_FAILED_NS: u64 = 1_000_000_000;

/// Corruptions of a worker that are kept one by one; all are counted.
const CORRUPTIONS_KEPT: usize = 64;
/// Of a stream whose end is not known.
pub(super) const NOT_KNOWN: u64 = u64::MAX;
/// Of a flow that has not said what it received.
const NOT_SETTLED: u64 = u64::MAX;
/// Of a flow that has not started.
const NOT_STARTED: u64 = u64::MAX;

/// The receiving half: compares each byte with what it must be.
#[derive(Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "facts of their own, a byte each in a small flow"
)]
pub struct Receiver {
    key: StreamKey,
    /// Bytes received and found right.
    pub(super) position: u64,
    /// Where the stream ends; the highest number: that is not known yet.
    ends_at: u64,
    /// What of it this end has said that it received, for good; the highest number: nothing yet.
    settled: u64,
    /// What the size of each receive is drawn from.
    draws: Draws,
    /// Whether the other end has told its total.
    told: bool,
    /// That is less than was agreed: the other end stopped before it had sent it.
    pub(super) is_cut: bool,
    closed: bool,
    /// The other end says that it has failed there.
    peer_failed: bool,
    /// The control connection is lost: no word of the other end comes.
    away: bool,
    /// Whether the other end may close before its word has come that it was stopped.
    may_overtake: bool,
    /// When it started, in time since the first flow did; the highest number: it has not.
    start_ns: u64,
    /// What it received in the window that counts.
    pub(super) counted: CountedWindow,
    examination: Option<Box<Examination>>,
    /// When the examination ends.
    judge_at: Tick,
    /// When what the other end has sent should have come. Once the other end has closed or is heard to have failed: when that was.
    stalled_at: Tick,
    silence: Silence,
    /// A connection whose data is wrong is reset, once.
    pub(super) close: Option<Close>,
    error: Option<Box<FlowError>>,
}

impl Receiver {
    /// Expects `end` bytes, or as many as the other end will say it sent; which may close before word of it comes that it
    /// was stopped, or not.
    pub(super) fn new(key: StreamKey, end: Option<u64>, draws: Draws, may_overtake: bool) -> Self {
        Self {
            key,
            position: 0,
            ends_at: end.unwrap_or(NOT_KNOWN),
            settled: NOT_SETTLED,
            draws,
            told: false,
            is_cut: false,
            closed: false,
            peer_failed: false,
            away: false,
            may_overtake,
            start_ns: NOT_STARTED,
            counted: CountedWindow::default(),
            examination: None,
            judge_at: Tick::NEVER,
            stalled_at: Tick::NEVER,
            silence: Silence::Borne,
            close: None,
            error: None,
        }
    }

    /// Of an end that is not told elsewhere that the other was stopped: who closes early has done so.
    pub(super) fn hears_nothing_else(&mut self) {
        self.may_overtake = false;
    }

    /// Which end sends what it receives.
    pub(super) fn sender(&self) -> Role {
        if self.key.is_from_client() { Role::Client } else { Role::Server }
    }

    /// The plan states another end.
    pub(super) fn ends_at(&mut self, end: u64) {
        self.ends_at = end;
    }

    /// Whether bytes at this place are not those that are to come there, wherever it is that they are compared.
    pub(super) fn is_wrong_there(&self, shared: &GoodputShared, place: u64, bytes: &[u8]) -> bool {
        shared.conventions.payload.first_wrong(self.key, place, bytes).is_some()
    }

    /// What may be taken now.
    fn appetite(&self, shared: &GoodputShared) -> RecvWant {
        if !self.is_started() || self.is_done() || self.closed || self.error.is_some() {
            RecvWant::Nothing
        } else {
            let BufferRange { low, high } = shared.buffers;
            let buffer = if low == high { low } else { self.draws.within(low, high) };
            RecvWant::UpTo(usize::try_from(buffer).unwrap_or(usize::MAX))
        }
    }

    /// Whether it took too few receives for a rate.
    pub fn is_brief(&self) -> bool {
        u32::from(self.counted.receives) < FEWEST_RECEIVES
    }

    /// Received bytes a second, in bits, over this flow's own time; none of a flow that is too short to have a rate.
    pub fn own_rate_bps(&self) -> Option<f64> {
        if self.is_brief() {
            return None;
        }
        let length_ns = self.counted.window().last_ns?.saturating_sub(self.start_ns);
        (length_ns > 0).then(|| self.position as f64 * 8e9 / length_ns as f64)
    }

    /// How many bytes may still come.
    pub(super) fn room(&self) -> usize {
        let room = self.end().map_or(u64::MAX, |end| end.saturating_sub(self.position));
        usize::try_from(room).unwrap_or(usize::MAX)
    }

    pub(super) fn is_done(&self) -> bool {
        self.is_started() && self.end().is_some_and(|end| self.position >= end)
    }

    const fn is_started(&self) -> bool {
        self.start_ns != NOT_STARTED
    }

    /// Whether the other end has closed, and not broken, the connection.
    pub(super) const fn has_closed(&self) -> bool {
        self.closed
    }

    pub(super) fn fail(&mut self, error: FlowError) {
        if self.error.is_none() {
            self.close = (error.kind != FlowErrorKind::Network).then_some(Close::Reset);
            self.error = Some(Box::new(error));
        }
    }

    /// Takes right bytes, begins or goes on with an examination of wrong ones.
    fn take(&mut self, bytes: &[u8], shared: &mut GoodputShared, now: Tick) -> usize {
        if let Some(examination) = &mut self.examination {
            if examination.add(bytes) {
                self.judge(shared);
            }
            return 0;
        }
        let payload = shared.conventions.payload;
        let wrong = match shared.verify {
            Verify::Full => payload.first_wrong(self.key, self.position, bytes),
            Verify::Sampled => payload.first_wrong_sampled(self.key, self.position, bytes),
            Verify::Off => None,
        };
        let right = wrong.unwrap_or(bytes.len());
        self.position += right as u64;
        if wrong.is_some() {
            let evidence = Examination::new(payload, self.key, self.position, &bytes[right..]);
            self.examination = Some(Box::new(evidence));
            self.judge_at = now.plus_nanos(EXAMINATION_NS);
            // Where nothing can follow, this is all the evidence there will be.
            if self.end().is_some_and(|end| self.position + (bytes.len() - right) as u64 >= end) {
                self.judge(shared);
            }
        }
        right
    }

    /// Ends the examination: the flow fails, and says of what.
    fn judge(&mut self, shared: &mut GoodputShared) {
        if let Some(examination) = self.examination.take() {
            self.judge_at = Tick::NEVER;
            let corruption = examination.judge();
            self.fail(errors::corrupt(&corruption));
            if shared.corruptions.len() < CORRUPTIONS_KEPT {
                shared.corruptions.push(FlowCorruption { flow: self.id(), corruption });
            }
        }
    }

    /// So much has come that was not received yet: the window that counts may have asked.
    fn weighed(&mut self, held: u64, shared: &mut GoodputShared, now: Tick) {
        let since_start = shared.since_start(now);
        let windows = (&shared.window, shared.planned);
        if self.counted.weigh(since_start, self.start_ns, windows) == Weigh::Nothing {
            return;
        }
        // What has come of a connection that began after the warm-up came after it.
        let warm_up_ns = shared.planned.opens_ns;
        let is_new = warm_up_ns > 0 && self.start_ns >= warm_up_ns;
        let held = if is_new { 0 } else { held };
        self.counted.weighed(held, since_start, (&mut shared.window, shared.planned));
    }

    fn count(&mut self, right: usize, shared: &mut GoodputShared, now: Tick) {
        let bytes = right as u64;
        if let (true, Some(late)) = (self.is_settled(), &mut shared.late_bytes) {
            *late += bytes;
            return;
        }
        shared.interval.received_bytes += bytes;
        let since_start = shared.since_start(now);
        self.counted.record(bytes, since_start, (&mut shared.window, shared.planned));
    }
}

impl Machine for Receiver {
    type Shared = GoodputShared;

    const CLOCK: ClockNeed = ClockNeed::EveryTurn;

    fn id(&self) -> FlowId {
        FlowId(self.key.flow())
    }

    fn want(&mut self, shared: &mut GoodputShared, now: Tick) -> Want {
        if now >= self.judge_at {
            self.judge_at = Tick::NEVER;
            self.may_overtake = false;
            self.judge(shared);
            if self.closed && !self.is_done() {
                self.fail(errors::closed_early(&self.so_far()));
            }
            if self.peer_failed && !self.is_done() {
                self.fail(errors::failed_there(&self.while_receiving()));
            }
        }
        if now >= self.stalled_at && !self.is_gone() {
            self.call_last(now);
        }
        let recv = self.appetite(shared);
        let receives = recv != RecvWant::Nothing;
        let windows = (&shared.window, shared.planned);
        let weigh = self.counted.weigh(shared.since_start(now), self.start_ns, windows);
        let weigh = match (receives, weigh) {
            (false, _) => Weigh::Nothing,
            (true, Weigh::Nothing) if self.silence == Silence::LookedInto => Weigh::This,
            (true, weigh) => weigh,
        };
        let opens_at = self.counted.opens_at(shared.planned).filter(|_| receives);
        let opens_at = opens_at.zip(shared.started).map(|(at, started)| started.plus_nanos(at));
        let is_awaited =
            self.is_started() && !self.is_done() && !self.is_gone() && self.error.is_none();
        let stalled_at = if is_awaited { self.stalled_at } else { Tick::NEVER };
        let wake = opens_at.unwrap_or(Tick::NEVER).min(self.judge_at).min(stalled_at);
        let wake = (wake != Tick::NEVER).then_some(wake);
        Want { recv, wake, close: self.close.take(), weigh, ..Want::NOTHING }
    }

    fn sent(&mut self, _: &mut GoodputShared, _: Lane, _: usize, _: Tick) {}

    fn received(
        &mut self,
        shared: &mut GoodputShared,
        _: Lane,
        bytes: &[u8],
        _: RecvMeta,
        now: Tick,
    ) -> Consumed {
        let fitting = &bytes[..bytes.len().min(self.room())];
        let fitting = &fitting[..self.share_of(fitting.len(), shared)];
        self.draws.advance();
        if self.told {
            self.await_more(now);
        }
        let right = self.take(fitting, shared, now);
        self.count(right, shared, now);
        self.settle_jointly(shared, now);
        let beyond = (bytes.len() - fitting.len()) as u64;
        if shared.conventions.end == StreamEnd::Stopped {
            shared.late_bytes.iter_mut().for_each(|late| *late += beyond);
        } else if beyond > 0 && self.error.is_none() {
            self.fail(errors::too_many(self.end().unwrap_or(self.position)));
        }
        Consumed(bytes.len())
    }

    fn event(&mut self, shared: &mut GoodputShared, event: Event, now: Tick) {
        match event {
            Event::Start => {
                self.start_ns = now.nanos_since(*shared.started.get_or_insert(now));
                // How much of the whole comes here nobody knows.
                if shared.joint.is_some() && !self.is_done() {
                    self.ends_as_told();
                }
            }
            Event::Held { bytes, ready_bytes } => {
                self.weighed(bytes, shared, now);
                self.end_silence(ready_bytes, shared, now);
            }
            Event::PeerTotal(total) => self.told(total, shared, now),
            Event::Settle => self.settle(shared, now),
            // It has had its say: what may have been on its way is nobody's loss.
            Event::PeerClosed(_) | Event::Reset { .. } | Event::Stop | Event::PeerFailed
                if self.is_settled() && !self.is_done() =>
            {
                self.judge(shared);
                self.ends_at = self.position;
            }
            Event::PeerClosed(_) => {
                self.note_gone(now);
                self.closed = true;
                let is_closed = shared.conventions.end.is_closed() || shared.joint.is_some();
                if is_closed && self.end().is_none() {
                    self.end_here(shared, now);
                }
                if (self.may_overtake || self.end().is_none()) && !self.is_done() {
                    self.judge_at = self.judge_at.min(now.plus_nanos(WORD_NS));
                }
                self.check_close(shared);
            }
            Event::PeerFailed if !self.is_done() => {
                self.note_gone(now);
                self.peer_failed = true;
                self.judge_at = self.judge_at.min(now.plus_nanos(PEER_FAILED_NS));
            }
            Event::PeerAway => {
                self.away = true;
                self.check_close(shared);
            }
            Event::PeerBack => self.away = false,
            Event::Reset { errno, .. } if !self.is_done() => {
                self.judge(shared);
                self.fail(errors::reset(errno, &self.while_receiving()));
            }
            // Nobody tells the other end but the connection itself.
            Event::Stop if shared.conventions.end.is_closed() && !self.is_done() => {
                self.end_here(shared, now);
                self.close = Some(Close::Reset);
            }
            _ => {}
        }
    }

    fn phase(&self) -> Phase {
        phase_of(self.error.is_some(), self.is_done(), self.is_done()).max(self.least_phase())
    }

    fn totals(&self) -> Totals {
        Totals { sent: 0, received: self.received_bytes() }
    }

    fn ended_at(&self) -> Option<Tick> {
        (self.error.is_some() && self.is_gone()).then_some(self.stalled_at)
    }

    fn error(&self) -> Option<FlowError> {
        self.error.as_deref().cloned()
    }
}
