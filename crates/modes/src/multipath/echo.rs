//! The server's end: each datagram goes back on the path that it came on, with two stamps.

use pathscope_core::Tick;
use pathscope_core::id::{FlowId, Lane};
use pathscope_core::record::FlowError;
use pathscope_flow::{
    Batch, ClockNeed, Consumed, Event, Gather, Machine, Phase, RecvMeta, RecvWant, SendWant,
    Totals, Want,
};

use super::MultipathPlan;
use super::datagram::{Content, Found, Header};
use super::shared::MultipathEchoShared;
use crate::pattern::SessionKey;

/// What the system does not take in this time is left out, so that no path delays another.
const PATIENCE_NS: u64 = 2_000_000;
/// After the client has said that it sends no more, what is on its way is echoed for so long.
const LINGER_NS: u64 = super::shared::ANSWER_WITHIN_NS;

/// The server's machine.
#[derive(Debug)]
pub struct MultipathEcho {
    flow: FlowId,
    content: Content,
    /// What came and has not gone back yet.
    held: Option<(Lane, Header)>,
    /// When it was first offered to the system.
    offered_at: Option<Tick>,
    received: u64,
    echoed: u64,
    started: bool,
    /// The client has told its total.
    is_told: bool,
    linger_until: Tick,
    is_over: bool,
}

impl MultipathEcho {
    /// The machine that answers the client's of the same plan, session and number.
    pub fn new(plan: &MultipathPlan, session: SessionKey, flow: FlowId) -> Self {
        Self {
            flow,
            content: Content::of(plan, session, flow),
            held: None,
            offered_at: None,
            received: 0,
            echoed: 0,
            started: false,
            is_told: false,
            linger_until: Tick::NEVER,
            is_over: false,
        }
    }

    /// What is held goes no more.
    fn drop_held(&mut self, shared: &mut MultipathEchoShared) {
        if let Some((lane, _)) = self.held.take() {
            shared.paths[lane.index()].counts.refused += 1;
            self.offered_at = None;
        }
    }

    fn holds_on(&self, lane: Lane) -> bool {
        self.held.is_some_and(|(held, _)| held == lane)
    }
}

impl Machine for MultipathEcho {
    type Shared = MultipathEchoShared;

    const CLOCK: ClockNeed = ClockNeed::EveryOperation;

    fn id(&self) -> FlowId {
        self.flow
    }

    fn want(&mut self, shared: &mut MultipathEchoShared, now: Tick) -> Want {
        self.is_over |= now >= self.linger_until;
        if self.is_over || !self.started {
            return Want::NOTHING;
        }
        if self.offered_at.is_some_and(|at| now.nanos_since(at) >= PATIENCE_NS) {
            self.drop_held(shared);
        }
        let linger = (self.linger_until != Tick::NEVER).then_some(self.linger_until);
        let Some((lane, _)) = self.held else {
            return Want { recv: RecvWant::Any, wake: linger, ..Want::NOTHING };
        };
        let patience = self.offered_at.unwrap_or(now).plus_nanos(PATIENCE_NS);
        Want {
            send: SendWant::Datagrams { stride: self.content.size, max: 1 },
            send_lane: lane,
            wake: Some(patience.min(self.linger_until)),
            ..Want::NOTHING
        }
    }

    /// Never asked: there is no stream.
    fn gather<'data>(&'data self, _: &'data MultipathEchoShared, _: Lane, _: &mut Gather<'data>) {}

    fn fill(&mut self, _: &mut MultipathEchoShared, lane: Lane, batch: &mut Batch<'_>, now: Tick) {
        let Some((_, header)) = self.held.filter(|(held, _)| *held == lane) else { return };
        let Some(datagram) = batch.datagram(self.content.size) else { return };
        self.content.write(&Header { server_sent: now, ..header }, datagram);
    }

    fn sent(&mut self, shared: &mut MultipathEchoShared, lane: Lane, _: usize, _: Tick) {
        let Some((_, header)) = self.held.take_if(|(held, _)| *held == lane) else { return };
        self.offered_at = None;
        if header.kind == super::datagram::Kind::Echo {
            shared.paths[lane.index()].counts.sent += 1;
            self.echoed += 1;
        }
    }

    fn received(
        &mut self,
        shared: &mut MultipathEchoShared,
        lane: Lane,
        bytes: &[u8],
        meta: RecvMeta,
        now: Tick,
    ) -> Consumed {
        if self.held.is_some() {
            return Consumed(0);
        }
        let len = meta.stride.map_or(bytes.len(), |stride| stride.get().min(bytes.len()));
        match self.content.read(&bytes[..len], lane) {
            Found::Whole(header) => match header.kind.echo() {
                Some(kind) => {
                    if kind == super::datagram::Kind::Echo {
                        shared.paths[lane.index()].saw(header.number);
                        self.received += 1;
                    }
                    self.held = Some((lane, Header { kind, server_received: now, ..header }));
                    // From here on, since the engine does not try where there is no room.
                    self.offered_at = Some(now);
                }
                None => shared.foreign += 1,
            },
            // The client sees what it gets back, and not this.
            Found::Corrupt => shared.paths[lane.index()].counts.corrupt += 1,
            Found::Foreign => shared.foreign += 1,
        }
        Consumed(len)
    }

    fn event(&mut self, shared: &mut MultipathEchoShared, event: Event, now: Tick) {
        match event {
            Event::Start => self.started = true,
            Event::PeerTotal(_) => {
                self.is_told = true;
                self.linger_until = self.linger_until.min(now.plus_nanos(LINGER_NS));
            }
            // The client has reported: what still comes is awaited by nobody.
            Event::Stop if self.is_told => self.linger_until = now,
            Event::Stop => self.linger_until = self.linger_until.min(now.plus_nanos(LINGER_NS)),
            Event::LaneDown(lane) | Event::Reset { lane, .. } if self.holds_on(lane) => {
                self.drop_held(shared);
            }
            Event::Unreachable { lane, is_answer: false, .. } if self.holds_on(lane) => {
                self.drop_held(shared);
            }
            _ => {}
        }
    }

    fn phase(&self) -> Phase {
        if self.is_over { Phase::Done } else { Phase::Running }
    }

    fn totals(&self) -> Totals {
        Totals { sent: self.echoed, received: self.received }
    }

    fn error(&self) -> Option<FlowError> {
        None
    }
}
