//! The client's end of a latency flow: sends pings by its load model, and judges the echoes.

use pathscope_core::Tick;
use pathscope_core::id::{FlowId, Lane};
use pathscope_core::record::{FlowError, FlowErrorKind};
use pathscope_flow::{
    Batch, ClockNeed, Consumed, Event, Gather, Machine, Phase, RecvMeta, RecvWant, SendWant,
    Totals, Transport, Want,
};

use super::datagram::{HEADER_BYTES, Header, Kind};
use super::window::Arrival;
use super::{LatencyPlan, LatencyShared};
use crate::pattern::{SessionKey, StreamKey};

/// A datagram that was not echoed by then is given up, and a closed loop goes on with the next.
const REPLY_TIMEOUT_NS: u64 = 1_000_000_000;
/// An open loop that fell behind its schedule sends the rest of it late, for at most so long.
const CATCH_UP_NS: u64 = 1_000_000_000;
/// After the last ping, echoes are awaited for three times the longest round trip, within these bounds.
/// A queue of several seconds delays its last packets by as much: they are late, not lost.
const DRAIN_NS: std::ops::RangeInclusive<u64> = 1_000_000_000..=10_000_000_000;
/// Once all have come, copies that the network made are awaited for the longest round trip, within these
/// bounds: they come right behind.
const COPIES_NS: std::ops::RangeInclusive<u64> = 1_000_000..=1_000_000_000;
/// How long the socket is looked into once the time is over. Where this machine stood still meanwhile,
/// echoes wait there that the network brought in time.
const LAST_LOOK_NS: u64 = 1_000_000;
/// Where no echo has come yet, nothing is known of the path.
const DRAIN_UNKNOWN_NS: u64 = 2_000_000_000;

/// The client's end of one latency flow.
#[derive(Debug)]
pub struct PingFlow {
    key: StreamKey,
    token: u64,
    transport: Transport,
    size_bytes: u64,
    started: Option<Tick>,
    /// No ping leaves at or after this time.
    stop_at: Tick,
    /// No ping from this number on is sent.
    stop_before: u64,
    /// Number of the next ping to send.
    next: u64,
    /// Stream: bytes of the next ping that the kernel has taken, and when the first of them left.
    partly_sent: usize,
    begun_at: Tick,
    /// Stream: bytes of echoes received and found right.
    echoed_bytes: u64,
    /// Pings answered, or given up.
    settled: u64,
    last_sent: Tick,
    longest_ns: u64,
    /// When the last of all pings was answered.
    all_back_at: Option<Tick>,
    /// Until when the socket is looked into, once the time of the drain is over.
    last_look: Option<Tick>,
    drained: bool,
    error: Option<Box<FlowError>>,
}

impl PingFlow {
    /// Flow number `flow` of a session.
    pub fn new(plan: &LatencyPlan, session: SessionKey, flow: FlowId) -> Self {
        Self {
            key: session.stream(flow.0, true),
            token: session.token(),
            transport: plan.protocol.transport(),
            size_bytes: plan.size_bytes.0,
            started: None,
            stop_at: Tick::NEVER,
            stop_before: u64::MAX,
            next: 0,
            partly_sent: 0,
            begun_at: Tick::ZERO,
            echoed_bytes: 0,
            settled: 0,
            last_sent: Tick::ZERO,
            longest_ns: 0,
            all_back_at: None,
            last_look: None,
            drained: false,
            error: None,
        }
    }

    /// When ping `sequence` is to leave; in a closed loop, now.
    fn due(&self, sequence: u64, shared: &LatencyShared) -> Tick {
        let started = self.started.unwrap_or(Tick::ZERO);
        shared
            .period_ns
            .map_or(started, |period| started.plus_nanos(sequence.saturating_mul(period)))
    }

    fn is_sending_over(&self, now: Tick) -> bool {
        // Probes have no schedule of their own: what was due when the load ended is not sent any more.
        let over = self.next >= self.stop_before || now >= self.stop_at;
        // A message that was begun is finished.
        over && self.partly_sent == 0
    }

    fn is_warm_up(&self, origin: Tick, shared: &LatencyShared) -> bool {
        origin.nanos_since(self.started.unwrap_or(origin)) < shared.warm_up_ns
    }

    /// Until when echoes are awaited after the last ping.
    fn drain_end(&self) -> Tick {
        if let Some(at) = self.all_back_at {
            return at.plus_nanos(self.longest_ns.clamp(*COPIES_NS.start(), *COPIES_NS.end()));
        }
        let wait = match self.longest_ns {
            0 => DRAIN_UNKNOWN_NS,
            longest => longest.saturating_mul(3).clamp(*DRAIN_NS.start(), *DRAIN_NS.end()),
        };
        self.last_sent.plus_nanos(wait)
    }

