//! A datagram flow at one end: its two halves, on one socket.

use pathscope_core::Tick;
use pathscope_core::id::{FlowId, Lane, Role};
use pathscope_core::quantity::{Period, count};
use pathscope_core::record::{FlowError, FlowErrorKind};
use pathscope_flow::{
    Batch, ClockNeed, Consumed, Event, Gather, Machine, Phase, RecvMeta, RecvWant, SendWant,
    Shared, Totals, Want,
};

use super::header::Identity;
use super::receive::{ReceiveShared, Receiver};
use super::send::Sender;
use super::window::{CommonWindow, Opening};
use super::{DatagramCorruption, DatagramFlowFacts, DatagramTally, DatagramsPlan, HEADER_BYTES};
use crate::arrivals::{LossBursts, Order, Seen};
use crate::consent::{Consent, is_consent};
use crate::load::{Extent, ReceiveWindow};
use crate::memory::{MemoryNeed, tallies};
use crate::pattern::{SessionKey, StreamImage};

/// Numbers remembered of all flows together: of one flow at a million a second, more than half a second.
const WINDOW: usize = 1 << 19;
/// Of each flow at least so many.
const LEAST_WINDOW: usize = 1 << 12;

/// After the system has refused a datagram, nothing is offered for so long.
const REST_NS: u64 = 1_000_000;
/// A system that has taken nothing for so long takes nothing: the flow fails.
const REFUSED_NS: u64 = 1_000_000_000;
/// A sender that has not said how many it sent for so long after the end that the plan states has broken its word: where
/// nothing comes any more either, the session gives up sooner.
const UNTOLD_NS: u64 = 12_000_000_000;

/// What the datagram flows of one worker have in common.
#[derive(Debug)]
pub struct DatagramShared {
    receive: ReceiveShared,
    image: StreamImage<HEADER_BYTES>,
    tally: DatagramTally,
}

impl DatagramShared {
    /// For flows of `plan` at this end.
    pub fn new(plan: &DatagramsPlan, role: Role) -> Self {
        let receive = ReceiveShared {
            verify: plan.verify,
            opening: Opening::new(plan.warm_up_ns.0, plan.shortest_ns()),
            started: None,
            window: CommonWindow::default(),
            corruptions: Vec::new(),
        };
        let image = StreamImage::for_end(plan.sends(role));
        Self { receive, image, tally: DatagramTally::default() }
    }

    /// What all of them received in the window that counts.
    pub fn window(&self) -> ReceiveWindow {
        self.receive.window.window
    }

    /// The first corrupt datagrams.
    pub fn corruptions(&self) -> &[DatagramCorruption] {
        &self.receive.corruptions
    }
}

impl Shared for DatagramShared {
    type Report = DatagramTally;

    fn report(&mut self, _now: Tick) -> DatagramTally {
        // Fresh histograms are untouched zero pages: a few microseconds once a report.
        std::mem::take(&mut self.tally)
    }
}

/// Numbers that each flow of a plan remembers.
fn window_of(plan: &DatagramsPlan) -> usize {
    (WINDOW / plan.connections.max(1) as usize).max(LEAST_WINDOW)
}

impl DatagramsPlan {
    /// What a server remembers of such flows.
    pub(super) fn flow_memory(&self) -> MemoryNeed {
        let window = if self.sends(Role::Client) { window_of(self) } else { 0 };
        let own = size_of::<DatagramFlow>() + size_of::<Consent>();
        let shared = size_of::<DatagramShared>()
            + StreamImage::<HEADER_BYTES>::memory_bytes(self.sends(Role::Server));
        // One distribution of what was due, and one of how delays vary.
        MemoryNeed {
            flow_bytes: (own + Order::BYTES) as u64 + Seen::memory_bytes(window),
            worker_bytes: shared as u64 + tallies(2, size_of::<DatagramTally>()),
        }
    }
}

/// One end of one datagram flow.
#[derive(Debug)]
pub struct DatagramFlow {
    flow: FlowId,
    size: u64,
    sender: Sender,
    receiver: Receiver,
    /// Apart, since most of it is looked at a few times a second.
    consent: Box<Consent>,
    /// How long its sender sends, where that is stated; and, once it runs, until when its total is awaited.
    lasts_ns: Option<u64>,
    told_by: Tick,
    /// When the system first refused what it has not taken since.
    refused: Option<Tick>,
    rests_until: Tick,
    error: Option<Box<FlowError>>,
}

