//! The server's end of a latency flow: sends back what came, and says when. Where the client alone knows how long its pings are, they
//! are echoed as they come, in whatever pieces.

use pathscope_core::Tick;
use pathscope_core::id::{FlowId, Lane};
use pathscope_core::record::{FlowError, FlowErrorKind};
use pathscope_flow::{
    Batch, ClockNeed, Consumed, Event, Gather, Machine, Phase, RecvMeta, RecvWant, SendWant,
    Totals, Transport, Want,
};

use super::content::Content;
use super::datagram::{Header, Kind};
use super::shared::{echoes_of, seen_of};
use super::trips::Echoed;
use super::{LatencyPlan, LatencyShared, LatencyTally, Timestamps};
use crate::arrivals::{Seen, Sight};
use crate::conventions::{Conventions, Pings};
use crate::flows::phase_of;
use crate::memory::{MemoryNeed, tallies};
use crate::pattern::SessionKey;

/// After the client has sent its last ping, stragglers are echoed for longer than it awaits them; its
/// report ends that. How many have come ends nothing: some may be doubled, and others be on their way.
const LINGER_NS: u64 = 12_000_000_000;

/// The server's end of one latency flow.
#[derive(Debug)]
pub struct EchoFlow {
    transport: Transport,
    content: Content,
    /// One message or datagram, or what came of a stream at once.
    buffer: Box<[u8]>,
    /// Bytes of it that have come; once there is something to echo, bytes of that which have gone.
    filled: usize,
    gone: usize,
    /// The number of what is in the buffer; datagrams: what it is echoed as.
    echo: Header,
    /// Where kernel stamps are asked for: what they say.
    stamps: Option<Box<Echoed>>,
    /// Datagrams: which have come.
    seen: Option<Box<Seen>>,
    /// Bytes (datagrams: their number) received and echoed.
    received: u64,
    echoed: u64,
    /// What the client says it sent in all, and until when stragglers are awaited.
    total: Option<u64>,
    linger_until: Tick,
    lingered: bool,
    started: bool,
    error: Option<Box<FlowError>>,
}

impl LatencyPlan {
    /// What a server remembers of such flows: it echoes, and has no distribution.
    pub(super) fn echo_memory(&self) -> MemoryNeed {
        let are_stamped = self.timestamps == Timestamps::Kernel;
        let stamps = if are_stamped { Echoed::bytes(echoes_of(self)) } else { 0 };
        let seen = match self.protocol.transport() {
            Transport::Datagram => size_of::<Seen>() as u64 + Seen::memory_bytes(seen_of(self)),
            Transport::Stream => 0,
        };
        let own = size_of::<EchoFlow>() + stamps;
        MemoryNeed {
            flow_bytes: (own as u64).saturating_add(self.size_bytes.0).saturating_add(seen),
            worker_bytes: size_of::<LatencyShared>() as u64 + tallies(0, size_of::<LatencyTally>()),
        }
    }
}

impl EchoFlow {
    /// Flow number `flow` of a session.
    pub fn new(plan: &LatencyPlan, session: SessionKey, flow: FlowId) -> Self {
        let transport = plan.protocol.transport();
        let counts = transport == Transport::Datagram;
        Self {
            transport,
            content: Content::of(plan, session, flow),
            buffer: vec![0; plan.size_bytes.0 as usize].into_boxed_slice(),
            filled: 0,
            gone: 0,
            echo: Header::of_client(Kind::Echo, Lane::ONLY, 0, Tick::ZERO),
            stamps: (plan.timestamps == Timestamps::Kernel)
                .then(|| Box::new(Echoed::new(echoes_of(plan)))),
            seen: counts.then(|| Box::new(Seen::new(seen_of(plan)))),
            received: 0,
            echoed: 0,
            total: None,
            linger_until: Tick::NEVER,
            lingered: false,
            started: false,
            error: None,
        }
    }

    /// The same with pings as they are with this kind of peer.
    #[must_use]
    pub fn following(mut self, conventions: Conventions) -> Self {
        self.content.over_streams = conventions.pings;
        self
    }

    /// Whether the plan says how long a message is.
    fn knows_length(&self) -> bool {
        self.content.over_streams == Pings::Keyed
    }

