//! The client's end: every number leaves on every path that can be used, on schedule; the first answer counts.
//!
//! In one file: one machine, and every event is judged by the state that the others leave.

use pathscope_core::Tick;
use pathscope_core::id::{FlowId, Lane};
use pathscope_flow::{
    Batch, ClockNeed, Consumed, Event, Machine, Phase, RecvMeta, RecvWant, SendWant, Totals, Want,
};

use super::datagram::{Content, Found, Header, Kind};
use super::sample::Stamps;
use super::shared::{ANSWER_WITHIN_NS, MultipathShared};
use super::{MOST_PATHS, MultipathPlan, SendOrder};
use crate::conventions::Framing;
use crate::flows::phase_of;
use crate::pattern::SessionKey;

/// After the end of its time a sender that lags may catch up for so long.
const CATCH_UP_NS: u64 = 1_000_000_000;
/// The least and the most that is waited after the last number.
const DRAIN_NS: std::ops::RangeInclusive<u64> = 1_000_000_000..=ANSWER_WITHIN_NS;
/// When every number is answered: a copy that was made on the way is waited for so long.
const COPIES_NS: std::ops::RangeInclusive<u64> = 10_000_000..=1_000_000_000;
/// What the system does not take in this time is left out, so that no path delays another.
const PATIENCE_NS: u64 = 2_000_000;
/// And then nothing is offered to that path for so long.
const REST_NS: u64 = 50_000_000;
/// From one check of a new path to the next, at first and at most.
const CHECK_NS: std::ops::RangeInclusive<u64> = 20_000_000..=1_000_000_000;

/// How far a path is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum PathState {
    /// There is no socket.
    Absent,
    /// There is one, and the server has not answered on it yet.
    Checking { at: Tick, wait_ns: u64 },
    /// It carries every number.
    Usable,
    /// It does, but what was offered last was not taken: it rests.
    Resting { until: Tick },
}

/// What is offered to the system.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Offer {
    lane: Lane,
    is_check: bool,
    /// When it was named.
    since: Tick,
    /// When the system was first asked to take it; [`Tick::NEVER`]: not yet.
    at: Tick,
}

/// The client's machine.
#[derive(Debug)]
pub struct MultipathFlow {
    content: Content,
    states: [PathState; MOST_PATHS as usize],
    /// Paths that were there at the start and have not come up yet: the schedule begins when they have.
    awaited: u8,
    started: bool,
    /// When the schedule began.
    begun: Option<Tick>,
    /// The number that is leaving, or is to leave next.
    number: u64,
    /// How many paths it was offered to; none: it has not begun.
    turn: Option<u8>,
    /// The path that it is offered to first.
    first: Lane,
    offer: Option<Offer>,
    /// Numbers from here on do not leave.
    end: u64,
    stop_at: Tick,
    last_sent: Tick,
    longest_ns: u64,
    /// Lanes, as bits, that have taken nothing since they were left out: their patience counts from the offer.
    blocked: u8,
    received: u64,
    all_back_at: Option<Tick>,
    is_over: bool,
}

impl MultipathFlow {
    /// A machine that finds these of its paths at the start.
    pub fn new(
        plan: &MultipathPlan,
        session: SessionKey,
        flow: FlowId,
        present: impl IntoIterator<Item = Lane>,
    ) -> Self {
        Self {
            content: Content::of(plan, session, flow),
            states: [PathState::Absent; MOST_PATHS as usize],
            awaited: present.into_iter().fold(0, |set, lane| set | 1 << lane.0),
            started: false,
            begun: None,
            number: 0,
            turn: None,
            // The one before the primary, so that the first number begins with that.
            first: Lane(plan.lanes.saturating_sub(1)),
            offer: None,
            end: plan.datagrams(),
            stop_at: Tick::NEVER,
            last_sent: Tick::ZERO,
            longest_ns: 0,
            blocked: 0,
            received: 0,
            all_back_at: None,
            is_over: false,
        }
    }

    /// The same, whose datagrams are laid out like this.
    pub fn framed(self, framing: Framing) -> Self {
        Self { content: self.content.framed(framing), ..self }
    }

    fn is_usable(&self, lane: Lane) -> bool {
        matches!(self.states[lane.index()], PathState::Usable | PathState::Resting { .. })
    }

