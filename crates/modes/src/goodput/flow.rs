//! A goodput flow: its two halves, and in `pushpull` whose turn it is.

use pathscope_core::Tick;
use pathscope_core::id::{FlowId, Lane, Role};
use pathscope_core::record::FlowError;
use pathscope_flow::{
    ClockNeed, Close, Consumed, Event, Gather, Machine, Phase, RecvMeta, Split, Totals, Want,
};

use super::errors::BEFORE_COUNT;
use super::farewell::{Farewell, Noted};
use super::{GoodputInterval, GoodputPlan, GoodputShared, Receiver, Sender, errors};
use crate::flows::phase_of;
use crate::load::{Extent, FlowReceived, Pattern};
use crate::mode::Mode;
use crate::pattern::SessionKey;

/// One end of one connection of a goodput test.
#[derive(Debug)]
pub struct GoodputFlow {
    sender: Sender,
    pub(super) receiver: Receiver,
    turns: Option<Turns>,
    /// How it ends by itself; absent where all sockets stay open until both ends have reported.
    farewell: Option<Farewell>,
}

/// `pushpull`: the client sends a segment, then the server sends one, and so on.
#[derive(Clone, Copy, Debug)]
struct Turns {
    /// Length of a segment this end sends, and of one it receives.
    send_bytes: u64,
    receive_bytes: u64,
    sends_first: bool,
    /// Of both directions together, where that is agreed on.
    total: Option<u64>,
}

impl Turns {
    /// As `role` takes them.
    fn of(plan: &GoodputPlan, role: Role, total: Option<u64>) -> Self {
        let (push, pull) = (plan.push_bytes.0, plan.pull_bytes.0);
        let sends_first = role == Role::Client;
        let (send_bytes, receive_bytes) = if sends_first { (push, pull) } else { (pull, push) };
        Self { send_bytes, receive_bytes, sends_first, total }
    }

    /// How many bytes this end may send now, having sent and received so many.
    fn may_send(&self, (sent, received): (u64, u64)) -> u64 {
        let cycles_received = received / self.receive_bytes;
        let turns = if self.sends_first { cycles_received + 1 } else { cycles_received };
        let left = self.total.map_or(u64::MAX, |total| total.saturating_sub(sent + received));
        turns.saturating_mul(self.send_bytes).saturating_sub(sent).min(left)
    }

    /// How much of `total` this end sends: whole segments in turn, the last one cut short.
    fn share(&self, total: u64) -> u64 {
        let cycle = self.send_bytes + self.receive_bytes;
        let rest = total % cycle;
        let of_rest = if self.sends_first {
            rest.min(self.send_bytes)
        } else {
            rest.saturating_sub(self.receive_bytes)
        };
        total / cycle * self.send_bytes + of_rest
    }
}

impl GoodputFlow {
    /// Flow number `flow` of `plan` as `role` has it.
    pub fn new(plan: &GoodputPlan, role: Role, session: SessionKey, flow: FlowId) -> Self {
        let from_client = role == Role::Client;
        let total = plan.transfer_of(flow);
        let turns = (plan.pattern == Pattern::Pushpull).then(|| Turns::of(plan, role, total));
        let draws = |from_client| plan.buffer_draws(flow, from_client, role);
        let farewell = plan.replaces().then(|| Farewell::new(role, plan.ends_rudely(flow)));
        Self {
            sender: Sender::new(
                session.stream(flow.0, from_client),
                end_of(plan, role, total),
                draws(from_client),
                plan.rate_of(flow),
            ),
            receiver: Receiver::new(
                session.stream(flow.0, !from_client),
                end_of(plan, role.peer(), total),
                draws(!from_client),
                plan.replaces() && !from_client,
            ),
            turns,
            farewell,
        }
    }

    /// What it received, beside others in the same window.
    pub fn received(&self, plan: &GoodputPlan) -> FlowReceived {
        FlowReceived {
            flow: self.id(),
            bytes: self.receiver.counted.for_all(),
            is_brief: self.receiver.is_brief(),
            is_whole: matches!(plan.extent, Extent::TransferBytes(_))
                && self.phase() == Phase::Done
                && !self.is_cut(),
        }
    }

    /// Whether either end stopped before it had sent what was agreed: the run was ended.
    pub fn is_cut(&self) -> bool {
        self.sender.is_cut || self.receiver.is_cut
    }