    /// Awaits what is still on its way.
    fn want_drained(&mut self, shared: &LatencyShared, now: Tick) -> Want {
        match self.transport {
            Transport::Stream if self.settled >= self.next => self.drained = true,
            Transport::Datagram if shared.window.answered() == self.next => {
                self.all_back_at.get_or_insert(now);
                self.drained = self.next == 0;
            }
            _ => {}
        }
        let mut wake = self.drain_end();
        if now >= wake {
            wake = *self.last_look.get_or_insert(now.plus_nanos(LAST_LOOK_NS));
            self.drained |= now >= wake;
        }
        if self.drained {
            return Want::NOTHING;
        }
        Want { recv: RecvWant::Any, wake: Some(wake), ..Want::NOTHING }
    }

    fn want_sending(&mut self, shared: &mut LatencyShared, now: Tick) -> Want {
        let stop = (self.stop_at != Tick::NEVER).then_some(self.stop_at);
        let waiting = Want { recv: RecvWant::Any, wake: stop, ..Want::NOTHING };
        if shared.period_ns.is_none() && self.settled < self.next {
            let timeout = self.last_sent.plus_nanos(REPLY_TIMEOUT_NS);
            match self.transport {
                Transport::Stream => return waiting,
                Transport::Datagram if now < timeout => {
                    return Want { wake: Some(timeout.min(self.stop_at)), ..waiting };
                }
                Transport::Datagram => self.settled = self.next,
            }
        }
        let due = self.due(self.next, shared);
        if now < due && self.partly_sent == 0 {
            return Want { wake: Some(due.min(self.stop_at)), ..waiting };
        }
        let send = match self.transport {
            Transport::Stream => SendWant::Stream { max: shared.size_bytes - self.partly_sent },
            Transport::Datagram => SendWant::Datagrams { stride: shared.size_bytes, max: 1 },
        };
        // In a closed loop nothing can come before the ping has left.
        let recv = if shared.period_ns.is_none() { RecvWant::Nothing } else { RecvWant::Any };
        Want { send, recv, ..waiting }
    }

    /// Ping `self.next` left at `at`.
    fn left(&mut self, shared: &mut LatencyShared, at: Tick) {
        shared.window.sent(self.next, at);
        shared.tally.sent += 1;
        let due = self.due(self.next, shared);
        if !self.is_warm_up(due, shared)
            && let Some(lag) = &mut shared.tally.send_lag
        {
            lag.record(at.nanos_since(due));
        }
        self.last_sent = at;
        self.next += 1;
    }

    /// The echo of a ping came, whole and right.
    fn answered(&mut self, shared: &mut LatencyShared, sequence: u64, now: Tick) -> bool {
        let (sent, reordered) = match shared.window.arrived(sequence, self.next) {
            Arrival::First { sent, reordered } => (sent, reordered),
            Arrival::Duplicate => {
                shared.tally.duplicates += 1;
                return false;
            }
            Arrival::Late => {
                shared.tally.late += 1;
                return false;
            }
            Arrival::Unknown => {
                shared.tally.foreign += 1;
                return false;
            }
        };
        shared.tally.received += 1;
        shared.tally.reordered += u64::from(reordered);
        self.settled = self.settled.max(sequence + 1);
        let origin = if shared.period_ns.is_some() { self.due(sequence, shared) } else { sent };
        let rtt = now.nanos_since(origin);
        self.longest_ns = self.longest_ns.max(rtt);
        if self.is_warm_up(origin, shared) {
            shared.tally.warm_up += 1;
            return false;
        }
        shared.tally.rtt.record(rtt);
        if let Some(service) = &mut shared.tally.service {
            service.record(now.nanos_since(sent));
        }
        true
    }

    fn datagram(&mut self, shared: &mut LatencyShared, bytes: &[u8], now: Tick) {
        let Some(header) = Header::read(bytes).filter(|header| self.is_echo(header)) else {
            shared.tally.foreign += 1;
            return;
        };
        if !self.is_intact(&header, bytes, shared) {
            shared.tally.corrupt += 1;
            self.settled = self.settled.max(header.sequence.saturating_add(1).min(self.next));
            return;
        }
        if self.answered(shared, header.sequence, now)
            && let Some(residence) = &mut shared.tally.server_residence
        {
            residence.record(header.server_sent.nanos_since(header.server_received));
        }
    }

    fn is_echo(&self, header: &Header) -> bool {
        header.kind == Kind::Echo
            && header.token == self.token
            && u32::from(header.flow) == self.key.flow() & 0xffff
    }

    fn is_intact(&self, header: &Header, bytes: &[u8], shared: &LatencyShared) -> bool {
        let position = filler_position(header.sequence, shared.size_bytes);
        bytes.len() == shared.size_bytes
            && shared.window.sent_at(header.sequence).is_none_or(|sent| sent == header.sent)
            && self.key.first_wrong(position, &bytes[HEADER_BYTES..]).is_none()
    }

    fn stream(&mut self, shared: &mut LatencyShared, bytes: &[u8], now: Tick) {
        if self.key.first_wrong(self.echoed_bytes, bytes).is_some() {
            shared.tally.corrupt += 1;
            self.fail(
                FlowErrorKind::Data,
                format!("the echo of ping {} is not what was sent", self.settled),
            );
            return;
        }
        self.echoed_bytes += bytes.len() as u64;
        let whole = self.echoed_bytes / shared.size_bytes as u64;
        if whole > self.next {
            self.fail(
                FlowErrorKind::Protocol,
                "the other end sent more echoes than there were pings".to_owned(),
            );
            return;
        }
        while self.settled < whole {
            let sequence = self.settled;
            self.answered(shared, sequence, now);
            self.settled = sequence + 1;
        }
    }

