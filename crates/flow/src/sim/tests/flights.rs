//! Sends that the system has for a while: the machine is shown what comes, and nothing else happens to it before it lands.

use std::cell::Cell;

use pathscope_core::Tick;
use pathscope_core::id::{FlowId, Lane};
use pathscope_core::record::{FlowError, FlowErrorKind};
use proptest::prelude::*;

use super::toys::{Collector, Listener, Log, Numberer, Player, Pourer, fills_nothing, pattern};
use super::{CLIENT, FIRST, SERVER, micros, quarter_millisecond, run_to_its_end, stream};
use crate::sim::{Action, Chunks, Conditions, Flights, Link, Sim};
use crate::{
    Batch, ClockNeed, Close, Consumed, Event, Gather, Machine, Phase, RecvMeta, RecvWant, SendWant,
    Totals, Transport, Want,
};

/// Sends for a time, and decides when it is asked that this is over, where it stands. Until then it takes what comes.
#[derive(Debug)]
struct Timed {
    until: Tick,
    end: Option<u64>,
    /// What it offered and was not told of. A void offer is made again.
    offered: Cell<bool>,
    shown_in_flight: u64,
    sent: u64,
    received: u64,
    phase: Phase,
}

impl Timed {
    fn new(until: Tick) -> Self {
        Self {
            until,
            end: None,
            offered: Cell::new(false),
            shown_in_flight: 0,
            sent: 0,
            received: 0,
            phase: Phase::Running,
        }
    }
}

impl Machine for Timed {
    type Shared = Log;

    const CLOCK: ClockNeed = ClockNeed::EveryTurn;

    fills_nothing!();

    fn id(&self) -> FlowId {
        FIRST
    }

    fn want(&mut self, _log: &mut Log, now: Tick) -> Want {
        self.offered.set(false);
        if self.phase == Phase::Running && now >= self.until {
            self.end = Some(self.sent);
            self.phase = Phase::SendingDone;
        }
        match self.phase {
            Phase::Running => Want {
                send: SendWant::Stream { max: 9_000 },
                recv: RecvWant::Any,
                wake: Some(self.until),
                ..Want::NOTHING
            },
            Phase::SendingDone | Phase::Settled => {
                Want { recv: RecvWant::Any, close: Some(Close::HalfWrite), ..Want::NOTHING }
            }
            Phase::Done | Phase::Failed => Want::NOTHING,
        }
    }

    fn gather<'data>(&'data self, _log: &'data Log, _lane: Lane, gather: &mut Gather<'data>) {
        self.offered.set(true);
        let bytes: Vec<u8> = (self.sent..self.sent + 9_000).map(pattern).collect();
        gather.copy(&bytes);
    }

    fn sent(&mut self, _log: &mut Log, _lane: Lane, amount: usize, _at: Tick) {
        assert!(self.offered.replace(false), "nothing was asked for since");
        assert_eq!(self.end, None, "it decided that all was sent while there was more on its way");
        self.sent += amount as u64;
    }

    fn received(&mut self, _: &mut Log, _: Lane, bytes: &[u8], _: RecvMeta, _: Tick) -> Consumed {
        self.shown_in_flight += u64::from(self.offered.get());
        self.received += bytes.len() as u64;
        Consumed(bytes.len())
    }

    fn event(&mut self, log: &mut Log, event: Event, now: Tick) {
        log.events.push((now, event));
        match event {
            Event::PeerClosed(_) if self.phase == Phase::SendingDone => self.phase = Phase::Done,
            Event::Stop => self.until = now,
            Event::PeerClosed(_) | Event::Reset { .. } => self.phase = Phase::Failed,
            _ => {}
        }
    }

    fn phase(&self) -> Phase {
        self.phase
    }

    fn totals(&self) -> Totals {
        Totals { sent: self.sent, received: self.received }
    }

    fn error(&self) -> Option<FlowError> {
        let text = "it broke".to_owned();
        let error = FlowError { kind: FlowErrorKind::Network, text, errno: None };
        (self.phase == Phase::Failed).then_some(error)
    }
}

