//! Kernel stamps: told by the right number, on this end's clock; and flows that go without where they are refused.

use pathscope_core::id::{FlowId, Lane};
use pathscope_core::{Tick, Wait};
use pathscope_engines::{Blocking, EngineKind, Finished, Kernel, SystemCalls, Terms, Trouble};
use pathscope_flow::{
    Batch, ClockNeed, Consumed, Event, Machine, Phase, RecvMeta, RecvWant, SendWant, Totals,
    Transport, Want,
};
use pathscope_os::Socket;
use pathscope_os::sockets::Settings;

use crate::harness::{everywhere, pair, start_on, terms};
use crate::toys::Bench;

const DATAGRAMS: usize = 40;
/// A millisecond is far more than the offset between the clocks can be wrong by, and far less than a step.
const ERROR_NS: u64 = 1_000_000;

/// Sends datagrams and takes as many; writes down when, and what the kernel says of it.
#[derive(Debug)]
struct Stamped {
    expects_stamps: bool,
    filled: Vec<Tick>,
    sent: Vec<Tick>,
    handed_over: Vec<(u64, Tick)>,
    came: Vec<(Option<Tick>, Tick)>,
    is_over: bool,
}

impl Stamped {
    fn new(expects_stamps: bool) -> Self {
        let (filled, sent, handed_over, came) = Default::default();
        Self { expects_stamps, filled, sent, handed_over, came, is_over: false }
    }
}

impl Machine for Stamped {
    type Shared = Bench;

    const CLOCK: ClockNeed = ClockNeed::EveryOperation;

    fn id(&self) -> FlowId {
        FlowId(0)
    }

    fn want(&mut self, _: &mut Bench, _: Tick) -> Want {
        let told = !self.expects_stamps || self.handed_over.len() >= DATAGRAMS;
        self.is_over |= told && self.sent.len() >= DATAGRAMS && self.came.len() >= DATAGRAMS;
        if self.is_over {
            return Want::NOTHING;
        }
        let send = SendWant::Datagrams { stride: 64, max: 1 };
        // In turns, so that no socket is ever full.
        let may_send = self.sent.len() < DATAGRAMS && self.sent.len() <= self.came.len();
        let send = if may_send { send } else { SendWant::Nothing };
        Want { send, recv: RecvWant::Any, ..Want::NOTHING }
    }

    fn fill(&mut self, _: &mut Bench, _: Lane, batch: &mut Batch<'_>, now: Tick) {
        batch.datagram(64).expect("one was wanted").fill(7);
        self.filled.truncate(self.sent.len());
        self.filled.push(now);
    }

    fn sent(&mut self, _: &mut Bench, _: Lane, amount: usize, at: Tick) {
        assert_eq!(amount, 1);
        self.sent.push(at);
    }

    fn received(
        &mut self,
        _: &mut Bench,
        _: Lane,
        bytes: &[u8],
        meta: RecvMeta,
        now: Tick,
    ) -> Consumed {
        self.came.push((meta.stamp, now));
        Consumed(bytes.len())
    }

    fn event(&mut self, _: &mut Bench, event: Event, _: Tick) {
        if let Event::HandedOver { lane, number, at } = event {
            assert_eq!(lane, Lane::ONLY);
            self.handed_over.push((number, at));
        }
    }

    fn phase(&self) -> Phase {
        if self.is_over { Phase::Done } else { Phase::Running }
    }

    fn totals(&self) -> Totals {
        Totals { sent: self.sent.len() as u64, received: self.came.len() as u64 }
    }
}

/// The kernel; of its sends, every third is refused at first, or stamps are.
#[derive(Clone, Debug)]
struct Calls {
    refuses: bool,
    fails: bool,
    sends: usize,
}

const ENOPROTOOPT: i32 = 92;

impl SystemCalls for Calls {
    fn send_datagrams(
        &mut self,
        socket: &Socket,
        bytes: &[u8],
        stride: usize,
        blocking: Blocking,
    ) -> Result<usize, Trouble> {
        self.sends += 1;
        if self.fails && self.sends.is_multiple_of(3) {
            return Err(Trouble::Interrupted);
        }
        Kernel.send_datagrams(socket, bytes, stride, blocking)
    }

    fn stamp(&mut self, socket: &Socket) -> Result<(), Trouble> {
        if self.refuses { Err(Trouble::Failed(ENOPROTOOPT)) } else { Kernel.stamp(socket) }
    }
}

fn run(engine: EngineKind, wait: Wait, calls: &Calls) -> [Finished<Stamped>; 2] {
    let (one, other) = pair(Transport::Datagram, &Settings::default());
    // What comes before the other worker begins is stamped, too.
    for socket in [&one, &other].into_iter().filter(|_| !calls.refuses) {
        pathscope_os::stamps::enable(socket).expect("Linux stamps");
    }
    let terms = Terms { stamps: true, ..terms(wait, Transport::Datagram) };
    let start = |socket| {
        let flows = vec![(Stamped::new(!calls.refuses), vec![socket])];
        start_on(engine, terms, flows, Bench::new(), calls.clone())
    };
    let both = [start(one), start(other)];
    both.map(|running| running.finish())
}

#[test]
fn each_datagram_is_told_of_by_its_number() {
    for fails in [false, true] {
        everywhere(|engine, wait| {
            for finished in run(engine, wait, &Calls { refuses: false, fails, sends: 0 }) {
                let facts = finished.stamps.as_ref().expect("they were asked for");
                assert_eq!((facts.refused.as_deref(), facts.wall_clock_steps), (None, 0));
                assert!(facts.error_ns < ERROR_NS, "{facts:?}");
                let (flow, _) = &finished.flows[0];
                let name = format!("{engine} {wait} {fails}: {flow:?}");
                for (place, &(number, at)) in flow.handed_over.iter().enumerate() {
                    assert_eq!(number, place as u64, "{name}");
                    let at = at.as_nanos();
                    // After it was filled, and before the next one was: that one waited for an answer.
                    assert!(flow.filled[place].as_nanos() <= at + facts.error_ns, "{name}");
                    let next = flow.filled.get(place + 1);
                    assert!(next.is_none_or(|it| at <= it.as_nanos() + facts.error_ns), "{name}");
                }
                for &(stamp, now) in &flow.came {
                    let stamp = stamp.expect("Linux stamps what comes");
                    assert!(stamp.as_nanos() <= now.as_nanos() + facts.error_ns, "{name}");
                }
            }
        });
    }
}

#[test]
fn flows_go_without_stamps_where_they_are_refused() {
    everywhere(|engine, wait| {
        for finished in run(engine, wait, &Calls { refuses: true, fails: false, sends: 0 }) {
            let facts = finished.stamps.as_ref().expect("they were asked for");
            assert_eq!(facts.refused.as_deref(), Some("ENOPROTOOPT"));
            let (flow, _) = &finished.flows[0];
            assert_eq!((flow.handed_over.len(), flow.came.len()), (0, DATAGRAMS));
            assert!(flow.came.iter().all(|(stamp, _)| stamp.is_none()));
        }
    });
}
