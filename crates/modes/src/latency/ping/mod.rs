//! The client's end of a latency flow: sends pings by its load model, and judges the echoes (`judge`).

mod judge;
mod opening;

use pathscope_core::Tick;
use pathscope_core::id::{FlowId, Lane};
use pathscope_core::record::{FlowError, FlowErrorKind};
use pathscope_flow::{
    Batch, ClockNeed, Close, Consumed, Event, Gather, Machine, Phase, RecvMeta, RecvWant, SendWant,
    Totals, Transport, Want, Weigh,
};

use super::attempts::Attempts;
use super::content::Content;
use super::datagram::{Header, Kind, Note};
use super::drain::Drain;
use super::schedule::Schedule;
use super::shared::{trips_of, window_of};
use super::tally::Time;
use super::trips::Trips;
use super::variation::Last;
use super::window::{Departure, Window};
use super::{Extent, LatencyPlan, LatencyShared, Timestamps};
use opening::Opening;

use crate::conventions::Conventions;
use crate::flows::phase_of;
use crate::pattern::SessionKey;

/// A datagram that was not echoed by then is given up, and a closed loop goes on with the next.
const REPLY_TIMEOUT_NS: u64 = 1_000_000_000;
/// An open loop that fell behind its schedule sends the rest of it late, for at most so long.
const CATCH_UP_NS: u64 = 1_000_000_000;
/// The client's end of one latency flow.
#[derive(Debug)]
pub struct PingFlow {
    transport: Transport,
    content: Content,
    window: Window,
    schedule: Schedule,
    attempts: Attempts,
    last: Last,
    /// Where kernel stamps are asked for: those of the pings that are on their way.
    trips: Option<Trips>,
    /// When the server sent the last of the echoes that came.
    last_echoed: Tick,
    started: Option<Tick>,
    /// No ping leaves at or after this time.
    stop_at: Tick,
    /// Open loop of stated duration: what is due before this leaves, be it late.
    schedule_ends: Option<Tick>,
    /// No ping from this number on is sent.
    stop_before: u64,
    /// Number of the next ping to send.
    next: u64,
    /// Stream: bytes of the next ping that the kernel has taken, and when the first of them left.
    partly_sent: usize,
    begun_at: Tick,
    /// Stream: bytes of echoes received and found right.
    echoed_bytes: u64,
    /// Stream: pings answered.
    settled: u64,
    last_sent: Tick,
    longest_ns: u64,
    drain: Drain,
    /// Whether those that were never answered have been told.
    is_told: bool,
    /// What goes ahead of the first ping, until it has come back.
    opening: Option<Box<Opening>>,
    error: Option<Box<FlowError>>,
}

impl PingFlow {
    /// Flow number `flow` of a session.
    pub fn new(plan: &LatencyPlan, session: SessionKey, flow: FlowId) -> Self {
        Self {
            transport: plan.protocol.transport(),
            content: Content::of(plan, session, flow),
            window: Window::new(window_of(plan)),
            schedule: Schedule::new(plan, flow.0),
            attempts: Attempts::default(),
            last: Last::default(),
            trips: (plan.timestamps == Timestamps::Kernel).then(|| Trips::new(trips_of(plan))),
            last_echoed: Tick::ZERO,
            started: None,
            stop_at: Tick::NEVER,
            schedule_ends: None,
            stop_before: u64::MAX,
            next: 0,
            partly_sent: 0,
            begun_at: Tick::ZERO,
            echoed_bytes: 0,
            settled: 0,
            last_sent: Tick::ZERO,
            longest_ns: 0,
            drain: Drain::default(),
            is_told: false,
            opening: None,
            error: None,
        }
    }

    /// The same with pings as they are with this kind of peer.
    #[must_use]
    pub fn following(mut self, conventions: Conventions) -> Self {
        self.content.over_streams = conventions.pings;
        self.opening = Opening::of(&self.content).map(Box::new);
        self
    }

    /// The run begins: what is measured, and what is to leave by when, counts from here.
    fn begin(&mut self, plan: &LatencyPlan, now: Tick) {
        self.started = Some(now);
        self.last_sent = now;
        (self.stop_at, self.stop_before) = (Tick::NEVER, u64::MAX);
        self.schedule.start(now, self.id().0 % plan.connections.max(1), plan.connections);
        match plan.extent {
            Extent::Iterations(iterations) => self.stop_before = iterations,
            Extent::DurationNs(duration) => self.stop_at = now.plus_nanos(duration.0),
            Extent::WithLoad => {}
        }
        if self.schedule.due().is_some() && self.stop_at != Tick::NEVER {
            self.schedule_ends = Some(self.stop_at);
            self.stop_at = self.stop_at.plus_nanos(CATCH_UP_NS);
        }
    }