    /// Whether this end ended it by a reset: the kernel has forgotten what it knew of the connection.
    pub fn is_reset(&self) -> bool {
        self.farewell.as_ref().is_some_and(|farewell| self.is_failed() || farewell.is_reset())
    }

    /// Whether `sent` bytes are less than what was agreed that `role` sends on a flow: the other end has
    /// to be told of an end that stops before its time.
    pub fn is_short(plan: &GoodputPlan, role: Role, flow: FlowId, sent: u64) -> bool {
        end_of(plan, role, plan.transfer_of(flow)).is_none_or(|end| sent < end)
    }

    /// What is missing, where it was ended while it was under way.
    pub fn unfinished(&self) -> FlowError {
        errors::unfinished(self.sender.progress(), self.receiver.progress())
    }

    fn is_failed(&self) -> bool {
        self.sender.phase() == Phase::Failed || self.receiver.phase() == Phase::Failed
    }

    /// In `pushpull`, an end that has all that the other will ever send, and less than was agreed or
    /// nothing being agreed, has had its last turn.
    fn end_turns(&mut self) {
        let is_less = |turns: Turns| turns.total.is_none() || self.receiver.is_cut;
        if self.receiver.is_done() && self.turns.is_some_and(is_less) {
            self.sender.end_here();
        }
    }

    fn is_exchanged(&self) -> bool {
        self.sender.is_done() && self.receiver.is_done()
    }

    /// Takes leave as soon as all bytes have moved. Of the two, the server's stream is the one that the
    /// note follows.
    fn take_leave(&mut self) {
        if let (true, Some(farewell)) = (self.is_exchanged(), &mut self.farewell) {
            let is_server = farewell.role == Role::Server;
            let is_cut = if is_server { self.sender.is_cut } else { self.receiver.is_cut };
            farewell.begin(self.receiver.position, is_cut);
        }
    }

    /// What a connection that is replaced is told after its bytes have moved. Whether it was that.
    fn hear_leave(&mut self, event: Event) {
        self.take_leave();
        let Some(farewell) = &mut self.farewell else { return };
        if farewell.is_before() {
            return;
        }
        let ends = matches!(
            event,
            Event::PeerClosed(_) | Event::Reset { .. } | Event::PeerFailed | Event::Stop
        );
        if !ends || farewell.end() || event == Event::Stop {
            return;
        }
        self.receiver.fail(match event {
            Event::Reset { errno, .. } => errors::reset(errno, BEFORE_COUNT),
            Event::PeerFailed => errors::failed_there("before both had agreed on their counts"),
            _ => errors::closed_early(BEFORE_COUNT),
        });
    }

    fn hear_note(&mut self, bytes: &[u8]) -> Consumed {
        let Some(farewell) = &mut self.farewell else { return Consumed(bytes.len()) };
        let (taken, noted) = farewell.received(bytes);
        match noted {
            Noted::Partly => {}
            Noted::Count(count) if count == self.sender.position => {}
            Noted::Count(count) => {
                self.receiver.fail(errors::short_count(self.sender.position, count));
            }
            Noted::Nonsense => self.receiver.fail(errors::too_many(self.receiver.position)),
        }
        Consumed(taken)
    }
}

/// Where the stream ends that `role` sends, of so many bytes in both directions together; `None`: not known before.
fn end_of(plan: &GoodputPlan, role: Role, total: Option<u64>) -> Option<u64> {
    if !plan.sends_bytes(role) {
        return Some(0);
    }
    let total = total?;
    Some(if plan.pattern == Pattern::Pushpull {
        Turns::of(plan, role, Some(total)).share(total)
    } else {
        plan.pattern.part(role, total)
    })
}

impl Machine for GoodputFlow {
    type Shared = GoodputShared;

    const CLOCK: ClockNeed = ClockNeed::EveryTurn;

    fn id(&self) -> FlowId {
        self.sender.id()
    }

