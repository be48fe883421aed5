//! The sending half of a goodput flow.

use pathscope_core::Tick;
use pathscope_core::id::{FlowId, Lane};
use pathscope_core::quantity::BitRate;
use pathscope_core::record::FlowError;
use pathscope_flow::{
    ClockNeed, Close, Consumed, Event, Gather, Machine, Phase, RecvMeta, SendWant, Totals, Want,
};

use super::pace::{self, Bursts};
use super::receive::{NOT_KNOWN, PEER_FAILED_NS};
use super::{BufferRange, GoodputPlan, GoodputShared, errors};
use crate::draw::Draws;
use crate::flows::phase_of;
use crate::pattern::StreamKey;

/// The sending half: hands out the stream from where it stands, as fast as it may.
#[derive(Debug)]
pub struct Sender {
    key: StreamKey,
    /// Bytes the kernel took.
    pub(super) position: u64,
    /// Where the stream ends; the highest number: that is not known yet.
    ends_at: u64,
    /// Whether there is anything that it is to send.
    sends: bool,
    /// It was stopped before that.
    pub(super) is_cut: bool,
    /// Where it sends by measure.
    uneven: Option<Box<Uneven>>,
    /// When it started; never: it has not.
    started: Tick,
    /// When the stream ends, whatever was sent by then.
    stop_at: Tick,
    /// When the other end said that it has failed there: what ends then has failed here, too. Never: it has not.
    gone_at: Tick,
    error: Option<Box<FlowError>>,
}

/// What a sender keeps to beside its end. Apart: most just send, and there may be very many.
#[derive(Debug)]
pub(super) struct Uneven {
    /// What the size of each send is drawn from.
    draws: Draws,
    rate: Option<BitRate>,
    bursts: Bursts,
    /// Until when the rate allows nothing, as it was last asked.
    held_until: Tick,
}

impl Uneven {
    /// As a plan has it, for a flow of this rate.
    pub fn of(plan: &GoodputPlan, draws: Draws, rate: Option<BitRate>) -> Option<Box<Self>> {
        let BufferRange { low, high } = plan.buffers();
        let is_uneven = low != high || rate.is_some() || plan.pace.burst.is_some();
        let (bursts, held_until) = (Bursts::default(), Tick::ZERO);
        is_uneven.then(|| Box::new(Self { draws, rate, bursts, held_until }))
    }
}

impl Sender {
    /// Sends `end` bytes, or for as long as the worker's flows do, and no faster than is said.
    pub(super) fn new(key: StreamKey, end: Option<u64>, uneven: Option<Box<Uneven>>) -> Self {
        Self {
            key,
            position: 0,
            ends_at: end.unwrap_or(NOT_KNOWN),
            sends: end != Some(0),
            is_cut: false,
            uneven,
            started: Tick::NEVER,
            stop_at: Tick::NEVER,
            gone_at: Tick::NEVER,
            error: None,
        }
    }

    /// The plan states another end.
    pub(super) fn ends_at(&mut self, end: u64) {
        (self.ends_at, self.sends) = (end, end > 0);
    }

    fn end(&self) -> Option<u64> {
        (self.ends_at != NOT_KNOWN).then_some(self.ends_at)
    }

    /// When its time is up; never, where none was stated or it has not started.
    pub(super) const fn stops_at(&self) -> Tick {
        self.stop_at
    }

    /// Until when it sends nothing by its own choice, a pause or its rate, if that is so.
    pub(super) fn pause(&self, now: Tick) -> Option<Tick> {
        let uneven = self.uneven.as_ref()?;
        let of_rate = (now < uneven.held_until).then_some(uneven.held_until);
        uneven.bursts.pause(now).max(of_rate)
    }

    pub(super) fn is_started(&self) -> bool {
        self.started != Tick::NEVER
    }

    /// What may be sent now, at most `most` bytes, and when to ask again if that is nothing.
    pub(super) fn offer(
        &mut self,
        shared: &GoodputShared,
        most: u64,
        now: Tick,
    ) -> (SendWant, Option<Tick>) {
        let started = self.started;
        if started == Tick::NEVER {
            return (SendWant::Nothing, None);
        }
        if now >= self.stop_at {
            self.time_is_up(shared);
        }
        let wake = (self.stop_at != Tick::NEVER).then_some(self.stop_at);
        let left = self.end().map_or(u64::MAX, |end| end - self.position).min(most);
        let BufferRange { low, high } = shared.buffers;
        let Some(uneven) = &mut self.uneven else { return (stream(left.min(low)), wake) };
        let buffer = if low == high { low } else { uneven.draws.within(low, high) };
        let room = left.min(buffer);
        if let Some(until) = uneven.bursts.pause(now).filter(|_| room > 0) {
            return (SendWant::Nothing, Some(until.min(self.stop_at)));
        }
        let Some(rate) = uneven.rate.filter(|_| room > 0) else { return (stream(room), wake) };
        let rate = (rate, shared.pace.period_ns);
        match pace::by_rate(rate, (self.position, room), (started, now)) {
            Ok(bytes) => (stream(bytes), wake),
            Err(due) => {
                uneven.held_until = due;
                (SendWant::Nothing, Some(due.min(self.stop_at)))
            }
        }
    }

