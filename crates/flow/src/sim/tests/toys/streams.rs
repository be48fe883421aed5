//! Toys on streams: one that plays ping-pong, one that pours, one that collects.

use pathscope_core::Tick;
use pathscope_core::id::{FlowId, Lane};
use pathscope_core::record::{FlowError, FlowErrorKind};

use super::{Log, pattern};
use crate::{
    Batch, ClockNeed, Close, Consumed, Event, Gather, Machine, Phase, RecvMeta, RecvWant, SendWant,
    Totals, Want,
};

/// Plays ping-pong with messages of one length on a stream: the one that serves returns, the other counts.
#[derive(Debug)]
pub struct Player {
    rounds_left: u64,
    message_bytes: u64,
    serves: bool,
    sends: bool,
    began: Tick,
    sent: u64,
    received: u64,
    phase: Phase,
}

impl Player {
    pub fn client(rounds: u64, message_bytes: u64) -> Self {
        Self {
            rounds_left: rounds,
            message_bytes,
            serves: false,
            sends: true,
            began: Tick::ZERO,
            sent: 0,
            received: 0,
            phase: Phase::Running,
        }
    }

    pub fn server(rounds: u64, message_bytes: u64) -> Self {
        Self { serves: true, sends: false, ..Self::client(rounds, message_bytes) }
    }

    fn end_round(&mut self) {
        self.rounds_left -= 1;
        if self.rounds_left == 0 {
            self.phase = Phase::Done;
        }
    }
}

impl Machine for Player {
    common!();
    fills_nothing!();

    fn want(&mut self, _log: &mut Log, _now: Tick) -> Want {
        let left = |moved: u64| (self.message_bytes - moved % self.message_bytes) as usize;
        match self.phase {
            Phase::Done => Want { close: Some(Close::Graceful), ..Want::NOTHING },
            Phase::Failed => Want { close: Some(Close::Reset), ..Want::NOTHING },
            _ if self.sends => Want {
                send: SendWant::Stream { max: left(self.sent) },
                recv: RecvWant::UpTo(1),
                ..Want::NOTHING
            },
            _ => Want { recv: RecvWant::UpTo(left(self.received)), ..Want::NOTHING },
        }
    }

    fn gather<'data>(&'data self, _log: &'data Log, _lane: Lane, gather: &mut Gather<'data>) {
        let len = self.message_bytes - self.sent % self.message_bytes;
        gather.copy(&vec![7; len as usize]);
    }

    fn sent(&mut self, _log: &mut Log, _lane: Lane, amount: usize, at: Tick) {
        if self.sent.is_multiple_of(self.message_bytes) {
            self.began = at;
        }
        self.sent += amount as u64;
        self.sends = !self.sent.is_multiple_of(self.message_bytes);
        if self.serves && !self.sends {
            self.end_round();
        }
    }

    fn received(
        &mut self,
        log: &mut Log,
        _lane: Lane,
        bytes: &[u8],
        _meta: RecvMeta,
        now: Tick,
    ) -> Consumed {
        self.received += bytes.len() as u64;
        self.sends = self.received.is_multiple_of(self.message_bytes);
        if self.sends && !self.serves {
            log.round_trips.push(now.nanos_since(self.began));
            self.end_round();
        }
        Consumed(bytes.len())
    }

    fn event(&mut self, log: &mut Log, event: Event, now: Tick) {
        log.events.push((now, event));
        if matches!(event, Event::Reset { .. } | Event::PeerClosed(_) | Event::Stop) {
            self.phase = Phase::Failed;
        }
    }
}

/// Sends so many bytes, closes its half, and waits for the other end to close.
#[derive(Debug)]
pub struct Pourer {
    total: u64,
    ends_with_peer: bool,
    sent: u64,
    received: u64,
    phase: Phase,
}

impl Pourer {
    pub fn new(total: u64) -> Self {
        Self { total, ends_with_peer: true, sent: 0, received: 0, phase: Phase::Running }
    }

    /// Goes on when the other end has closed.
    pub fn stubborn(self) -> Self {
        Self { ends_with_peer: false, ..self }
    }
}

impl Machine for Pourer {
    common!();
    fills_nothing!();

    fn want(&mut self, _log: &mut Log, _now: Tick) -> Want {
        match self.phase {
            Phase::Running => Want {
                send: SendWant::Stream { max: (self.total - self.sent) as usize },
                recv: RecvWant::Any,
                ..Want::NOTHING
            },
            Phase::SendingDone | Phase::Settled => {
                Want { recv: RecvWant::Any, close: Some(Close::HalfWrite), ..Want::NOTHING }
            }
            Phase::Done | Phase::Failed => Want::NOTHING,
        }
    }

