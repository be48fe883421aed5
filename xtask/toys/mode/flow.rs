//! Both ends of a toy's flow: the client sends a number of eight bytes at each tick, the server reads them.

use pathscope_core::Tick;
use pathscope_core::id::{FlowId, Lane, Role};
use pathscope_core::record::{FlowError, FlowErrorKind};
use pathscope_flow::{
    Batch, ClockNeed, Close, Consumed, Event, Gather, Machine, Phase, RecvMeta, RecvWant, SendWant,
    Shared, Totals, Want,
};

use super::counts::ToyCounts;
use super::plan::ToyPlan;
use super::sample::ToySample;
use crate::samples::SampleBuffer;

/// Bytes of a number.
const BYTES: u64 = size_of::<u64>() as u64;

/// What the flows of one worker have in common.
#[derive(Debug, Default)]
pub struct ToyShared {
    counts: ToyCounts,
    samples: Option<SampleBuffer<ToySample>>,
}

impl ToyShared {
    /// With somewhere for single numbers to go, where they are asked for.
    pub fn new(samples: Option<SampleBuffer<ToySample>>) -> Self {
        Self { counts: ToyCounts::default(), samples }
    }

    fn note(&mut self, number: u64, at: Tick) {
        self.samples.iter_mut().for_each(|samples| samples.push(ToySample { number, at }));
    }
}

impl Shared for ToyShared {
    type Report = ToyCounts;

    fn report(&mut self, _: Tick) -> ToyCounts {
        self.samples.iter_mut().for_each(SampleBuffer::hand_over);
        std::mem::take(&mut self.counts)
    }
}

/// One end of a flow.
#[derive(Debug)]
pub struct ToyFlow {
    flow: FlowId,
    role: Role,
    tick_ns: u64,
    /// Numbers that are to be sent; fewer where the run is stopped.
    numbers: u64,
    started_at: Option<Tick>,
    sent_bytes: u64,
    received_bytes: u64,
    /// What has come of the number that is coming.
    partial: [u8; BYTES as usize],
    /// Bytes that the other end has sent in all.
    expected_bytes: Option<u64>,
    phase: Phase,
    error: Option<FlowError>,
}

impl ToyFlow {
    /// This end of a flow of the plan.
    pub fn new(plan: &ToyPlan, role: Role, flow: FlowId) -> Self {
        Self {
            flow,
            role,
            tick_ns: plan.tick_ns.0,
            numbers: plan.numbers,
            started_at: None,
            sent_bytes: 0,
            received_bytes: 0,
            partial: [0; BYTES as usize],
            expected_bytes: None,
            phase: Phase::Running,
            error: None,
        }
    }

    /// When a number is due.
    fn due_at(&self, start: Tick, number: u64) -> Tick {
        start.plus_nanos(number.saturating_mul(self.tick_ns))
    }

    fn end(&mut self, phase: Phase) {
        if !self.phase.is_over() {
            self.phase = phase;
        }
    }

    fn fail(&mut self, text: &str) {
        if !self.phase.is_over() {
            let kind = FlowErrorKind::Network;
            self.error = Some(FlowError { kind, text: text.to_owned(), errno: None });
            self.phase = Phase::Failed;
        }
    }

    /// What the client wants next.
    fn want_to_send(&mut self, start: Tick, now: Tick) -> Want {
        let number = self.sent_bytes / BYTES;
        if number >= self.numbers {
            self.end(Phase::Done);
            return Want { close: Some(Close::Graceful), ..Want::NOTHING };
        }
        let due = self.due_at(start, number);
        if now < due {
            return Want { wake: Some(due), ..Want::NOTHING };
        }
        let max = (BYTES - self.sent_bytes % BYTES) as usize;
        Want { send: SendWant::Stream { max }, ..Want::NOTHING }
    }

    fn take(&mut self, shared: &mut ToyShared, byte: u8, now: Tick) {
        let (number, at) = (self.received_bytes / BYTES, self.received_bytes % BYTES);
        self.partial[at as usize] = byte;
        self.received_bytes += 1;
        if at + 1 == BYTES {
            shared.counts.received += 1;
            shared.counts.wrong += u64::from(u64::from_be_bytes(self.partial) != number);
            shared.note(number, now);
        }
    }
}

impl Machine for ToyFlow {
    type Shared = ToyShared;

    const CLOCK: ClockNeed = ClockNeed::EveryTurn;

    fn id(&self) -> FlowId {
        self.flow
    }

    fn want(&mut self, _: &mut ToyShared, now: Tick) -> Want {
        match (self.phase, self.started_at, self.role) {
            (Phase::Failed, _, _) => Want { close: Some(Close::Reset), ..Want::NOTHING },
            (Phase::Done, _, _) => Want { close: Some(Close::Graceful), ..Want::NOTHING },
            (_, None, _) => Want::NOTHING,
            (_, Some(start), Role::Client) => self.want_to_send(start, now),
            (_, Some(_), Role::Server) => Want { recv: RecvWant::Any, ..Want::NOTHING },
        }
    }

    fn gather<'data>(&'data self, _: &'data ToyShared, _: Lane, gather: &mut Gather<'data>) {
        let bytes = (self.sent_bytes / BYTES).to_be_bytes();
        gather.copy(&bytes[(self.sent_bytes % BYTES) as usize..]);
    }

    /// Never asked: there are no datagrams.
    fn fill<'data>(
        &'data mut self,
        _: &'data mut ToyShared,
        _: Lane,
        _: &mut Batch<'data>,
        _: Tick,
    ) {
    }

    fn sent(&mut self, shared: &mut ToyShared, _: Lane, amount: usize, at: Tick) {
        let number = self.sent_bytes / BYTES;
        self.sent_bytes += amount as u64;
        if let Some(start) = self.started_at.filter(|_| self.sent_bytes / BYTES > number) {
            shared.counts.sent += 1;
            shared.counts.late += u64::from(at >= self.due_at(start, number + 1));
            shared.note(number, at);
        }
        if self.sent_bytes / BYTES >= self.numbers {
            self.end(Phase::Done);
        }
    }

    fn received(
        &mut self,
        shared: &mut ToyShared,
        _: Lane,
        bytes: &[u8],
        _: RecvMeta,
        now: Tick,
    ) -> Consumed {
        bytes.iter().for_each(|byte| self.take(shared, *byte, now));
        if self.expected_bytes.is_some_and(|expected| self.received_bytes >= expected) {
            self.end(Phase::Done);
        }
        Consumed(bytes.len())
    }

    fn event(&mut self, _: &mut ToyShared, event: Event, now: Tick) {
        match event {
            Event::Start => self.started_at = Some(now),
            // What was begun is finished.
            Event::Stop if self.role == Role::Client => {
                self.numbers = self.numbers.min(self.sent_bytes.div_ceil(BYTES));
            }
            Event::PeerTotal(bytes) if self.role == Role::Server => {
                self.expected_bytes = Some(bytes);
                if self.received_bytes >= bytes {
                    self.end(Phase::Done);
                }
            }
            Event::PeerClosed(_) if self.role == Role::Server => {
                match self.received_bytes % BYTES {
                    0 => self.end(Phase::Done),
                    _ => self.fail("the client closed in the middle of a number"),
                }
            }
            Event::Reset { .. } | Event::PeerFailed => self.fail("the connection was reset"),
            _ => {}
        }
    }

    fn phase(&self) -> Phase {
        self.phase
    }

    fn totals(&self) -> Totals {
        Totals { sent: self.sent_bytes, received: self.received_bytes }
    }

    fn error(&self) -> Option<FlowError> {
        self.error.clone()
    }
}