    fn is_sending_over(&mut self, shared: &mut LatencyShared, now: Tick) -> bool {
        // Probes have no schedule of their own: what was due when the load ended is not sent any more.
        let mut over = self.next >= self.stop_before || now >= self.stop_at;
        if let Some(end) = self.schedule_ends.filter(|_| !over) {
            over = self.schedule.due() >= Some(end);
        }
        // A message that was begun is finished.
        let is_over = over && self.partly_sent == 0;
        if is_over && let Some(end) = self.schedule_ends.take() {
            shared.tally.counts.unsent += self.schedule.left_before(end);
        }
        is_over
    }

    fn is_warm_up(&self, origin: Tick, shared: &LatencyShared) -> bool {
        origin.nanos_since(self.started.unwrap_or(origin)) < shared.plan.warm_up_ns.0
    }

    /// Awaits what is still on its way.
    fn want_drained(&mut self, now: Tick) -> Want {
        match self.transport {
            Transport::Stream if self.settled >= self.next => self.drain.end(),
            Transport::Datagram if self.next == 0 => self.drain.end(),
            Transport::Datagram if self.window.answered() == self.next => self.drain.all_back(now),
            _ => {}
        }
        match self.drain.until(now, self.last_sent, self.longest_ns) {
            Some(wake) => {
                let weigh = if self.drain.weighs() { Weigh::This } else { Weigh::Nothing };
                Want { recv: RecvWant::Any, wake: Some(wake), weigh, ..Want::NOTHING }
            }
            None => Want::NOTHING,
        }
    }

    fn want_sending(&mut self, shared: &LatencyShared, now: Tick) -> Want {
        if self.partly_sent > 0 {
            // It is finished whatever the time is.
            return Want { wake: None, ..self.want_ping() };
        }
        if let Some(due) = self.schedule.due() {
            return if now < due { self.waiting_until(due) } else { self.want_ping() };
        }
        if self.window.awaited() >= shared.plan.outstanding.into()
            && let Some(want) = self.want_echo(shared, now)
        {
            return want;
        }
        let pace = shared.plan.pace_ns.filter(|_| self.next > 0);
        if let Some(due) = pace.map(|pace| self.last_sent.plus_nanos(pace.0))
            && now < due
        {
            return self.waiting_until(due);
        }
        self.want_ping()
    }

    /// As many pings are on their way as may be. What is waited for, unless one is given up now.
    fn want_echo(&mut self, shared: &LatencyShared, now: Tick) -> Option<Want> {
        if self.transport == Transport::Stream {
            return Some(self.waiting_until(Tick::NEVER));
        }
        let before = Tick::from_nanos(now.as_nanos().saturating_sub(REPLY_TIMEOUT_NS - 1));
        let oldest = self.window.give_up(self.next, before);
        if self.window.awaited() < shared.plan.outstanding.into() {
            return None;
        }
        Some(self.waiting_until(oldest?.plus_nanos(REPLY_TIMEOUT_NS)))
    }

    /// Takes echoes until then, or until the flow stops.
    fn waiting_until(&self, at: Tick) -> Want {
        let wake = at.min(self.stop_at);
        let wake = (wake != Tick::NEVER).then_some(wake);
        Want { recv: RecvWant::Any, wake, ..Want::NOTHING }
    }

    fn want_ping(&self) -> Want {
        let send = match self.transport {
            Transport::Stream => SendWant::Stream { max: self.content.ping - self.partly_sent },
            Transport::Datagram => SendWant::Datagrams { stride: self.content.ping, max: 1 },
        };
        // Where nothing is on its way, nothing can come before this ping has left.
        let is_alone = self.window.awaited() == 0 && self.window.answered() == self.next;
        let recv = if is_alone { RecvWant::Nothing } else { RecvWant::Any };
        Want { send, recv, ..self.waiting_until(Tick::NEVER) }
    }

    /// Ping `self.next` left: its first byte was taken at `sent`, its last at `taken`.
    fn left(&mut self, shared: &mut LatencyShared, sent: Tick, taken: Tick) {
        let due = self.schedule.due();
        let from = self.attempts.left(due, taken);
        let due = due.unwrap_or(sent);
        let forgotten = self.window.sent(Departure { sequence: self.next, due, from, sent });
        if let Some(forgotten) = forgotten {
            self.tell_unanswered(shared, forgotten);
        }
        shared.tally.counts.sent += 1;
        if !self.is_warm_up(due, shared) {
            shared.tally.record(Time::SendLag, from.nanos_since(due));
        }
        if let Some(trips) = &mut self.trips {
            trips.sent(self.next, from);
        }
        self.last_sent = sent;
        self.schedule.advance();
        self.next += 1;
    }

    fn fail(&mut self, kind: FlowErrorKind, text: impl Into<String>, errno: Option<i32>) {
        let (text, errno) = (text.into(), errno.map(|errno| errno.to_string()));
        self.error.get_or_insert_with(|| Box::new(FlowError { kind, text, errno }));
    }
}

impl Machine for PingFlow {
    type Shared = LatencyShared;

    const CLOCK: ClockNeed = ClockNeed::EveryOperation;

    fn id(&self) -> FlowId {
        self.content.tag.flow
    }