    fn gather<'data>(&'data self, _log: &'data Log, _lane: Lane, gather: &mut Gather<'data>) {
        let most = (self.total - self.sent).min(5_000);
        let bytes: Vec<u8> = (self.sent..self.sent + most).map(pattern).collect();
        gather.copy(&bytes);
    }

    fn sent(&mut self, _log: &mut Log, _lane: Lane, amount: usize, _at: Tick) {
        self.sent += amount as u64;
        if self.sent == self.total {
            self.phase = Phase::SendingDone;
        }
    }

    fn received(
        &mut self,
        _log: &mut Log,
        _lane: Lane,
        bytes: &[u8],
        _meta: RecvMeta,
        _now: Tick,
    ) -> Consumed {
        self.received += bytes.len() as u64;
        Consumed(bytes.len())
    }

    fn event(&mut self, log: &mut Log, event: Event, now: Tick) {
        log.events.push((now, event));
        match event {
            Event::PeerClosed(_) if self.phase == Phase::SendingDone => self.phase = Phase::Done,
            Event::PeerClosed(_) if !self.ends_with_peer => {}
            Event::Reset { .. } | Event::PeerClosed(_) | Event::Stop => self.phase = Phase::Failed,
            _ => {}
        }
    }
}

/// Keeps what comes, whole units at a time, until the other end closes; then closes too.
#[derive(Debug)]
pub struct Collector {
    pub bytes: Vec<u8>,
    /// Takes only multiples of this, but for the rest at the end.
    unit: usize,
    /// Takes nothing for so long after the start.
    rests_ns: u64,
    opens_at: Option<Tick>,
    /// Has enough once so many bytes have come, whatever the other end still sends.
    enough: Option<u64>,
    /// Resets the connection once so many bytes have come.
    resets_at: Option<u64>,
    sent: u64,
    received: u64,
    phase: Phase,
}

impl Collector {
    pub fn new() -> Self {
        Self {
            bytes: Vec::new(),
            unit: 1,
            rests_ns: 0,
            opens_at: None,
            enough: None,
            resets_at: None,
            sent: 0,
            received: 0,
            phase: Phase::Running,
        }
    }

    pub fn of_units(unit: usize) -> Self {
        Self { unit, ..Self::new() }
    }

    pub fn resting(rests_ns: u64) -> Self {
        Self { rests_ns, ..Self::new() }
    }

    pub fn satisfied_with(bytes: u64) -> Self {
        Self { enough: Some(bytes), ..Self::new() }
    }

    pub fn resetting_at(bytes: u64) -> Self {
        Self { resets_at: Some(bytes), ..Self::new() }
    }
}

impl Machine for Collector {
    common!();
    sends_nothing!();

    fn want(&mut self, _log: &mut Log, now: Tick) -> Want {
        match self.phase {
            Phase::Failed => Want { close: Some(Close::Reset), ..Want::NOTHING },
            Phase::Done => Want { close: Some(Close::Graceful), ..Want::NOTHING },
            _ if self.opens_at.is_some_and(|opens_at| now < opens_at) => {
                Want { wake: self.opens_at, ..Want::NOTHING }
            }
            _ => Want { recv: RecvWant::Any, ..Want::NOTHING },
        }
    }

    fn received(
        &mut self,
        log: &mut Log,
        _lane: Lane,
        bytes: &[u8],
        meta: RecvMeta,
        _now: Tick,
    ) -> Consumed {
        let consumed = bytes.len() - bytes.len() % self.unit;
        self.bytes.extend_from_slice(&bytes[..consumed]);
        self.received += consumed as u64;
        log.metas.push(meta);
        if self.enough.is_some_and(|enough| self.received >= enough) {
            self.phase = Phase::Done;
        }
        if self.resets_at.is_some_and(|limit| self.received >= limit) {
            self.phase = Phase::Failed;
        }
        Consumed(consumed)
    }

    fn event(&mut self, log: &mut Log, event: Event, now: Tick) {
        log.events.push((now, event));
        match event {
            Event::Start => self.opens_at = Some(now.plus_nanos(self.rests_ns)),
            Event::PeerClosed(_) => self.phase = Phase::Done,
            Event::Reset { .. } | Event::Stop => self.phase = Phase::Failed,
            _ => {}
        }
    }
}