    fn came_up(&mut self, shared: &mut MultipathShared, lane: Lane, now: Tick) {
        let bit = 1 << lane.0;
        let was_awaited = self.awaited & bit != 0;
        self.awaited &= !bit;
        shared.came_up(lane, now);
        self.states[lane.index()] = if was_awaited {
            // The server has its socket, too: that was agreed on before the start.
            PathState::Usable
        } else {
            PathState::Checking { at: now, wait_ns: *CHECK_NS.start() }
        };
        self.begin_if_complete(shared, now);
    }

    fn begin_if_complete(&mut self, shared: &mut MultipathShared, now: Tick) {
        if self.started && self.awaited == 0 && self.begun.is_none() {
            self.begun = Some(now);
            self.last_sent = now;
            self.stop_at = now.plus_nanos(shared.plan.duration_ns.0).plus_nanos(CATCH_UP_NS);
            shared.ledger.start = now;
        }
    }

    fn went_down(&mut self, lane: Lane) {
        self.awaited &= !(1 << lane.0);
        self.states[lane.index()] = PathState::Absent;
        self.offer.take_if(|offer| offer.lane == lane);
    }

    /// A check of this path left, or was refused: the next one is due after the wait, which is twice as long from then on.
    fn checked(&mut self, lane: Lane, now: Tick) {
        if let PathState::Checking { at, wait_ns } = &mut self.states[lane.index()] {
            *at = now.plus_nanos(*wait_ns);
            *wait_ns = wait_ns.saturating_mul(2).min(*CHECK_NS.end());
        }
    }

    /// What was offered on this path does not leave there.
    fn leave_out(&mut self, shared: &mut MultipathShared, lane: Lane, now: Tick) {
        let Some(offer) = self.offer.take_if(|offer| offer.lane == lane) else { return };
        if let PathState::Checking { at, wait_ns } = &mut self.states[lane.index()] {
            // Data do not wait for a check that cannot leave.
            *at = now.plus_nanos(*wait_ns);
        }
        shared.ledger.paths[lane.index()].counts.refused += u64::from(!offer.is_check);
        if !offer.is_check {
            self.turn = self.turn.map(|turn| turn + 1);
        }
    }

    /// Since when an offer waits for the system. Of a path that was left out before, the engine may not even try until
    /// there is room: there it is since the offer was named.
    fn waits_since(&self, Offer { lane, since, at, .. }: Offer) -> Option<Tick> {
        let is_blocked = self.blocked & 1 << lane.0 != 0;
        if at == Tick::NEVER { is_blocked.then_some(since) } else { Some(at) }
    }

    /// What was offered and not taken for too long is left out.
    fn lose_patience(&mut self, shared: &mut MultipathShared, now: Tick) {
        let Some(offer @ Offer { lane, .. }) = self.offer else { return };
        if self.waits_since(offer).is_some_and(|since| now.nanos_since(since) >= PATIENCE_NS) {
            self.leave_out(shared, lane, now);
            self.blocked |= 1 << lane.0;
            let state = &mut self.states[lane.index()];
            if *state == PathState::Usable {
                *state = PathState::Resting { until: now.plus_nanos(REST_NS) };
            }
        }
    }

    /// A check that is due on a path that is new; when the next will be.
    fn next_check(&mut self, now: Tick) -> Result<Lane, Tick> {
        let mut next = Tick::NEVER;
        for (lane, state) in (0..).map(Lane).zip(&mut self.states) {
            match *state {
                PathState::Checking { at, .. } if at <= now => return Ok(lane),
                PathState::Checking { at, .. } => next = next.min(at),
                PathState::Resting { until } if until <= now => *state = PathState::Usable,
                _ => {}
            }
        }
        Err(next)
    }

    /// The path that the next number is offered to first: in turns, the next one that takes it. One that is not there
    /// has no turn, or whatever comes after it would begin twice as often.
    fn next_first(&self, shared: &MultipathShared) -> Lane {
        if shared.plan.order == SendOrder::PrimaryFirst {
            return Lane(0);
        }
        let lanes = shared.plan.lanes;
        let mut after = (1..=lanes).map(|step| Lane((self.first.0 + step) % lanes));
        after.find(|lane| self.states[lane.index()] == PathState::Usable).unwrap_or(self.first)
    }

