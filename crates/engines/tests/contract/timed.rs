//! A machine that decides by time, when it is asked, that it has sent all: whoever is told so hears of all that left.

use pathscope_core::Tick;
use pathscope_core::id::{FlowId, Lane};
use pathscope_flow::{
    ClockNeed, Close, Consumed, Event, Gather, Machine, Phase, RecvMeta, RecvWant, SendWant,
    Totals, Transport, Want,
};
use pathscope_os::sockets::Settings;

use crate::harness::{Flows, everywhere, pair, start, terms};
use crate::toys::Bench;

const FLOWS: u32 = 8;
const LASTS_NS: u64 = 40_000_000;

/// Sends and takes until its time is up; then it takes what the other end still sends.
#[derive(Debug)]
struct Timed<const ONCE_A_TURN: bool> {
    flow: FlowId,
    lasts_ns: u64,
    until: Tick,
    end: Option<u64>,
    sent: u64,
    received: u64,
    is_wrong: bool,
    is_closed: bool,
    phase: Phase,
}

impl<const ONCE_A_TURN: bool> Timed<ONCE_A_TURN> {
    fn new(flow: FlowId, lasts_ns: u64) -> Self {
        Self {
            flow,
            lasts_ns,
            until: Tick::NEVER,
            end: None,
            sent: 0,
            received: 0,
            is_wrong: false,
            is_closed: false,
            phase: Phase::Running,
        }
    }
}

impl<const ONCE_A_TURN: bool> Machine for Timed<ONCE_A_TURN> {
    type Shared = Bench;

    const CLOCK: ClockNeed =
        if ONCE_A_TURN { ClockNeed::EveryTurn } else { ClockNeed::EveryOperation };

    fn id(&self) -> FlowId {
        self.flow
    }

    fn want(&mut self, _: &mut Bench, now: Tick) -> Want {
        if self.phase == Phase::Running && now >= self.until {
            self.end = Some(self.sent);
            self.phase = if self.is_closed { Phase::Done } else { Phase::SendingDone };
        }
        let waiting = Want { recv: RecvWant::Any, ..Want::NOTHING };
        match self.phase {
            Phase::Running => {
                let send = SendWant::Stream { max: 100_000 };
                Want { send, wake: Some(self.until), ..waiting }
            }
            Phase::SendingDone | Phase::Settled => {
                Want { close: Some(Close::HalfWrite), ..waiting }
            }
            Phase::Done => Want { close: Some(Close::HalfWrite), ..Want::NOTHING },
            Phase::Failed => Want::NOTHING,
        }
    }

    fn gather<'data>(&'data self, _: &'data Bench, _: Lane, gather: &mut Gather<'data>) {
        gather.lend(Bench::from(self.flow, self.sent));
    }

    fn sent(&mut self, _: &mut Bench, _: Lane, amount: usize, _: Tick) {
        assert_eq!(self.end, None, "it decided that all was sent while there was more on its way");
        self.sent += amount as u64;
    }

    fn received(&mut self, _: &mut Bench, _: Lane, bytes: &[u8], _: RecvMeta, _: Tick) -> Consumed {
        let expected = Bench::from(self.flow, self.received);
        let taken = bytes.len().min(expected.len());
        self.is_wrong |= bytes[..taken] != expected[..taken];
        self.received += taken as u64;
        Consumed(taken)
    }

    fn event(&mut self, _: &mut Bench, event: Event, now: Tick) {
        match event {
            Event::Start => self.until = now.plus_nanos(self.lasts_ns),
            Event::PeerClosed(_) if self.phase == Phase::SendingDone => self.phase = Phase::Done,
            Event::PeerClosed(_) => self.is_closed = true,
            Event::Reset { .. } => self.phase = Phase::Failed,
            _ => {}
        }
    }

    fn phase(&self) -> Phase {
        self.phase
    }

    fn totals(&self) -> Totals {
        Totals { sent: self.sent, received: self.received }
    }
}

#[test]
fn what_ends_by_time_when_it_is_asked_ends_between_two_sends() {
    ends_between_two_sends::<true>();
}

/// Receives that go on bring the end of a stream while what came before it waits to be shown.
#[test]
fn the_end_is_told_after_all_that_came_before_it_where_operations_are_timed() {
    ends_between_two_sends::<false>();
}

fn ends_between_two_sends<const ONCE_A_TURN: bool>() {
    everywhere(|engine, wait| {
        type Ends<const ONCE_A_TURN: bool> = Flows<Timed<ONCE_A_TURN>>;
        let (mut near, mut far): (Ends<ONCE_A_TURN>, Ends<ONCE_A_TURN>) = (Vec::new(), Vec::new());
        for flow in (0..FLOWS).map(FlowId) {
            let (one, other) = pair(Transport::Stream, &Settings::default());
            // Each ends at another time, so that one ends while others are busy.
            let lasts = |place: u32| LASTS_NS + LASTS_NS / 16 * u64::from(place);
            near.push((Timed::new(flow, lasts(flow.0)), vec![one]));
            far.push((Timed::new(flow, lasts(2 * FLOWS - flow.0)), vec![other]));
        }
        let terms = terms(wait, Transport::Stream);
        let workers = [near, far].map(|flows| start(engine, terms, flows, Bench::new()));
        let [near, far] = workers.map(|worker| worker.finish());
        for ((one, _), (other, _)) in near.flows.iter().zip(&far.flows) {
            let name = format!("{engine} {wait}: {one:?} {other:?}");
            assert_eq!((one.phase, other.phase), (Phase::Done, Phase::Done), "{name}");
            assert_eq!((one.sent, other.sent), (other.received, one.received), "{name}");
            assert!(!one.is_wrong && !other.is_wrong, "{name}");
        }
        let sent: u64 = near.flows.iter().map(|(flow, _)| flow.sent).sum();
        assert!(sent > 0, "{engine} {wait}");
    });
}