impl DatagramFlow {
    /// Flow number `flow` of `plan` as `role` has it.
    pub fn new(plan: &DatagramsPlan, role: Role, session: SessionKey, flow: FlowId) -> Self {
        let from_client = role == Role::Client;
        let names = |from_client| {
            let identity = Identity::new(session.token(), flow.0, from_client);
            (session.stream(flow.0, from_client), identity)
        };
        let size = plan.datagram_bytes.0;
        let sends = plan.sends(role);
        let lasts_ns = match plan.extent {
            Extent::DurationNs(duration) => Some(duration.0),
            Extent::TransferBytes(_) => None,
        };
        let duration_ns = lasts_ns.filter(|_| sends);
        let transfer = plan.transfer_of(role).filter(|_| sends);
        let window = window_of(plan);
        let other = if from_client { Role::Server } else { Role::Client };
        Self {
            flow,
            size,
            sender: Sender::new(names(from_client), size, plan.rate_bps, (transfer, duration_ns)),
            receiver: Receiver::new(names(!from_client), size, window, plan.sends(other)),
            consent: Box::new(Consent::new(role, session, flow)),
            lasts_ns,
            told_by: Tick::NEVER,
            refused: None,
            rests_until: Tick::ZERO,
            error: None,
        }
    }

    /// The same with a peer that says which streams it still wants, and goes by what is said so.
    #[must_use]
    pub fn with_consent(mut self) -> Self {
        self.consent.speak();
        self
    }

    /// What became of this flow.
    pub fn facts(&self) -> DatagramFlowFacts {
        let outcome = self.receiver.outcome();
        DatagramFlowFacts {
            flow: self.flow,
            sent: self.sender.sent(),
            expected: self.receiver.total(),
            received: self.receiver.received(),
            lost: outcome.map_or(0, |outcome| outcome.lost),
            received_bps: None,
            error: self.error(),
        }
    }

    /// What this flow received in the window that counts.
    pub fn window(&self) -> ReceiveWindow {
        self.receiver.window()
    }

    /// The system takes nothing any more.
    fn fail(&mut self, errno: i32) {
        if !self.phase().is_over() {
            let size = count(self.size);
            let text = format!("the system took no more datagrams of {size} bytes (error {errno})");
            let errno = Some(errno.to_string());
            self.error = Some(Box::new(FlowError { kind: FlowErrorKind::Network, text, errno }));
        }
    }

    /// The sender ought to have ended and said so.
    #[cold]
    fn fail_untold(&mut self) {
        let text = format!(
            "its sender has not said how many datagrams it sent, {} after the end of the run",
            Period(UNTOLD_NS)
        );
        let error = FlowError { kind: FlowErrorKind::Protocol, text, errno: None };
        self.error = Some(Box::new(error));
    }

    /// Whether nothing is sent any more before the receiver asks for it.
    fn keeps_still(&mut self, now: Tick) -> bool {
        if now >= self.consent.due() {
            let ends = (!self.sender.is_done(), self.receiver.awaits());
            self.error = self.consent.attend(ends, now).err().map(Box::new);
        }
        self.consent.is_lapsed()
    }

    /// Runs of numbers that are missing.
    pub fn bursts(&self) -> Option<&LossBursts> {
        self.receiver.outcome().map(|outcome| &outcome.bursts)
    }
}

impl Machine for DatagramFlow {
    type Shared = DatagramShared;

    const CLOCK: ClockNeed = ClockNeed::EveryOperation;

    fn id(&self) -> FlowId {
        self.flow
    }