    /// The path that the number which is leaving is offered to next; `None` when it has left.
    fn next_path(&mut self, shared: &mut MultipathShared) -> Option<Lane> {
        let lanes = shared.plan.lanes;
        while let Some(turn) = self.turn.filter(|&turn| turn < lanes) {
            let lane = Lane((self.first.0 + turn) % lanes);
            match self.states[lane.index()] {
                PathState::Usable => return Some(lane),
                PathState::Resting { .. } => shared.ledger.paths[lane.index()].counts.refused += 1,
                PathState::Absent | PathState::Checking { .. } => {}
            }
            self.turn = Some(turn + 1);
        }
        None
    }

    /// The path to send a number on now; or when the next number is due.
    fn next_send(&mut self, shared: &mut MultipathShared, now: Tick) -> Result<Lane, Tick> {
        let Some(begun) = self.begun else { return Err(Tick::NEVER) };
        loop {
            if self.turn.is_some() {
                if let Some(lane) = self.next_path(shared) {
                    return Ok(lane);
                }
                self.turn = None;
                self.number += 1;
            }
            if self.number >= self.end {
                return Err(Tick::NEVER);
            }
            if now >= self.stop_at {
                shared.ledger.counts.unsent = self.end - self.number;
                self.end = self.number;
                return Err(Tick::NEVER);
            }
            let due = begun.plus_nanos(shared.plan.due_ns(self.number));
            if now < due {
                return Err(due);
            }
            shared.begin(due, |lane| self.is_usable(lane), now);
            self.first = self.next_first(shared);
            self.turn = Some(0);
        }
    }

    fn is_sending_over(&self) -> bool {
        self.begun.is_some() && self.number >= self.end && self.turn.is_none()
    }

    /// Until when answers are awaited after the last number.
    fn drain_end(&self) -> Tick {
        if let Some(at) = self.all_back_at {
            return at.plus_nanos(self.longest_ns.clamp(*COPIES_NS.start(), *COPIES_NS.end()));
        }
        let wait = self.longest_ns.saturating_mul(3);
        self.last_sent.plus_nanos(wait.clamp(*DRAIN_NS.start(), *DRAIN_NS.end()))
    }

    fn want_send(&mut self, lane: Lane, is_check: bool, now: Tick) -> Want {
        let offer = match self.offer {
            Some(offer) if offer.lane == lane && offer.is_check == is_check => offer,
            _ => Offer { lane, is_check, since: now, at: Tick::NEVER },
        };
        self.offer = Some(offer);
        // Told again even if the system never takes it.
        let from = self.waits_since(offer).unwrap_or(now);
        Want {
            send: SendWant::Datagrams { stride: self.content.size, max: 1 },
            send_lane: lane,
            recv: RecvWant::Any,
            wake: Some(from.plus_nanos(PATIENCE_NS)),
            ..Want::NOTHING
        }
    }

    fn want_drained(&mut self, shared: &mut MultipathShared, now: Tick) -> Want {
        if shared.ring.is_empty() {
            self.all_back_at.get_or_insert(now);
        }
        let end = self.drain_end();
        if now < end {
            return Want { recv: RecvWant::Any, wake: Some(end), ..Want::NOTHING };
        }
        shared.settle(Tick::NEVER, None);
        if let Some(begun) = self.begun {
            let ends = begun.plus_nanos(shared.plan.length_ns(self.end)).max(self.last_sent);
            shared.ledger.counts.sending_ns = ends.nanos_since(begun);
            shared.ledger.finish(ends);
        }
        self.is_over = true;
        Want::NOTHING
    }

    fn echo(&mut self, shared: &mut MultipathShared, lane: Lane, header: Header, now: Tick) {
        match header.kind {
            Kind::Echo => {
                let (sent, echoed) = (header.sent, header.server_sent);
                shared.arrived(header.sequence, lane, Stamps { sent, echoed, received: now });
                self.received += 1;
                self.longest_ns =
                    self.longest_ns.max(now.nanos_since(header.sent).min(ANSWER_WITHIN_NS));
            }
            Kind::CheckEcho => {
                if let PathState::Checking { .. } = self.states[lane.index()] {
                    self.states[lane.index()] = PathState::Usable;
                    shared.came_into_use(lane, now);
                }
            }
            Kind::Data | Kind::Check => shared.ledger.counts.foreign += 1,
        }
    }
}

impl Machine for MultipathFlow {
    type Shared = MultipathShared;

    const CLOCK: ClockNeed = ClockNeed::EveryOperation;