fn flights(seed: u64, most_ns: u64) -> Conditions {
    Conditions { flights: Some(Flights { seed, most_ns }), ..quarter_millisecond() }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_ends_by_time_ends_between_two_sends_whatever_they_take(
        seed: u64, most_ns in 0_u64..500_000, write_max in 1_usize..20_000, until_us in 1_u64..5_000, is_stopped: bool,
    ) {
        let mut conditions = flights(seed, most_ns);
        conditions.writes = Chunks::Random { seed, max: write_max };
        let until = conditions.clock_origins.client.plus_nanos(until_us * 1_000);
        let mut sim = stream(conditions, Timed::new(until), Collector::new());
        if is_stopped {
            sim.at(micros(until_us / 2), Action::Stop { role: CLIENT });
        }
        run_to_its_end(&mut sim);
        prop_assert_eq!(sim.client(FIRST).phase(), Phase::Done);
        let sent = sim.client(FIRST).totals().sent;
        let poured: Vec<u8> = (0..sent).map(pattern).collect();
        prop_assert_eq!(&sim.server(FIRST).bytes, &poured);
    }

    #[test]
    fn both_ends_of_a_stream_send_and_receive_in_flight(seed: u64, most_ns in 1_u64..500_000) {
        let conditions = flights(seed, most_ns);
        let ends = [CLIENT, SERVER].map(|role| conditions.clock_origins[role].plus_nanos(4_000_000));
        let mut sim = stream(conditions, Timed::new(ends[0]), Timed::new(ends[1]));
        run_to_its_end(&mut sim);
        let (client, server) = (sim.client(FIRST), sim.server(FIRST));
        prop_assert_eq!((client.phase, server.phase), (Phase::Done, Phase::Done));
        prop_assert_eq!((client.sent, server.sent), (server.received, client.received));
    }

    #[test]
    fn datagrams_arrive_whatever_their_sends_take(seed: u64, most_ns in 0_u64..500_000, write_max in 1_usize..5) {
        let mut conditions = flights(seed, most_ns);
        conditions.writes = Chunks::Random { seed, max: write_max };
        let mut sim = Sim::new(conditions, Log::default(), Log::default());
        sim.tell_totals(1_000_000);
        sim.connect(Numberer::new(50, 100), Listener::draining(2_000_000), Transport::Datagram);
        run_to_its_end(&mut sim);
        let numbers: Vec<u64> = (0..50).collect();
        prop_assert_eq!(&sim.server_shared().received, &numbers);
    }
}

#[test]
fn what_comes_while_a_send_is_in_flight_is_shown() {
    let mut conditions = flights(7, 1_000_000);
    conditions.links.client = Link::new(10_000);
    conditions.links.server = Link::new(10_000);
    let ends = [CLIENT, SERVER].map(|role| conditions.clock_origins[role].plus_nanos(20_000_000));
    let mut sim = stream(conditions, Timed::new(ends[0]), Timed::new(ends[1]));
    run_to_its_end(&mut sim);
    assert!(sim.client(FIRST).shown_in_flight > 0);
}

#[test]
fn an_event_has_a_send_land_and_is_told_when_it_happens() {
    let conditions = flights(7, 1_000_000_000);
    let began = conditions.clock_origins.client;
    let mut sim = stream(conditions, Timed::new(began.plus_nanos(5_000_000)), Collector::new());
    sim.at(micros(3_000), Action::Stop { role: CLIENT });
    run_to_its_end(&mut sim);
    let told = sim.client_shared().events.iter().find(|(_, event)| *event == Event::Stop);
    assert_eq!(told, Some(&(began.plus_nanos(3_000_000), Event::Stop)));
}

#[test]
fn sends_that_take_no_time_change_no_round_trip() {
    let mut sim = stream(flights(3, 0), Player::client(100, 64), Player::server(100, 64));
    run_to_its_end(&mut sim);
    assert_eq!(sim.client_shared().round_trips, vec![500_000; 100]);
}

#[test]
fn a_flow_is_the_same_whether_its_sends_take_a_while() {
    for most_ns in [0, 1_000, 400_000] {
        let mut sim = stream(flights(11, most_ns), Pourer::new(100_000), Collector::new());
        run_to_its_end(&mut sim);
        let poured: Vec<u8> = (0..100_000).map(pattern).collect();
        assert_eq!(sim.server(FIRST).bytes, poured);
    }
}
