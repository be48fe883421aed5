//! A machine that takes a part of a stream and then refuses for a while, where operations are timed and a receive may go on by itself: what
//! is refused stays in the kernel, but for what was on its way.

use pathscope_core::Tick;
use pathscope_core::id::{FlowId, Lane};
use pathscope_engines::Notice;
use pathscope_flow::{
    ClockNeed, Consumed, Event, Machine, Phase, RecvMeta, RecvWant, Totals, Transport, Want,
};
use pathscope_os::sockets::Settings;

use crate::harness::{PATIENCE, everywhere, pair, start, terms};
use crate::toys::{Bench, Stream};

const ALL: u64 = 64 << 20;
/// So much is taken before anything is refused.
const FIRST: u64 = 100_000;

/// Takes the first part, then nothing until it is told to, then all.
#[derive(Debug, Default)]
struct Reluctant {
    received: u64,
    is_told: bool,
    is_wrong: bool,
}

impl Machine for Reluctant {
    type Shared = Bench;

    const CLOCK: ClockNeed = ClockNeed::EveryOperation;

    fn id(&self) -> FlowId {
        FlowId(0)
    }

    fn want(&mut self, _: &mut Bench, _: Tick) -> Want {
        let takes = self.is_told || self.received < FIRST;
        let recv = if takes { RecvWant::Any } else { RecvWant::Nothing };
        Want { recv, ..Want::NOTHING }
    }

    fn sent(&mut self, _: &mut Bench, _: Lane, _: usize, _: Tick) {}

    fn received(&mut self, _: &mut Bench, _: Lane, bytes: &[u8], _: RecvMeta, _: Tick) -> Consumed {
        let expected = Bench::from(FlowId(0), self.received);
        let taken = bytes.len().min(expected.len());
        self.is_wrong |= bytes[..taken] != expected[..taken];
        self.received += taken as u64;
        Consumed(taken)
    }

    fn event(&mut self, _: &mut Bench, event: Event, _: Tick) {
        self.is_told |= matches!(event, Event::PeerTotal(_));
    }

    fn phase(&self) -> Phase {
        if self.received == ALL { Phase::Done } else { Phase::SendingDone }
    }

    fn totals(&self) -> Totals {
        Totals { sent: 0, received: self.received }
    }
}

#[test]
fn what_is_refused_after_a_part_was_taken_stays_in_the_kernel() {
    everywhere(|engine, wait| {
        let (here, there) = pair(Transport::Stream, &Settings::default());
        let terms = terms(wait, Transport::Stream);
        let reluctant = vec![(Reluctant::default(), vec![there])];
        let receiver = start(engine, terms, reluctant, Bench::new());
        let sender = vec![(Stream::new(0, ALL, 0), vec![here])];
        let sender = start(engine, terms, sender, Bench::new());
        for _ in 0..5 {
            receiver.notices.recv_timeout(PATIENCE).expect("reports go on");
        }
        let told = sender.notices.try_iter().any(|notice| matches!(notice, Notice::Phase { .. }));
        assert!(!told, "{engine} {wait}: 64 MiB went to a machine that refuses them");
        receiver.remote.tell(Some(FlowId(0)), Event::PeerTotal(ALL));
        let (flow, _) = receiver.finish().flows.remove(0);
        assert_eq!((flow.received, flow.is_wrong), (ALL, false), "{engine} {wait}");
        assert!(sender.finish().flows[0].0.is_right(), "{engine} {wait}");
    });
}