    /// Whether more is to be sent at once after this, of `most` bytes at the most, and shares a segment with it: whoever sends by measure has
    /// each of its sends leave by itself.
    pub(super) fn more_follows(&self, shared: &GoodputShared, send: SendWant, most: u64) -> bool {
        let SendWant::Stream { max } = send else { return false };
        let left = self.end().map_or(u64::MAX, |end| end - self.position).min(most);
        self.uneven.is_none() && shared.joining.holds(max) && left > max as u64
    }

    fn time_is_up(&mut self, shared: &GoodputShared) {
        if self.gone_at != Tick::NEVER && !self.is_done() {
            self.fail(errors::failed_there(&self.while_sending()));
        }
        // Once: a message that was begun is finished.
        self.stop_at = Tick::NEVER;
        self.end_here(shared);
    }

    /// The stream ends where it stands, or where a message does that was begun.
    pub(super) fn end_here(&mut self, shared: &GoodputShared) {
        let here = self.position.next_multiple_of(shared.conventions.end.message_bytes());
        self.is_cut |= self.end().is_some_and(|end| here < end);
        self.ends_at = self.ends_at.min(here);
    }

    /// Bytes sent, and where the stream ends.
    pub(super) fn progress(&self) -> errors::Progress {
        (self.position, self.end())
    }

    fn while_sending(&self) -> String {
        format!("while sending, after {}", errors::sent(self.progress()))
    }

    pub(super) fn is_done(&self) -> bool {
        self.started != Tick::NEVER && self.end().is_some_and(|end| self.position >= end)
    }

    /// How this end closes its direction when it has sent all, where that tells the other end. One that sends nothing says nothing by
    /// that.
    pub(super) fn parting(&self, shared: &GoodputShared) -> Option<Close> {
        let is_told = (shared.closes || shared.conventions.end.is_closed()) && self.sends;
        (is_told && self.is_done()).then_some(Close::HalfWrite)
    }

    fn fail(&mut self, error: FlowError) {
        self.error.get_or_insert_with(|| Box::new(error));
    }
}

fn stream(max: u64) -> SendWant {
    if max == 0 { SendWant::Nothing } else { SendWant::Stream { max: max as usize } }
}

impl Machine for Sender {
    type Shared = GoodputShared;

    const CLOCK: ClockNeed = ClockNeed::EveryTurn;

    fn id(&self) -> FlowId {
        FlowId(self.key.flow())
    }

    fn want(&mut self, shared: &mut GoodputShared, now: Tick) -> Want {
        let close = self.parting(shared);
        if self.phase().is_over() {
            return Want { close, ..Want::NOTHING };
        }
        let (send, wake) = self.offer(shared, u64::MAX, now);
        let close = close.or_else(|| self.parting(shared));
        let more_follows = self.more_follows(shared, send, u64::MAX);
        Want { send, more_follows, wake, close, ..Want::NOTHING }
    }

    fn gather<'data>(
        &'data self,
        shared: &'data GoodputShared,
        _: Lane,
        gather: &mut Gather<'data>,
    ) {
        shared.conventions.payload.gather(self.key, self.position, gather.room(), gather);
    }

    fn sent(&mut self, shared: &mut GoodputShared, _: Lane, amount: usize, at: Tick) {
        self.position += amount as u64;
        let is_done = self.is_done();
        if let Some(uneven) = &mut self.uneven {
            uneven.draws.advance();
            if let Some(burst) = shared.pace.burst {
                uneven.bursts.sent(burst, at);
                if let Some(until) = uneven.bursts.pause(at).filter(|_| !is_done) {
                    // The end of the run may cut it.
                    shared.paused_ns += until.min(self.stop_at).nanos_since(at);
                }
            }
        }
        shared.interval.sent_bytes += amount as u64;
    }

    fn received(
        &mut self,
        _: &mut GoodputShared,
        _: Lane,
        _: &[u8],
        _: RecvMeta,
        _: Tick,
    ) -> Consumed {
        Consumed(0)
    }

    fn event(&mut self, shared: &mut GoodputShared, event: Event, now: Tick) {
        match event {
            Event::Start => {
                self.started = now;
                let begun = *shared.started.get_or_insert(now);
                self.stop_at =
                    shared.duration_ns.map_or(Tick::NEVER, |duration| begun.plus_nanos(duration));
            }
            Event::Stop => self.end_here(shared),
            Event::PeerFailed if !self.is_done() => {
                self.gone_at = self.gone_at.min(now);
                self.stop_at = self.stop_at.min(now.plus_nanos(PEER_FAILED_NS));
            }
            Event::Reset { errno, .. } if !self.is_done() => {
                self.fail(errors::reset(errno, &self.while_sending()));
            }
            _ => {}
        }
    }

    fn phase(&self) -> Phase {
        phase_of(self.error.is_some(), self.is_done(), self.is_done())
    }

    fn totals(&self) -> Totals {
        Totals { sent: self.position, received: 0 }
    }

    fn error(&self) -> Option<FlowError> {
        self.error.as_deref().cloned()
    }

    fn ended_at(&self) -> Option<Tick> {
        (self.error.is_some() && self.gone_at != Tick::NEVER).then_some(self.gone_at)
    }
}
