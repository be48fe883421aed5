//! What has come and was not received yet, told to a machine that asks.

use std::io::IoSlice;

use pathscope_core::Tick;
use pathscope_core::id::{FlowId, Lane};
use pathscope_engines::{Blocking, Kernel, SystemCalls};
use pathscope_flow::{
    ClockNeed, Consumed, Event, Machine, Phase, RecvMeta, RecvWant, Totals, Transport, Want, Weigh,
};
use pathscope_os::clock;
use pathscope_os::sockets::Settings;

use crate::harness::{PATIENCE, everywhere, pair, start, terms};
use crate::toys::Bench;

const ALL: u64 = 3_000;

/// Takes a stream in thirds, and asks before each what is there.
#[derive(Debug, Default)]
struct Weigher {
    asks: bool,
    received: u64,
    /// What had been received, and what was held then.
    told: Vec<(u64, u64)>,
}

impl Machine for Weigher {
    type Shared = Bench;

    const CLOCK: ClockNeed = ClockNeed::EveryTurn;

    fn id(&self) -> FlowId {
        FlowId(0)
    }

    fn want(&mut self, _: &mut Bench, _: Tick) -> Want {
        if self.received == ALL {
            return Want::NOTHING;
        }
        let weigh = if self.asks { Weigh::This } else { Weigh::Nothing };
        Want { recv: RecvWant::UpTo(1_000), weigh, ..Want::NOTHING }
    }

    fn sent(&mut self, _: &mut Bench, _: Lane, _: usize, _: Tick) {}

    fn received(&mut self, _: &mut Bench, _: Lane, bytes: &[u8], _: RecvMeta, _: Tick) -> Consumed {
        assert!(!self.asks, "given bytes before it was told what it asked for");
        let taken = bytes.len().min(1_000);
        self.received += taken as u64;
        self.asks = self.received < ALL;
        Consumed(taken)
    }

    fn event(&mut self, _: &mut Bench, event: Event, _: Tick) {
        match event {
            Event::Start => self.asks = true,
            Event::Held { bytes, ready_bytes } => {
                assert_eq!(bytes, ready_bytes, "nothing was lost on the way");
                assert!(self.asks, "told though it did not ask");
                self.asks = false;
                self.told.push((self.received, bytes));
            }
            _ => {}
        }
    }

    fn phase(&self) -> Phase {
        if self.received == ALL { Phase::Done } else { Phase::SendingDone }
    }

    fn totals(&self) -> Totals {
        Totals { sent: 0, received: self.received }
    }
}

#[test]
fn what_waits_is_told_at_once_and_to_the_byte() {
    everywhere(|engine, wait| {
        let (here, there) = pair(Transport::Stream, &Settings::default());
        let bytes = [7; ALL as usize];
        let sent = Kernel.send(&there, &[IoSlice::new(&bytes)], Blocking::UntilTimeout);
        assert_eq!(sent, Ok(bytes.len()));
        let deadline = clock::now() + PATIENCE;
        while here.held_bytes() < Some(ALL) {
            assert!(clock::now() < deadline, "{:?} have come", here.held_bytes());
        }
        let flows = vec![(Weigher::default(), vec![here])];
        let worker = start(engine, terms(wait, Transport::Stream), flows, Bench::new());
        let told = worker.finish().flows.remove(0).0.told;
        assert!(told.len() >= 3, "{engine} {wait}: {told:?}");
        assert!(
            told.iter().all(|(received, held)| received + held == ALL),
            "{engine} {wait}: {told:?}"
        );
        drop(there);
    });
}

/// The first has its worker's others asked as well; those take nothing until then.
#[derive(Debug)]
struct Asker {
    id: u32,
    weigh: Weigh,
    is_asked: bool,
    received: u64,
    held: Vec<u64>,
}

impl Asker {
    fn new(id: u32) -> Self {
        Self { id, weigh: Weigh::Nothing, is_asked: id == 0, received: 0, held: Vec::new() }
    }
}

impl Machine for Asker {
    type Shared = Bench;

    const CLOCK: ClockNeed = ClockNeed::EveryTurn;

    fn id(&self) -> FlowId {
        FlowId(self.id)
    }

    fn want(&mut self, _: &mut Bench, _: Tick) -> Want {
        if self.received == ALL {
            return Want::NOTHING;
        }
        let recv = if self.is_asked { RecvWant::Any } else { RecvWant::Nothing };
        Want { recv, weigh: self.weigh, ..Want::NOTHING }
    }

    fn sent(&mut self, _: &mut Bench, _: Lane, _: usize, _: Tick) {}

    fn received(&mut self, _: &mut Bench, _: Lane, bytes: &[u8], _: RecvMeta, _: Tick) -> Consumed {
        assert_eq!(self.weigh, Weigh::Nothing, "given bytes before it was told what it asked for");
        self.received += bytes.len() as u64;
        Consumed(bytes.len())
    }

    fn event(&mut self, _: &mut Bench, event: Event, _: Tick) {
        match event {
            Event::Start if self.id == 0 => self.weigh = Weigh::All,
            Event::Weighing => {
                assert!(self.id > 0 && !self.is_asked, "once, and not who asks");
                (self.is_asked, self.weigh) = (true, Weigh::This);
            }
            Event::Held { bytes, .. } => {
                self.held.push(bytes);
                self.weigh = Weigh::Nothing;
            }
            _ => {}
        }
    }

    fn phase(&self) -> Phase {
        if self.received == ALL { Phase::Done } else { Phase::SendingDone }
    }

    fn totals(&self) -> Totals {
        Totals { sent: 0, received: self.received }
    }
}

#[test]
fn who_asks_for_all_has_every_other_flow_asked_too() {
    everywhere(|engine, wait| {
        let (flows, there): (Vec<_>, Vec<_>) = (0..3)
            .map(|id| {
                let (here, there) = pair(Transport::Stream, &Settings::default());
                let sent = Kernel.send(
                    &there,
                    &[IoSlice::new(&[7; ALL as usize])],
                    Blocking::UntilTimeout,
                );
                assert_eq!(sent, Ok(ALL as usize));
                let deadline = clock::now() + PATIENCE;
                while here.held_bytes() < Some(ALL) {
                    assert!(clock::now() < deadline, "{:?} have come", here.held_bytes());
                }
                ((Asker::new(id), vec![here]), there)
            })
            .unzip();
        let worker = start(engine, terms(wait, Transport::Stream), flows, Bench::new());
        let flows = worker.finish().flows;
        let held: Vec<_> = flows.iter().map(|flow| (flow.0.received, &flow.0.held[..])).collect();
        assert_eq!(held, [(ALL, &[ALL][..]); 3], "{engine} {wait}");
        drop(there);
    });
}