    fn id(&self) -> FlowId {
        self.content.tag.flow
    }

    fn want(&mut self, shared: &mut MultipathShared, now: Tick) -> Want {
        if self.is_over || !self.started {
            return Want::NOTHING;
        }
        self.lose_patience(shared, now);
        let before = Tick::from_nanos(now.as_nanos().saturating_sub(ANSWER_WITHIN_NS - 1));
        shared.settle(before, self.turn.map(|_| self.number));
        let mut wake = match self.next_check(now) {
            Ok(lane) => return self.want_send(lane, true, now),
            Err(next) => next,
        };
        match self.next_send(shared, now) {
            Ok(lane) => return self.want_send(lane, false, now),
            Err(next) => wake = wake.min(next),
        }
        if self.is_sending_over() {
            return self.want_drained(shared, now);
        }
        if let Some(left) = shared.oldest_left() {
            wake = wake.min(left.plus_nanos(ANSWER_WITHIN_NS));
        }
        let wake = (wake != Tick::NEVER).then_some(wake);
        Want { recv: RecvWant::Any, wake, ..Want::NOTHING }
    }

    fn fill(&mut self, shared: &mut MultipathShared, lane: Lane, batch: &mut Batch<'_>, now: Tick) {
        let Some(offer) = self.offer.as_mut().filter(|offer| offer.lane == lane) else { return };
        let Some(datagram) = batch.datagram(shared.plan.datagram_bytes.0 as usize) else { return };
        if offer.at == Tick::NEVER {
            offer.at = now;
        }
        let kind = if offer.is_check { Kind::Check } else { Kind::Data };
        let number = if offer.is_check { 0 } else { self.number };
        // What the system does not take at once waits for the path.
        self.content.write(&Header::of_client(kind, lane, number, offer.at), datagram);
    }

    fn sent(&mut self, shared: &mut MultipathShared, lane: Lane, _: usize, _: Tick) {
        let Some(offer) = self.offer.take_if(|offer| offer.lane == lane) else { return };
        self.blocked &= !(1 << lane.0);
        if offer.is_check {
            self.checked(lane, offer.at);
            return;
        }
        // The stamp in the datagram is the one to compare with.
        shared.sent(self.number, lane, offer.at);
        self.last_sent = offer.at;
        self.turn = self.turn.map(|turn| turn + 1);
    }

    fn received(
        &mut self,
        shared: &mut MultipathShared,
        lane: Lane,
        bytes: &[u8],
        meta: RecvMeta,
        now: Tick,
    ) -> Consumed {
        let stride = meta.stride.map_or(bytes.len().max(1), std::num::NonZeroUsize::get);
        for datagram in bytes.chunks(stride) {
            match self.content.read(datagram, lane) {
                Found::Whole(header) if header.is_plausible(now) => {
                    self.echo(shared, lane, header, now);
                }
                Found::Whole(_) | Found::Corrupt => {
                    shared.ledger.paths[lane.index()].counts.corrupt += 1;
                }
                Found::Foreign => shared.ledger.counts.foreign += 1,
            }
        }
        Consumed(bytes.len())
    }

    fn event(&mut self, shared: &mut MultipathShared, event: Event, now: Tick) {
        match event {
            Event::Start => {
                self.started = true;
                self.begin_if_complete(shared, now);
            }
            Event::LaneUp(lane) => self.came_up(shared, lane, now),
            Event::LaneDown(lane) => {
                self.went_down(lane);
                self.begin_if_complete(shared, now);
            }
            Event::Reset { lane, .. } => self.went_down(lane),
            Event::Unreachable { lane, is_answer: false, .. } => {
                let Some(offer) = self.offer else { return };
                if offer.is_check && offer.lane == lane {
                    self.checked(lane, now);
                }
                if offer.at != Tick::NEVER {
                    self.leave_out(shared, lane, now);
                }
            }
            Event::Stop => {
                // The number that is leaving may leave.
                self.end = self.end.min(self.number + u64::from(self.turn.is_some()));
                self.begun.get_or_insert(now);
            }
            // Also where the server's machine says that nobody listens: what is offered now has not been tried.
            _ => {}
        }
    }

    fn phase(&self) -> Phase {
        phase_of(false, self.is_over || self.is_sending_over(), self.is_over)
    }

    fn totals(&self) -> Totals {
        Totals { sent: self.number.min(self.end), received: self.received }
    }
}