    fn want(&mut self, shared: &mut GoodputShared, now: Tick) -> Want {
        if self.is_failed() {
            // What fails while the run goes on is reset, so that the other end hears of it at once.
            let reset = self.farewell.is_some().then_some(Close::Reset);
            return Want { close: self.receiver.close.take().or(reset), ..Want::NOTHING };
        }
        self.take_leave();
        if let Some(farewell) = self.farewell.as_ref().filter(|it| !it.is_before()) {
            return farewell.want();
        }
        let moved = (self.sender.position, self.receiver.position);
        let most = self.turns.map_or(u64::MAX, |turns| turns.may_send(moved));
        let (send, wake) = self.sender.offer(shared, most, now);
        let wake = wake.filter(|_| !self.sender.is_done());
        if self.is_exchanged() && self.farewell.is_some() {
            // Its time was up, and that was all there was.
            return self.want(shared, now);
        }
        let receive = self.receiver.want(shared, now);
        let wake = [wake, receive.wake].into_iter().flatten().min();
        let Want { recv, close, weigh, .. } = receive;
        let close = close.or_else(|| self.sender.parting(shared));
        Want { send, recv, wake, close, weigh, ..Want::NOTHING }
    }

    fn gather<'data>(
        &'data self,
        shared: &'data GoodputShared,
        lane: Lane,
        gather: &mut Gather<'data>,
    ) {
        match &self.farewell {
            Some(farewell) if farewell.sends() => farewell.gather(gather),
            _ => self.sender.gather(shared, lane, gather),
        }
    }

    fn sent(&mut self, shared: &mut GoodputShared, lane: Lane, amount: usize, at: Tick) {
        match &mut self.farewell {
            Some(farewell) if farewell.sends() => farewell.sent(amount),
            _ => self.sender.sent(shared, lane, amount, at),
        }
    }

    fn received(
        &mut self,
        shared: &mut GoodputShared,
        lane: Lane,
        bytes: &[u8],
        meta: RecvMeta,
        now: Tick,
    ) -> Consumed {
        if self.farewell.is_none() {
            return self.receiver.received(shared, lane, bytes, meta, now);
        }
        if self.is_exchanged() {
            return self.hear_note(bytes);
        }
        // What follows the data is presented again, as the note that it may be.
        let data = &bytes[..bytes.len().min(self.receiver.room())];
        if data.is_empty() {
            return Consumed(0);
        }
        self.receiver.received(shared, lane, data, meta, now)
    }

    fn event(&mut self, shared: &mut GoodputShared, event: Event, now: Tick) {
        self.hear_leave(event);
        self.sender.event(shared, event, now);
        self.receiver.event(shared, event, now);
        let is_closed = shared.conventions.end.is_closed();
        if matches!(event, Event::PeerTotal(_))
            || matches!(event, Event::PeerClosed(_)) && is_closed
        {
            self.end_turns();
        }
        self.take_leave();
    }

    fn phase(&self) -> Phase {
        let has_parted = self.farewell.as_ref().is_none_or(Farewell::is_over);
        let has_received = self.receiver.is_done() && has_parted;
        match phase_of(self.is_failed(), self.sender.is_done(), has_received) {
            Phase::SendingDone => Phase::SendingDone.max(self.receiver.least_phase()),
            phase => phase,
        }
    }

    fn totals(&self) -> Totals {
        Totals { sent: self.sender.position, received: self.receiver.received_bytes() }
    }

    fn error(&self) -> Option<FlowError> {
        self.receiver.error().or_else(|| self.sender.error())
    }

    fn ended_at(&self) -> Option<Tick> {
        [self.receiver.ended_at(), self.sender.ended_at()].into_iter().flatten().min()
    }
}

impl Split for GoodputFlow {
    type Sender = Sender;
    type Receiver = Receiver;

    fn split(self) -> (Sender, Receiver) {
        debug_assert!(self.turns.is_none() && self.farewell.is_none(), "GoodputPlan::has_halves");
        (self.sender, self.receiver)
    }

    fn join(sender: Sender, receiver: Receiver) -> Self {
        Self { sender, receiver, turns: None, farewell: None }
    }

    fn split_shared(shared: GoodputShared) -> (GoodputShared, GoodputShared) {
        (shared.clone(), shared)
    }

    fn join_shared(send: GoodputShared, receive: GoodputShared) -> GoodputShared {
        let sent_bytes = send.interval.sent_bytes;
        let interval = GoodputInterval { sent_bytes, ..receive.interval };
        GoodputShared { interval, paused_ns: send.paused_ns, ..receive }
    }
}
