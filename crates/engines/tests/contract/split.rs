//! Flows in two halves, each blocking on a thread of its own over the same socket.

use pathscope_core::id::{FlowId, Lane};
use pathscope_core::{Tick, Wait};
use pathscope_engines::{Ended, Kernel, Notice, plain};
use pathscope_flow::{
    ClockNeed, Consumed, Event, Machine, Phase, RecvMeta, Split, Totals, Transport, Want,
};
use pathscope_os::sockets::Settings;

use crate::harness::{Running, pair, start_with, terms};
use crate::toys::{Bench, Stream};

/// Two machines as the halves of one.
#[derive(Debug)]
pub struct Duplex<H> {
    pub sender: H,
    pub receiver: H,
}

/// A stream each way.
impl Duplex<Stream> {
    fn new(to_send: u64, to_receive: u64) -> Self {
        Self { sender: Stream::new(5, to_send, 0), receiver: Stream::new(5, 0, to_receive) }
    }
}

/// Only its halves run here.
impl<H: Machine<Shared = Bench>> Machine for Duplex<H> {
    type Shared = Bench;

    const CLOCK: ClockNeed = H::CLOCK;

    fn id(&self) -> FlowId {
        self.sender.id()
    }

    fn want(&mut self, _: &mut Bench, _: Tick) -> Want {
        unreachable!("the whole never runs")
    }

    fn sent(&mut self, _: &mut Bench, _: Lane, _: usize, _: Tick) {}

    fn received(&mut self, _: &mut Bench, _: Lane, _: &[u8], _: RecvMeta, _: Tick) -> Consumed {
        Consumed(0)
    }

    fn event(&mut self, _: &mut Bench, _: Event, _: Tick) {}

    fn phase(&self) -> Phase {
        self.sender.phase().min(self.receiver.phase())
    }

    fn totals(&self) -> Totals {
        Totals { sent: self.sender.totals().sent, received: self.receiver.totals().received }
    }
}

impl<H: Machine<Shared = Bench>> Split for Duplex<H> {
    type Sender = H;
    type Receiver = H;

    fn split(self) -> (H, H) {
        (self.sender, self.receiver)
    }

    fn join(sender: H, receiver: H) -> Self {
        Self { sender, receiver }
    }

    fn split_shared(shared: Bench) -> (Bench, Bench) {
        (shared, Bench::new())
    }

    fn join_shared(_: Bench, receiver: Bench) -> Bench {
        receiver
    }
}

fn everywhere(mut test: impl FnMut(Wait)) {
    for wait in [Wait::Spin, Wait::Sleep, Wait::Hybrid] {
        test(wait);
    }
}

fn start(
    wait: Wait,
    to_send: u64,
    to_receive: u64,
) -> (Running<Duplex<Stream>>, Running<Duplex<Stream>>) {
    let (here, there) = pair(Transport::Stream, &Settings::default());
    let terms = terms(wait, Transport::Stream);
    let one = vec![(Duplex::new(to_send, to_receive), vec![here])];
    let other = vec![(Duplex::new(to_receive, to_send), vec![there])];
    let run = |worker| plain::run_split(worker, Kernel);
    (start_with(terms, one, Bench::new(), run), start_with(terms, other, Bench::new(), run))
}

#[test]
fn both_halves_move_every_byte_and_the_whole_is_told() {
    everywhere(|wait| {
        let (there, back) = (8 << 20, 5 << 20);
        let (one, other) = start(wait, there, back);
        for running in [&one, &other] {
            let finished = running.finish();
            let flow = &finished.flows[0].0;
            assert!(flow.sender.is_right() && flow.receiver.is_right(), "{wait} {flow:?}");
            assert_eq!((finished.ended, finished.usage.len()), (Ended::AllOver, 2));
        }
        let (mut phases, mut received) = (Vec::new(), 0);
        for notice in one.notices.try_iter() {
            match notice {
                Notice::Phase { phase, totals, .. } => phases.push((phase, totals)),
                Notice::Report { report, .. } => received += report,
                Notice::Flows { .. } | Notice::Look => panic!("nobody wanted to know"),
            }
        }
        assert_eq!(received, back, "{wait}");
        let all = Totals { sent: there, received: back };
        assert_eq!(phases.last(), Some(&(Phase::Done, all)), "{wait}");
        assert!(phases.len() <= 2, "{wait}: each phase is told once: {phases:?}");
    });
}

#[test]
fn commands_reach_both_halves() {
    everywhere(|wait| {
        let (one, other) = start(wait, u64::MAX, u64::MAX);
        for running in [&one, &other] {
            running.remote.tell(None, Event::Stop);
        }
        for running in [&one, &other] {
            assert_eq!(running.finish().ended, Ended::AllOver, "{wait}");
        }
    });
}

#[test]
fn halves_whose_session_is_gone_end() {
    everywhere(|wait| {
        let (one, other) = start(wait, u64::MAX, u64::MAX);
        // Kept, since dropping it would close the sockets and so end the other's flows.
        let first = one.orphan();
        assert_eq!(
            (first.ended, other.orphan().ended),
            (Ended::Orphaned, Ended::Orphaned),
            "{wait}"
        );
    });
}
