//! A goodput flow: its two halves, and in `pushpull` whose turn it is. How it ends on its own connection, where it does, is
//! `leaving`'s.

mod leaving;
mod turns;

use pathscope_core::Tick;
use pathscope_core::id::{FlowId, Lane, Role};
use pathscope_core::record::FlowError;
use pathscope_flow::{
    ClockNeed, Close, Consumed, Event, Gather, Machine, Phase, RecvMeta, RecvWant, Split, Totals,
    Want,
};

use self::turns::Turns;
use super::farewell::Farewell;
use super::parting::Parting;
use super::segments::Segments;
use super::send::Uneven;
use super::{GoodputInterval, GoodputPlan, GoodputShared, Receiver, Sender, errors};
use crate::conventions::StreamEnd;
use crate::flows::phase_of;
use crate::load::{Extent, FlowReceived, Pattern};
use crate::pattern::SessionKey;

/// At least so much is taken where words are looked for behind data.
const LEAST_RECEIVED: usize = 64;

/// One end of one connection of a goodput test.
#[derive(Debug)]
pub struct GoodputFlow {
    sender: Sender,
    pub(super) receiver: Receiver,
    turns: Option<Turns>,
    /// How it ends by itself; absent where all sockets stay open until both ends have reported.
    farewell: Option<Box<Farewell>>,
    /// How it ends where only the client knows when.
    parting: Option<Box<Parting>>,
}

impl GoodputFlow {
    /// Flow number `flow` of `plan` as `role` has it.
    pub fn new(plan: &GoodputPlan, role: Role, session: SessionKey, flow: FlowId) -> Self {
        let from_client = role == Role::Client;
        let total = plan.transfer_of(flow);
        let turns = (plan.pattern == Pattern::Pushpull)
            .then_some(Turns { role, have_end: total.is_some() });
        let draws = |from_client| plan.buffer_draws(flow, from_client, role);
        let farewell =
            plan.replaces().then(|| Box::new(Farewell::new(role, plan.ends_rudely(flow))));
        Self {
            sender: Sender::new(
                session.stream(flow.0, from_client),
                end_of(plan, (role, flow), total),
                Uneven::of(plan, draws(from_client), plan.rate_of(flow)),
            ),
            receiver: Receiver::new(
                session.stream(flow.0, !from_client),
                end_of(plan, (role.peer(), flow), total),
                draws(!from_client),
                plan.replaces() && !from_client,
            ),
            turns,
            farewell,
            parting: None,
        }
    }

    /// The same flow with a peer whose streams end so.
    #[must_use]
    pub fn ending(mut self, plan: &GoodputPlan, role: Role, end: StreamEnd) -> Self {
        match end {
            StreamEnd::Told | StreamEnd::Closed => {}
            // A client sends more than it says, and as much on each as comes of it.
            StreamEnd::Stopped => {
                if role == Role::Server && self.receives(plan) {
                    self.receiver.ends_as_told();
                }
            }
            StreamEnd::Agreed(agreed) => {
                let is_rude = plan.ends_rudely(self.id());
                self.farewell = Some(Box::new(Farewell::agreed(role, is_rude, agreed)));
                self.receiver.hears_nothing_else();
                // Where half goes each way, both halves are as long.
                if let (Pattern::Duplex, Some(total)) = (plan.pattern, plan.transfer_of(self.id()))
                {
                    self.sender.ends_at(total.div_ceil(2));
                    self.receiver.ends_at(total.div_ceil(2));
                }
            }
            StreamEnd::Word(terms) => {
                self.farewell = None;
                self.parting = Some(Box::new(Parting::new(role, terms)));
                self.receiver.hears_nothing_else();
                if role == Role::Server {
                    self.receiver.ends_as_told();
                }
            }
        }
        self
    }