    fn want(&mut self, shared: &mut DatagramShared, now: Tick) -> Want {
        if self.error.is_some() {
            return Want::NOTHING;
        }
        let (send, wake_to_send) = match self.sender.offer(&mut shared.tally, now) {
            (send, _) if send != SendWant::Nothing && now < self.rests_until => {
                (SendWant::Nothing, Some(self.rests_until))
            }
            offer => offer,
        };
        let (send, wake_to_send) =
            if self.keeps_still(now) { (SendWant::Nothing, None) } else { (send, wake_to_send) };
        let awaits = self.receiver.awaits();
        if awaits && now >= self.told_by && self.error.is_none() {
            self.fail_untold();
        }
        if self.error.is_some() {
            return Want::NOTHING;
        }
        let wake_to_end = self.receiver.wake(now);
        let is_over = self.receiver.is_done() && self.sender.is_done();
        if is_over {
            return Want::NOTHING;
        }
        let hears =
            !self.receiver.is_done() || self.consent.listens(send != SendWant::Nothing, now);
        let recv = if hears { RecvWant::Any } else { RecvWant::Nothing };
        let send = self.consent.offer(awaits).unwrap_or(send);
        let due = if awaits { self.consent.due().min(self.told_by) } else { self.consent.due() };
        let due = Some(due).filter(|&due| due != Tick::NEVER);
        let wake = [wake_to_send, wake_to_end, due].into_iter().flatten().min();
        Want { send, recv, wake, weigh: self.receiver.weighs(), ..Want::NOTHING }
    }

    fn gather<'data>(&'data self, _: &'data DatagramShared, _: Lane, _: &mut Gather<'data>) {}

    fn fill<'data>(
        &'data mut self,
        shared: &'data mut DatagramShared,
        _: Lane,
        batch: &mut Batch<'data>,
        now: Tick,
    ) {
        if self.consent.is_due() {
            return self.consent.fill(batch, now);
        }
        self.sender.fill(&mut shared.image, batch, now);
    }

    fn sent(&mut self, shared: &mut DatagramShared, _: Lane, amount: usize, at: Tick) {
        if self.consent.is_due() {
            return self.consent.said(at);
        }
        self.refused = None;
        self.sender.took(&mut shared.tally, amount as u64, at);
    }

    fn received(
        &mut self,
        shared: &mut DatagramShared,
        _: Lane,
        bytes: &[u8],
        meta: RecvMeta,
        now: Tick,
    ) -> Consumed {
        let stride = meta.stride.map_or(bytes.len().max(1), std::num::NonZero::get);
        let DatagramShared { receive, tally, .. } = shared;
        if self.receiver.is_done() {
            let consents = bytes.chunks(stride).filter(|datagram| is_consent(datagram));
            consents.for_each(|datagram| self.consent.hear(datagram, now));
        } else {
            self.receiver.take(bytes, stride, (tally, receive), &mut self.consent, now);
        }
        Consumed(bytes.len())
    }

    fn event(&mut self, shared: &mut DatagramShared, event: Event, now: Tick) {
        match event {
            Event::Start => {
                self.sender.start(now);
                self.receiver.start(&mut shared.receive, now);
                self.consent.start(now);
                let told_by = |lasts_ns| now.plus_nanos(lasts_ns).plus_nanos(UNTOLD_NS);
                self.told_by = self.lasts_ns.map_or(Tick::NEVER, told_by);
            }
            Event::PeerTotal(total) => self.receiver.told(total, now),
            Event::Held { bytes } => self.receiver.weighed(bytes),
            Event::Stop => {
                self.sender.stop(&mut shared.tally, now);
                self.receiver.stop(now);
            }
            Event::Unreachable { errno, is_refusal, .. } => {
                if self.consent.is_due() {
                    self.consent.said(now);
                }
                // Of an end that only asks for a stream, nothing that is counted was refused.
                shared.tally.counts.unreachable += u64::from(!self.sender.is_idle());
                if self.sender.is_done() {
                    return;
                }
                if is_refusal {
                    self.consent.refused(errno, now);
                }
                let since = *self.refused.get_or_insert(now);
                self.rests_until = now.plus_nanos(REST_NS);
                if now.nanos_since(since) >= REFUSED_NS {
                    self.fail(errno);
                }
            }
            Event::Reset { errno, .. } => self.fail(errno),
            _ => {}
        }
    }

    fn phase(&self) -> Phase {
        match (&self.error, self.sender.is_done(), self.receiver.is_done()) {
            (Some(_), ..) => Phase::Failed,
            (None, true, true) => Phase::Done,
            (None, true, false) => Phase::SendingDone,
            (None, false, _) => Phase::Running,
        }
    }

    fn totals(&self) -> Totals {
        Totals { sent: self.sender.sent(), received: self.receiver.received() }
    }

    fn error(&self) -> Option<FlowError> {
        self.error.as_deref().cloned()
    }
}