    fn take_datagram(&mut self, shared: &mut LatencyShared, bytes: &[u8], now: Tick) {
        let is_ping = |it: &Header| it.kind == Kind::Ping && bytes.len() == self.buffer.len();
        let Some(header) = self.content.tag.read(bytes).whole().filter(is_ping) else {
            shared.tally.counts.foreign += 1;
            return;
        };
        self.buffer.copy_from_slice(bytes);
        self.filled = bytes.len();
        self.received += 1;
        let common = self.content.common();
        let is_of_client = header.lane == Lane::ONLY && header.is_unstamped();
        let is_intact =
            is_of_client && self.content.is_ping(header.sequence, common, &bytes[common..]);
        let kind = if is_intact {
            self.intact(shared, header.sequence);
            Kind::Echo
        } else {
            // The client sees what it gets back, and not this: it is told.
            self.damaged(shared, header.sequence);
            Kind::DamagedEcho
        };
        self.echo = Header { kind, server_received: now, ..header };
    }

    fn intact(&mut self, shared: &mut LatencyShared, sequence: u64) {
        let Some(seen) = &mut self.seen else { return };
        let is_behind = seen.is_behind(sequence);
        let is_mended = seen.is_spoilt(sequence);
        match seen.saw(sequence) {
            Sight::First => {
                shared.tally.counts.received += 1;
                shared.tally.mended += u64::from(is_mended);
                shared.tally.counts.reordered += u64::from(is_behind);
            }
            Sight::Again => shared.tally.counts.duplicates += 1,
            Sight::Forgotten => shared.tally.counts.late += 1,
        }
    }

    /// A ping came with other bytes than were sent.
    fn damaged(&mut self, shared: &mut LatencyShared, sequence: u64) {
        shared.tally.counts.corrupt_datagrams += 1;
        if let Some(seen) = self.seen.as_mut().filter(|seen| seen.is_near(sequence)) {
            let is_news = seen.saw_spoilt(sequence) == Sight::First;
            shared.tally.damaged += u64::from(is_news);
        }
    }

    fn take_stream(&mut self, shared: &mut LatencyShared, bytes: &[u8]) -> usize {
        let taken = bytes.len().min(self.buffer.len() - self.filled);
        self.buffer[self.filled..self.filled + taken].copy_from_slice(&bytes[..taken]);
        self.filled += taken;
        self.received += taken as u64;
        if !self.is_whole() {
            return taken;
        }
        if !self.knows_length() {
            // Of pieces: nobody here can tell pings apart.
            shared.tally.counts.received += 1;
            return taken;
        }
        let common = self.content.common();
        if self.content.is_ping(self.echo.sequence, common, &self.buffer[common..]) {
            shared.tally.counts.received += 1;
        } else {
            shared.tally.counts.corrupt_datagrams += 1;
            shared.tally.damaged += 1;
            let text = format!("ping {} came with other bytes than were sent", self.echo.sequence);
            self.fail(FlowErrorKind::Data, text, None);
        }
        taken
    }

    /// Whether the buffer holds something to echo.
    fn is_whole(&self) -> bool {
        if self.knows_length() { self.filled == self.buffer.len() } else { self.filled > 0 }
    }

    /// How long it is, and how much of it is what came.
    fn echo_length(&self) -> [usize; 2] {
        if self.knows_length() {
            [self.content.echo, self.content.common()]
        } else {
            [self.filled; 2]
        }
    }

    fn next_message(&mut self, shared: &mut LatencyShared) {
        (self.filled, self.gone) = (0, 0);
        self.echo.sequence += u64::from(self.transport == Transport::Stream);
        shared.tally.counts.sent += 1;
    }

    fn is_done(&self) -> bool {
        // The client's total is of bytes of pings.
        let total = |sent: u64| {
            if self.knows_length() {
                sent / self.content.ping as u64 * self.content.echo as u64
            } else {
                sent
            }
        };
        let all_echoed = || self.total.is_some_and(|sent| self.echoed >= total(sent));
        self.lingered || self.transport == Transport::Stream && all_echoed()
    }

    fn fail(&mut self, kind: FlowErrorKind, text: impl Into<String>, errno: Option<i32>) {
        let (text, errno) = (text.into(), errno.map(|errno| errno.to_string()));
        self.error.get_or_insert_with(|| Box::new(FlowError { kind, text, errno }));
    }

    fn linger(&mut self, now: Tick) {
        self.linger_until = self.linger_until.min(now.plus_nanos(LINGER_NS));
    }
}

impl Machine for EchoFlow {
    type Shared = LatencyShared;

    const CLOCK: ClockNeed = ClockNeed::EveryOperation;

    fn id(&self) -> FlowId {
        self.content.tag.flow
    }