    fn fail(&mut self, kind: FlowErrorKind, text: String) {
        self.error.get_or_insert_with(|| Box::new(FlowError { kind, text, errno: None }));
    }
}

/// Where in the flow's stream the filler of a ping comes from.
pub(super) fn filler_position(sequence: u64, size_bytes: usize) -> u64 {
    sequence.wrapping_mul(size_bytes as u64).wrapping_add(HEADER_BYTES as u64)
}

impl Machine for PingFlow {
    type Shared = LatencyShared;

    const CLOCK: ClockNeed = ClockNeed::EveryOperation;

    fn id(&self) -> FlowId {
        FlowId(self.key.flow())
    }

    fn want(&mut self, shared: &mut LatencyShared, now: Tick) -> Want {
        if self.started.is_none() || self.phase().is_over() {
            return Want::NOTHING;
        }
        if !self.is_sending_over(now) {
            return self.want_sending(shared, now);
        }
        self.stop_before = self.stop_before.min(self.next);
        self.want_drained(shared, now)
    }

    fn gather<'data>(
        &'data self,
        shared: &'data LatencyShared,
        _: Lane,
        gather: &mut Gather<'data>,
    ) {
        let position = self.next * shared.size_bytes as u64 + self.partly_sent as u64;
        self.key.gather(position, gather.room(), gather);
    }

    fn fill(&mut self, shared: &mut LatencyShared, lane: Lane, batch: &mut Batch<'_>, now: Tick) {
        let Some(datagram) = batch.datagram(shared.size_bytes) else { return };
        let header = Header {
            kind: Kind::Ping,
            lane: lane.0,
            flow: self.key.flow() as u16,
            token: self.token,
            sequence: self.next,
            sent: now,
            server_received: Tick::ZERO,
            server_sent: Tick::ZERO,
        };
        header.write(datagram);
        self.key
            .copy_to(filler_position(self.next, shared.size_bytes), &mut datagram[HEADER_BYTES..]);
        self.begun_at = now;
    }

    fn sent(&mut self, shared: &mut LatencyShared, _: Lane, amount: usize, at: Tick) {
        match self.transport {
            // The stamp in the datagram is the one to compare with.
            Transport::Datagram => self.left(shared, self.begun_at),
            Transport::Stream => {
                if self.partly_sent == 0 {
                    self.begun_at = at;
                }
                self.partly_sent += amount;
                if self.partly_sent >= shared.size_bytes {
                    self.partly_sent = 0;
                    self.left(shared, self.begun_at);
                }
            }
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
        match meta.stride {
            Some(stride) => {
                bytes
                    .chunks(stride.get())
                    .for_each(|datagram| self.datagram(shared, datagram, now));
            }
            None => self.stream(shared, bytes, now),
        }
        Consumed(bytes.len())
    }

    fn event(&mut self, shared: &mut LatencyShared, event: Event, now: Tick) {
        match event {
            Event::Start => {
                self.started = Some(now);
                self.last_sent = now;
                self.stop_at =
                    shared.duration_ns.map_or(Tick::NEVER, |duration| now.plus_nanos(duration));
                self.stop_before = shared.iterations.unwrap_or(u64::MAX);
                if let Some((duration, period)) = shared.duration_ns.zip(shared.period_ns) {
                    self.stop_at = self.stop_at.plus_nanos(CATCH_UP_NS);
                    self.stop_before = self.stop_before.min(duration.div_ceil(period.max(1)));
                }
            }
            Event::Stop => self.stop_at = self.stop_at.min(now),
            Event::PeerClosed(_) if !self.phase().is_over() && self.settled < self.next => {
                self.fail(FlowErrorKind::Network, "the other end closed the connection".to_owned());
            }
            Event::Reset { errno, .. } if !self.phase().is_over() => {
                self.fail(FlowErrorKind::Network, format!("the connection broke (error {errno})"));
                if let Some(error) = &mut self.error {
                    error.errno = Some(errno.to_string());
                }
            }
            // A datagram that was refused is a lost one; what keeps being refused is lost altogether.
            _ => {}
        }
    }

    fn phase(&self) -> Phase {
        match (&self.error, self.drained) {
            (Some(_), _) => Phase::Failed,
            (None, true) => Phase::Done,
            (None, false) if self.next >= self.stop_before => Phase::SendingDone,
            (None, false) => Phase::Running,
        }
    }

    fn totals(&self) -> Totals {
        match self.transport {
            Transport::Stream => {
                let sent = self.next * self.size_bytes + self.partly_sent as u64;
                Totals { sent, received: self.echoed_bytes }
            }
            Transport::Datagram => Totals { sent: self.next, received: self.settled },
        }
    }

    fn error(&self) -> Option<FlowError> {
        self.error.as_deref().cloned()
    }
}
