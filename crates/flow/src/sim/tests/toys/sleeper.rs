//! A toy that only waits.

use pathscope_core::Tick;
use pathscope_core::id::{FlowId, Lane};
use pathscope_core::record::{FlowError, FlowErrorKind};

use super::Log;
use crate::{Batch, ClockNeed, Consumed, Event, Gather, Machine, Phase, RecvMeta, Totals, Want};

/// Wakes on a schedule and writes down when it was told.
#[derive(Debug)]
pub struct Sleeper {
    period_ns: u64,
    wakes_left: u64,
    next: Tick,
    sent: u64,
    received: u64,
    phase: Phase,
}

impl Sleeper {
    pub fn new(period_ns: u64, wakes: u64) -> Self {
        Self {
            period_ns,
            wakes_left: wakes,
            next: Tick::ZERO,
            sent: 0,
            received: 0,
            phase: Phase::Running,
        }
    }
}

impl Machine for Sleeper {
    common!();
    sends_nothing!();
    receives_nothing!();

    fn want(&mut self, _log: &mut Log, _now: Tick) -> Want {
        if self.phase.is_over() {
            Want::NOTHING
        } else {
            Want { wake: Some(self.next), ..Want::NOTHING }
        }
    }

    fn event(&mut self, log: &mut Log, event: Event, now: Tick) {
        log.events.push((now, event));
        match event {
            Event::Start => self.next = now.plus_nanos(self.period_ns),
            Event::Wake => {
                self.next = self.next.plus_nanos(self.period_ns);
                self.wakes_left -= 1;
                if self.wakes_left == 0 {
                    self.phase = Phase::Done;
                }
            }
            Event::Stop => self.phase = Phase::Done,
            _ => {}
        }
    }
}