    fn want(&mut self, shared: &mut LatencyShared, now: Tick) -> Want {
        if let Some(want) = self.want_opened(now) {
            return want;
        }
        if self.started.is_some() && !self.phase().is_over() {
            if !self.is_sending_over(shared, now) {
                return self.want_sending(shared, now);
            }
            self.stop_before = self.stop_before.min(self.next);
            let want = self.want_drained(now);
            if !self.drain.is_over() {
                return want;
            }
        }
        if self.started.is_some() {
            self.tell_rest(shared);
        }
        let is_told = shared.end.is_closed() && self.phase() == Phase::Done;
        Want { close: is_told.then_some(Close::HalfWrite), ..Want::NOTHING }
    }

    fn gather<'data>(&'data self, _: &'data LatencyShared, _: Lane, gather: &mut Gather<'data>) {
        if let Some(opening) = &self.opening {
            return opening.gather(gather);
        }
        let position = self.next * self.content.ping as u64 + self.partly_sent as u64;
        self.content.gather_pings(position, gather);
    }

    fn fill(&mut self, _: &mut LatencyShared, lane: Lane, batch: &mut Batch<'_>, now: Tick) {
        let Some(datagram) = batch.datagram(self.content.ping) else { return };
        self.content.tag.write(&Header::of_client(Kind::Ping, lane, self.next, now), datagram);
        if self.trips.is_some() {
            Note::default().write(datagram);
        }
        self.content.fill_ping(self.next, &mut datagram[self.content.header..]);
        self.begun_at = now;
    }

    fn sent(&mut self, shared: &mut LatencyShared, _: Lane, amount: usize, at: Tick) {
        match self.transport {
            // The stamp in the datagram is the one to compare with.
            Transport::Datagram => self.left(shared, self.begun_at, self.begun_at),
            Transport::Stream => {
                if let Some(opening) = &mut self.opening {
                    return opening.sent(amount, at);
                }
                if self.partly_sent == 0 {
                    self.begun_at = at;
                }
                self.partly_sent += amount;
                if self.partly_sent >= self.content.ping {
                    self.partly_sent = 0;
                    self.left(shared, self.begun_at, at);
                } else {
                    self.attempts.refused(self.schedule.due(), at);
                }
            }
        }
    }

    fn refused(&mut self, _: &mut LatencyShared, _: Lane, at: Tick) {
        self.attempts.refused(self.schedule.due(), at);
    }

    fn received(
        &mut self,
        shared: &mut LatencyShared,
        _: Lane,
        bytes: &[u8],
        meta: RecvMeta,
        now: Tick,
    ) -> Consumed {
        if let Some(stride) = meta.stride {
            bytes
                .chunks(stride.get())
                .for_each(|datagram| self.datagram(shared, datagram, meta.stamp, now));
        } else {
            let pings = self.opened(&shared.plan, bytes, now);
            if !pings.is_empty() {
                self.stream(shared, pings, now);
            }
        }
        Consumed(bytes.len())
    }

    fn event(&mut self, shared: &mut LatencyShared, event: Event, now: Tick) {
        match event {
            Event::Start => {
                self.begin(&shared.plan, now);
                self.opening.iter_mut().for_each(|opening| opening.start(now));
            }
            Event::HandedOver { number, at, .. } => self.handed_over(shared, number, at),
            Event::Stop => {
                self.opening = None;
                self.stop_at = self.stop_at.min(now);
                // What was stopped was not to be sent.
                self.schedule_ends = None;
            }
            Event::PeerClosed(_) if !self.phase().is_over() && self.awaits_echo() => {
                self.fail(FlowErrorKind::Network, "the other end closed the connection", None);
            }
            Event::Reset { errno, .. } if !self.phase().is_over() => {
                let text = format!("the connection broke (error {errno})");
                self.fail(FlowErrorKind::Network, text, Some(errno));
            }
            Event::PeerFailed if !self.phase().is_over() => {
                self.fail(FlowErrorKind::Unknown, "what echoes its pings has failed there", None);
            }
            Event::Held { bytes, .. } => self.drain.weighed(bytes),
            // A datagram that was refused is a lost one; what keeps being refused is lost altogether.
            Event::Unreachable { is_answer, .. } => {
                shared.tally.counts.unreachable += 1;
                if !is_answer {
                    self.attempts.refused(self.schedule.due(), now);
                }
            }
            _ => {}
        }
    }

    fn phase(&self) -> Phase {
        let is_over = self.drain.is_over();
        phase_of(self.error.is_some(), is_over || self.next >= self.stop_before, is_over)
    }

    fn totals(&self) -> Totals {
        match self.transport {
            Transport::Stream => {
                let sent = self.next * self.content.ping as u64 + self.partly_sent as u64;
                Totals { sent, received: self.echoed_bytes }
            }
            Transport::Datagram => Totals { sent: self.next, received: self.window.answered() },
        }
    }

    fn error(&self) -> Option<FlowError> {
        self.error.as_deref().cloned()
    }
}
