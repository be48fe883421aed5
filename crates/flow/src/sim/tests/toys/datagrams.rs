//! Toys on datagrams: one that numbers them, one that listens.

use pathscope_core::Tick;
use pathscope_core::id::{FlowId, Lane};
use pathscope_core::record::{FlowError, FlowErrorKind};

use super::Log;
use crate::{
    Batch, ClockNeed, Consumed, Event, Gather, Machine, Phase, RecvMeta, RecvWant, SendWant,
    Totals, Want,
};

/// Sends numbered datagrams, on its lanes in turn, with pauses between them or without.
#[derive(Debug)]
pub struct Numberer {
    total: u64,
    datagram_bytes: usize,
    lanes: u8,
    period_ns: u64,
    next: Tick,
    sent: u64,
    received: u64,
    phase: Phase,
}

impl Numberer {
    pub fn new(total: u64, datagram_bytes: usize) -> Self {
        Self {
            total,
            datagram_bytes,
            lanes: 1,
            period_ns: 0,
            next: Tick::ZERO,
            sent: 0,
            received: 0,
            phase: Phase::Running,
        }
    }

    pub fn every(self, period_ns: u64) -> Self {
        Self { period_ns, ..self }
    }

    pub fn on_lanes(self, lanes: u8) -> Self {
        Self { lanes, ..self }
    }
}

impl Machine for Numberer {
    common!();
    gathers_nothing!();
    receives_nothing!();

    fn want(&mut self, _log: &mut Log, now: Tick) -> Want {
        if self.phase.is_over() {
            return Want::NOTHING;
        }
        if self.period_ns > 0 && now < self.next {
            return Want { wake: Some(self.next), ..Want::NOTHING };
        }
        let alone = self.period_ns > 0 || self.lanes > 1;
        let max = if alone { 1 } else { (self.total - self.sent) as usize };
        Want {
            send: SendWant::Datagrams { stride: self.datagram_bytes, max },
            send_lane: Lane((self.sent % u64::from(self.lanes)) as u8),
            ..Want::NOTHING
        }
    }

    fn fill(&mut self, _log: &mut Log, _lane: Lane, batch: &mut Batch<'_>, _now: Tick) {
        let mut number = self.sent;
        while let Some(datagram) = batch.datagram(self.datagram_bytes) {
            datagram.fill(0);
            datagram[..8].copy_from_slice(&number.to_be_bytes());
            number += 1;
        }
    }

    fn sent(&mut self, _log: &mut Log, _lane: Lane, amount: usize, at: Tick) {
        self.sent += amount as u64;
        self.next = at.plus_nanos(self.period_ns);
        if self.sent == self.total {
            self.phase = Phase::Done;
        }
    }

    fn event(&mut self, log: &mut Log, event: Event, now: Tick) {
        log.events.push((now, event));
    }
}

/// Writes down the numbers that come, until a while after it is told how many were sent.
#[derive(Debug)]
pub struct Listener {
    drains_ns: u64,
    takes_one: bool,
    ends_at: Option<Tick>,
    sent: u64,
    received: u64,
    phase: Phase,
}

impl Listener {
    pub fn draining(drains_ns: u64) -> Self {
        Self {
            drains_ns,
            takes_one: false,
            ends_at: None,
            sent: 0,
            received: 0,
            phase: Phase::Running,
        }
    }

    /// Consumes one datagram of those presented.
    pub fn taking_one(self) -> Self {
        Self { takes_one: true, ..self }
    }
}

impl Machine for Listener {
    common!();
    sends_nothing!();

    fn want(&mut self, _log: &mut Log, _now: Tick) -> Want {
        if self.phase.is_over() {
            Want::NOTHING
        } else {
            Want { recv: RecvWant::Any, wake: self.ends_at, ..Want::NOTHING }
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
        let stride = meta.stride.expect("datagrams have a length").get();
        let taken = if self.takes_one { stride.min(bytes.len()) } else { bytes.len() };
        for datagram in bytes[..taken].chunks(stride) {
            let number = datagram.first_chunk().map_or(u64::MAX, |head| u64::from_be_bytes(*head));
            log.received.push(number);
            self.received += 1;
        }
        log.metas.push(meta);
        Consumed(taken)
    }

    fn event(&mut self, log: &mut Log, event: Event, now: Tick) {
        log.events.push((now, event));
        match event {
            Event::PeerTotal(_) => self.ends_at = Some(now.plus_nanos(self.drains_ns)),
            Event::Wake | Event::Stop => self.phase = Phase::Done,
            _ => {}
        }
    }
}