    fn want(&mut self, _: &mut LatencyShared, now: Tick) -> Want {
        self.lingered |= now >= self.linger_until;
        if !self.started || self.phase().is_over() {
            return Want::NOTHING;
        }
        let wake = (self.linger_until != Tick::NEVER).then_some(self.linger_until);
        let waiting = Want { recv: RecvWant::Any, wake, ..Want::NOTHING };
        if !self.is_whole() {
            return waiting;
        }
        let [length, _] = self.echo_length();
        let send = match self.transport {
            Transport::Stream => SendWant::Stream { max: length - self.gone },
            Transport::Datagram => SendWant::Datagrams { stride: length, max: 1 },
        };
        Want { send, recv: RecvWant::Nothing, ..waiting }
    }

    fn gather<'data>(&'data self, _: &'data LatencyShared, _: Lane, gather: &mut Gather<'data>) {
        let [length, common] = self.echo_length();
        if self.gone < common {
            gather.borrow(&self.buffer[self.gone..common]);
        }
        if length > common {
            self.content.gather_added(self.echo.sequence, self.gone.max(common), gather);
        }
    }

    fn fill(&mut self, _: &mut LatencyShared, _: Lane, batch: &mut Batch<'_>, now: Tick) {
        let Some(datagram) = batch.datagram(self.content.echo) else { return };
        let (echoed, added) = datagram.split_at_mut(self.content.common());
        echoed.copy_from_slice(&self.buffer[..echoed.len()]);
        self.content.fill_added(self.echo.sequence, echoed.len(), added);
        self.content.tag.write(&Header { server_sent: now, ..self.echo }, datagram);
        if let Some(stamps) = &self.stamps {
            stamps.note().write(datagram);
        }
    }

    fn sent(&mut self, shared: &mut LatencyShared, _: Lane, amount: usize, _: Tick) {
        if let Some(stamps) = &mut self.stamps {
            stamps.sent(self.echoed, self.echo.sequence);
        }
        self.echoed += amount as u64;
        self.gone += amount;
        if self.transport == Transport::Datagram || self.gone == self.echo_length()[0] {
            self.next_message(shared);
        }
    }

    fn received(
        &mut self,
        shared: &mut LatencyShared,
        _: Lane,
        bytes: &[u8],
        meta: RecvMeta,
        now: Tick,
    ) -> Consumed {
        if self.is_whole() {
            return Consumed(0);
        }
        match meta.stride {
            Some(stride) => {
                let len = stride.get().min(bytes.len());
                self.take_datagram(shared, &bytes[..len], now);
                if let Some(stamps) = self.stamps.as_mut().filter(|_| self.filled > 0) {
                    stamps.came(meta.stamp);
                }
                Consumed(len)
            }
            None => Consumed(self.take_stream(shared, bytes)),
        }
    }

    fn event(&mut self, shared: &mut LatencyShared, event: Event, now: Tick) {
        match event {
            Event::Unreachable { .. } => shared.tally.counts.unreachable += 1,
            Event::Start => self.started = true,
            Event::HandedOver { number, at, .. } => {
                self.stamps.iter_mut().for_each(|stamps| stamps.handed_over(number, at));
            }
            Event::PeerTotal(total) => {
                self.total = Some(total);
                self.linger(now);
            }
            // The client has reported, or both ends were stopped: what still comes is awaited by nobody
            // once the client has told its total.
            Event::Stop if self.total.is_some() => self.linger_until = now,
            Event::Stop => self.linger(now),
            // It tells no total any more.
            Event::PeerFailed => {
                self.total.get_or_insert(self.received);
                self.linger_until = now;
            }
            // It has sent its last ping, and what came of one that is not whole is of none.
            Event::PeerClosed(_) if shared.end.is_closed() && self.filled == 0 => {
                self.total = Some(self.received);
            }
            Event::PeerClosed(_) if !self.phase().is_over() => {
                let text = "the client closed the connection before it said how many pings it sent";
                self.fail(FlowErrorKind::Network, text, None);
            }
            Event::Reset { errno, .. } if !self.phase().is_over() => {
                let text = format!("the connection broke (error {errno})");
                self.fail(FlowErrorKind::Network, text, Some(errno));
            }
            _ => {}
        }
    }

    fn phase(&self) -> Phase {
        phase_of(self.error.is_some(), self.is_done(), self.is_done())
    }

    fn totals(&self) -> Totals {
        Totals { sent: self.echoed, received: self.received }
    }

    fn error(&self) -> Option<FlowError> {
        self.error.as_deref().cloned()
    }
}
