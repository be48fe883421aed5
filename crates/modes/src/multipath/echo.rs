//! The server's end: each datagram goes back on the path that it came on, with two stamps. And what it counts of each path.

use pathscope_core::Tick;
use pathscope_core::id::{FlowId, Lane};
use pathscope_flow::{
    Batch, ClockNeed, Consumed, Event, Machine, Phase, RecvMeta, RecvWant, SendWant, Shared,
    Totals, Want,
};

use super::MultipathPlan;
use super::datagram::{Content, Found, Header, Kind};
use super::report::{MultipathReport, MultipathTally, PathInterval, PathReport};
use super::shared::{ANSWER_WITHIN_NS, WINDOW};
use crate::arrivals::{Seen, Sight};
use crate::memory::{MemoryNeed, tallies};
use crate::pattern::SessionKey;

/// What the system does not take in this time is left out, so that no path delays another.
const PATIENCE_NS: u64 = 2_000_000;
/// After the client has said that it sends no more, what is on its way is echoed for so long.
const LINGER_NS: u64 = ANSWER_WITHIN_NS;

/// The server's machine.
#[derive(Debug)]
pub struct MultipathEcho {
    content: Content,
    /// What came and has not gone back yet.
    held: Option<Header>,
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
            content: Content::of(plan, session, flow),
            held: None,
            received: 0,
            echoed: 0,
            started: false,
            is_told: false,
            linger_until: Tick::NEVER,
            is_over: false,
        }
    }

    /// What is held goes no more, where it is of that kind.
    fn drop_held(&mut self, shared: &mut MultipathEchoShared, is_it: impl Fn(&Header) -> bool) {
        if let Some(held) = self.held.take_if(|held| is_it(held)) {
            shared.paths[held.lane.index()].counts.refused += 1;
        }
    }
}

impl Machine for MultipathEcho {
    type Shared = MultipathEchoShared;

    const CLOCK: ClockNeed = ClockNeed::EveryOperation;

    fn id(&self) -> FlowId {
        self.content.tag.flow
    }

    fn want(&mut self, shared: &mut MultipathEchoShared, now: Tick) -> Want {
        self.is_over |= now >= self.linger_until;
        if self.is_over || !self.started {
            return Want::NOTHING;
        }
        // It is offered from when it came on, since the engine does not try where there is no room.
        self.drop_held(shared, |held| now.nanos_since(held.server_received) >= PATIENCE_NS);
        let linger = (self.linger_until != Tick::NEVER).then_some(self.linger_until);
        let Some(held) = self.held else {
            return Want { recv: RecvWant::Any, wake: linger, ..Want::NOTHING };
        };
        let patience = held.server_received.plus_nanos(PATIENCE_NS);
        Want {
            send: SendWant::Datagrams { stride: self.content.size, max: 1 },
            send_lane: held.lane,
            wake: Some(patience.min(self.linger_until)),
            ..Want::NOTHING
        }
    }

    fn fill(&mut self, _: &mut MultipathEchoShared, lane: Lane, batch: &mut Batch<'_>, now: Tick) {
        let Some(held) = self.held.filter(|held| held.lane == lane) else { return };
        let Some(datagram) = batch.datagram(self.content.size) else { return };
        self.content.write(&Header { server_sent: now, ..held }, datagram);
    }

    fn sent(&mut self, shared: &mut MultipathEchoShared, lane: Lane, _: usize, _: Tick) {
        let Some(held) = self.held.take_if(|held| held.lane == lane) else { return };
        if held.kind == Kind::Echo {
            let path = &mut shared.paths[lane.index()];
            path.counts.sent += 1;
            path.interval.sent += 1;
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
                    if kind == Kind::Echo {
                        shared.paths[lane.index()].saw(header.sequence);
                        self.received += 1;
                    }
                    self.held = Some(Header { kind, server_received: now, ..header });
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
            // The client has reported, or its flow has failed: what still comes is awaited by nobody.
            Event::Stop if self.is_told => self.linger_until = now,
            Event::PeerFailed => self.linger_until = now,
            Event::Stop => self.linger_until = self.linger_until.min(now.plus_nanos(LINGER_NS)),
            Event::LaneDown(lane)
            | Event::Reset { lane, .. }
            | Event::Unreachable { lane, is_answer: false, .. } => {
                self.drop_held(shared, |held| held.lane == lane);
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
}

/// What the flow of a server has beside it.
#[derive(Debug)]
pub struct MultipathEchoShared {
    paths: Vec<EchoedPath>,
    foreign: u64,
}

/// What a server counts of one path.
#[derive(Debug)]
struct EchoedPath {
    seen: Seen,
    /// In the fields that they are told in.
    counts: PathReport,
    /// Of them, what was not told yet.
    interval: PathInterval,
}

impl EchoedPath {
    fn saw(&mut self, number: u64) {
        let is_behind = self.seen.is_behind(number);
        match self.seen.saw(number) {
            Sight::First => {
                self.counts.received += 1;
                self.interval.received += 1;
                self.counts.reordered += u64::from(is_behind);
            }
            Sight::Again => self.counts.duplicates += 1,
            Sight::Forgotten => self.counts.late += 1,
        }
    }
}

impl MultipathPlan {
    /// What a server remembers of the lanes of such a test.
    pub(super) fn echo_memory(&self) -> MemoryNeed {
        let path = size_of::<EchoedPath>() as u64 + Seen::memory_bytes(*WINDOW.end() as usize);
        let tally =
            size_of::<MultipathTally>() + size_of::<PathInterval>() * usize::from(self.lanes);
        let shared = size_of::<MultipathEchoShared>() + size_of::<MultipathEcho>();
        MemoryNeed {
            flow_bytes: size_of::<MultipathEcho>() as u64,
            worker_bytes: shared as u64 + u64::from(self.lanes) * path + tallies(1, tally),
        }
    }
}

impl MultipathEchoShared {
    /// For a test of `plan`.
    pub fn new(plan: &MultipathPlan) -> Self {
        let path = |_| EchoedPath {
            seen: Seen::new(*WINDOW.end() as usize),
            counts: PathReport::default(),
            interval: PathInterval::default(),
        };
        Self { paths: (0..plan.lanes).map(path).collect(), foreign: 0 }
    }

    /// What the test came to.
    pub fn report_all(&self) -> MultipathReport {
        MultipathReport {
            paths: self.paths.iter().map(|path| path.counts.clone()).collect(),
            foreign: self.foreign,
            ..MultipathReport::default()
        }
    }
}

impl Shared for MultipathEchoShared {
    type Report = MultipathTally;

    fn report(&mut self, _now: Tick) -> MultipathTally {
        MultipathTally::default().with(self.paths.iter_mut().map(|path| &mut path.interval))
    }
}