    /// Whether anything is to come on it at this end.
    pub fn receives(&self, plan: &GoodputPlan) -> bool {
        plan.sends_on(self.receiver.sender(), self.id())
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
        end_of(plan, (role, flow), plan.transfer_of(flow)).is_none_or(|end| sent < end)
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
    fn end_turns(&mut self, shared: &GoodputShared) {
        let is_less = |turns: Turns| !turns.have_end || self.receiver.is_cut;
        if self.receiver.is_done() && self.turns.is_some_and(is_less) {
            self.sender.end_here(shared);
        }
    }

    fn is_exchanged(&self) -> bool {
        self.sender.is_done() && self.receiver.is_done()
    }
}

/// Where the stream ends that `role` sends on a flow, of so many bytes in both directions together; `None`: not known before.
fn end_of(plan: &GoodputPlan, (role, flow): (Role, FlowId), total: Option<u64>) -> Option<u64> {
    if !plan.sends_on(role, flow) {
        return Some(0);
    }
    let total = total?;
    Some(if plan.pattern == Pattern::Pushpull {
        Segments::of(plan).share(role, total)
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
        let due = self.keep_time(shared, now);
        if self.is_failed() {
            // What fails while the run goes on is reset, so that the other end hears of it at once.
            let resets = self.farewell.is_some() || self.parting.is_some();
            let reset = resets.then_some(Close::Reset);
            return Want { close: self.receiver.close.take().or(reset), ..Want::NOTHING };
        }
        self.take_leave();
        if let Some(farewell) = self.farewell.as_ref().filter(|it| !it.is_before()) {
            return Want { wake: due, ..farewell.want() };
        }
        let moved = (self.sender.position, self.receiver.position);
        let most = self.turns.map_or(u64::MAX, |turns| turns.may_send(shared.segments, moved));
        let (send, wake) = self.sender.offer(shared, most, now);
        let more_follows = self.sender.more_follows(shared, send, most);
        let wake = wake.filter(|_| !self.sender.is_done());
        if self.is_exchanged() && self.is_before_leave() {
            // Its time was up, and that was all there was.
            return self.want(shared, now);
        }
        let receive = self.receiver.want(shared, now);
        let wake = [wake, receive.wake, due].into_iter().flatten().min();
        let Want { recv, close, weigh, .. } = receive;
        if let Some(parting) = &self.parting {
            let Want { send: word, recv: discarded, close: parted, .. } = parting.want();
            let send = if parting.is_before() { send } else { word };
            let recv = match recv {
                RecvWant::UpTo(bytes) => RecvWant::UpTo(bytes.max(LEAST_RECEIVED)),
                RecvWant::Nothing | RecvWant::Any => discarded,
            };
            let more_follows = more_follows && parting.is_before();
            let close = close.or(parted);
            return Want { send, more_follows, recv, wake, close, weigh, ..Want::NOTHING };
        }
        let close = close.or_else(|| self.sender.parting(shared));
        Want { send, more_follows, recv, wake, close, weigh, ..Want::NOTHING }
    }

    fn gather<'data>(
        &'data self,
        shared: &'data GoodputShared,
        lane: Lane,
        gather: &mut Gather<'data>,
    ) {
        match (&self.farewell, &self.parting) {
            (Some(farewell), _) if farewell.sends() => farewell.gather(gather),
            (_, Some(parting)) if parting.speaks() => parting.gather(gather),
            _ => self.sender.gather(shared, lane, gather),
        }
    }

    fn sent(&mut self, shared: &mut GoodputShared, lane: Lane, amount: usize, at: Tick) {
        self.note_moved(at);
        match (&mut self.farewell, &mut self.parting) {
            (Some(farewell), _) if farewell.sends() => farewell.sent(amount),
            (_, Some(parting)) if parting.speaks() => parting.sent(amount),
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
        if self.parting.is_some() {
            return self.received_before_parting(shared, (lane, meta), bytes, now);
        }
        if self.farewell.is_none() {
            return self.receiver.received(shared, lane, bytes, meta, now);
        }
        self.note_moved(now);
        if self.is_exchanged() {
            return self.hear_note(shared, bytes);
        }
        if let Some(before) = self.early_end(shared, bytes) {
            let _ = self.receiver.received(shared, lane, &bytes[..before], meta, now);
            self.receiver.fail(errors::early_end(self.receiver.progress()));
            return Consumed(bytes.len());
        }
        // What follows the data is presented again, as the note that it may be.
        let data = &bytes[..bytes.len().min(self.receiver.room())];
        if data.is_empty() {
            return Consumed(0);
        }
        self.receiver.received(shared, lane, data, meta, now)
    }

    fn event(&mut self, shared: &mut GoodputShared, event: Event, now: Tick) {
        if event == Event::Stop && self.breaks_off() {
            return self.break_off(shared, now);
        }
        self.hear_leave(event);
        self.hear_parting(shared, event, now);
        self.sender.event(shared, event, now);
        self.receiver.event(shared, event, now);
        let is_closed = shared.conventions.end.is_closed();
        if matches!(event, Event::PeerTotal(_))
            || matches!(event, Event::PeerClosed(_)) && is_closed
        {
            self.end_turns(shared);
        }
        self.take_leave();
    }

    fn phase(&self) -> Phase {
        let has_parted = self.farewell.as_ref().is_none_or(|farewell| farewell.is_over())
            && self.parting.as_ref().is_none_or(|parting| parting.is_over());
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
        let error = self.receiver.error().or_else(|| self.sender.error())?;
        let agreed = self.farewell.as_ref().and_then(|farewell| farewell.by());
        Some(match agreed {
            Some(it) => errors::of_settings(error, it.settings, self.receiver.has_closed()),
            None => error,
        })
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
        Self { sender, receiver, turns: None, farewell: None, parting: None }
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
