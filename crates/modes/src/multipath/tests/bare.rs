//! The client against a server of `MultipathLatencyAnalyzer`, which knows nothing but datagrams: it sends back what it may.

use pathscope_core::Tick;
use pathscope_core::id::{FlowId, Lane, Role, Token};
use pathscope_flow::sim::{Action, Conditions, Ended, Ends, Fate, Link, Passing, Sim};
use pathscope_flow::{
    Batch, ClockNeed, Consumed, Event, Machine, Phase, RecvMeta, RecvWant, SendWant, Shared,
    Totals, Transport, Want,
};

use super::super::*;
use super::{FLOW, LATE, MS, plan};
use crate::conventions::Framing;
use crate::conventions::bare::{self, Bare};
use crate::pattern::SessionKey;

/// A server that answers each datagram by itself, and keeps what is to go back.
#[derive(Default)]
struct Echoing {
    held: Vec<(Lane, Vec<u8>)>,
    is_over: bool,
}

/// What it has counted of each lane.
#[derive(Default)]
struct Heard {
    pings: u64,
    numbers: u64,
}

impl Shared for Heard {
    type Report = ();

    fn report(&mut self, _: Tick) {}
}

impl Machine for Echoing {
    type Shared = Heard;

    const CLOCK: ClockNeed = ClockNeed::EveryOperation;

    fn id(&self) -> FlowId {
        FLOW
    }

    fn want(&mut self, _: &mut Heard, _: Tick) -> Want {
        let Some((lane, datagram)) = self.held.first() else {
            let recv = if self.is_over { RecvWant::Nothing } else { RecvWant::Any };
            return Want { recv, ..Want::NOTHING };
        };
        let send = SendWant::Datagrams { stride: datagram.len(), max: 1 };
        Want { send, send_lane: *lane, recv: RecvWant::Any, ..Want::NOTHING }
    }

    fn fill(&mut self, _: &mut Heard, _: Lane, batch: &mut Batch<'_>, _: Tick) {
        let (_, held) = &self.held[0];
        batch.datagram(held.len()).expect("it was asked for").copy_from_slice(held);
    }

    fn sent(&mut self, _: &mut Heard, _: Lane, _: usize, _: Tick) {
        self.held.remove(0);
    }

    fn received(
        &mut self,
        heard: &mut Heard,
        lane: Lane,
        bytes: &[u8],
        meta: RecvMeta,
        now: Tick,
    ) -> Consumed {
        let stride = meta.stride.map_or(bytes.len(), std::num::NonZero::get);
        for datagram in bytes.chunks(stride) {
            let mut datagram = datagram.to_vec();
            let sequence = Bare::read(&datagram).expect("it is whole").sequence;
            assert!(bare::echo(&mut datagram, now), "a client writes no stamp of a server");
            *if sequence == bare::PING { &mut heard.pings } else { &mut heard.numbers } += 1;
            self.held.push((lane, datagram));
        }
        Consumed(bytes.len())
    }

    fn event(&mut self, _: &mut Heard, event: Event, _: Tick) {
        self.is_over |= matches!(event, Event::PeerTotal(_) | Event::Stop);
    }

    fn phase(&self) -> Phase {
        if self.is_over { Phase::Done } else { Phase::Running }
    }

    fn totals(&self) -> Totals {
        Totals::default()
    }
}

/// A client over paths of these delays one way, in whole microseconds; all but the first come up at 1 s.
fn sim(plan: &MultipathPlan, delays_us: &[u64]) -> Sim<MultipathFlow, Echoing> {
    let session = SessionKey::from(Token([3; 16]));
    let conditions = Conditions { max_steps: u64::MAX, ..Conditions::over(Link::new(MS)) };
    let shared = MultipathShared::new(plan).framed(Framing::Bare);
    let mut sim = Sim::new(conditions, shared, Heard::default());
    let client = MultipathFlow::new(plan, session, FLOW, [Lane(0)]).framed(Framing::Bare);
    let links: Vec<_> = delays_us.iter().map(|us| Ends::both(Link::new(us * 1_000))).collect();
    sim.connect_lanes(client, Echoing::default(), Transport::Datagram, &links);
    sim.tell_totals(5_000 * MS);
    for lane in (0..delays_us.len() as u8).map(Lane) {
        let at = Tick::from_nanos(u64::from(lane.0.min(1)) * 1_000 * MS);
        let event = Event::LaneUp(lane);
        sim.at(at, Action::Tell { flow: FLOW, role: Role::Client, event });
    }
    sim
}

#[test]
fn a_path_is_pinged_before_it_is_used_and_each_has_its_own_round_trip() {
    let plan = plan(2);
    let mut sim = sim(&plan, &[5_000, 9_250]);
    let outcome = sim.run(LATE);
    assert_eq!(outcome.ended, Ended::Over, "{outcome}");
    let report = sim.client_shared().report_all();
    let [first, second] = &report.paths[..] else { panic!("two paths: {report:?}") };
    assert_eq!((first.sent, first.received, first.lost), (10_000, 10_000, 0));
    // The second is there from 1 s on, and used when its ping is back.
    assert_eq!((second.sent, second.received), (8_980, 8_980));
    assert_eq!((first.corrupt, second.corrupt, report.foreign), (0, 0, 0));
    let summary = MultipathSummary::of(plan.datagram_bytes.0, &report, None);
    for (path, round_trip) in summary.paths.iter().zip([10_000_000, 18_500_000]) {
        let extremes = (path.latency.min_ns, path.latency.max_ns);
        assert_eq!(extremes, (Some(round_trip), Some(round_trip)));
    }
    assert_eq!(sim.server_shared().numbers, 18_980);
    assert!(sim.server_shared().pings >= 1);
}

#[test]
fn what_is_reflected_damaged_and_doubled_is_told_apart() {
    let plan = plan(1);
    let mut sim = sim(&plan, &[5_000]);
    sim.datagrams(|passing: &mut Passing<'_>| match (passing.from, passing.position) {
        // Its stamp of a server is taken off: what a mirror sends back.
        (Role::Server, 10) => {
            passing.bytes[16..24].fill(0);
            Fate::Deliver
        }
        (Role::Server, 20) => {
            passing.bytes[1_023] ^= 1;
            Fate::Deliver
        }
        (Role::Server, 30) => Fate::Duplicate { after_ns: MS },
        (Role::Server, 40) => Fate::Lose,
        _ => Fate::Deliver,
    });
    let outcome = sim.run(LATE);
    assert_eq!(outcome.ended, Ended::Over, "{outcome}");
    let report = sim.client_shared().report_all();
    let path = &report.paths[0];
    assert_eq!((path.received, path.lost), (9_997, 3));
    assert_eq!((path.corrupt, path.duplicates, report.foreign), (1, 1, 1));
}
